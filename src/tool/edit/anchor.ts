import { essence, isBlank, likeness } from './lines.ts'
import type { Place } from './locate.ts'
import { differsInOneWord } from './stale.ts'

/**
 * The one passage whose lines are those that are looked for, but for a few that the model remembers as they were some time ago.
 * The others must stand there in their order, be right, and stand so in no other place.
 */
export function anchoredPassage(lines: readonly string[], old: readonly string[]): Place | undefined {
  if (lines.length > MAX_LINES) return undefined
  const [file, wanted] = [solid(lines), solid(old)]
  const most = Math.max(1, Math.floor(wanted.length / 5))
  const windows = startsOf(file, wanted)
    .map((start) => windowAt(file, wanted, start))
    .sort((a, b) => b.weight - a.weight || a.wrong.length - b.wrong.length)
  const found = namedWindow(windows, file, wanted) ?? likeWindow(windows, file, wanted)
  if (!found || found.wrong.length === 0 || found.wrong.length > most) return undefined
  const [first, last] = [file[found.start], file[found.start + wanted.length - 1]]
  return first && last && { first: first.at, end: last.at + 1, before: '', after: '' }
}

/** The stretch that is named by lines that are right. */
function namedWindow(windows: readonly Window[], file: readonly Solid[], wanted: readonly Solid[]): Window | undefined {
  const [best, next] = windows
  if (!best) return undefined
  const { start, wrong } = best
  const right = wanted.filter((_line, at) => !wrong.includes(at))
  if (!isTelling(right, file)) return undefined
  // A second place of which half as much is right leaves a doubt, and so does one with as few wrong lines.
  if (next && next.weight > best.weight / 2) return undefined
  if (windows.some((one) => one !== best && one.weight > 0 && one.wrong.length <= wrong.length)) return undefined
  const isInner = (at: number): boolean => [at - 1, at + 1].every((one) => one in wanted && !wrong.includes(one))
  return wrong.every((at) => isInner(at) || isNearest(file, start + at, wanted[at]?.key ?? '')) ? best : undefined
}

/** The one stretch of which every wrong line is nearly what is remembered, while no other line of the file is. */
function likeWindow(windows: readonly Window[], file: readonly Solid[], wanted: readonly Solid[]): Window | undefined {
  const few = windows.filter(({ wrong }) => wrong.length === 1)
  const [only, ...others] = few.filter(({ start, wrong }) =>
    wrong.every((at) => isUnmistakable(file, start + at, wanted[at]?.key ?? '')),
  )
  return others.length === 0 ? only : undefined
}

const MAX_LINES = 20_000
const MAX_SAME = 50
const MARGIN = 0.15
const REACH = 4
/** Brackets stand everywhere, and weigh nothing. */
const WORDS = /\w{3}/
/** So many letters of lines that are right make a place. */
const MIN_LETTERS = 12

interface Solid {
  readonly key: string
  readonly at: number
}

/** Blank lines say nothing about where a passage is. */
function solid(lines: readonly string[]): Solid[] {
  return lines.flatMap((line, at) => (isBlank(line) ? [] : [{ key: essence(line), at }]))
}

/** Where the passage would begin if one of its lines is right. */
function startsOf(file: readonly Solid[], wanted: readonly Solid[]): number[] {
  const places = new Map<string, number[]>()
  for (const [at, { key }] of file.entries()) {
    const same = places.get(key)
    if (same) same.push(at)
    else places.set(key, [at])
  }
  const starts = new Set<number>()
  for (const [at, { key }] of wanted.entries()) {
    const known = places.get(key) ?? []
    if (known.length <= MAX_SAME) for (const place of known) starts.add(place - at)
  }
  // A line that is nowhere is somewhere in another form.
  for (const [at, { key }] of wanted.entries()) {
    if (places.has(key)) continue
    for (const [place, { key: other }] of file.entries()) if (differsInOneWord(key, other)) starts.add(place - at)
  }
  return [...starts].filter((start) => start >= 0 && start + wanted.length <= file.length)
}

/** A stretch of the file as long as what is looked for: which lines are wrong, and how much the words weigh of those that are right. */
interface Window {
  readonly start: number
  readonly wrong: readonly number[]
  readonly weight: number
}

function windowAt(file: readonly Solid[], wanted: readonly Solid[], start: number): Window {
  const wrong: number[] = []
  let weight = 0
  for (const [at, { key }] of wanted.entries()) {
    if (file[start + at]?.key !== key) wrong.push(at)
    else if (WORDS.test(key)) weight += key.length
  }
  return { start, wrong, weight }
}

/** Is no line beside this one more like what is remembered? Otherwise a line was forgotten, and all are one off. */
function isNearest(file: readonly Solid[], at: number, memory: string): boolean {
  const like = likeness(memory, file[at]?.key ?? '')
  return file.slice(Math.max(0, at - REACH), at + REACH + 1).every(({ key }) => {
    return key === file[at]?.key || likeness(memory, key) < like
  })
}

/** Is this line nearly what is remembered, one word apart, and no other line like it? */
function isUnmistakable(file: readonly Solid[], at: number, memory: string): boolean {
  const real = file[at]?.key ?? ''
  if (!differsInOneWord(memory, real)) return false
  const far = likeness(memory, real) - MARGIN
  return file.every(({ key }, other) => other === at || (likeness(memory, key) < far && !differsInOneWord(memory, key)))
}

/** Do these lines say enough to name a place? Brackets stand everywhere; one line with words must stand only here, or several together. */
function isTelling(right: readonly Solid[], file: readonly Solid[]): boolean {
  const words = right.filter(({ key }) => WORDS.test(key))
  if (words.reduce((sum, { key }) => sum + key.length, 0) < MIN_LETTERS) return false
  return words.length > 1 || words.some(({ key }) => file.filter((one) => one.key === key).length === 1)
}
