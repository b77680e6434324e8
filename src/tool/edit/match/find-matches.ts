import { isBlank, squeezeWhitespace, type MatchTolerance, WORD_CHARACTER_PATTERN } from './lines.ts'

/** A passage of whole lines, and the rest of its first and last line around the found text. */
export interface PassageMatch {
  readonly first: number
  /** The line after the last one. */
  readonly end: number
  readonly before: string
  readonly after: string
}

/** Offsets of exact matches that do not overlap. */
export function findExactOffsets(text: string, searchText: string): number[] {
  const found: number[] = []
  for (let at = text.indexOf(searchText); at >= 0; at = text.indexOf(searchText, at + searchText.length)) found.push(at)
  return found
}

/** Matches that ignore indentation and trailing space. Blank lines at the edges are not part of a match. */
export function findIndentedMatches(lines: readonly string[], old: readonly string[]): PassageMatch[] {
  const searchText = old.map((line) => line.trim())
  const above = searchText.findIndex((line) => line !== '')
  if (above < 0) return []
  const below = searchText.length - 1 - searchText.findLastIndex((line) => line !== '')
  const trimmed = lines.map((line) => line.trim())
  const found: PassageMatch[] = []
  for (let first = 0; first + searchText.length <= trimmed.length; first++) {
    if (!searchText.every((line, at) => line === trimmed[first + at])) continue
    found.push({ first: first + above, end: first + searchText.length - below, before: '', after: '' })
  }
  return found
}

/** Matches that ignore white space and, if tolerated, the kind of quotes. A match begins and ends with whole words. */
export function findLooseMatches(text: string, searchText: string, tolerance: MatchTolerance): PassageMatch[] {
  const needle = squeezeWhitespace(searchText, tolerance).text
  if (needle.length < MIN_LOOSE_CHARS) return []
  const haystack = squeezeWhitespace(text, tolerance)
  const found: number[] = []
  // Overlapping matches count too: any three of many brackets in a row look the same.
  for (let at = haystack.text.indexOf(needle); at >= 0; at = haystack.text.indexOf(needle, at + 1)) found.push(at)
  return found.flatMap((at) => {
    const end = at + needle.length
    if (splitsWord(haystack.text, at) || splitsWord(haystack.text, end)) return []
    return [toPassageMatch(text, haystack.offsets[at] ?? 0, (haystack.offsets[end - 1] ?? 0) + 1)]
  })
}

/** Shorter texts match by chance. */
const MIN_LOOSE_CHARS = 6

function splitsWord(text: string, at: number): boolean {
  return (
    at > 0 &&
    at < text.length &&
    WORD_CHARACTER_PATTERN.test(text[at - 1] ?? '') &&
    WORD_CHARACTER_PATTERN.test(text[at] ?? '')
  )
}

export function toPassageMatch(text: string, from: number, to: number): PassageMatch {
  const start = text.lastIndexOf('\n', from - 1) + 1
  const lineEnd = text.indexOf('\n', to)
  const before = from === 0 ? '' : text.slice(start, from)
  const after = text.slice(to, lineEnd < 0 ? text.length : lineEnd)
  const first = findLineIndex(text, from)
  return {
    first,
    end: findLineIndex(text, to - 1) + 1,
    before: isBlank(before) ? '' : before,
    after: isBlank(after) ? '' : after,
  }
}

export function findLineIndex(text: string, offset: number): number {
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) count++
  return count
}
