import { isUtf8 } from 'node:buffer'
import { guessLegacy, legacyDecode, legacyEncode } from './legacy.ts'

/** How the bytes of a file stand for text: an encoding, and the mark that the file begins with. */
export interface Coding {
  readonly name: string
  readonly mark: readonly number[]
}

/** What a new file gets. */
export const UTF8: Coding = { name: 'utf-8', mark: [] }

/** Finds out how bytes are to be read as text. Nothing means that they are no text. */
export async function codingOf(bytes: Uint8Array): Promise<Coding | undefined> {
  const marked = MARKS.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte))
  if (marked) return marked
  if (isUtf8(bytes)) return bytes.includes(0) ? undefined : UTF8
  const wide = withoutMark(bytes)
  if (wide) return wide
  if (bytes.includes(0) || controls(bytes) > bytes.length / 100) return undefined
  return { name: await guessLegacy(bytes), mark: [] }
}

/** The text that bytes stand for, without the mark. */
export async function decode(bytes: Uint8Array, { name, mark }: Coding): Promise<string> {
  const body = bytes.subarray(mark.length)
  const buffer = Buffer.from(body.buffer, body.byteOffset, body.length)
  if (name === 'utf-8') return buffer.toString('utf8')
  if (name === 'utf-16le') return buffer.toString('utf16le')
  if (name === 'utf-16be') return swapped(buffer, 2).toString('utf16le')
  if (name === 'latin1') return buffer.toString('latin1')
  return legacyDecode(buffer, name)
}

/** The bytes that stand for a text; or the first character that this encoding does not have. */
export async function encode(text: string, { name, mark }: Coding): Promise<Uint8Array | { missing: string }> {
  const body = await encodeBody(text, name)
  if ('missing' in body) return body
  return mark.length === 0 ? body : Buffer.concat([Buffer.from(mark), body])
}

const MARKS: readonly Coding[] = [
  { name: 'utf-8', mark: [0xef, 0xbb, 0xbf] },
  { name: 'utf-32le', mark: [0xff, 0xfe, 0, 0] },
  { name: 'utf-32be', mark: [0, 0, 0xfe, 0xff] },
  { name: 'utf-16le', mark: [0xff, 0xfe] },
  { name: 'utf-16be', mark: [0xfe, 0xff] },
]

async function encodeBody(text: string, name: string): Promise<Buffer | { missing: string }> {
  if (name === 'utf-16le') return Buffer.from(text, 'utf16le')
  if (name === 'utf-16be') return swapped(Buffer.from(text, 'utf16le'), 2)
  if (name === 'utf-8') {
    const half = HALF_PAIR.exec(text)
    return half ? { missing: half[0] } : Buffer.from(text, 'utf8')
  }
  if (name === 'latin1') {
    const wide = /[^\0-\xFF]/u.exec(text)
    return wide ? { missing: wide[0] } : Buffer.from(text, 'latin1')
  }
  return legacyEncode(text, name)
}

const HALF_PAIR = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

/** UTF-16 without a mark: every other byte of Western text is zero, and hardly any of the rest. */
function withoutMark(bytes: Uint8Array): Coding | undefined {
  if (bytes.length < 4 || bytes.length % 2 !== 0) return undefined
  const zeros = [0, 0]
  for (const [at, byte] of bytes.subarray(0, SAMPLE).entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const half = Math.min(bytes.length, SAMPLE) / 2
  const [even = 0, odd = 0] = zeros
  if (odd > half * 0.4 && even < half * 0.02) return { name: 'utf-16le', mark: [] }
  if (even > half * 0.4 && odd < half * 0.02) return { name: 'utf-16be', mark: [] }
  return undefined
}

const SAMPLE = 65_536

/** Text has tabs and line ends, but hardly any other control characters. */
function controls(bytes: Uint8Array): number {
  let count = 0
  for (const byte of bytes) if (byte < 32 && (byte < 9 || byte > 13) && byte !== 27) count++
  return count
}

function swapped(bytes: Buffer, width: 2): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % width))).swap16()
}
