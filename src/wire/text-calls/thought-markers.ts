import { createMarkerMatcher } from './marker-matcher.ts'

/** The end of a thought. What comes before it was not said to anybody. */
export const findThoughtEnd = createMarkerMatcher<true>(() =>
  [
    ...['think', 'thinking', 'mm:think', 'seed:think'].map((tag) => `</${tag}>`),
    '[/THINK]',
    '<|END_THINKING|>',
    '<|inner_suffix|>',
  ].map((marker) => [marker, true] as const),
)

/** A token that opens a part of the message with visible text: it may follow a call. */
export const findTextPart = createMarkerMatcher<true>(() =>
  ['<|START_RESPONSE|>', '<|START_TEXT|>', '<|message_model|><|content_text|>'].map(
    (marker) => [marker, true] as const,
  ),
)
