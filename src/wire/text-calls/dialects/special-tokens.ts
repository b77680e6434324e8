import { GAP_PATTERN, matchAt, NAME_PATTERN, INCOMPLETE, createPattern } from './dialect.ts'
import { type DialectReader, createTokenPattern, toIncompleteOrProse } from './dialect.ts'
import { readJsonArguments } from '../json-calls.ts'

/**
 * Calls between special tokens, with one before the arguments: Kimi's `functions.name:0<|tool_call_argument_begin|>{…}`
 * (T62), and `name<｜tool▁sep｜>{…}` of older DeepSeek models, some of which put the arguments into a fence.
 */
export const readTokenCall: DialectReader = (text, at, scope) => {
  const head = matchAt(CALL_HEAD, text, at)
  if (!head) return toIncompleteOrProse(text, at, scope)
  const { id = '', fenced } = head.groups ?? {}
  const name = fenced ?? (scope.findSchema(id) ? id : id.replace(/:\d+$/, ''))
  const result = readJsonArguments(name, text, at + head[0].length)
  if (fenced === undefined || result.kind !== 'calls') return result
  const fence = matchAt(FENCE_END, text, result.end)
  if (!fence && toIncompleteOrProse(text, result.end, scope) === INCOMPLETE) return INCOMPLETE
  return { ...result, end: result.end + (fence?.[0].length ?? 0) }
}

const SECTION_TOKEN = createTokenPattern('tool_calls_begin|tool_calls?_section_begin')
const BEGIN_TOKEN = createTokenPattern('tool_call_begin')
const SEPARATOR_TOKEN = createTokenPattern('tool_call_argument_begin|tool_sep')
const FENCED_NAME = `(?:(?<fenced>${NAME_PATTERN})\\s{0,8}\`\`\`(?:json)?\\s{0,8})?`
const CALL_ID = '(?<id>[^\\s<>{}|｜‖│]{1,128})'

const CALL_HEAD = createPattern(
  `(?:${SECTION_TOKEN}${GAP_PATTERN})?(?:${BEGIN_TOKEN}${GAP_PATTERN})?${CALL_ID}\\s{0,8}${SEPARATOR_TOKEN}\\s{0,8}${FENCED_NAME}(?=\\{)`,
)
const FENCE_END = createPattern('\\s{0,8}```')
