import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman } from '../support/command.ts'
import { RAW_WIRES, type RawWire, rawAnswer, rawStage } from '../support/raw-server.ts'

/** An answer in which the letter @ was replaced by bytes that are no UTF-8. */
function broken(answer: string, bytes: readonly number[]): Uint8Array {
  const pieces = answer
    .split('@')
    .flatMap((piece, at) => (at === 0 ? [Buffer.from(piece)] : [Buffer.from(bytes), Buffer.from(piece)]))
  return Buffer.concat(pieces)
}

describe('bytes that are no UTF-8', () => {
  for (const wire of Object.keys(RAW_WIRES) as RawWire[])
    test(`in a call: it does not run, and the model is told (${wire})`, async () => {
      const call = { name: 'write_file', args: { file_path: 'a@b.txt', content: 'x' } }
      const set = await rawStage(wire, ({ n }) =>
        n === 0
          ? broken(rawAnswer(wire, { text: 'Naïve @ text.', calls: [call] }), [0xff])
          : rawAnswer(wire, { text: 'END' }),
      )
      call.args.file_path = join(set.work, 'a@b.txt')
      const { code, out } = await dragoman(['-p', 'go', '--yolo', '--sandbox', 'off'], set)
      assert.equal(code, 0)
      assert.match(out, /Naïve \uFFFD text\.[\s\S]*END/, 'text with broken bytes stays readable')
      assert.deepEqual(readdirSync(set.work), [], 'nothing was written')
      assert.match(set.bodies[1] ?? '', /did not run[^"]*invalid UTF-8/)
    })

  test('a replacement character that the model wrote is a character like any other', async () => {
    const call = { name: 'write_file', args: { file_path: '', content: 'a \uFFFD b' } }
    const set = await rawStage('openai-chat', ({ n }) =>
      rawAnswer('openai-chat', n === 0 ? { calls: [call] } : { text: 'END' }),
    )
    call.args.file_path = join(set.work, 'c.txt')
    const { code } = await dragoman(['-p', 'go', '--yolo', '--sandbox', 'off'], set)
    assert.equal(code, 0)
    assert.ok(existsSync(join(set.work, 'c.txt')))
  })
})
