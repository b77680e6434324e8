import { isBlank } from './lines.ts'
import type { Place } from './locate.ts'
import { frame } from './pieces.ts'
import { trailOf } from './style.ts'

/** What to look for and what to put there, as whole lines. */
export interface Wanted {
  readonly old: readonly string[]
  readonly fresh: readonly string[]
}

/** An edit of which it is clear which blank lines around it are part of it. */
export interface Fitted {
  /** The lines that are exchanged, and what they are taken for. */
  readonly place: Place
  readonly wanted: Wanted
}

/**
 * Settles the blank lines at the edges of an edit. Models forget them, or put one too many; so where the two texts do not
 * agree about them, it is only clear what is meant if the file has none there.
 */
export function fitEdges(lines: readonly string[], wanted: Wanted, place: Place): Fitted | undefined {
  if (place.before !== '' || place.after !== '') return { place, wanted }
  const [old, fresh] = [frame(wanted.old), frame(wanted.fresh)]
  const isGone = fresh.inner.length === 0
  // Space in a new blank line is a slip only of a model that writes it at the ends of other lines too.
  const isSlip = wanted.old.some((line) => trailOf(line) !== '')
  const added = (was: readonly string[], blanks: readonly string[]): readonly string[] =>
    isGone ? was : isSlip && was.length === 0 ? blanks.map(() => '') : blanks
  const above = settled(
    old.above,
    added(old.above, fresh.above),
    blanksAbove(lines, place.first),
    old.inner[0] === fresh.inner[0],
  )
  const below = settled(
    old.below,
    added(old.below, fresh.below),
    blanksBelow(lines, place.end),
    old.inner.at(-1) === fresh.inner.at(-1),
  )
  if (!above || !below) return undefined
  return {
    place: { ...place, first: place.first - above.old.length, end: place.end + below.old.length },
    wanted: {
      old: [...above.old, ...old.inner, ...below.old],
      fresh: isGone ? [] : [...above.fresh, ...fresh.inner, ...below.fresh],
    },
  }
}

/** The blank lines that stay part of both texts. `isSteady` tells that the line beside them stays as it is. */
function settled(
  old: readonly string[],
  fresh: readonly string[],
  there: number,
  isSteady: boolean,
): Wanted | undefined {
  if (old.length !== fresh.length) return there === 0 && old.length === 0 ? { old, fresh } : undefined
  if (old.length <= there) return { old, fresh }
  return isSteady ? { old: [], fresh: [] } : undefined
}

function blanksAbove(lines: readonly string[], first: number): number {
  let from = first
  while (from > 0 && isBlank(lines[from - 1] ?? '')) from--
  return first - from
}

function blanksBelow(lines: readonly string[], end: number): number {
  let to = end
  // The last line of a text that ends with a line end is no line.
  while (to < lines.length - 1 && isBlank(lines[to] ?? '')) to++
  return to - end
}

/** Does the new text bring a line that the file has right beside the passage? Then it is not clear where the passage ends. */
export function overlaps(lines: readonly string[], { old, fresh }: Wanted, { first, end }: Place): boolean {
  const solid = (all: readonly string[]): string[] => all.filter((line) => !isBlank(line)).map((line) => line.trim())
  const [from, to] = [solid(old), solid(fresh)]
  const brings = (line: string | undefined, was: string | undefined, wanted: string | undefined): boolean => {
    const words = line?.trim() ?? ''
    if (wanted === words && was !== words) return /[^\s{}()[\];,]/.test(words)
    if (!/\w{2}/.test(words) || from.includes(words) || !to.includes(words)) return false
    return lines.filter((one) => one.trim() === words).length === 1
  }
  const above = lines.slice(0, first).findLast((line) => !isBlank(line))
  const below = lines.slice(end).find((line) => !isBlank(line))
  return brings(above, from[0], to[0]) || brings(below, from.at(-1), to.at(-1))
}

/** Is the passage's first or last line only nearly right, while one just beyond is exactly right? Which one is meant? */
export function hasTwinEdge(lines: readonly string[], old: readonly string[], { first, end }: Place): boolean {
  const solid = old.filter((line) => !isBlank(line))
  const [top = '', bottom = ''] = [solid[0], solid.at(-1)]
  const inside = lines.slice(first, end).filter((line) => !isBlank(line))
  const above = lines.slice(Math.max(0, first - REACH), first)
  const below = lines.slice(end, end + REACH)
  return (inside[0] !== top && above.includes(top)) || (inside.at(-1) !== bottom && below.includes(bottom))
}

const REACH = 3
