import { matchAt, NAME_PATTERN, createPattern, createTokenPattern, toIncompleteOrProse } from './dialect.ts'
import type { DialectReader } from './dialect.ts'
import { readJsonArguments, readJsonCalls } from '../json-calls.ts'

/** Mistral: `[TOOL_CALLS]name{…}`, with or without `[CALL_ID]` and `[ARGS]`, or `[TOOL_CALLS][{"name", "arguments"}]` (T66). */
export const readMistralCall: DialectReader = (text, at, scope) => {
  const head = matchAt(MISTRAL_HEAD, text, at)
  if (!head) return toIncompleteOrProse(text, at, scope)
  const from = at + head[0].length
  const name = head.groups?.['name']
  return name === undefined ? readJsonCalls(text, from, scope) : readJsonArguments(name, text, from)
}

/** Llama: `<|python_tag|>{"name", "parameters"}` (T66). Python code after that tag is not a call. */
export const readPythonTagCall: DialectReader = (text, at, scope) => {
  const head = matchAt(PYTHON_TAG_HEAD, text, at)
  return head ? readJsonCalls(text, at + head[0].length, scope) : toIncompleteOrProse(text, at, scope)
}

const MISTRAL_HEAD = createPattern(
  '\\[TOOL_CALLS\\]\\s{0,8}(?:' +
    `(?<name>${NAME_PATTERN})\\s{0,4}(?:\\[CALL_ID\\][\\w-]{1,64}\\s{0,4})?(?:\\[ARGS\\]\\s{0,4})?(?=\\{)` +
    '|(?=\\[\\s{0,32}\\{|\\{\\s{0,32}"))',
)
const PYTHON_TAG_HEAD = createPattern(`${createTokenPattern('python_tag')}\\s{0,8}(?=\\{\\s{0,32}")`)
