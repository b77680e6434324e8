import {
  createBrokenResult,
  matchAt,
  NAME_PATTERN,
  INCOMPLETE,
  createStickyPattern,
  type DialectReader,
  createTokenPattern,
  incompleteOrProse,
} from './dialect.ts'
import { MISMATCHED, TRUNCATED, findJsonEnd, readJsonCalls } from '../json-calls.ts'

/** Mistral: `[TOOL_CALLS]name{…}`, with or without `[CALL_ID]` and `[ARGS]`, or `[TOOL_CALLS][{"name", "arguments"}]` (T66). */
export const readMistralCall: DialectReader = (text, at, scope) => {
  const head = matchAt(MISTRAL_HEAD, text, at)
  if (!head) return incompleteOrProse(text, at, scope)
  const from = at + head[0].length
  const name = head.groups?.['name']
  if (name === undefined) return readJsonCalls(text, from, scope)
  const end = findJsonEnd(text, from)
  if (end === TRUNCATED) return INCOMPLETE
  if (end === MISMATCHED) return createBrokenResult('its arguments are not JSON')
  return { kind: 'calls', end, calls: [{ name, raw: text.slice(from, end) }] }
}

/** Llama: `<|python_tag|>{"name", "parameters"}` (T66). Python after that tag is not a call of ours. */
export const readPythonTagCall: DialectReader = (text, at, scope) => {
  const head = matchAt(PYTHON_TAG_HEAD, text, at)
  return head ? readJsonCalls(text, at + head[0].length, scope) : incompleteOrProse(text, at, scope)
}

const MISTRAL_HEAD = createStickyPattern(
  '\\[TOOL_CALLS\\]\\s{0,8}(?:' +
    `(?<name>${NAME_PATTERN})\\s{0,4}(?:\\[CALL_ID\\][\\w-]{1,64}\\s{0,4})?(?:\\[ARGS\\]\\s{0,4})?(?=\\{)` +
    '|(?=\\[\\s{0,32}\\{|\\{\\s{0,32}"))',
)
const PYTHON_TAG_HEAD = createStickyPattern(`${createTokenPattern('python_tag')}\\s{0,8}(?=\\{\\s{0,32}")`)
