import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { getInvocationName } from '../../src/cli/args/invocation-name.ts'
import { clearAway } from '../support/clear.ts'

test('the command is called as it was called', () => {
  const bin = mkdtempSync(join(tmpdir(), 'dragoman-bin-'))
  writeFileSync(join(bin, 'dragoman'), '')
  const PATH = `/nowhere:${bin}`
  assert.equal(getInvocationName({ PATH }), 'dragoman')
  assert.equal(getInvocationName({ PATH, npm_lifecycle_event: 'start', npm_package_name: 'dragoman' }), 'npm start --')
  assert.equal(getInvocationName({ PATH, npm_lifecycle_event: 'start', npm_package_name: 'a-shop' }), 'dragoman')
  assert.equal(getInvocationName({ PATH, npm_command: 'exec', npm_lifecycle_event: 'npx' }), 'npx dragoman')
  // On no path: the file that runs.
  assert.equal(getInvocationName({ PATH: '/nowhere' }), process.argv[1])
  clearAway(bin)
})
