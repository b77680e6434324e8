import { tryParseJson } from '../../model/json.ts'
import { matchAt, skipWhitespace } from './dialects/dialect.ts'
import { MISMATCHED_BRACKETS, TRUNCATED_JSON } from './json-calls.ts'

/** A value as JSON text, or why there is none. */
export type Literal =
  | { readonly json: string; readonly end: number }
  | typeof TRUNCATED_JSON
  | typeof MISMATCHED_BRACKETS

/** How a notation other than JSON writes values. */
export interface LiteralSyntax {
  readonly closers: Readonly<Record<string, string>>
  readonly constants: ReadonlyMap<string, string>
  /** Undefined if there is no string at this offset. */
  readString(text: string, at: number): Literal | undefined
  /** If keys are not written like values. */
  readonly readKey?: (text: string, at: number) => Literal
}

export function readLiteral(text: string, at: number, syntax: LiteralSyntax, depth = 0): Literal {
  if (at >= text.length) return TRUNCATED_JSON
  if (depth > MAX_DEPTH) return MISMATCHED_BRACKETS
  const closer = syntax.closers[text[at] ?? '']
  if (closer !== undefined) return readItems(text, at, closer, syntax, depth)
  const string = syntax.readString(text, at)
  if (string !== undefined) return string
  const word = matchAt(BARE_WORD, text, at)?.[0]
  if (word === undefined) return text.length - at < MAX_MARK_CHARS ? TRUNCATED_JSON : MISMATCHED_BRACKETS
  const end = at + word.length
  if (end === text.length) return TRUNCATED_JSON
  // Only numbers and constants; another bare word could mean anything.
  const json = syntax.constants.get(word) ?? (tryParseJson(word) === undefined ? undefined : word)
  return json === undefined ? MISMATCHED_BRACKETS : { json, end }
}

/** A whole text that is one Python literal, as JSON; undefined if it is something else. */
export function convertPythonLiteral(text: string): string | undefined {
  const whole = `${text.trim()} `
  const value = readLiteral(whole, 0, PYTHON_SYNTAX)
  return typeof value === 'object' && value.end === whole.length - 1 ? value.json : undefined
}

/** The items between brackets: of a list, a dictionary, a tuple or a set. */
function readItems(text: string, from: number, closer: string, syntax: LiteralSyntax, depth: number): Literal {
  const items: string[] = []
  let keys = 0
  let commas = 0
  for (let at = skipWhitespace(text, from + 1); ; at = skipWhitespace(text, at)) {
    if (at >= text.length) return TRUNCATED_JSON
    if (text[at] === closer) {
      if (keys > 0 && keys < items.length) return MISMATCHED_BRACKETS
      if (closer === ')' && items.length === 1 && commas === 0) return { json: items[0] ?? '', end: at + 1 }
      const isObject = closer === '}' && (keys > 0 || items.length === 0)
      return { json: isObject ? `{${items.join(',')}}` : `[${items.join(',')}]`, end: at + 1 }
    }
    if (items.length > commas) {
      if (text[at] !== ',') return MISMATCHED_BRACKETS
      commas++
      at++
      continue
    }
    const readKey = closer === '}' ? syntax.readKey : undefined
    const item = readKey ? readKey(text, at) : readLiteral(text, at, syntax, depth + 1)
    if (typeof item !== 'object') return item
    at = skipWhitespace(text, item.end)
    if (closer !== '}' || text[at] !== ':') {
      if (at >= text.length) return TRUNCATED_JSON
      if (readKey) return MISMATCHED_BRACKETS
      items.push(item.json)
      continue
    }
    const value = readLiteral(text, skipWhitespace(text, at + 1), syntax, depth + 1)
    if (typeof value !== 'object') return value
    if (/^[[{]/.test(item.json)) return MISMATCHED_BRACKETS
    keys++
    items.push(`${item.json.startsWith('"') ? item.json : JSON.stringify(item.json)}:${value.json}`)
    at = value.end
  }
}

function readPythonString(text: string, at: number): Literal | undefined {
  const quote = matchAt(PYTHON_QUOTE, text, at)?.[0]
  if (quote === undefined) return undefined
  const special = quote.startsWith('"') ? DOUBLE_QUOTE_OR_ESCAPE : SINGLE_QUOTE_OR_ESCAPE
  let content = ''
  for (let from = at + quote.length; ;) {
    special.lastIndex = from
    const hit = special.exec(text)
    if (!hit) return TRUNCATED_JSON
    content += text.slice(from, hit.index)
    if (text.startsWith(quote, hit.index)) return { json: JSON.stringify(content), end: hit.index + quote.length }
    const escape = hit[0] === '\\' ? matchAt(PYTHON_ESCAPE, text, hit.index)?.[0] : hit[0]
    if (escape === undefined) return TRUNCATED_JSON
    if (escape === NAMED_CHARACTER) return MISMATCHED_BRACKETS
    content += hit[0] === '\\' ? decodeEscape(escape) : escape
    from = hit.index + escape.length
  }
}

/** An escape sequence that Python does not know stands for itself. */
function decodeEscape(escape: string): string {
  const code = /^\\[xuU](.+)$/.exec(escape)?.[1]
  if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16))
  if (/^\\[0-7]/.test(escape)) return String.fromCodePoint(Number.parseInt(escape.slice(1), 8))
  return SIMPLE_ESCAPES[escape.slice(1)] ?? escape
}

export const PYTHON_SYNTAX: LiteralSyntax = {
  closers: { '{': '}', '[': ']', '(': ')' },
  constants: new Map([
    ['True', 'true'],
    ['False', 'false'],
    ['None', 'null'],
  ]),
  readString: readPythonString,
}

const PYTHON_QUOTE = /'''|"""|'|"/y
const DOUBLE_QUOTE_OR_ESCAPE = /["\\]/g
const SINGLE_QUOTE_OR_ESCAPE = /['\\]/g
const PYTHON_ESCAPE = /\\(?:x[\da-fA-F]{2}|u[\da-fA-F]{4}|U00(?:0[\da-fA-F]|10)[\da-fA-F]{4}|[0-7]{1,3}|N\{|\r\n|[^])/y
/** `\N{DASH}`: the names of all characters are not known here. */
const NAMED_CHARACTER = '\\N{'
const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
  '\n': '',
  '\r\n': '',
  '\\': '\\',
  "'": "'",
  '"': '"',
}

const BARE_WORD = /[\w.+-]+/y
/** The longest quotation mark of a notation. */
const MAX_MARK_CHARS = 12
const MAX_DEPTH = 64
