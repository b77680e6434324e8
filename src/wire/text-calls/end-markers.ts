import { BAR_PATTERN, GAP_PATTERN, matchAt, createPattern, createTokenPattern } from './dialects/dialect.ts'
import { TEXT_CALL_DIALECTS } from './dialects/dialects.ts'
import { MINIMAX_CALL_MARKER } from './dialects/minimax.ts'
import { createMarkerMatcher } from './marker-matcher.ts'

/** What may follow a call. A bracket too many is the most common error of models that write JSON (T33). */
export interface EndMarker {
  readonly kind: 'marker' | 'bracket' | 'space'
  readonly length: number
}

/** The closing tag, end token, white space or bracket at this offset after a call. */
export function matchEndMarker(text: string, at: number): EndMarker | undefined {
  const space = matchAt(SPACE_OR_BRACKET, text, at)?.[0]
  if (space !== undefined) return { kind: /\s/.test(space) ? 'space' : 'bracket', length: space.length }
  const tag = matchAt(CLOSING_TAG, text, at)?.[0].length
  if (tag !== undefined) return { kind: 'marker', length: tag }
  const token = matchDialectMarker(text, at)
  return typeof token === 'object' ? { kind: 'marker', length: token.end - at } : undefined
}

/** White space, and tokens that end the message: nothing else may follow a call without a marker. */
export function matchMessageEnd(text: string, at: number): number {
  return matchAt(MESSAGE_END, text, at)?.[0].length ?? 0
}

/** Could more text make this an end marker? */
export function couldBeEndMarker(text: string, at: number): boolean {
  return text.length - at < MAX_END_MARKER_CHARS && /[<＜[\]]/.test(text[at] ?? '')
}

const MAX_END_MARKER_CHARS = 64

const SPACE_OR_BRACKET = createPattern('\\s{1,64}|[}\\]](?!<\\]minimax)')
const END_TOKEN = `${createTokenPattern('im_end|eot_id|eom_id|eot|endoftext|end_of_text|end_of_sentence')}|<end_of_turn>|</s>`
const MESSAGE_END = createPattern(`\\s{1,64}|${END_TOKEN}`)

// Not the closing tag of a parameter: after a call it means that the call was parsed wrongly.
const TAG_NAMES = '(?:tool_calls?|function_calls?|tool_use|invoke)'
const CLOSING_TAG = createPattern(
  [
    `[<＜]/(?:[a-z]{1,16}:)?${TAG_NAMES}[>＞]`,
    END_TOKEN,
    `<\\s?/${BAR_PATTERN}(?:DSML${BAR_PATTERN})?${TAG_NAMES}(?:${BAR_PATTERN})?\\s?>`,
    `${MINIMAX_CALL_MARKER.replace(/[[\]]/g, '\\$&')}${GAP_PATTERN}</(?:tool_call|invoke)>`,
  ].join('|'),
)

const matchDialectMarker = createMarkerMatcher<true>(() =>
  TEXT_CALL_DIALECTS.flatMap(({ endMarkers = [] }) => endMarkers.map((marker) => [marker, true] as const)),
)
