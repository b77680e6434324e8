import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { main as tenants } from '../../examples/tenants.ts'
import { main as unitTest } from '../../examples/unit-test.ts'

describe('unit-test', unitTest)

test('tenants', async () => {
  assert.deepEqual(await tenants(), { done: 160, timeLimit: 20, cancelled: 20, ownAnswer: 160, ownKey: 160 })
})
