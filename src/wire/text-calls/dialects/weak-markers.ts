import { type DialectContext, type DialectReader, INCOMPLETE, PROSE, type ReadResult } from './dialect.ts'
import { matchAt, skipWhitespace } from './dialect.ts'
import { readBareCalls } from '../bare-calls.ts'
import { BARE_WORD, withDialect } from './wrappers.ts'
import { readGlmTagCall } from './xml-tags.ts'

// Markers that ordinary text contains too: whatever follows them is prose, unless it is a call of a declared tool.

/** A tag that may mean anything: a call only if it contains nothing else, and is closed. */
export const readPlainTagCall: DialectReader = (text, from, scope) => {
  const at = skipWhitespace(text, scope.bodyStart)
  if (at === text.length) return scope.isFinal ? PROSE : INCOMPLETE
  const result = /[{[]/.test(text[at] ?? '') ? readBareCalls(text, at, scope) : readTaggedBody(text, at, scope)
  if (result.kind !== 'calls') return result
  const closer = `</${text.slice(from + 1, scope.bodyStart)}`
  const end = skipWhitespace(text, result.end)
  // The tags of GLM include the closing tag.
  if (text.startsWith(closer, end) || text.startsWith(closer, result.end - closer.length)) return result
  return !scope.isFinal && closer.startsWith(text.slice(end)) ? INCOMPLETE : { kind: 'prose', end: result.end }
}

/** Phi-4: `functools[{"name", "arguments"}]`. */
export const readFunctoolsCall: DialectReader = (text, _from, scope) => {
  if (scope.bodyStart === text.length) return scope.isFinal ? PROSE : INCOMPLETE
  return text[scope.bodyStart] === '[' ? readBareCalls(text, scope.bodyStart, scope) : PROSE
}

/** Functionary: `>>>name`, a line break, and the arguments. */
export const readFunctionaryCall: DialectReader = (text, _from, scope) =>
  /[{[]/.test(text[scope.bodyStart] ?? '') ? PROSE : readBareCalls(text, scope.bodyStart, scope)

function readTaggedBody(text: string, at: number, scope: DialectContext): ReadResult {
  const word = matchAt(BARE_WORD, text, at)?.[0] ?? ''
  const rest = text.slice(at + word.length, at + word.length + ARGUMENT_TAG.length)
  if (word === '' || !ARGUMENT_TAG.startsWith(rest)) return PROSE
  if (rest.length < ARGUMENT_TAG.length) return scope.isFinal ? PROSE : INCOMPLETE
  return scope.findSchema(word.trim()) ? withDialect('glm', readGlmTagCall(text, at, scope)) : PROSE
}

const ARGUMENT_TAG = '<arg_key>'
