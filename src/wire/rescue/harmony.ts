import { BAR, broken, match, OPEN, pattern, PROSE, type Reader, type Scope } from './dialect.ts'
import { CROSSED, CUT, jsonEnd } from './json.ts'

/**
 * The header of a Harmony message that leaked, with its special tokens or without them, before arguments (T65):
 * `<|channel|>commentary to=functions.x <|constrain|>json<|message|>{…}`, `assistantcommentary to=functions.x json{…}`.
 */
export const readHarmony: Reader = (text, from, scope) => {
  let at = from
  let pieces = 0
  let recipient: string | undefined
  for (let piece = match(PIECE, text, at); piece && pieces < 12; piece = match(PIECE, text, at)) {
    at += piece[0].length
    if (piece[1] === undefined) pieces++
    else if (recipient === undefined) recipient = piece[1]
    else return PROSE
  }
  at += match(SPACE, text, at)?.[0].length ?? 0
  if (text.length - at < LONGEST_PIECE && !scope.final && text[at] !== '{') return OPEN
  // A recipient alone is not a header.
  if (text[at] !== '{' || recipient === undefined || pieces === 0) return PROSE
  const end = jsonEnd(text, at)
  if (end === CUT) return OPEN
  if (end === CROSSED) return broken('its arguments are not JSON')
  return { kind: 'calls', end, calls: [{ name: bareName(recipient, scope), raw: text.slice(at, end) }] }
}

/** Where the tokens were dropped, the word after the name sticks to it. */
function bareName(recipient: string, scope: Scope): string {
  const shorter = recipient.replace(/(?:commentary|json|code)$/, '')
  return !scope.schema(recipient) && scope.schema(shorter) ? shorter : recipient
}

const TOKEN = `<${BAR}(?:start|channel|constrain|message)${BAR}>`
const PIECE = pattern(`\\s{0,4}(?:${TOKEN}|assistant|commentary|analysis|json|code|to=(functions\\.[\\w.-]{1,128}))`)
const SPACE = pattern('\\s{0,8}')
const LONGEST_PIECE = 24
