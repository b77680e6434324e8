import { type DialectContext, type DialectReader, INCOMPLETE, PROSE, type ReadResult } from './dialect.ts'
import {
  createBroken,
  createPattern,
  createTokenPattern,
  matchAt,
  skipWhitespace,
  toIncompleteOrProse,
} from './dialect.ts'
import { readJsonCalls } from '../json-calls.ts'
import { readPythonCalls, startsPythonCall } from '../python-calls.ts'
import { readTokenCall } from './special-tokens.ts'
import { readGlmTagCall } from './xml-tags.ts'

/**
 * A marker, then calls in JSON (T60), in Python notation, in the tags of GLM (T67), or in the markup of any other dialect
 * (T61, T64, T68). The caller reads the closing marker.
 */
export const readWrappedCall: DialectReader = (text, _from, scope) => {
  const at = skipWhitespace(text, scope.bodyStart)
  if (at === text.length) return scope.isFinal ? PROSE : INCOMPLETE
  const char = text[at] ?? ''
  const nested = scope.readNested(at)
  if (nested && nested.kind !== 'prose') return nested
  if (char === '{' || (char === '[' && !startsPythonCall(text, at))) return readJsonBody(text, at, scope)
  if (char === '[') return withDialect('pythonic', readPythonCalls(text, at, scope))
  return WORD_START.test(char) ? readNamedBody(text, at, scope) : PROSE
}

/** LFM2: calls in Python notation. Parsers disagree whether a backslash escapes if the brackets of the list are missing. */
export const readLfm2Call: DialectReader = (text, from, scope) => {
  const result = readWrappedCall(text, from, scope)
  if (result.kind !== 'calls') return result
  const body = text.slice(scope.bodyStart, result.end).trimStart()
  return /^\w/.test(body) && body.includes('\\') ? createBroken('a backslash is ambiguous') : result
}

/** Inkling: `<|message_model|>name<|content_invoke_tool_json|>{"name", "args"}`. The name in the object counts. */
export const readInklingCall: DialectReader = (text, from, scope) => {
  const head = matchAt(INKLING_HEAD, text, from)
  if (!head) return toIncompleteOrProse(text, from, scope)
  return readWrappedCall(text, from, { ...scope, bodyStart: from + head[0].length })
}

function readJsonBody(text: string, at: number, scope: DialectContext): ReadResult {
  const start = matchAt(OBJECT_START, text, at)
  if (!start) return toIncompleteOrProse(text, at, scope)
  return start[0].endsWith('"') ? readJsonCalls(text, at, scope) : createBroken('it is not JSON')
}

/** `name(…)`, `name<arg_key>…` or `name<|separator|>…`; any other character after the word means prose. */
function readNamedBody(text: string, at: number, scope: DialectContext): ReadResult {
  const next = at + (matchAt(BARE_WORD, text, at)?.[0].length ?? 0)
  switch (text[next]) {
    case undefined:
      return scope.isFinal ? PROSE : INCOMPLETE
    case '(':
      return withDialect('pythonic', readPythonCalls(text, at, scope))
    case '{':
    case '<': {
      const tagged = readGlmTagCall(text, at, scope)
      return tagged.kind === 'prose'
        ? withDialect('tokens', readTokenCall(text, at, scope))
        : withDialect('glm', tagged)
    }
    default:
      return PROSE
  }
}

export function withDialect(dialect: string, result: ReadResult): ReadResult {
  return result.kind === 'calls' ? { ...result, calls: result.calls.map((call) => ({ dialect, ...call })) } : result
}

const INKLING_HEAD = createPattern(
  `(?:${createTokenPattern('message_model')}\\s{0,4}[\\w.:/\\-]{0,128}\\s{0,4})?${createTokenPattern('content_invoke_tool_json')}`,
)
const WORD_START = /[\p{L}\p{N}_]/u
export const BARE_WORD = /[\p{L}\p{N}_][\p{L}\p{N}_.:/-]*\s*/uy
const OBJECT_START = createPattern('(?:\\[\\s{0,32})?\\{\\s{0,32}["\']')
