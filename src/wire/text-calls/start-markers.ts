import type { ReadResult, ReadScope, TextCallDialect } from './dialects/dialect.ts'
import { INCOMPLETE } from './dialects/dialect.ts'
import { TEXT_CALL_DIALECTS } from './dialects/dialects.ts'
import { createMarkerMatcher, type MarkerMatch } from './marker-matcher.ts'

/** The dialect whose marker is at this offset; `partial` if the text ends inside a possible marker. */
export const findStartMarker = createMarkerMatcher<TextCallDialect>(() =>
  TEXT_CALL_DIALECTS.flatMap((dialect) => dialect.startMarkers.map((marker) => [marker, dialect] as const)),
)

/** Reads what starts with a marker. Inside it, the markup of any dialect can be nested. */
export function readAtMarker(
  text: string,
  at: number,
  marker: MarkerMatch<TextCallDialect>,
  scope: ReadScope,
  depth = 0,
): ReadResult {
  const dialect = marker.value
  const result = dialect.read(text, at, {
    ...scope,
    bodyStart: marker.end,
    readNested(inner) {
      const nested = depth < MAX_NESTED_MARKERS ? findStartMarker(text, inner) : undefined
      if (nested === 'partial') return scope.isFinal ? undefined : INCOMPLETE
      return nested && readAtMarker(text, inner, nested, scope, depth + 1)
    },
  })
  if (result.kind !== 'calls') return result
  return { ...result, calls: result.calls.map((call) => ({ dialect: dialect.id, ...call })) }
}

/** The first offset where more text could make a marker that starts with a word; else the length of the text. */
export function findPartialWordMarker(text: string, from: number): number {
  for (let at = Math.max(from, text.length - MAX_WORD_MARKER_CHARS); at < text.length; at++) {
    if (FIRST_LETTERS.includes(text[at] ?? '') && PARTIAL_WORDS.has(text.slice(at))) return at
  }
  return text.length
}

/** Offsets that must be checked: line ends, backticks, and the first characters or words of markers. */
export const MARKER_CANDIDATE_PATTERN = /[\n`~<＜[\]]|assistant|analysis|commentary|to=|functools|>>>/g

const WORD_MARKERS = ['assistant', 'analysis', 'commentary', 'to=', 'functools', '>>>']
const PARTIAL_WORDS = new Set(WORD_MARKERS.flatMap((word) => Array.from(word, (_char, at) => word.slice(0, at + 1))))
const FIRST_LETTERS = 'actf>'
const MAX_WORD_MARKER_CHARS = 10
const MAX_NESTED_MARKERS = 3
