import { broken, match, NAME, OPEN, pattern, type Reader, token, undecided } from './dialect.ts'
import { CROSSED, CUT, jsonEnd, readObjects } from './json.ts'

/** Mistral: `[TOOL_CALLS]name{…}`, with or without `[CALL_ID]` and `[ARGS]`, or `[TOOL_CALLS][{"name", "arguments"}]` (T66). */
export const readMistral: Reader = (text, at, scope) => {
  const head = match(MISTRAL, text, at)
  if (!head) return undecided(text, at, scope)
  const from = at + head[0].length
  const name = head.groups?.['name']
  if (name === undefined) return readObjects(text, from, scope)
  const end = jsonEnd(text, from)
  if (end === CUT) return OPEN
  if (end === CROSSED) return broken('its arguments are not JSON')
  return { kind: 'calls', end, calls: [{ name, raw: text.slice(from, end) }] }
}

/** Llama: `<|python_tag|>{"name", "parameters"}` (T66). Python after that tag is not a call of ours. */
export const readPythonTag: Reader = (text, at, scope) => {
  const head = match(PYTHON_TAG, text, at)
  return head ? readObjects(text, at + head[0].length, scope) : undecided(text, at, scope)
}

const MISTRAL = pattern(
  '\\[TOOL_CALLS\\]\\s{0,8}(?:' +
    `(?<name>${NAME})\\s{0,4}(?:\\[CALL_ID\\][\\w-]{1,64}\\s{0,4})?(?:\\[ARGS\\]\\s{0,4})?(?=\\{)` +
    '|(?=\\[\\s{0,32}\\{|\\{\\s{0,32}"))',
)
const PYTHON_TAG = pattern(`${token('python_tag')}\\s{0,8}(?=\\{\\s{0,32}")`)
