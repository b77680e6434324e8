import { align } from './align.ts'
import { essence, isBlank, likeness } from './lines.ts'
import type { Place } from './locate.ts'

/** A passage that resembles what was wanted, from 0 to 1. */
export interface Likeness extends Place {
  readonly score: number
  /** Wanted lines that stand there, in essence, and have words; and all wanted lines that are not blank. */
  readonly equal: number
  readonly wanted: number
  /** Is every difference small enough, and none of them in a place that leaves the borders in doubt? */
  readonly close: boolean
}

/** The passages that resemble some lines most, the best first. */
export function likePassages(lines: readonly string[], old: readonly string[]): Likeness[] {
  const file = solid(lines)
  const wanted = solid(old)
  if (wanted.length === 0 || file.length === 0) return []
  const found: Likeness[] = []
  for (const start of starts(file, wanted)) {
    const from = Math.max(0, start - SLACK)
    const part = file.slice(from, start + wanted.length + SLACK)
    const one = measure(part, wanted)
    if (one && !found.some(({ first, end }) => first === one.first && end === one.end)) found.push(one)
  }
  return found.sort((a, b) => b.score - a.score)
}

/** The one passage that must be meant, if there is one: close enough, and far better than any other. */
export function onePassage(lines: readonly string[], old: readonly string[]): Likeness | undefined {
  if (old.filter((line) => !isBlank(line)).length < MIN_LINES || old.join('').length < MIN_LENGTH) return undefined
  const [best, ...others] = likePassages(lines, old)
  if (!best?.close || best.score < MIN_SCORE || best.equal < MIN_EQUAL) return undefined
  const next = others.find(({ first, end }) => first >= best.end || end <= best.first)
  if (next === undefined) return best
  // What has as many lines in common is as good, however alike the others are.
  return next.equal < best.equal && 1 - next.score >= 2 * (1 - best.score) + MARGIN ? best : undefined
}

const MIN_LINES = 3
const MIN_LENGTH = 40
/** Brackets stand everywhere; so many lines with words must be right. */
const MIN_EQUAL = 2
const MIN_SCORE = 0.8
const MARGIN = 0.1
/** Two lines count as the same line, changed, from here on. */
const MIN_SIMILAR = 0.6
const SLACK = 3
const MAX_STARTS = 12
const MAX_LINES = 100_000

interface Solid {
  readonly line: string
  readonly key: string
  readonly at: number
}

/** Blank lines say nothing about where a passage is. */
function solid(lines: readonly string[]): Solid[] {
  if (lines.length > MAX_LINES) return []
  return lines.flatMap((line, at) => (isBlank(line) ? [] : [{ line, key: essence(line), at }]))
}

/** Where the passage would have to begin so that most of the wanted lines are in their places. */
function starts(file: readonly Solid[], wanted: readonly Solid[]): number[] {
  const places = new Map<string, number[]>()
  for (const [at, { key }] of file.entries()) {
    const same = places.get(key)
    if (same) same.push(at)
    else places.set(key, [at])
  }
  const votes = new Map<number, number>()
  const vote = (start: number, weight: number): void => void votes.set(start, (votes.get(start) ?? 0) + weight)
  const strange: number[] = []
  for (const [at, { key }] of wanted.entries()) {
    const known = places.get(key)
    if (!known) strange.push(at)
    // Lines that are everywhere tell nothing.
    else if (known.length <= MAX_SAME) for (const place of known) vote(place - at, key.length + 1)
  }
  // A line that is nowhere is somewhere in another form.
  for (const at of strange.slice(0, 3)) {
    for (const [place, score] of similarPlaces(file, wanted[at]?.key ?? '')) {
      vote(place - at, score * (wanted[at]?.key.length ?? 0))
    }
  }
  return [...votes]
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_STARTS)
    .map(([start]) => start)
}

const MAX_SAME = 50

/** The lines that are most like a line. */
function similarPlaces(file: readonly Solid[], wanted: string): [place: number, score: number][] {
  if (file.length > 5000) return []
  return file
    .map(({ key }, place): [number, number] => [place, likeness(wanted, key)])
    .filter(([, score]) => score > 0.3)
    .sort((a, b) => b[1] - a[1])
    .slice(0, MAX_STARTS)
}

function measure(part: readonly Solid[], wanted: readonly Solid[]): Likeness | undefined {
  const keys = new Map([...part, ...wanted].map(({ line, key }) => [line, key]))
  const size = (line: string): number => Math.min(keys.get(line)?.length ?? 0, 60) + 10
  const compare = (one: string, other: string): number => likeness(keys.get(one) ?? '', keys.get(other) ?? '')
  const left = wanted.map(({ line }) => line)
  const right = part.map(({ line }) => line)
  const pairs = align(left, right, (one, other) => {
    const like = compare(one, other)
    return like >= MIN_SIMILAR ? like * size(one) : 0
  })
  const first = pairs[0]
  const last = pairs.at(-1)
  if (!first || !last) return undefined
  const extra = last[1] - first[1] + 1 - pairs.length
  const missing = wanted.length - pairs.length
  const likes = pairs.map(([one, other]) => compare(left[one] ?? '', right[other] ?? ''))
  const same = pairs.filter((_pair, at) => likes[at] === 1)
  const equal = same.filter(([one]) => /\w{3}/.test(left[one] ?? '')).length
  const weight = pairs.reduce((sum, [one], at) => sum + (likes[at] ?? 0) * size(left[one] ?? ''), 0)
  const total = left.reduce((sum, line) => sum + size(line), 0) + extra * 20
  const wrong = pairs.length - same.length + extra + missing
  const bordered = first[0] === 0 && last[0] === wanted.length - 1
  // A line that the model has too many shifts all the others; one that it remembers as another stands for one of the file.
  const isLevel = missing <= extra && extra <= 1
  return {
    first: part[first[1]]?.at ?? 0,
    end: (part[last[1]]?.at ?? 0) + 1,
    before: '',
    after: '',
    score: weight / total,
    equal,
    wanted: wanted.length,
    close: bordered && isLevel && wrong <= Math.max(1, Math.floor(wanted.length / 5)),
  }
}
