import { broken, GAP, match, NAME, OPEN, pattern, type Reader, token, undecided } from './dialect.ts'
import { CROSSED, CUT, jsonEnd } from './json.ts'

/**
 * Calls between special tokens, one token before the arguments: Kimi's `functions.name:0<|tool_call_argument_begin|>{…}`
 * (T62), and `name<｜tool▁sep｜>{…}` of older DeepSeek models, which once put the arguments in a fence.
 */
export const readTokens: Reader = (text, at, scope) => {
  const head = match(HEAD, text, at)
  if (!head) return undecided(text, at, scope)
  const from = at + head[0].length
  const end = jsonEnd(text, from)
  if (end === CUT) return OPEN
  if (end === CROSSED) return broken('its arguments are not JSON')
  const { id = '', fenced } = head.groups ?? {}
  const name = fenced ?? (scope.schema(id) ? id : id.replace(/:\d+$/, ''))
  const calls = [{ name, raw: text.slice(from, end) }]
  if (fenced === undefined) return { kind: 'calls', end, calls }
  const fence = match(FENCE_END, text, end)
  if (!fence && undecided(text, end, scope) === OPEN) return OPEN
  return { kind: 'calls', end: end + (fence?.[0].length ?? 0), calls }
}

const SECTION = token('tool_calls_begin|tool_calls?_section_begin')
const BEGIN = token('tool_call_begin')
const SEPARATOR = token('tool_call_argument_begin|tool_sep')
const FENCED = `(?:(?<fenced>${NAME})\\s{0,8}\`\`\`(?:json)?\\s{0,8})?`
const ID = '(?<id>[^\\s<>{}|｜‖│]{1,128})'

const HEAD = pattern(`(?:${SECTION}${GAP})?(?:${BEGIN}${GAP})?${ID}\\s{0,8}${SEPARATOR}\\s{0,8}${FENCED}(?=\\{)`)
const FENCE_END = pattern('\\s{0,8}```')
