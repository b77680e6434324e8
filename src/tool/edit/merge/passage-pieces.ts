import { alignByWeight, type LinePairs } from '../match/align.ts'
import { normalizeLine, isBlank, measureSimilarity } from '../match/lines.ts'

/** A passage of the file, the model's version of it, and what the model wants instead. */
export interface PassageEdit {
  readonly file: readonly string[]
  readonly old: readonly string[]
  readonly replacement: readonly string[]
}

export interface SurroundingLines {
  readonly above: string | undefined
  readonly below: string | undefined
}

/** A line that all three have in some form, or what is between two such lines. */
export type PassagePiece = PassageEdit

export function splitPassage({ file, old, replacement }: PassageEdit): PassagePiece[] {
  const inFile = new Map(pairSimilarLines(old, file))
  const inReplacement = new Map(pairSimilarLines(old, replacement))
  const pieces: PassagePiece[] = []
  let [i, j, k] = [0, 0, 0]
  for (const at of [...old.keys(), old.length]) {
    const last = at === old.length
    const f = last ? file.length : inFile.get(at)
    const n = last ? replacement.length : inReplacement.get(at)
    if (f === undefined || n === undefined) continue
    const between = { old: old.slice(i, at), file: file.slice(j, f), replacement: replacement.slice(k, n) }
    if (between.old.length + between.file.length + between.replacement.length > 0) pieces.push(between)
    if (!last)
      pieces.push({ old: old.slice(at, at + 1), file: file.slice(f, f + 1), replacement: replacement.slice(n, n + 1) })
    ;[i, j, k] = [at + 1, f + 1, n + 1]
  }
  return pieces
}

/** Pairs equal and similar lines. Blank lines are not paired. */
export function pairSimilarLines(left: readonly string[], right: readonly string[]): LinePairs {
  const keys = new Map([...left, ...right].map((line) => [line, normalizeLine(line)]))
  return alignByWeight(left, right, (one, other) => {
    const [key = '', otherKey = ''] = [keys.get(one), keys.get(other)]
    if (key === '') return 0
    if (key === otherKey) return 1 + Math.min(key.length, 40) / 40 + (one === other ? 0.3 : 0)
    const lineSimilarity = measureSimilarity(key, otherKey)
    return lineSimilarity >= MIN_SIMILARITY ? lineSimilarity / 2 : 0
  })
}

/** From here on two lines count as versions of one line. */
const MIN_SIMILARITY = 0.6

export function isEqualIgnoringStyle(one: readonly string[], other: readonly string[]): boolean {
  const normalizeNonBlank = (lines: readonly string[]): string[] =>
    lines.filter((line) => !isBlank(line)).map(normalizeLine)
  return areLinesEqual(normalizeNonBlank(one), normalizeNonBlank(other))
}

/** Separates the blank lines at both edges. If all lines are blank, they count as above. */
export function splitBlankEdges(
  lines: readonly string[],
): Readonly<Record<'above' | 'inner' | 'below', readonly string[]>> {
  const first = lines.findIndex((line) => !isBlank(line))
  if (first < 0) return { above: lines, inner: [], below: [] }
  const end = lines.findLastIndex((line) => !isBlank(line)) + 1
  return { above: lines.slice(0, first), inner: lines.slice(first, end), below: lines.slice(end) }
}

export function areLinesEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((line, at) => line === other[at])
}
