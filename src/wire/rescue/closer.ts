import { BAR, GAP, match, pattern, token } from './dialect.ts'
import { SPACE_TOKEN } from './minimax.ts'

/** How long the white space, closing tag or end token is that stands here after a call; 0 if it is something else. */
export function closerAt(text: string, at: number): number {
  return match(CLOSER, text, at)?.[0].length ?? 0
}

/** Could the text go on to be such a closer? */
export function mayClose(text: string, at: number): boolean {
  return text.length - at < LONGEST && /[<＜[\]]/.test(text[at] ?? '')
}

const LONGEST = 64

// Not the tag that closes a parameter: after a call it means that the call was read too short.
const TAGS = '(?:tool_calls?|function_calls?|tool_use|invoke)'
const ENDS =
  '/tool_calls?|tool_calls?_end|tool_calls?_section_end|im_end|call|end|return|eot_id|eom_id|endoftext|end_of_sentence'

// One bracket too many is the most common slip of models that write JSON by hand (T33).
const CLOSER = pattern(
  [
    '\\s{1,64}',
    '[}\\]](?!<\\]minimax)',
    `[<＜]/(?:[a-z]{1,16}:)?(?:${TAGS}|function|think)[>＞]`,
    token(ENDS),
    `<\\s?/${BAR}(?:DSML${BAR})?${TAGS}(?:${BAR})?\\s?>`,
    '<(?:tool_call|turn)\\|>|<end_function_call>|<end_of_turn>|</s>',
    '\\[/TOOL_CALLS?\\]',
    `${SPACE_TOKEN.replace(/[[\]]/g, '\\$&')}${GAP}</(?:tool_call|invoke)>`,
  ].join('|'),
)
