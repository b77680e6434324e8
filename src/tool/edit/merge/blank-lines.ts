import { isBlank } from '../match/lines.ts'
import type { PassageMatch } from '../match/find-matches.ts'
import { splitBlankEdges } from './passage-pieces.ts'
import { getTrailingSpace } from './file-style.ts'

export interface LineEdit {
  readonly old: readonly string[]
  readonly replacement: readonly string[]
}

/** Resolves blank lines at the edges: models forget or add them, so a difference is clear only where the file has none. */
export function fitBlankLines(
  lines: readonly string[],
  edit: LineEdit,
  match: PassageMatch,
): { readonly match: PassageMatch; readonly edit: LineEdit } | undefined {
  if (match.before !== '' || match.after !== '') return { match, edit }
  const [old, replacement] = [splitBlankEdges(edit.old), splitBlankEdges(edit.replacement)]
  const isRemoval = replacement.inner.length === 0
  // Space in a new blank line is a slip only if the model also writes trailing space elsewhere.
  const isCareless = edit.old.some((line) => getTrailingSpace(line) !== '')
  const added = (was: readonly string[], blanks: readonly string[]): readonly string[] =>
    isRemoval ? was : isCareless && was.length === 0 ? blanks.map(() => '') : blanks
  const above = resolveBlankLines(
    old.above,
    added(old.above, replacement.above),
    countBlanksAbove(lines, match.first),
    old.inner[0] === replacement.inner[0],
  )
  const below = resolveBlankLines(
    old.below,
    added(old.below, replacement.below),
    countBlanksBelow(lines, match.end),
    old.inner.at(-1) === replacement.inner.at(-1),
  )
  if (!above || !below) return undefined
  return {
    match: { ...match, first: match.first - above.old.length, end: match.end + below.old.length },
    edit: {
      old: [...above.old, ...old.inner, ...below.old],
      replacement: isRemoval ? [] : [...above.replacement, ...replacement.inner, ...below.replacement],
    },
  }
}

/** The blank lines that stay part of both texts. `isSteady`: the line beside them does not change. */
function resolveBlankLines(
  old: readonly string[],
  replacement: readonly string[],
  blankCount: number,
  isSteady: boolean,
): LineEdit | undefined {
  if (old.length !== replacement.length) return blankCount === 0 && old.length === 0 ? { old, replacement } : undefined
  if (old.length <= blankCount) return { old, replacement }
  return isSteady ? { old: [], replacement: [] } : undefined
}

function countBlanksAbove(lines: readonly string[], first: number): number {
  let from = first
  while (from > 0 && isBlank(lines[from - 1] ?? '')) from--
  return first - from
}

function countBlanksBelow(lines: readonly string[], end: number): number {
  let to = end
  // The empty text after the last line ending is not a line.
  while (to < lines.length - 1 && isBlank(lines[to] ?? '')) to++
  return to - end
}

/** Does the new text repeat a line that is next to the passage? Then it is unclear where the passage ends. */
export function repeatsNeighborLine(
  lines: readonly string[],
  { old, replacement }: LineEdit,
  { first, end }: PassageMatch,
): boolean {
  const nonBlank = (all: readonly string[]): string[] => all.filter((line) => !isBlank(line)).map((line) => line.trim())
  const [from, to] = [nonBlank(old), nonBlank(replacement)]
  const isRepeated = (line: string | undefined, was: string | undefined, edit: string | undefined): boolean => {
    const words = line?.trim() ?? ''
    if (edit === words && was !== words) return /[^\s{}()[\];,]/.test(words)
    if (!/\w{2}/.test(words) || from.includes(words) || !to.includes(words)) return false
    return lines.filter((one) => one.trim() === words).length === 1
  }
  const above = lines.slice(0, first).findLast((line) => !isBlank(line))
  const below = lines.slice(end).find((line) => !isBlank(line))
  return isRepeated(above, from[0], to[0]) || isRepeated(below, from.at(-1), to.at(-1))
}

/** Is the first or last line only similar, while a line just outside is equal? Then it is unclear which one is meant. */
export function hasAmbiguousEdge(
  lines: readonly string[],
  old: readonly string[],
  { first, end }: PassageMatch,
): boolean {
  const nonBlank = old.filter((line) => !isBlank(line))
  const [top = '', bottom = ''] = [nonBlank[0], nonBlank.at(-1)]
  const inside = lines.slice(first, end).filter((line) => !isBlank(line))
  const above = lines.slice(Math.max(0, first - EDGE_SEARCH_LINES), first)
  const below = lines.slice(end, end + EDGE_SEARCH_LINES)
  return (inside[0] !== top && above.includes(top)) || (inside.at(-1) !== bottom && below.includes(bottom))
}

const EDGE_SEARCH_LINES = 3
