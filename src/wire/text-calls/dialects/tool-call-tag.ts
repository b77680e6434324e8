import { type DialectReader, GAP_PATTERN, INCOMPLETE, PROSE } from './dialect.ts'
import { createBroken, createPattern, createTokenPattern, matchAt, toIncompleteOrProse } from './dialect.ts'
import { readJsonCalls } from '../json-calls.ts'
import { readFunctionTagCall, readInvokeTagCall, readGlmTagCall } from './xml-tags.ts'

/** JSON (T60) or tags of another dialect (T61, T64, T67, T68) in a wrapper. The caller reads the closing tag. */
export const readWrappedCall: DialectReader = (text, from, scope) => {
  const at = from + (matchAt(WRAPPER_MARKERS, text, from)?.[0].length ?? 0)
  if (at === text.length) return scope.isFinal ? PROSE : INCOMPLETE
  const char = text[at] ?? ''
  if (char === '<') {
    const read = readFunctionTagCall(text, at, scope)
    return read.kind === 'prose' ? readInvokeTagCall(text, at, scope) : read
  }
  if (/\w/.test(char)) return readGlmTagCall(text, at, scope)
  // A second marker may follow.
  if (char === '＜') return toIncompleteOrProse(text, at, scope)
  if (char !== '{' && char !== '[') return PROSE
  const start = matchAt(OBJECT_START, text, at)
  if (!start) return toIncompleteOrProse(text, at, scope)
  return start[0].endsWith('"') ? readJsonCalls(text, at, scope) : createBroken('it is not JSON')
}

const WRAPPER_TAG = '[<＜](?:[a-z]{1,16}:)?(?:tool_calls?|function_calls?)[>＞]'
const WRAPPER_MARKERS = createPattern(
  `(?:(?:${WRAPPER_TAG}|${createTokenPattern('tool_calls?')}|\\[TOOL_CALL\\])${GAP_PATTERN}){1,2}`,
)
const OBJECT_START = createPattern(`(?:\\[\\s{0,32})?\\{\\s{0,32}["']`)
