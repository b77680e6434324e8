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

/** Does a text hold one of these secrets, as it is or in a usual coding? */
export function holdsSecret(text: string, secrets: readonly string[]): boolean {
  const forms = [text, decoded(text)]
  return secrets.some(
    (secret) => secret.length >= 6 && codings(secret).some((one) => forms.some((form) => has(form, one))),
  )
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
  return [secret, bare(bytes.toString('base64')), bytes.toString('base64url'), bytes.toString('hex')]
}

/** Names are told apart from one another without regard to case, so a secret in one is found the same way. */
function has(text: string, wanted: string): boolean {
  return text.toLowerCase().includes(wanted.toLowerCase())
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
