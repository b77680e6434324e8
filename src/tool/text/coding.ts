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
  const hasZero = bytes.includes(0)
  if (!hasZero && isUtf8(bytes)) return UTF8
  const wide = hasZero ? withoutMark(bytes) : undefined
  if (wide) return wide
  if (hasZero || controls(bytes) > bytes.length / 100) return undefined
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

/** UTF-16 without a mark: every other byte of Western text is zero, and the rest is text. */
function withoutMark(bytes: Uint8Array): Coding | undefined {
  if (bytes.length < 8 || bytes.length % 2 !== 0) return undefined
  const sample = bytes.subarray(0, SAMPLE)
  const [even, odd] = [0, 1].map((side) => sample.filter((_byte, at) => at % 2 === side)) as [Uint8Array, Uint8Array]
  if (isMostlyZero(odd) && isText(even)) return { name: 'utf-16le', mark: [] }
  return isMostlyZero(even) && isText(odd) ? { name: 'utf-16be', mark: [] } : undefined
}

function isMostlyZero(bytes: Uint8Array): boolean {
  return bytes.filter((byte) => byte === 0).length > bytes.length * 0.4
}

function isText(bytes: Uint8Array): boolean {
  return controls(bytes) < bytes.length * 0.02
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
