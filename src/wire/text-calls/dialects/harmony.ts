import { BAR_PATTERN, matchAt, INCOMPLETE, createPattern, PROSE } from './dialect.ts'
import type { DialectReader, DialectContext } from './dialect.ts'
import { readJsonArguments } from '../json-calls.ts'

/**
 * The header of a Harmony message in the text, with its special tokens or without them, before arguments (T65):
 * `<|channel|>commentary to=functions.x <|constrain|>json<|message|>{…}`, `assistantcommentary to=functions.x json{…}`.
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
  at += matchAt(SPACE, text, at)?.[0].length ?? 0
  if (text.length - at < MAX_HEADER_PART_CHARS && !scope.isFinal && text[at] !== '{') return INCOMPLETE
  // A recipient alone is not a header.
  if (text[at] !== '{' || recipient === undefined || pieces === 0) return PROSE
  return readJsonArguments(stripNameSuffix(recipient, scope), text, at)
}

/** Without the tokens, the next word directly follows the name. */
function stripNameSuffix(recipient: string, scope: DialectContext): string {
  const shorter = recipient.replace(/(?:commentary|json|code)$/, '')
  return !scope.findSchema(recipient) && scope.findSchema(shorter) ? shorter : recipient
}

const HEADER_TOKEN = `<${BAR_PATTERN}(?:start|channel|constrain|message)${BAR_PATTERN}>`
const HEADER_PART = createPattern(
  `\\s{0,4}(?:${HEADER_TOKEN}|assistant|commentary|analysis|json|code|to=(functions\\.[\\w.-]{1,128}))`,
)
const SPACE = createPattern('\\s{0,8}')
const MAX_HEADER_PART_CHARS = 24
