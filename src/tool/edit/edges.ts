import { indentOf, isBlank } from './lines.ts'
import type { Place } from './locate.ts'

/** What to look for and what to put there, as whole lines. */
export interface Wanted {
  readonly old: readonly string[]
  readonly fresh: readonly string[]
}

interface Exact {
  readonly old: string
  readonly fresh: string
}

/**
 * Looks at the edges of a text that was found word for word. It may begin after the indentation of its line, and the new
 * text may bring that indentation along, or lack it throughout. And a blank line at an edge, in one of the two texts only,
 * may be one that the file already has: then it is not clear what is meant.
 */
export function fitEdges<E extends Exact>(text: string, edit: E, at: number): { edit: E; at: number } | undefined {
  const { old, fresh } = edit
  const start = text.lastIndexOf('\n', at - 1) + 1
  const missing = at === 0 ? '' : text.slice(start, at)
  if (isDoubtful(text, edit, at, missing)) return undefined
  if (missing === '') return { edit: { ...edit, fresh: closed(edit, text[at + old.length]) }, at }
  if (!isBlank(missing)) return { edit, at }

  const [first = '', ...rest] = fresh.split('\n')
  const [had, has] = [indentOf(old), indentOf(first)]
  if (isBlank(first) || has === missing + had) return { edit: { ...edit, old: missing + old }, at: start }
  if (has !== had) return undefined
  if (old.includes('\n') || !isDedented(first, rest, missing)) return { edit, at }
  const moved = rest.map((line) => (isBlank(line) ? line : missing + line))
  return { edit: { ...edit, fresh: [first, ...moved].join('\n') }, at }
}

/** Are all new lines without the indentation that the first one lacks? A line that opens a block tells how deep the next is. */
function isDedented(first: string, rest: readonly string[], missing: string): boolean {
  const bare = rest.filter((line) => !isBlank(line))
  if (bare.some((line) => !line.startsWith(missing))) return true
  return /[{([:]\s*$/.test(first) && bare[0] !== undefined && indentOf(bare[0]) === missing
}

function isDoubtful(text: string, { old, fresh }: Exact, at: number, missing: string): boolean {
  if (old.trim() === '' || fresh.trim() === '') return false
  const above = missing === '' && /\n[ \t]*\n$/.test(text.slice(Math.max(0, at - 500), at))
  if (ends(old, /^\s*/) !== ends(fresh, /^\s*/) && (above || old.startsWith('\n'))) return true
  const after = text.slice(at + old.length, at + old.length + 500)
  const below = old.endsWith('\n') ? /^[ \t]*\n/.test(after) : /^[ \t]*\n[ \t]*\n/.test(after)
  const extra = ends(fresh, /\s*$/) - ends(old, /\s*$/)
  return (extra > 0 && below) || (extra < 0 && (/\n\s*\n$/.test(old) || after.startsWith('\n')))
}

/** How many line ends are at an edge of a text. */
function ends(text: string, edge: RegExp): number {
  return (edge.exec(text)?.[0] ?? '').split('\n').length - 1
}

/** Whole lines are exchanged for whole lines: the next line must not end up behind the last new one. */
function closed({ old, fresh }: Exact, next: string | undefined): string {
  const isOpen = old.endsWith('\n') && fresh !== '' && !fresh.endsWith('\n') && next !== '\n' && next !== undefined
  return isOpen && !isBlank(old.slice(0, -1)) ? `${fresh}\n` : fresh
}

/**
 * Takes in the blank lines of the file around a passage, as many as one of the texts has at that edge; those that only the
 * texts have are dropped from both.
 */
export function widened(lines: readonly string[], wanted: Wanted, place: Place): { wanted: Wanted; place: Place } {
  if (wanted.fresh.every(isBlank)) return { wanted, place }
  const above = place.before === '' ? room(lines.slice(0, place.first).reverse(), wanted, 'start') : NO_ROOM
  const below = place.after === '' ? room(lines.slice(place.end), wanted, 'end') : NO_ROOM
  const cut = (all: readonly string[]): readonly string[] => {
    const inner = all.slice(Math.min(above.drop, edgeBlanks(all, 'start')))
    return inner.slice(0, inner.length - Math.min(below.drop, edgeBlanks(inner, 'end')))
  }
  return {
    wanted: { old: cut(wanted.old), fresh: cut(wanted.fresh) },
    place: { ...place, first: place.first - above.take, end: place.end + below.take },
  }
}

const NO_ROOM = { take: 0, drop: 0 }

function room(
  beyond: readonly string[],
  { old, fresh }: Wanted,
  edge: 'start' | 'end',
): { take: number; drop: number } {
  const had = edgeBlanks(old, edge)
  const there = edgeBlanks(beyond.length === 0 ? ['x'] : beyond, 'start')
  return { take: Math.min(there, Math.max(had, edgeBlanks(fresh, edge))), drop: Math.max(0, had - there) }
}

function edgeBlanks(lines: readonly string[], edge: 'start' | 'end'): number {
  const ordered = edge === 'start' ? lines : [...lines].reverse()
  const count = ordered.findIndex((line) => !isBlank(line))
  return count < 0 ? lines.length : count
}

/** Has the new text the found lines all at another depth? Then they may be meant where they stand at that depth. */
export function isElsewhere(old: string, fresh: string): boolean {
  const solid = (text: string): string[] => text.split('\n').filter((line) => !isBlank(line))
  const [before, after] = [solid(old), solid(fresh)]
  // A bracket alone stands at every depth and proves nothing.
  const kept = before.filter((line) => /\w{2}/.test(line) && after.some((one) => one.trim() === line.trim()))
  if (kept.length > 0) return kept.every((line) => !after.includes(line))
  return after.length > 0 && indentOf(before[0] ?? '') !== indentOf(after[0] ?? '')
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
