import { redactor } from '../model/secret.ts'

/** What a URL carries besides an address: data of ours, or something long or coded; nothing if it looks ordinary. */
export function carriedData(text: string, url: URL): string | undefined {
  if (forms.sure(text).length > 0) return 'it holds what looks like a key'
  if (text.length > MAX_ORDINARY) return `the address is ${text.length} characters long`
  const written = /^[a-z]+:\/\/([^/?#]*)/i.exec(text)?.[1] ?? url.host
  const labels = written.replace(/:\d*$/, '').split('.').slice(0, -2)
  if (labels.length > 6 || url.hostname.length > 100) return 'the host name is long enough to hide data in'
  const label = labels.find((one) => looksCoded(one, 15) || isHex(one.replaceAll('-', ''), 16))
  if (label !== undefined) return `the host name holds coded data (${label})`
  const segment = url.pathname.split('/').find((one) => looksCoded(one, 24) && !isHex(one.replaceAll('-', ''), 16))
  if (segment !== undefined) return 'the path holds coded data'
  for (const [key, value] of url.searchParams) {
    if (looksCoded(value, 16) || looksCoded(key, 16) || isHex(value.replaceAll('-', ''), 16)) {
      return `its parameter ${key.slice(0, 40)} holds coded data`
    }
    if (value.length > MAX_VALUE) return `its parameter ${key.slice(0, 40)} is ${value.length} characters long`
  }
  return undefined
}

/**
 * Does an address hold one of these secrets: as it is, backwards, in a usual coding, escaped however often, cut into pieces
 * with something between them, or most of it?
 */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  const plain = unescapedText(text)
  const rows = [plain, pieces(plain).join(''), pieces(plain).toReversed().join('')].map(squeezed)
  return secrets.some((secret) => {
    if (secret.length < MIN_SECRET) return false
    return [...codings(secret), ...codings(Array.from(secret).toReversed().join(''))].some((form) => {
      const wanted = squeezed(form)
      return rows.some((row) => row.includes(wanted)) || isMostlyIn(rows, wanted)
    })
  })
}

const MIN_SECRET = 6

/** Names are told apart from one another without regard to case, and anything may stand between two letters. */
function squeezed(text: string): string {
  const bare = text.toLowerCase().replace(/[^a-z0-9]/g, '')
  return bare === '' ? text.toLowerCase() : bare
}

/** What an address says beside its own grammar: labels, steps of the path, values. Names of parameters may be anything. */
function pieces(text: string): string[] {
  return text
    .replace(/^[a-z]+:\/\//i, '')
    .split(/[/?#&;.,|~\s]+/)
    .map((piece) => piece.replace(/^[^=]{0,40}=/, ''))
}

/** Are most of a long secret's letters there, in pieces that are too long to be there by chance? */
function isMostlyIn(rows: readonly string[], wanted: string): boolean {
  if (wanted.length < 2 * LONG_PIECE) return false
  let covered = 0
  for (let at = 0; at + LONG_PIECE <= wanted.length;) {
    let length = LONG_PIECE
    if (!rows.some((row) => row.includes(wanted.slice(at, at + length)))) {
      at++
      continue
    }
    while (at + length < wanted.length && rows.some((row) => row.includes(wanted.slice(at, at + length + 1)))) length++
    covered += length
    at += length
  }
  return covered >= wanted.length * 0.75
}

const LONG_PIECE = 8

/** A text with its escapes undone, as often as it was escaped. */
function unescapedText(text: string): string {
  let plain = text
  for (let round = 0; round < 5; round++) {
    const next = decoded(plain.replaceAll('+', ' '))
    if (next === plain) return plain
    plain = next
  }
  return plain
}

/** Knows the forms that keys have. */
const forms = redactor()

const MAX_ORDINARY = 2_000
const MAX_VALUE = 400

/** Letters and digits in an order that no word has: they change again and again, or there is no vowel to speak them by. */
function looksCoded(text: string, length: number): boolean {
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

function codings(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const bare = (coded: string) => coded.replace(/=+$/, '')
  // Base64 of a text that stands at another place in a longer one has other letters at its ends.
  const shifted = [1, 2].map((by) => {
    const coded = Buffer.concat([Buffer.alloc(by), bytes]).toString('base64')
    return bare(coded).slice(by + 1, -1)
  })
  const base64 = bare(bytes.toString('base64'))
  return [secret, base64, base64.slice(0, -1), ...shifted, bytes.toString('hex')]
}

/** Escapes that are wrong stay as they are, and do not keep the others from being undone. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run)
    } catch {
      return Buffer.from(run.replaceAll('%', ''), 'hex').toString('latin1')
    }
  })
}
