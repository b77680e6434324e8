import { isBlank } from './lines.ts'
import type { Place } from './locate.ts'
import { frame } from './pieces.ts'

/** What to look for and what to put there, as whole lines. */
export interface Wanted {
  readonly old: readonly string[]
  readonly fresh: readonly string[]
}

/** A passage with the blank lines around it that an edit is about, and how many of them are to be there afterwards. */
export interface Fitted {
  readonly place: Place
  /** Both texts without the blank lines at their edges. */
  readonly wanted: Wanted
  readonly above: readonly string[]
  readonly below: readonly string[]
}

/**
 * Settles the blank lines at the edges of an edit. Models forget them, or put one too many; so they are changed only where
 * the search text has as many as the file at most, and nothing if it is not clear what is meant.
 */
export function fitEdges(lines: readonly string[], wanted: Wanted, place: Place): Fitted | undefined {
  const [old, fresh] = [frame(wanted.old), frame(wanted.fresh)]
  const inner: Wanted = { old: old.inner, fresh: fresh.inner }
  if (place.before !== '' || place.after !== '') return { place, wanted, above: [], below: [] }
  const over = blanksAbove(lines, place.first)
  const under = blanksBelow(lines, place.end)
  const isGone = fresh.inner.length === 0
  const above = isGone ? rest(old.above, over) : settled(old.above, fresh.above, over, old.inner[0] === fresh.inner[0])
  const below = isGone
    ? rest(old.below, under)
    : settled(old.below, fresh.below, under, old.inner.at(-1) === fresh.inner.at(-1))
  if (!above || !below) return undefined
  return {
    place: { ...place, first: place.first - over.length, end: place.end + under.length },
    wanted: inner,
    above,
    below,
  }
}

/** The blank lines that are to be there. `isSteady` tells that the line beside them stays as it is. */
function settled(
  old: readonly string[],
  fresh: readonly string[],
  there: readonly string[],
  isSteady: boolean,
): readonly string[] | undefined {
  if (old.length === fresh.length) return old.length <= there.length || isSteady ? there : undefined
  // One that only one of the texts has may be one that the file has already, or one too many.
  return there.length === 0 && old.length === 0 ? fresh.map(() => '') : undefined
}

/** What is left of the blank lines if those of the search text go away with the rest of it. */
function rest(old: readonly string[], there: readonly string[]): readonly string[] | undefined {
  return old.length <= there.length ? there.slice(old.length) : undefined
}

function blanksAbove(lines: readonly string[], first: number): readonly string[] {
  let from = first
  while (from > 0 && isBlank(lines[from - 1] ?? '')) from--
  return lines.slice(from, first)
}

function blanksBelow(lines: readonly string[], end: number): readonly string[] {
  let to = end
  // The last line of a text that ends with a line end is no line.
  while (to < lines.length - 1 && isBlank(lines[to] ?? '')) to++
  return lines.slice(end, to)
}

/** Does the new text bring a line that the file has right beside the passage? Then it is not clear where the passage ends. */
export function overlaps(lines: readonly string[], { old, fresh }: Wanted, { first, end }: Place): boolean {
  const above = lines.slice(0, first).findLast((line) => !isBlank(line))
  const below = lines.slice(end).find((line) => !isBlank(line))
  const bring = (line: string | undefined, edge: string | undefined): boolean => {
    const words = line?.trim() ?? ''
    if (has(old, words)) return false
    if (edge?.trim() === words) return /[^\s{}()[\];,]/.test(words)
    return /\w{2}/.test(words) && has(fresh, words) && lines.filter((one) => one.trim() === words).length === 1
  }
  return (
    bring(
      above,
      fresh.find((line) => !isBlank(line)),
    ) ||
    bring(
      below,
      fresh.findLast((line) => !isBlank(line)),
    )
  )
}

function has(lines: readonly string[], words: string): boolean {
  return lines.some((line) => line.trim() === words)
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
