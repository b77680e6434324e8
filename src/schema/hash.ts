/** A 32-bit FNV-1a hash of the text's UTF-16 units, mixed at the end so that short texts differ in every bit. */
export function hash32(text: string): number {
  return fnv1a(text, 0x811c9dc5)
}

export function base36Hash(text: string, length: number): string {
  return digest(text, length, BASE36)
}

export function base62Hash(text: string, length: number): string {
  return digest(text, length, BASE62)
}

const BASE36 = '0123456789abcdefghijklmnopqrstuvwxyz'
const BASE62 = `${BASE36}ABCDEFGHIJKLMNOPQRSTUVWXYZ`

/** Five characters per 32-bit word keep the loss by the modulus small in either alphabet. */
const CHARS_PER_WORD = 5

function digest(text: string, length: number, alphabet: string): string {
  let out = ''
  for (let word = 0; out.length < length; word++) {
    let bits = fnv1a(text, (0x811c9dc5 ^ Math.imul(word, 0x9e3779b1)) >>> 0)
    for (let i = 0; i < CHARS_PER_WORD && out.length < length; i++) {
      out += alphabet[bits % alphabet.length]
      bits = Math.floor(bits / alphabet.length)
    }
  }
  return out
}

function fnv1a(text: string, basis: number): number {
  let hash = basis
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193)
    hash = Math.imul(hash ^ (unit >>> 8), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
