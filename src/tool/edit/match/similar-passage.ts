import { alignByWeight } from './align.ts'
import { indexByKey, isBlank, measureSimilarity, type NonBlankLine, toNonBlankLines } from './lines.ts'
import type { PassageMatch } from './find-matches.ts'

/** A similar passage; the score is from 0 to 1. */
interface SimilarPassage extends PassageMatch {
  readonly score: number
  /** Wanted lines with words that occur there, up to style. */
  readonly equalLines: number
  /** Are all differences small, and the first and last line certain? */
  readonly isClose: boolean
}

/** Best first. */
export function findSimilarPassages(lines: readonly string[], old: readonly string[]): SimilarPassage[] {
  if (lines.length > MAX_LINES || old.length > MAX_LINES) return []
  const file = toNonBlankLines(lines)
  const wanted = toNonBlankLines(old)
  if (wanted.length === 0 || file.length === 0) return []
  const found: SimilarPassage[] = []
  for (const start of findStarts(file, wanted)) {
    const from = Math.max(0, start - WINDOW_SLACK_LINES)
    const part = file.slice(from, start + wanted.length + WINDOW_SLACK_LINES)
    const one = measurePassage(part, wanted)
    if (one && !found.some(({ first, end }) => first === one.first && end === one.end)) found.push(one)
  }
  return found.sort((a, b) => b.score - a.score)
}

export function findOnlySimilarPassage(lines: readonly string[], old: readonly string[]): SimilarPassage | undefined {
  if (old.filter((line) => !isBlank(line)).length < MIN_LINES || old.join('').length < MIN_PASSAGE_CHARS)
    return undefined
  const [best, ...others] = findSimilarPassages(lines, old)
  if (!best?.isClose || best.score < MIN_SCORE || best.equalLines < MIN_EQUAL_LINES) return undefined
  const next = others.find(({ first, end }) => first >= best.end || end <= best.first)
  if (next === undefined) return best
  // A passage with as many equal lines is as good, however similar the others are.
  return next.equalLines < best.equalLines && 1 - next.score >= 2 * (1 - best.score) + MIN_SCORE_MARGIN
    ? best
    : undefined
}

const MIN_LINES = 3
const MIN_PASSAGE_CHARS = 40
/** Lines of brackets occur everywhere; this many lines with words must be equal. */
const MIN_EQUAL_LINES = 2
const MIN_SCORE = 0.8
const MIN_SCORE_MARGIN = 0.1
/** From here on two lines count as versions of one line. */
const MIN_SIMILARITY = 0.6
const WINDOW_SLACK_LINES = 3
const MAX_STARTS = 12
const MAX_LINES = 100_000

/** Where the passage begins so that most wanted lines are in place. */
function findStarts(file: readonly NonBlankLine[], wanted: readonly NonBlankLine[]): number[] {
  const places = indexByKey(file)
  const votes = new Map<number, number>()
  const vote = (start: number, weight: number): void => void votes.set(start, (votes.get(start) ?? 0) + weight)
  const unmatchedLines: number[] = []
  for (const [at, { key }] of wanted.entries()) {
    const matchingLines = places.get(key)
    if (!matchingLines) unmatchedLines.push(at)
    // Lines that occur everywhere tell nothing.
    else if (matchingLines.length <= MAX_EQUAL_MATCHES)
      for (const place of matchingLines) vote(place - at, key.length + 1)
  }
  // A line that does not occur may occur in another version.
  for (const at of unmatchedLines.slice(0, 3)) {
    for (const [place, score] of findSimilarLines(file, wanted[at]?.key ?? '')) {
      vote(place - at, score * (wanted[at]?.key.length ?? 0))
    }
  }
  return [...votes]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_STARTS)
    .map(([start]) => start)
}

const MAX_EQUAL_MATCHES = 50

function findSimilarLines(file: readonly NonBlankLine[], wanted: string): [place: number, score: number][] {
  if (file.length > 5000) return []
  return file
    .map(({ key }, place): [number, number] => [place, measureSimilarity(wanted, key)])
    .filter(([, score]) => score > 0.3)
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_STARTS)
}

function measurePassage(part: readonly NonBlankLine[], wanted: readonly NonBlankLine[]): SimilarPassage | undefined {
  const keys = new Map([...part, ...wanted].map(({ line, key }) => [line, key]))
  const size = (line: string): number => Math.min(keys.get(line)?.length ?? 0, 60) + 10
  const compare = (one: string, other: string): number => measureSimilarity(keys.get(one) ?? '', keys.get(other) ?? '')
  const left = wanted.map(({ line }) => line)
  const right = part.map(({ line }) => line)
  const pairs = alignByWeight(left, right, (one, other) => {
    const lineSimilarity = compare(one, other)
    return lineSimilarity >= MIN_SIMILARITY ? lineSimilarity * size(one) : 0
  })
  const first = pairs[0]
  const last = pairs.at(-1)
  if (!first || !last) return undefined
  const extra = last[1] - first[1] + 1 - pairs.length
  const missing = wanted.length - pairs.length
  const similarities = pairs.map(([one, other]) => compare(left[one] ?? '', right[other] ?? ''))
  const same = pairs.filter((_pair, at) => similarities[at] === 1)
  const equal = same.filter(([one]) => /\w{3}/.test(left[one] ?? '')).length
  const weight = pairs.reduce((sum, [one], at) => sum + (similarities[at] ?? 0) * size(left[one] ?? ''), 0)
  const total = left.reduce((sum, line) => sum + size(line), 0) + extra * 20
  const wrong = pairs.length - same.length + extra + missing
  const hasMatchingBorders = first[0] === 0 && last[0] === wanted.length - 1
  // A surplus line of the model shifts all the others; a misremembered line replaces one of the file.
  const isBalanced = missing <= extra && extra <= 1
  return {
    first: part[first[1]]?.at ?? 0,
    end: (part[last[1]]?.at ?? 0) + 1,
    before: '',
    after: '',
    score: weight / total,
    equalLines: equal,
    isClose: hasMatchingBorders && isBalanced && wrong <= Math.max(1, Math.floor(wanted.length / 5)),
  }
}
