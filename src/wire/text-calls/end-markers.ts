import { BAR_PATTERN, GAP_PATTERN, matchAt, createPattern, createTokenPattern } from './dialects/dialect.ts'
import { MINIMAX_CALL_MARKER } from './dialects/minimax.ts'

/** The length of the white space, closing tag or end token at this offset after a call; 0 if there is none. */
export function matchEndMarker(text: string, at: number): number {
  return matchAt(END_MARKER, text, at)?.[0].length ?? 0
}

/** Could more text make this an end marker? */
export function couldBeEndMarker(text: string, at: number): boolean {
  return text.length - at < MAX_END_MARKER_CHARS && /[<＜[\]]/.test(text[at] ?? '')
}

const MAX_END_MARKER_CHARS = 64

// Not the closing tag of a parameter: after a call it means that the call was parsed wrongly.
const TAG_NAMES = '(?:tool_calls?|function_calls?|tool_use|invoke)'
const END_TOKENS =
  '/tool_calls?|tool_calls?_end|tool_calls?_section_end|im_end|call|end|return|eot_id|eom_id|endoftext|end_of_sentence'

// One bracket too many is the most common error of models that write JSON (T33).
const END_MARKER = createPattern(
  [
    '\\s{1,64}',
    '[}\\]](?!<\\]minimax)',
    `[<＜]/(?:[a-z]{1,16}:)?(?:${TAG_NAMES}|function|think)[>＞]`,
    createTokenPattern(END_TOKENS),
    `<\\s?/${BAR_PATTERN}(?:DSML${BAR_PATTERN})?${TAG_NAMES}(?:${BAR_PATTERN})?\\s?>`,
    '<(?:tool_call|turn)\\|>|<end_function_call>|<end_of_turn>|</s>',
    '\\[/TOOL_CALLS?\\]',
    `${MINIMAX_CALL_MARKER.replace(/[[\]]/g, '\\$&')}${GAP_PATTERN}</(?:tool_call|invoke)>`,
  ].join('|'),
)
