import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { INVALID_BYTES_MARKER, replaceInvalidBytes, createUtf8Decoder } from '../../src/wire/framing/utf8-decoder.ts'
import { runs } from '../support/runs.ts'

/** What the decoder makes of bytes that come in pieces. */
function decoded(bytes: Uint8Array, cuts: readonly number[]): string {
  const decoder = createUtf8Decoder()
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length].toSorted((a, b) => a - b)
  return ends.map((end, at) => decoder.push(bytes.slice(ends[at - 1] ?? 0, end))).join('') + decoder.end()
}

/** Bytes near the edges of what is valid, where decoders differ. */
const EDGES = [
  0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xbb, 0xf0, 0xf4,
  0xf5, 0xff,
]

const { options } = runs(3000)

test('any bytes, however they are cut, read as every other decoder reads them', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.array(fc.constantFrom(...EDGES), { maxLength: 12 }).map((list) => Uint8Array.from(list)),
    fc.string({ unit: 'binary', maxLength: 20 }).map((text) => new TextEncoder().encode(text)),
  )
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(), { maxLength: 6 }), (some, cuts) => {
      const text = decoded(some, cuts)
      assert.equal(replaceInvalidBytes(text), new TextDecoder().decode(some))
      const isValid = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(some)).equals(Buffer.from(some))
      assert.equal(text.includes(INVALID_BYTES_MARKER), !isValid, 'broken bytes, and only they, are marked')
    }),
    options,
  )
})
