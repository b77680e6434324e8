import { BAR_PATTERN, type DialectReader, INCOMPLETE, NAME_PATTERN } from './dialect.ts'
import { createBroken, createPattern, matchAt, toIncompleteOrProse } from './dialect.ts'
import { MISMATCHED_BRACKETS, TRUNCATED_JSON } from '../json-calls.ts'
import { type Literal, type LiteralSyntax, readLiteral } from '../literals.ts'

/** Gemma (T66): `<|tool_call>call:name{key:<|"|>text<|"|>,n:42}`, or with `<start_function_call>` and `<escape>`. */
export const readGemmaCall: DialectReader = (text, at, scope) => {
  const head = matchAt(CALL_HEAD, text, at)
  if (!head) return toIncompleteOrProse(text, at, scope)
  const value = readLiteral(text, at + head[0].length, GEMMA_SYNTAX)
  if (value === TRUNCATED_JSON) return INCOMPLETE
  if (typeof value !== 'object') return createBroken('the arguments are invalid')
  return { kind: 'calls', end: value.end, calls: [{ name: head.groups?.['name'] ?? '', raw: value.json }] }
}

const CALL_HEAD = createPattern(
  `(?:<${BAR_PATTERN}tool_call>|<start_function_call>)\\s{0,8}call:(?<name>${NAME_PATTERN})\\s{0,4}(?=\\{)`,
)
const STRING_MARK = createPattern(`<${BAR_PATTERN}"${BAR_PATTERN}>|<escape>`)
const KEY = createPattern('[^\\s:{}\\[\\],"<>]{1,128}(?=\\s{0,8}:)')
const STRING = /"(?:[^"\\\n]|\\.)*"/y
/** Only where nothing in it could be meant as the end. */
const SINGLE_QUOTED = /'([^'"\\\n]*)'(?=\s*[,}\]])/y
const OPEN_SINGLE_QUOTE = /^[^'"\\\n]*(?:'\s*)?$/
const MAX_KEY_CHARS = 140

function readKey(text: string, at: number): Literal {
  const string = readString(text, at)
  if (string !== undefined) return string
  const key = matchAt(KEY, text, at)?.[0]
  if (key === undefined) return text.length - at < MAX_KEY_CHARS ? TRUNCATED_JSON : MISMATCHED_BRACKETS
  return { json: JSON.stringify(key), end: at + key.length }
}

/** A string in Gemma's delimiters or in quotes. */
function readString(text: string, at: number): Literal | undefined {
  const mark = matchAt(STRING_MARK, text, at)?.[0]
  if (mark !== undefined) {
    const from = at + mark.length
    const end = text.indexOf(mark, from)
    return end < 0 ? TRUNCATED_JSON : { json: JSON.stringify(text.slice(from, end)), end: end + mark.length }
  }
  if (text[at] === "'") {
    const single = matchAt(SINGLE_QUOTED, text, at)
    if (single) return { json: JSON.stringify(single[1]), end: at + single[0].length }
    return OPEN_SINGLE_QUOTE.test(text.slice(at + 1)) ? TRUNCATED_JSON : MISMATCHED_BRACKETS
  }
  if (text[at] !== '"') return undefined
  const json = matchAt(STRING, text, at)?.[0]
  if (json !== undefined) return { json, end: at + json.length }
  return text.includes('\n', at) ? MISMATCHED_BRACKETS : TRUNCATED_JSON
}

const GEMMA_SYNTAX: LiteralSyntax = {
  closers: { '{': '}', '[': ']' },
  constants: new Map(),
  readString,
  readKey,
}
