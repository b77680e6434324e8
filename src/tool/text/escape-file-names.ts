import { decodeSurrogateEscape } from '../../host/files/surrogate-escape.ts'

/** Invisible characters, direction overrides, and bytes that are not a character. */
const INVISIBLE_PATTERN = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/u
const ALL_INVISIBLE_PATTERN = new RegExp(INVISIBLE_PATTERN, 'gu')
const QUOTED_NAME_PATTERN = /\$'((?:[^'\\]|\\.)*)'/gs
const ESCAPE_PATTERN = /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|(.))/gis

/** Writes invisible characters as bash does: `\x1b`, `\u202e`. Line endings and tabs stay. */
export function escapeInvisible(text: string): string {
  return text.replace(ALL_INVISIBLE_PATTERN, (character) =>
    character === '\n' || character === '\t' ? character : escapeCharacter(character),
  )
}

export function countInvisibleCharacters(text: string): number {
  return (text.match(ALL_INVISIBLE_PATTERN) ?? []).filter(
    (character) => character !== '\n' && character !== '\t' && character !== '\r',
  ).length
}

/** A file name for the model: unchanged, or quoted as bash does if it cannot be read exactly (`$'a\xff\n'`). */
export function quoteFileName(name: string): string {
  if (!needsQuotes(name)) return name
  const body = name.replace(/[\\']/g, (character) => `\\${character}`).replace(ALL_INVISIBLE_PATTERN, escapeCharacter)
  return `$'${body}'`
}

/** The same for many names. Mostly none needs quotes, and looking at all of them together is faster. */
export function quoteFileNames(names: readonly string[]): readonly string[] {
  return needsQuotes(names.join('/')) ? names.map(quoteFileName) : names
}

function needsQuotes(text: string): boolean {
  return INVISIBLE_PATTERN.test(text) || text.includes("$'")
}

/** Reverses `quoteFileName`, also within a path. */
export function unquoteFileName(text: string): string {
  return text.includes("$'") ? text.replace(QUOTED_NAME_PATTERN, (_quoted, body: string) => unescapeText(body)) : text
}

function escapeCharacter(character: string): string {
  const code = character.charCodeAt(0)
  if (character === '\n') return '\\n'
  // A byte that is not a character (see `surrogate-escape.ts`).
  const byte = code >= 0xdc80 && code <= 0xdcff ? code - 0xdc00 : code < 0x80 ? code : undefined
  return byte === undefined ? `\\u${code.toString(16).padStart(4, '0')}` : `\\x${byte.toString(16).padStart(2, '0')}`
}

function unescapeText(body: string): string {
  const parts: Buffer[] = []
  let from = 0
  for (const match of body.matchAll(ESCAPE_PATTERN)) {
    const [whole, byte, unit, character = ''] = match
    parts.push(Buffer.from(body.slice(from, match.index)))
    const plain =
      unit === undefined ? (NAMED_ESCAPES[character] ?? character) : String.fromCharCode(Number.parseInt(unit, 16))
    parts.push(byte === undefined ? Buffer.from(plain) : Buffer.from([Number.parseInt(byte, 16)]))
    from = match.index + whole.length
  }
  return decodeSurrogateEscape(Buffer.concat([...parts, Buffer.from(body.slice(from))]))
}

const NAMED_ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }
