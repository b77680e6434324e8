import { createRedactor } from '../../model/security/redactor.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

/** Returns what a URL carries besides an address: a key, or something long or encoded. */
export function findDataInUrl(text: string, url: URL): string | undefined {
  if (secretPatterns.findCertainSpans(text).length > 0) return 'it holds what looks like a key'
  if (text.length > MAX_ORDINARY_URL_CHARS) return `the address is ${text.length} characters long`
  const authority = /^[a-z]+:\/\/([^/?#]*)/i.exec(text)?.[1] ?? url.host
  const labels = authority.replace(/:\d*$/, '').split('.').slice(0, -2)
  if (labels.length > 6 || url.hostname.length > 100) return 'the host name is long enough to hide data in'
  const label = labels.find((one) => looksEncoded(one, 15) || isHex(one.replaceAll('-', ''), 16))
  if (label !== undefined) return `the host name holds coded data (${label})`
  const segment = url.pathname.split('/').find((one) => looksEncoded(one, 24) && !isHex(one.replaceAll('-', ''), 16))
  if (segment !== undefined) return 'the path holds coded data'
  for (const [key, value] of url.searchParams) {
    if (looksEncoded(value, 16) || looksEncoded(key, 16) || isHex(value.replaceAll('-', ''), 16)) {
      return `its parameter ${key.slice(0, 40)} holds coded data`
    }
    if (value.length > MAX_PARAMETER_CHARS)
      return `its parameter ${key.slice(0, 40)} is ${value.length} characters long`
  }
  return undefined
}

/** Finds secrets as they are, encoded, escaped several times, reversed, split, or in part. */
export function findSecretInText(text: string, secrets: readonly string[]): 'whole' | 'part' | undefined {
  const longSecrets = secrets.filter((secret) => secret.length >= 6)
  if (longSecrets.length === 0) return undefined
  const forms = listReadings(text)
  const isIn = (piece: string): boolean => forms.some((form) => form.includes(piece))
  if (longSecrets.some((secret) => [...listEncodings(secret), ...listFragments(secret, WHOLE_SECRET_SHARE)].some(isIn)))
    return 'whole'
  return longSecrets.some((secret) => listFragments(secret, PARTIAL_SECRET_SHARE).some(isIn)) ? 'part' : undefined
}

/** Lists the ways to read a text: unescaped repeatedly, with its parameter values joined, and without separators. */
function listReadings(text: string): string[] {
  const unescaped = [text]
  for (let rounds = 0; rounds < MAX_DECODE_ROUNDS; rounds++) {
    const next = decodePercentEscapes(unescaped.at(-1) ?? '')
    if (next === unescaped.at(-1)) break
    unescaped.push(next)
  }
  // A secret may be split over several parameters.
  const joined = unescaped.flatMap((one) => {
    const [start = '', ...values] = one.split(/[?&;][^=&;]*=/)
    return [start + values.join(''), values.toReversed().join('')]
  })
  // Wide and other forms of letters, and character escapes.
  const plain = [...unescaped, ...joined].map((one) => one.normalize('NFKC').replace(NUMBER_MARKS, ''))
  const bare = [...unescaped, ...joined, ...plain].map(removeSeparators)
  return [...new Set([...unescaped, ...joined, ...plain, ...bare].map((one) => one.toLowerCase()))]
}

const MAX_DECODE_ROUNDS = 8
const NUMBER_MARKS = /(?:0x|&#x|\\x|\\u00)(?=[0-9a-f]{2})/gi

function removeSeparators(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, '')
}

const secretPatterns = createRedactor()

const MAX_ORDINARY_URL_CHARS = 2_000
const MAX_PARAMETER_CHARS = 400

/** Do letters and digits alternate as in no word, or are there hardly any vowels? */
function looksEncoded(text: string, length: number): boolean {
  return text.split(/[^A-Za-z0-9+/=_]|%2[bf]|%3d/i).some((word) => {
    const bare = word.replace(/^[=_]+|[=_]+$/g, '')
    if (bare.length < length) return false
    const changes = [...bare.matchAll(/[a-z](?=[A-Z0-9])|[A-Z](?=[0-9])|[0-9](?=[A-Za-z])|[A-Z]{2,}(?=[a-z])/g)].length
    const letters = bare.replace(/[^A-Za-z]/g, '')
    const vowels = letters.replace(/[^aeiouyAEIOUY]/g, '').length
    return changes > bare.length / 5 || (/\d/.test(bare) && letters.length > 9 && vowels < letters.length / 8)
  })
}

function isHex(text: string, length: number): boolean {
  return text.length >= length && /^[0-9a-f]+$/i.test(text) && /\d/.test(text)
}

/** Lists the encodings of a secret in lower case, since host names ignore case. */
function listEncodings(secret: string): string[] {
  const reversed = secret.split('').reverse().join('')
  const authority = [secret, reversed, rotated(secret)].flatMap((one) => {
    const bytes = Buffer.from(one)
    const inBase64 = bytes.toString('base64').replace(/=+$/, '')
    const inHex = bytes.toString('hex')
    const twice = [bytes.toString('base64'), inBase64, inHex].map((text) => Buffer.from(text))
    return [
      one,
      removeSeparators(one),
      inBase64,
      bytes.toString('base64url'),
      ...[1, 2].map((by) => encodeShiftedBase64(bytes, by)),
      inHex,
      ...[inBase64, inHex].map((text) => text.split('').reverse().join('')),
      base32(bytes),
      [...bytes].join(''),
      [...bytes].map((byte) => byte.toString(8)).join(''),
      ...[...twice, Buffer.from(one, 'utf16le')].flatMap((two) => [
        two.toString('base64').replace(/=+$/, ''),
        two.toString('hex'),
      ]),
    ]
  })
  return [...new Set(authority)].filter((one) => one.length >= 6).map((one) => one.toLowerCase())
}

/** ROT13. */
function rotated(text: string): string {
  return text.replace(/[a-z]/gi, (letter) => {
    const first = letter <= 'Z' ? 65 : 97
    return String.fromCharCode(first + ((letter.charCodeAt(0) - first + 13) % 26))
  })
}

function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  return groups.map((group) => 'abcdefghijklmnopqrstuvwxyz234567'[parseInt(group.padEnd(5, '0'), 2)]).join('')
}

/** Base64 of a text at another offset, without the ends that depend on its neighbours. */
function encodeShiftedBase64(bytes: Buffer, by: number): string {
  const coded = Buffer.concat([Buffer.alloc(by), bytes]).toString('base64')
  return coded.replace(/=+$/, '').slice(by + 1, -1)
}

/** Lists parts of a secret that are too long to be in a URL by chance. */
function listFragments(secret: string, share: number): string[] {
  const length = Math.max(MIN_FRAGMENT_CHARS, Math.ceil(secret.length * share))
  if (secret.length < MIN_FRAGMENT_CHARS * 1.5) return []
  return Array.from({ length: secret.length - length + 1 }, (_unused, at) =>
    secret.slice(at, at + length).toLowerCase(),
  )
}

const MIN_FRAGMENT_CHARS = 8
const PARTIAL_SECRET_SHARE = 1 / 3
const WHOLE_SECRET_SHARE = 3 / 4

/** Invalid escapes do not prevent the decoding of others. */
function decodePercentEscapes(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    return (
      tryOrUndefined(() => decodeURIComponent(run)) ?? Buffer.from(run.replaceAll('%', ''), 'hex').toString('latin1')
    )
  })
}
