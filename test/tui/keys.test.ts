import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { type KeyEvent, createKeyParser } from '../../src/cli/tui/term/key-parser.ts'

const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)

/** What a terminal sends for one thing that a person does. */
const PIECES = [
  ['a', 'é', '語', '👩‍👩‍👧', ' ', 'word', '\r', '\n', '\t', '\u007F', '\u0001', '\u0003', '\u001F', '\u0000'],
  ['\u001B[A', '\u001B[1;5C', '\u001B[3~', '\u001B[Z', '\u001BOH', '\u001B\r', '\u001Bb', '\u001B\u007F'],
  ['\u001B[13;2u', '\u001B[97;5u', '\u001B[27;2;13~', '\u001B[?62;c', '\u001B]11;rgb:0/0/0\u0007', '\u001B[I'],
  ['\u001B[200~two\r\nlines \u001B[A\u001B[201~', '\u001B[200~\u001B[201~'],
].flat()

/** Text that came in two pieces is the same text. */
function joined(keys: readonly KeyEvent[]): KeyEvent[] {
  const out: KeyEvent[] = []
  for (const key of keys) {
    const last = out.at(-1)
    if (key.type === 'text' && last?.type === 'text') out[out.length - 1] = { ...last, text: last.text + key.text }
    else out.push(key)
  }
  return out
}

function read(pieces: readonly string[]): KeyEvent[] {
  const reader = createKeyParser()
  return joined([...pieces.flatMap((piece) => reader.parse(piece)), ...reader.flush()])
}

describe('keys', () => {
  test('are the same, wherever what the terminal sends is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }),
        fc.infiniteStream(fc.nat(6)),
        (sent, sizes) => {
          const whole = sent.join('')
          const cuts: string[] = []
          for (let at = 0; at < whole.length;) {
            const size = 1 + (sizes.next().value as number)
            cuts.push(whole.slice(at, at + size))
            at += size
          }
          assert.deepEqual(read(cuts), read([whole]))
        },
      ),
      { numRuns: 1000, seed: SEED },
    )
  })

  test('whatever comes, nothing is kept for ever, and what is pasted is never a key', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (noise) => {
        const reader = createKeyParser()
        reader.parse(noise.replaceAll('\u001B[200~', ''))
        reader.flush()
        assert.equal(reader.isPending, false)
        const text = noise.replaceAll('\u001B', '').replaceAll('\r', '')
        assert.deepEqual(reader.parse(`\u001B[200~${text}\u001B[201~`), [{ type: 'paste', text }])
      }),
      { numRuns: 500, seed: SEED },
    )
  })

  test('a lone Escape is a key once nothing more comes; with a letter it is Alt', () => {
    const reader = createKeyParser()
    assert.deepEqual(reader.parse('\u001B'), [])
    assert.equal(reader.isPending, true)
    assert.deepEqual(reader.flush(), [{ type: 'key', name: 'escape' }])
    assert.deepEqual(reader.parse('\u001Bf'), [{ type: 'key', name: 'f', alt: true }])
    assert.deepEqual(reader.parse('\u001B[13;2u'), [{ type: 'key', name: 'enter', shift: true }])
  })
})
