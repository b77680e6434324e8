import { fromRaw } from '../../host/raw-name.ts'

/** Characters that cannot be seen, or turn the direction of text; and bytes that are no character at all. */
const UNSEEN = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/u
const ALL_UNSEEN = new RegExp(UNSEEN, 'gu')
const QUOTED = /\$'((?:[^'\\]|\\.)*)'/gs
const ESCAPE = /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|(.))/gis

/** A text with what cannot be seen written as bash writes it: `\x1b`, `\u202e`. Line ends and tabs stay. */
export function escapeUnseen(text: string): string {
  return text.replace(ALL_UNSEEN, (sign) => (sign === '\n' || sign === '\t' ? sign : escapeOf(sign)))
}

/** How many characters of a text cannot be seen, beside line ends and tabs. */
export function countUnseen(text: string): number {
  return (text.match(ALL_UNSEEN) ?? []).filter((sign) => sign !== '\n' && sign !== '\t' && sign !== '\r').length
}

/** A file's name for the model: as it is, or where that cannot be read exactly, as bash quotes it (`$'a\xff\n'`). */
export function quoteName(name: string): string {
  if (!UNSEEN.test(name) && !name.includes("$'")) return name
  const body = name.replace(/[\\']/g, (sign) => `\\${sign}`).replace(ALL_UNSEEN, escapeOf)
  return `$'${body}'`
}

/** The name that is meant by what `quoteName` printed, also as a part of a path. */
export function unquoteName(text: string): string {
  return text.includes("$'") ? text.replace(QUOTED, (_quoted, body: string) => unescaped(body)) : text
}

function escapeOf(sign: string): string {
  const code = sign.charCodeAt(0)
  if (sign === '\n') return '\\n'
  // A byte that is no character (see `raw-name.ts`).
  const byte = code >= 0xdc80 && code <= 0xdcff ? code - 0xdc00 : code < 0x80 ? code : undefined
  return byte === undefined ? `\\u${code.toString(16).padStart(4, '0')}` : `\\x${byte.toString(16).padStart(2, '0')}`
}

function unescaped(body: string): string {
  const parts: Buffer[] = []
  let from = 0
  for (const match of body.matchAll(ESCAPE)) {
    const [whole, byte, unit, sign = ''] = match
    parts.push(Buffer.from(body.slice(from, match.index)))
    if (byte !== undefined) parts.push(Buffer.from([Number.parseInt(byte, 16)]))
    else
      parts.push(
        Buffer.from(unit === undefined ? (NAMED[sign] ?? sign) : String.fromCharCode(Number.parseInt(unit, 16))),
      )
    from = match.index + whole.length
  }
  return fromRaw(Buffer.concat([...parts, Buffer.from(body.slice(from))]))
}

const NAMED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }
