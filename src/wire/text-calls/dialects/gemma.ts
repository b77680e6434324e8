import { BAR_PATTERN, type DialectReader, INCOMPLETE, NAME_PATTERN } from './dialect.ts'
import { createBroken, createPattern, matchAt, skipWhitespace, toIncompleteOrProse } from './dialect.ts'
import { tryParseJson } from '../../../model/json.ts'
import { MISMATCHED_BRACKETS, TRUNCATED_JSON } from '../json-calls.ts'

/** Gemma (T66): `<|tool_call>call:name{key:<|"|>text<|"|>,n:42}`, or with `<start_function_call>` and `<escape>`. */
export const readGemmaCall: DialectReader = (text, at, scope) => {
  const head = matchAt(CALL_HEAD, text, at)
  if (!head) return toIncompleteOrProse(text, at, scope)
  const output: string[] = []
  const end = writeValue(text, at + head[0].length, output, 0)
  if (end === TRUNCATED_JSON) return INCOMPLETE
  if (end < 0) return createBroken('the arguments are invalid')
  return { kind: 'calls', end, calls: [{ name: head.groups?.['name'] ?? '', raw: output.join('') }] }
}

const CALL_HEAD = createPattern(
  `(?:<${BAR_PATTERN}tool_call>|<start_function_call>)\\s{0,8}call:(?<name>${NAME_PATTERN})\\s{0,4}(?=\\{)`,
)
const STRING_MARK = createPattern(`<${BAR_PATTERN}"${BAR_PATTERN}>|<escape>`)
const KEY = createPattern('[^\\s:{}\\[\\],"<>]{1,128}(?=\\s{0,8}:)')
const STRING = createPattern('"(?:[^"\\\\\\n]|\\\\.)*"')
const BARE_WORD = createPattern('[\\w.+-]+')
const MAX_MARK_CHARS = 12

/** Writes a value as JSON, and returns where it ends, or TRUNCATED or MISMATCHED. */
function writeValue(text: string, at: number, output: string[], depth: number): number {
  if (at >= text.length) return TRUNCATED_JSON
  if (depth > 64) return MISMATCHED_BRACKETS
  const char = text[at]
  if (char === '{' || char === '[') return writeList(text, at, output, depth)
  const string = writeString(text, at, output)
  if (string !== 0) return string
  const word = matchAt(BARE_WORD, text, at)?.[0]
  if (word === undefined) return text.length - at < MAX_MARK_CHARS ? TRUNCATED_JSON : MISMATCHED_BRACKETS
  if (at + word.length === text.length) return TRUNCATED_JSON
  // Only numbers, true, false and null; another bare word could mean anything.
  if (tryParseJson(word) === undefined) return MISMATCHED_BRACKETS
  output.push(word)
  return at + word.length
}

function writeList(text: string, from: number, output: string[], depth: number): number {
  const closer = text[from] === '{' ? '}' : ']'
  output.push(text[from] ?? '')
  for (let at = skipWhitespace(text, from + 1), first = true; ; first = false) {
    if (at >= text.length) return TRUNCATED_JSON
    if (text[at] === closer) {
      output.push(closer)
      return at + 1
    }
    if (!first) {
      if (text[at] !== ',') return MISMATCHED_BRACKETS
      output.push(',')
      at = skipWhitespace(text, at + 1)
    }
    if (closer === '}') {
      const end = writeKey(text, at, output)
      if (end < 0) return end
      at = skipWhitespace(text, end)
      if (at >= text.length) return TRUNCATED_JSON
      if (text[at] !== ':') return MISMATCHED_BRACKETS
      output.push(':')
      at = skipWhitespace(text, at + 1)
    }
    const end = writeValue(text, at, output, depth + 1)
    if (end < 0) return end
    at = skipWhitespace(text, end)
  }
}

function writeKey(text: string, at: number, output: string[]): number {
  const string = writeString(text, at, output)
  if (string !== 0) return string
  const key = matchAt(KEY, text, at)?.[0]
  if (key === undefined) return text.length - at < 128 + MAX_MARK_CHARS ? TRUNCATED_JSON : MISMATCHED_BRACKETS
  output.push(JSON.stringify(key))
  return at + key.length
}

/** A string in Gemma's delimiters or in quotes; 0 if there is none here. */
function writeString(text: string, at: number, output: string[]): number {
  const mark = matchAt(STRING_MARK, text, at)?.[0]
  if (mark !== undefined) {
    const from = at + mark.length
    const end = text.indexOf(mark, from)
    if (end < 0) return TRUNCATED_JSON
    output.push(JSON.stringify(text.slice(from, end)))
    return end + mark.length
  }
  if (text[at] !== '"') return 0
  const string = matchAt(STRING, text, at)?.[0]
  if (string === undefined) return text.includes('\n', at) ? MISMATCHED_BRACKETS : TRUNCATED_JSON
  output.push(string)
  return at + string.length
}
