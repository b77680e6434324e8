import { align, type Pairs } from './align.ts'
import { essence, isBlank, likeness } from './lines.ts'

/** A passage of the file, what the model took it for, and what the model wants instead. */
export interface Passage {
  readonly file: readonly string[]
  readonly old: readonly string[]
  readonly fresh: readonly string[]
}

/** The nearest lines of the file around a passage that are not blank. */
export interface Surroundings {
  readonly above: string | undefined
  readonly below: string | undefined
}

/** One line that all three have in some form, or what lies between two such lines. */
export type Piece = Passage

/** Cuts a passage at the lines that all three have. */
export function cut({ file, old, fresh }: Passage): Piece[] {
  const inFile = new Map(pairUp(old, file))
  const inFresh = new Map(pairUp(old, fresh))
  const pieces: Piece[] = []
  let [i, j, k] = [0, 0, 0]
  for (const at of [...old.keys(), old.length]) {
    const last = at === old.length
    const f = last ? file.length : inFile.get(at)
    const n = last ? fresh.length : inFresh.get(at)
    if (f === undefined || n === undefined) continue
    const between = { old: old.slice(i, at), file: file.slice(j, f), fresh: fresh.slice(k, n) }
    if (between.old.length + between.file.length + between.fresh.length > 0) pieces.push(between)
    if (!last) pieces.push({ old: old.slice(at, at + 1), file: file.slice(f, f + 1), fresh: fresh.slice(n, n + 1) })
    ;[i, j, k] = [at + 1, f + 1, n + 1]
  }
  return pieces
}

/** Pairs the lines that are the same, or nearly so. Blank ones are no sign of anything. */
export function pairUp(left: readonly string[], right: readonly string[]): Pairs {
  const keys = new Map([...left, ...right].map((line) => [line, essence(line)]))
  return align(left, right, (one, other) => {
    const [key = '', otherKey = ''] = [keys.get(one), keys.get(other)]
    if (key === '') return 0
    if (key === otherKey) return 1 + Math.min(key.length, 40) / 40 + (one === other ? 0.3 : 0)
    const like = likeness(key, otherKey)
    return like >= MIN_SIMILAR ? like / 2 : 0
  })
}

/** Two lines count as the same line, changed, from here on. */
const MIN_SIMILAR = 0.6

/** Are two lists the same but for blank lines, white space and quotes? */
export function isAlike(one: readonly string[], other: readonly string[]): boolean {
  const solid = (lines: readonly string[]): string[] => lines.filter((line) => !isBlank(line)).map(essence)
  return same(solid(one), solid(other))
}

/** The blank lines before the first line that is not blank, those after the last, and what lies between. */
export interface Frame {
  readonly above: readonly string[]
  readonly inner: readonly string[]
  readonly below: readonly string[]
}

/** Takes the blank lines at both edges off. Lines that are all blank count as those above. */
export function frame(lines: readonly string[]): Frame {
  const first = lines.findIndex((line) => !isBlank(line))
  if (first < 0) return { above: lines, inner: [], below: [] }
  const end = lines.findLastIndex((line) => !isBlank(line)) + 1
  return { above: lines.slice(0, first), inner: lines.slice(first, end), below: lines.slice(end) }
}

/** Are two lists the same, line for line? */
export function same(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, at) => line === other[at])
}
