import { GAP_PATTERN, matchAt, NAME_PATTERN, INCOMPLETE, createPattern, skipWhitespace } from './dialect.ts'
import {
  type DialectReader,
  createTokenPattern,
  type ReadResult,
  type ReadScope,
  toIncompleteOrProse,
} from './dialect.ts'
import { readJsonArguments } from '../json-calls.ts'

/** After a token that opens a call or a list of calls: another such token, the tags of another dialect, or a call. */
export const readTokenBody: DialectReader = (text, _from, scope) => {
  const at = skipWhitespace(text, scope.bodyStart)
  const header = matchAt(FUNCTION_HEADER, text, at)
  const nested = scope.readNested(at + (header?.[0].length ?? 0))
  return nested && nested.kind !== 'prose' ? nested : readTokenCall(text, at, scope)
}

/**
 * A name and a token before the arguments: Kimi's `functions.name:0<|tool_call_argument_begin|>{…}` (T62), Solar's
 * `0<|tool_call:name|>name<|tool_call:args|>{…}`, and `name<｜tool▁sep｜>{…}` of older DeepSeek models, some of which put the
 * arguments into a fence.
 */
export function readTokenCall(text: string, at: number, scope: ReadScope): ReadResult {
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

const SEPARATOR_TOKEN = createTokenPattern('tool_call_argument_begin|tool_sep|tool_call:args')
const FUNCTION_HEADER = createPattern(`function\\s{0,8}${createTokenPattern('tool_sep')}${GAP_PATTERN}`)
const FENCED_NAME = `(?:(?<fenced>${NAME_PATTERN})\\s{0,8}\`\`\`(?:json)?\\s{0,8})?`
const CALL_ID = '(?<id>[^\\s<>{}|｜‖│]{1,128})'
const CALL_HEAD = createPattern(
  `(?:[\\w-]{1,64}${createTokenPattern('tool_call:name')})?${CALL_ID}\\s{0,8}${SEPARATOR_TOKEN}\\s{0,8}${FENCED_NAME}(?=\\{)`,
)
const FENCE_END = createPattern('\\s{0,8}```')
