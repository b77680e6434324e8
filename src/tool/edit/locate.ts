import { isBlank, squeeze, type Tolerance, WORD } from './lines.ts'

/** A passage of whole lines, and what stands before and after the found text in its first and last line. */
export interface Place {
  readonly first: number
  /** The line after the last one. */
  readonly end: number
  readonly before: string
  readonly after: string
}

/** Where a text stands exactly: offsets that do not overlap. */
export function exactPlaces(text: string, wanted: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) places.push(at)
  return places
}

/** Where lines stand with other indentation, or other space at their ends. Blank lines at the edges are not part of it. */
export function indentedPlaces(lines: readonly string[], old: readonly string[]): Place[] {
  const wanted = old.map((line) => line.trim())
  const above = wanted.findIndex((line) => line !== '')
  if (above < 0) return []
  const below = wanted.length - 1 - wanted.findLastIndex((line) => line !== '')
  const trimmed = lines.map((line) => line.trim())
  const places: Place[] = []
  for (let first = 0; first + wanted.length <= trimmed.length; first++) {
    if (!wanted.every((line, at) => line === trimmed[first + at])) continue
    places.push({ first: first + above, end: first + wanted.length - below, before: '', after: '' })
  }
  return places
}

/** Where a text stands with white space, and perhaps quotes, of another kind. It must begin and end with whole words. */
export function loosePlaces(text: string, wanted: string, tolerance: Tolerance): Place[] {
  const needle = squeeze(wanted, tolerance).text
  if (needle.length < MIN_LOOSE) return []
  const hay = squeeze(text, tolerance)
  const places: number[] = []
  // Also those that overlap: of many brackets in a row, any three look the same.
  for (let at = hay.text.indexOf(needle); at >= 0; at = hay.text.indexOf(needle, at + 1)) places.push(at)
  return places.flatMap((at) => {
    const end = at + needle.length
    if (splitsWord(hay.text, at) || splitsWord(hay.text, end)) return []
    return [placeOf(text, hay.from[at] ?? 0, (hay.from[end - 1] ?? 0) + 1)]
  })
}

/** Shorter texts are found by chance. */
const MIN_LOOSE = 6

function splitsWord(text: string, at: number): boolean {
  return at > 0 && at < text.length && WORD.test(text[at - 1] ?? '') && WORD.test(text[at] ?? '')
}

/** The lines that a stretch of text is in. */
export function placeOf(text: string, from: number, to: number): Place {
  const start = text.lastIndexOf('\n', from - 1) + 1
  const stop = text.indexOf('\n', to)
  const before = from === 0 ? '' : text.slice(start, from)
  const after = text.slice(to, stop < 0 ? text.length : stop)
  const first = lineAt(text, from)
  return {
    first,
    end: lineAt(text, to - 1) + 1,
    before: isBlank(before) ? '' : before,
    after: isBlank(after) ? '' : after,
  }
}

/** The number of the line that an offset is in; the first is 0. */
export function lineAt(text: string, offset: number): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) count++
  return count
}
