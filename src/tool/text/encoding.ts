import { isUtf8 } from 'node:buffer'
import { guessLegacyEncoding, encodeLegacyText } from './legacy-encoding.ts'

/** How the bytes of a file encode text: an encoding, and the byte order mark. */
export interface TextEncoding {
  readonly name: string
  readonly bom: readonly number[]
}

export const UTF8_ENCODING: TextEncoding = { name: 'utf-8', bom: [] }

/** Undefined for bytes that are not text. */
export async function detectEncoding(bytes: Uint8Array): Promise<TextEncoding | undefined> {
  const encodingByBom = BOM_ENCODINGS.find(({ bom }) => bom.every((byte, at) => bytes[at] === byte))
  if (encodingByBom) return encodingByBom
  const hasZero = bytes.includes(0)
  if (!hasZero && isUtf8(bytes)) return UTF8_ENCODING
  const utf16 = hasZero ? detectUtf16WithoutBom(bytes) : undefined
  if (utf16) return utf16
  if (hasZero || countControlCharacters(bytes) > bytes.length / 100) return undefined
  return { name: await guessLegacyEncoding(bytes), bom: [] }
}

export async function decodeText(bytes: Uint8Array, { name, bom }: TextEncoding): Promise<string> {
  const body = bytes.subarray(bom.length)
  const buffer = Buffer.from(body.buffer, body.byteOffset, body.length)
  if (name === 'utf-8') return buffer.toString('utf8')
  if (name === 'utf-16le') return buffer.toString('utf16le')
  if (name === 'utf-16be') return swapBytes(buffer).toString('utf16le')
  if (name === 'latin1') return buffer.toString('latin1')
  // The tables of encodings before Unicode are loaded only when a file needs them.
  const { decodeWithIconv } = await import('./iconv.ts')
  return decodeWithIconv(buffer, name)
}

/** The bytes of a text, or the first character that the encoding lacks. */
export async function encodeText(text: string, { name, bom }: TextEncoding): Promise<Uint8Array | { missing: string }> {
  const body = await encodeWithoutBom(text, name)
  if ('missing' in body) return body
  return bom.length === 0 ? body : Buffer.concat([Buffer.from(bom), body])
}

const BOM_ENCODINGS: readonly TextEncoding[] = [
  { name: 'utf-8', bom: [0xef, 0xbb, 0xbf] },
  { name: 'utf-32le', bom: [0xff, 0xfe, 0, 0] },
  { name: 'utf-32be', bom: [0, 0, 0xfe, 0xff] },
  { name: 'utf-16le', bom: [0xff, 0xfe] },
  { name: 'utf-16be', bom: [0xfe, 0xff] },
]

async function encodeWithoutBom(text: string, name: string): Promise<Buffer | { missing: string }> {
  if (name === 'utf-16le') return Buffer.from(text, 'utf16le')
  if (name === 'utf-16be') return swapBytes(Buffer.from(text, 'utf16le'))
  if (name === 'utf-8') {
    const half = LONE_SURROGATE.exec(text)
    return half ? { missing: half[0] } : Buffer.from(text, 'utf8')
  }
  if (name === 'latin1') {
    const utf16 = /[^\0-\xFF]/u.exec(text)
    return utf16 ? { missing: utf16[0] } : Buffer.from(text, 'latin1')
  }
  return encodeLegacyText(text, name)
}

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

/** UTF-16 without a byte order mark: in Western text every other byte is zero. */
function detectUtf16WithoutBom(bytes: Uint8Array): TextEncoding | undefined {
  if (bytes.length < 8 || bytes.length % 2 !== 0) return undefined
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const [even, odd] = [0, 1].map((side) => sample.filter((_byte, at) => at % 2 === side)) as [Uint8Array, Uint8Array]
  if (isMostlyZero(odd) && isText(even)) return { name: 'utf-16le', bom: [] }
  return isMostlyZero(even) && isText(odd) ? { name: 'utf-16be', bom: [] } : undefined
}

function isMostlyZero(bytes: Uint8Array): boolean {
  return bytes.filter((byte) => byte === 0).length > bytes.length * 0.4
}

function isText(bytes: Uint8Array): boolean {
  return countControlCharacters(bytes) < bytes.length * 0.02
}

const SAMPLE_BYTES = 65_536

/** Text contains hardly any control characters except tabs and line endings. */
function countControlCharacters(bytes: Uint8Array): number {
  let count = 0
  for (const byte of bytes) if (byte < 32 && (byte < 9 || byte > 13) && byte !== 27) count++
  return count
}

function swapBytes(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2))).swap16()
}
