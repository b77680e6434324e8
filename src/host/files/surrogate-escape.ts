import { isUtf8 } from 'node:buffer'

/*
 * A name on a Unix disk is bytes, which need not be UTF-8. In our strings a byte that belongs to no character is written as a lone
 * surrogate (U+DC80 to U+DCFF), as Python does: so that every name is a string, no two names are the same, and the way back is exact.
 */

export function decodeSurrogateEscape(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  let text = ''
  for (let at = 0; at < bytes.length;) {
    const byte = bytes[at] ?? 0
    const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    const part = bytes.subarray(at, at + length)
    const isWhole = part.length === length && isUtf8(part)
    text += isWhole ? part.toString('utf8') : String.fromCharCode(0xdc00 + byte)
    at += isWhole ? length : 1
  }
  return text
}

export function encodeSurrogateEscape(path: string): string | Buffer {
  if (path.isWellFormed()) return path
  return Buffer.concat(
    path
      .split(LONE_SURROGATE)
      .map((part) =>
        SINGLE_LONE_SURROGATE.test(part) ? Buffer.from([part.charCodeAt(0) - 0xdc00]) : Buffer.from(part),
      ),
  )
}

const LONE_SURROGATE = /(?<![\uD800-\uDBFF])([\uDC80-\uDCFF])/
const SINGLE_LONE_SURROGATE = /^[\uDC80-\uDCFF]$/
