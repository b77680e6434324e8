import {
  createBrokenResult,
  GAP_PATTERN,
  matchAt,
  NAME_PATTERN,
  INCOMPLETE,
  createStickyPattern,
  type DialectReader,
  createTokenPattern,
  incompleteOrProse,
} from './dialect.ts'
import { MISMATCHED, TRUNCATED, findJsonEnd } from '../json-calls.ts'

/**
 * Calls between special tokens, one token before the arguments: Kimi's `functions.name:0<|tool_call_argument_begin|>{…}`
 * (T62), and `name<｜tool▁sep｜>{…}` of older DeepSeek models, which once put the arguments in a fence.
 */
export const readTokenCall: DialectReader = (text, at, scope) => {
  const head = matchAt(CALL_HEAD, text, at)
  if (!head) return incompleteOrProse(text, at, scope)
  const from = at + head[0].length
  const end = findJsonEnd(text, from)
  if (end === TRUNCATED) return INCOMPLETE
  if (end === MISMATCHED) return createBrokenResult('its arguments are not JSON')
  const { id = '', fenced } = head.groups ?? {}
  const name = fenced ?? (scope.findSchema(id) ? id : id.replace(/:\d+$/, ''))
  const calls = [{ name, raw: text.slice(from, end) }]
  if (fenced === undefined) return { kind: 'calls', end, calls }
  const fence = matchAt(FENCE_END, text, end)
  if (!fence && incompleteOrProse(text, end, scope) === INCOMPLETE) return INCOMPLETE
  return { kind: 'calls', end: end + (fence?.[0].length ?? 0), calls }
}

const SECTION_TOKEN = createTokenPattern('tool_calls_begin|tool_calls?_section_begin')
const BEGIN_TOKEN = createTokenPattern('tool_call_begin')
const SEPARATOR_TOKEN = createTokenPattern('tool_call_argument_begin|tool_sep')
const FENCED_NAME = `(?:(?<fenced>${NAME_PATTERN})\\s{0,8}\`\`\`(?:json)?\\s{0,8})?`
const CALL_ID = '(?<id>[^\\s<>{}|｜‖│]{1,128})'

const CALL_HEAD = createStickyPattern(
  `(?:${SECTION_TOKEN}${GAP_PATTERN})?(?:${BEGIN_TOKEN}${GAP_PATTERN})?${CALL_ID}\\s{0,8}${SEPARATOR_TOKEN}\\s{0,8}${FENCED_NAME}(?=\\{)`,
)
const FENCE_END = createStickyPattern('\\s{0,8}```')
