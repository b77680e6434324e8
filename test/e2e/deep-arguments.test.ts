import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'

test('a session with arguments that are nested thousands of levels deep is resumed', async () => {
  const deep = `{"path":".","x":${'['.repeat(6000)}${']'.repeat(6000)}}`
  const here = await stage([{ call: [{ name: 'list_directory', args: deep }] }, { say: 'One.' }, { say: 'Two.' }])
  const started = await dragoman(['-p', 'go'], here)
  assert.doesNotMatch(started.err, /Details are in/)
  const resumed = await dragoman(['-p', 'go on', '--resume'], here)
  assert.equal(resumed.code, 0, resumed.err.slice(0, 500))
  assert.doesNotMatch(resumed.err, /Details are in/)
})
