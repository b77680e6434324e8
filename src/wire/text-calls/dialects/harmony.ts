import { BAR_PATTERN, matchAt, INCOMPLETE, createPattern, PROSE, skipWhitespace } from './dialect.ts'
import type { DialectReader, RawTextCall, ReadResult, ReadScope } from './dialect.ts'
import { readJsonArguments } from '../json-calls.ts'
import { readInvokeTagCall } from './xml-tags.ts'

/**
 * The header of a Harmony message in the text, with its special tokens or without them, before arguments (T65):
 * `<|channel|>commentary to=functions.x <|constrain|>json<|message|>{…}`, `assistantcommentary to=functions.x json{…}`.
 * Muse writes `to=x<|message|>` and then `<invoke>` elements in its own namespace (T184).
 */
export const readHarmonyCall: DialectReader = (text, from, scope) => {
  let at = from
  let pieces = 0
  let recipient: string | undefined
  for (let piece = matchAt(HEADER_PART, text, at); piece && pieces < 12; piece = matchAt(HEADER_PART, text, at)) {
    at += piece[0].length
    if (piece[1] === undefined) pieces++
    else if (recipient === undefined) recipient = piece[1]
    else return PROSE
  }
  const hasMessageToken = MESSAGE_TOKEN_END.test(text.slice(from, at))
  at += matchAt(SPACE, text, at)?.[0].length ?? 0
  const isBody = text[at] === '{' || (text[at] === '<' && hasMessageToken)
  if (text.length - at < MAX_HEADER_PART_CHARS && !scope.isFinal && !isBody) return INCOMPLETE
  // A recipient alone is not a header.
  if (!isBody || recipient === undefined || pieces === 0) return PROSE
  if (!recipient.startsWith('functions.') && !(hasMessageToken && scope.findSchema(recipient))) return PROSE
  return text[at] === '{'
    ? readJsonArguments(stripNameSuffix(recipient, scope), text, at)
    : readInvokes(text, at, scope)
}

function readInvokes(text: string, from: number, scope: ReadScope): ReadResult {
  const calls: RawTextCall[] = []
  for (let at = from + (matchAt(CALLS_TAG, text, from)?.[0].length ?? 0); ;) {
    const result = readInvokeTagCall(text, at, scope)
    if (result.kind !== 'calls')
      return result.kind === 'prose' && calls.length > 0 ? { kind: 'calls', end: at, calls } : result
    calls.push(...result.calls)
    at = skipWhitespace(text, result.end)
  }
}

/** Without the tokens, the next word directly follows the name. */
function stripNameSuffix(recipient: string, scope: ReadScope): string {
  const shorter = recipient.replace(/(?:commentary|json|code)$/, '')
  return !scope.findSchema(recipient) && scope.findSchema(shorter) ? shorter : recipient
}

const HEADER_TOKEN = `<${BAR_PATTERN}(?:start|channel|constrain|message)${BAR_PATTERN}>`
const HEADER_PART = createPattern(
  `\\s{0,4}(?:${HEADER_TOKEN}|assistant|commentary|analysis|json|code|to=([\\w.:/\\-]{1,128}))`,
)
const MESSAGE_TOKEN_END = new RegExp(`<${BAR_PATTERN}message${BAR_PATTERN}>$`)
const CALLS_TAG = createPattern('<(?:[a-z]{1,16}:)?function_calls>\\s{0,32}')
const SPACE = createPattern('\\s{0,8}')
const MAX_HEADER_PART_CHARS = 24
