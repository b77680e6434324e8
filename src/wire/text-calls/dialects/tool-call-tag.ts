import {
  createBrokenCallReadResult,
  GAP_PATTERN,
  matchAt,
  INCOMPLETE_READ_RESULT,
  createStickyPattern,
  PROSE_READ_RESULT,
  type TextCallDialectReader,
  createTokenPattern,
  toIncompleteOrProseResult,
} from './dialect.ts'
import { readJsonCalls } from '../json-calls.ts'
import { readFunctionTagCall, readInvokeTagCall, readGlmTagCall } from './xml-tags.ts'

/** JSON (T60) or tags of another dialect (T61, T64, T67, T68) in a wrapper. The caller reads the closing tag. */
export const readWrappedCall: TextCallDialectReader = (text, from, scope) => {
  const at = from + (matchAt(WRAPPER_MARKERS, text, from)?.[0].length ?? 0)
  if (at === text.length) return scope.isFinal ? PROSE_READ_RESULT : INCOMPLETE_READ_RESULT
  const char = text[at] ?? ''
  if (char === '<') {
    const read = readFunctionTagCall(text, at, scope)
    return read.kind === 'prose' ? readInvokeTagCall(text, at, scope) : read
  }
  if (/\w/.test(char)) return readGlmTagCall(text, at, scope)
  // A second marker may follow.
  if (char === '＜') return toIncompleteOrProseResult(text, at, scope)
  if (char !== '{' && char !== '[') return PROSE_READ_RESULT
  const start = matchAt(OBJECT_START, text, at)
  if (!start) return toIncompleteOrProseResult(text, at, scope)
  return start[0].endsWith('"') ? readJsonCalls(text, at, scope) : createBrokenCallReadResult('it is not JSON')
}

const WRAPPER_TAG = '[<＜](?:[a-z]{1,16}:)?(?:tool_calls?|function_calls?)[>＞]'
const WRAPPER_MARKERS = createStickyPattern(
  `(?:(?:${WRAPPER_TAG}|${createTokenPattern('tool_calls?')}|\\[TOOL_CALL\\])${GAP_PATTERN}){1,2}`,
)
const OBJECT_START = createStickyPattern(`(?:\\[\\s{0,32})?\\{\\s{0,32}["']`)
