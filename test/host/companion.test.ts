import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boxedPlace, skipWithoutBox } from './box.ts'

const skip = await skipWithoutBox()

test('the end of a program that ends at once is told, however many there are', { skip }, async () => {
  using at = boxedPlace()
  const program = { command: '/bin/bash', args: ['-c', 'exit 7'], folder: at.ws }
  const end = (): Promise<string> =>
    new Promise((resolve, reject) => {
      setTimeout(resolve, 60_000, 'it was never told').unref()
      at.host.stdioProcesses.open(program, { onOutput: () => undefined, onExit: resolve }).catch(reject)
    })
  for (let round = 0; round < 20; round++)
    assert.deepEqual(
      await Promise.all([end(), end(), end()]),
      Array.from({ length: 3 }, () => 'ended with code 7'),
    )
})
