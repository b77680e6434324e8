import { onePassage } from './fuzzy.ts'
import { exactPlaces, indentedPlaces, lineAt, loosePlaces, type Place } from './locate.ts'
import { fitEdges, hasTwinEdge, isElsewhere, type Wanted, widened } from './edges.ts'
import { isBlank } from './lines.ts'
import { mergePassage } from './merge.ts'

/** How the place of an edit was found. */
export type Strategy = 'exact' | 'indentation' | 'whitespace' | 'quotes' | 'fuzzy'

/** An edit that was made; or why it was not. Lines count from 1. */
export type Edited =
  | {
      readonly text: string
      readonly strategy: Strategy
      readonly first: number
      readonly last: number
      readonly count: number
    }
  | { readonly why: 'not-found' }
  | { readonly why: 'ambiguous' | 'unclear'; readonly strategy: Strategy; readonly lines: readonly number[] }

/** What to look for and what to put there, with plain line ends. */
export interface Edit {
  readonly old: string
  readonly fresh: string
  /** Change every exact occurrence. */
  readonly all?: boolean
}

/**
 * Makes an edit where the model can only mean one place: word for word, then with other indentation, then with other white
 * space, then with other quotes, then with small differences. A looser way is only tried where a stricter one finds
 * nothing, and one that finds two places ends the search.
 */
export function smartEdit(text: string, edit: Edit): Edited {
  const exact = exactPlaces(text, edit.old)
  const [only] = exact
  if (only !== undefined && (exact.length === 1 || edit.all)) {
    const fitted = exact.length > 1 ? { edit, at: only } : hasTwin(text, edit) ? undefined : fitEdges(text, edit, only)
    if (fitted) return replaceExactly(text, fitted.edit, exact.length === 1 ? [fitted.at] : exact)
    const line = lineAt(text, only) + 1
    return { why: 'unclear', strategy: 'exact', lines: [line, line] }
  }
  if (exact.length > 1) {
    return { why: 'ambiguous', strategy: 'exact', lines: exact.map((at) => lineAt(text, at) + 1) }
  }
  const lines = text.split('\n')
  const wanted = blocks(edit)
  const old = wanted.old.join('\n')
  const ways: readonly (readonly [Strategy, () => readonly Place[]])[] = [
    ['indentation', () => indentedPlaces(lines, wanted.old)],
    ['whitespace', () => loosePlaces(text, old, { quotes: false })],
    ['quotes', () => loosePlaces(text, old, { quotes: true })],
    ['fuzzy', () => [onePassage(lines, wanted.old) ?? []].flat()],
  ]
  for (const [strategy, look] of ways) {
    const places = look()
    const [found] = places
    if (!found) continue
    if (places.length > 1) return { why: 'ambiguous', strategy, lines: places.map(({ first }) => first + 1) }
    const { wanted: whole, place } = widened(lines, wanted, found)
    const passage = { file: lines.slice(place.first, place.end), ...completed(whole, place) }
    const inDoubt = hasTwinEdge(lines, whole.old, place) || (edit.fresh !== '' && isBlank(edit.fresh))
    const merged = inDoubt ? undefined : mergePassage(passage)
    const span = { strategy, lines: [place.first + 1, place.end] }
    if (!merged) return { why: 'unclear', ...span }
    const result = [...lines.slice(0, place.first), ...merged, ...lines.slice(place.end)].join('\n')
    return { text: result, strategy, first: place.first + 1, last: place.end, count: 1 }
  }
  return { why: 'not-found' }
}

function hasTwin(text: string, edit: Edit): boolean {
  return isElsewhere(edit.old, edit.fresh) && indentedPlaces(text.split('\n'), blocks(edit).old).length > 1
}

function replaceExactly(text: string, { old, fresh }: Edit, places: readonly number[]): Edited {
  const [first = 0] = places
  const last = (places.at(-1) ?? 0) + Math.max(0, old.replace(/\n$/, '').length - 1)
  return {
    text: text.split(old).join(fresh),
    strategy: 'exact',
    first: lineAt(text, first) + 1,
    last: lineAt(text, last) + 1,
    count: places.length,
  }
}

/** Both texts as whole lines. */
function blocks({ old, fresh }: Edit): Wanted {
  const ended = old.endsWith('\n') && old.trim() !== ''
  const left = (ended ? old.slice(0, -1) : old).split('\n')
  if (ended && fresh === '') return { old: left, fresh: [] }
  const right = fresh.split('\n')
  if (ended && right.length > 1 && right.at(-1) === '') right.pop()
  return { old: left, fresh: right }
}

/** A text that begins or ends within a line is completed to whole lines with what the file has around it. */
function completed({ old, fresh }: Wanted, { before, after }: Place): Wanted {
  if (before === '' && after === '') return { old, fresh }
  const around = (lines: readonly string[]): string[] => {
    const all = lines.length === 0 ? [''] : [...lines]
    if (before !== '') all[0] = before + (all[0] ?? '').trimStart()
    if (after !== '') all[all.length - 1] = (all.at(-1) ?? '').trimEnd() + after
    return all
  }
  return { old: around(old), fresh: around(fresh) }
}
