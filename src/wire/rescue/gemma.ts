import { BAR, broken, match, NAME, OPEN, pattern, type Reader, skipSpace, undecided } from './dialect.ts'
import { CROSSED, CUT, parse } from './json.ts'

/**
 * Gemma: `<|tool_call>call:name{key:<|"|>text<|"|>,n:42}`, an object with bare keys and its own string marks (T66); the
 * smaller function model spells the marks `<start_function_call>` and `<escape>`.
 */
export const readGemma: Reader = (text, at, scope) => {
  const head = match(HEAD, text, at)
  if (!head) return undecided(text, at, scope)
  const out: string[] = []
  const end = writeValue(text, at + head[0].length, out, 0)
  if (end === CUT) return OPEN
  if (end < 0) return broken('its arguments cannot be read')
  return { kind: 'calls', end, calls: [{ name: head.groups?.['name'] ?? '', raw: out.join('') }] }
}

const HEAD = pattern(`(?:<${BAR}tool_call>|<start_function_call>)\\s{0,8}call:(?<name>${NAME})\\s{0,4}(?=\\{)`)
const MARK = pattern(`<${BAR}"${BAR}>|<escape>`)
const KEY = pattern('[^\\s:{}\\[\\],"<>]{1,128}(?=\\s{0,8}:)')
const STRING = pattern('"(?:[^"\\\\\\n]|\\\\.)*"')
const WORD = pattern('[\\w.+-]+')
const LONGEST_MARK = 12

/** Writes the value that begins here as JSON; gives where it ends, or why it has no end. */
function writeValue(text: string, at: number, out: string[], depth: number): number {
  if (at >= text.length) return CUT
  if (depth > 64) return CROSSED
  const char = text[at]
  if (char === '{' || char === '[') return writeList(text, at, out, depth)
  const string = writeString(text, at, out)
  if (string !== 0) return string
  const word = match(WORD, text, at)?.[0]
  if (word === undefined) return text.length - at < LONGEST_MARK ? CUT : CROSSED
  if (at + word.length === text.length) return CUT
  // A number, true, false or null; a bare word could be anything.
  if (parse(word) === undefined) return CROSSED
  out.push(word)
  return at + word.length
}

/** Writes an object or an array. */
function writeList(text: string, from: number, out: string[], depth: number): number {
  const closer = text[from] === '{' ? '}' : ']'
  out.push(text[from] ?? '')
  for (let at = skipSpace(text, from + 1), first = true; ; first = false) {
    if (at >= text.length) return CUT
    if (text[at] === closer) {
      out.push(closer)
      return at + 1
    }
    if (!first) {
      if (text[at] !== ',') return CROSSED
      out.push(',')
      at = skipSpace(text, at + 1)
    }
    if (closer === '}') {
      const end = writeKey(text, at, out)
      if (end < 0) return end
      at = skipSpace(text, end)
      if (at >= text.length) return CUT
      if (text[at] !== ':') return CROSSED
      out.push(':')
      at = skipSpace(text, at + 1)
    }
    const end = writeValue(text, at, out, depth + 1)
    if (end < 0) return end
    at = skipSpace(text, end)
  }
}

function writeKey(text: string, at: number, out: string[]): number {
  const string = writeString(text, at, out)
  if (string !== 0) return string
  const key = match(KEY, text, at)?.[0]
  if (key === undefined) return text.length - at < 128 + LONGEST_MARK ? CUT : CROSSED
  out.push(JSON.stringify(key))
  return at + key.length
}

/** Writes a string in Gemma's marks or in quotes; 0 if none begins here. */
function writeString(text: string, at: number, out: string[]): number {
  const mark = match(MARK, text, at)?.[0]
  if (mark !== undefined) {
    const from = at + mark.length
    const end = text.indexOf(mark, from)
    if (end < 0) return CUT
    out.push(JSON.stringify(text.slice(from, end)))
    return end + mark.length
  }
  if (text[at] !== '"') return 0
  const string = match(STRING, text, at)?.[0]
  if (string === undefined) return text.includes('\n', at) ? CROSSED : CUT
  out.push(string)
  return at + string.length
}
