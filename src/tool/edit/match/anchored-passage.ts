import { indexByKey, measureSimilarity, type NonBlankLine, toNonBlankLines } from './lines.ts'
import type { PassageMatch } from './find-matches.ts'
import { differsInOneWord } from '../merge/stale-lines.ts'

/** The one passage with all wanted lines in order, except for a few that the model remembers in an older version. */
export function findAnchoredPassage(lines: readonly string[], old: readonly string[]): PassageMatch | undefined {
  if (lines.length > MAX_LINES) return undefined
  const [file, wanted] = [toNonBlankLines(lines), toNonBlankLines(old)]
  const maxWrong = Math.max(1, Math.floor(wanted.length / 5))
  const windows = findStarts(file, wanted)
    .map((start) => measureWindow(file, wanted, start))
    .sort((a, b) => b.weight - a.weight || a.wrongLines.length - b.wrongLines.length)
  const found = findUniqueWindow(windows, file, wanted) ?? findSimilarWindow(windows, file, wanted)
  if (!found || found.wrongLines.length === 0 || found.wrongLines.length > maxWrong) return undefined
  const [first, last] = [file[found.start], file[found.start + wanted.length - 1]]
  return first && last && { first: first.at, end: last.at + 1, before: '', after: '' }
}

function findUniqueWindow(
  windows: readonly CandidateWindow[],
  file: readonly NonBlankLine[],
  wanted: readonly NonBlankLine[],
): CandidateWindow | undefined {
  const [best, next] = windows
  if (!best) return undefined
  const { start, wrongLines } = best
  const right = wanted.filter((_line, at) => !wrongLines.includes(at))
  if (!isDistinctive(right, file)) return undefined
  // Another window with half as much weight, or as few wrong lines, makes it ambiguous.
  if (next && next.weight > best.weight / 2) return undefined
  if (windows.some((one) => one !== best && one.weight > 0 && one.wrongLines.length <= wrongLines.length))
    return undefined
  const isInner = (at: number): boolean => [at - 1, at + 1].every((one) => one in wanted && !wrongLines.includes(one))
  return wrongLines.every((at) => isInner(at) || isMostSimilarNearby(file, start + at, wanted[at]?.key ?? ''))
    ? best
    : undefined
}

/** The only window whose wrong line differs in one word, if no other line of the file is similar. */
function findSimilarWindow(
  windows: readonly CandidateWindow[],
  file: readonly NonBlankLine[],
  wanted: readonly NonBlankLine[],
): CandidateWindow | undefined {
  const nearMatches = windows.filter(({ wrongLines }) => wrongLines.length === 1)
  const [only, ...others] = nearMatches.filter(({ start, wrongLines }) =>
    wrongLines.every((at) => isUniquelySimilar(file, start + at, wanted[at]?.key ?? '')),
  )
  return others.length === 0 ? only : undefined
}

const MAX_LINES = 20_000
const MAX_EQUAL_LINES = 50
const MIN_SIMILARITY_MARGIN = 0.15
const NEIGHBOR_LINES = 4
/** Lines of brackets occur everywhere and have no weight. */
const WORD_PATTERN = /\w{3}/
/** This many characters of correct lines identify a place. */
const MIN_ANCHOR_CHARS = 12

/** Where the passage begins if one of its lines is correct. */
function findStarts(file: readonly NonBlankLine[], wanted: readonly NonBlankLine[]): number[] {
  const places = indexByKey(file)
  const starts = new Set<number>()
  for (const [at, { key }] of wanted.entries()) {
    const matchingLines = places.get(key) ?? []
    if (matchingLines.length <= MAX_EQUAL_LINES) for (const place of matchingLines) starts.add(place - at)
  }
  // A line that does not occur may occur in another version.
  for (const [at, { key }] of wanted.entries()) {
    if (places.has(key)) continue
    for (const [place, { key: other }] of file.entries()) if (differsInOneWord(key, other)) starts.add(place - at)
  }
  return [...starts].filter((start) => start >= 0 && start + wanted.length <= file.length)
}

type CandidateWindow = ReturnType<typeof measureWindow>

/** As many lines of the file as are wanted: which of them are wrong, and the weight of the correct ones. */
function measureWindow(file: readonly NonBlankLine[], wanted: readonly NonBlankLine[], start: number) {
  const wrong: number[] = []
  let weight = 0
  for (const [at, { key }] of wanted.entries()) {
    if (file[start + at]?.key !== key) wrong.push(at)
    else if (WORD_PATTERN.test(key)) weight += key.length
  }
  return { start, wrongLines: wrong, weight }
}

/** Otherwise the model forgot a line, and all lines are shifted by one. */
function isMostSimilarNearby(file: readonly NonBlankLine[], at: number, remembered: string): boolean {
  const lineSimilarity = measureSimilarity(remembered, file[at]?.key ?? '')
  return file.slice(Math.max(0, at - NEIGHBOR_LINES), at + NEIGHBOR_LINES + 1).every(({ key }) => {
    return key === file[at]?.key || measureSimilarity(remembered, key) < lineSimilarity
  })
}

function isUniquelySimilar(file: readonly NonBlankLine[], at: number, remembered: string): boolean {
  const fileLine = file[at]?.key ?? ''
  if (!differsInOneWord(remembered, fileLine)) return false
  const maxOtherSimilarity = measureSimilarity(remembered, fileLine) - MIN_SIMILARITY_MARGIN
  return file.every(
    ({ key }, other) =>
      other === at || (measureSimilarity(remembered, key) < maxOtherSimilarity && !differsInOneWord(remembered, key)),
  )
}

/** Do these lines identify a place? A single line with words must be unique in the file. */
function isDistinctive(right: readonly NonBlankLine[], file: readonly NonBlankLine[]): boolean {
  const words = right.filter(({ key }) => WORD_PATTERN.test(key))
  if (words.reduce((sum, { key }) => sum + key.length, 0) < MIN_ANCHOR_CHARS) return false
  return words.length > 1 || words.some(({ key }) => file.filter((one) => one.key === key).length === 1)
}
