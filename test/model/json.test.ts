import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { isSameJson, type Json } from '../../src/model/json.ts'

test('two values are the same JSON if their texts are', () => {
  const leaf = fc.constantFrom<Json>(null, 0, 1, '', 'a', true)
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('a', 'b', '0', '__proto__'), tie('value'), { maxKeys: 2 }),
    ),
  }))
  let equal = 0
  fc.assert(
    fc.property(value, value, (one, other) => {
      const isEqual = JSON.stringify(one) === JSON.stringify(other)
      if (isEqual) equal++
      assert.equal(isSameJson(one, other), isEqual)
      assert.ok(isSameJson(one, structuredClone(one)))
    }),
    { numRuns: 5000, seed: Number(process.env['DRAGOMAN_SEED'] ?? 1) },
  )
  assert.ok(equal > 100)
})
