import { anchoredPassage } from './anchor.ts'
import { fitEdges, hasTwinEdge, overlaps, type Wanted } from './edges.ts'
import { onePassage } from './fuzzy.ts'
import { isTorn } from './inline.ts'
import { indentOf, isBlank } from './lines.ts'
import { exactPlaces, indentedPlaces, lineAt, loosePlaces, type Place } from './locate.ts'
import { mergePassage } from './merge.ts'
import { frame, same } from './pieces.ts'
import { withoutStaleLines } from './stale.ts'
import { styleOf } from './style.ts'

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
  | { readonly why: 'ambiguous'; readonly strategy: Strategy; readonly lines: readonly number[] }
  | ({ readonly why: 'unclear'; readonly strategy: Strategy; readonly lines: readonly number[] } & Doubt)

/** What is not clear about an edit, as the second half of a sentence. */
interface Doubt {
  readonly doubt: string
}

/** What to look for and what to put there, with plain line ends. */
export interface Edit {
  readonly old: string
  readonly fresh: string
  /** Change every exact occurrence. */
  readonly all?: boolean
}

/**
 * Makes an edit where the model can only mean one place. What stands in the file word for word, and once, is always exchanged.
 * Otherwise it is looked for with other indentation, then with other white space, then with other quotes, then with small
 * differences. A looser way is only tried where a stricter one finds nothing, and one that finds two places ends the search.
 */
export function smartEdit(text: string, edit: Edit): Edited {
  // All of a file leaves nothing to doubt.
  if (edit.old === text)
    return { text: edit.fresh, strategy: 'exact', first: 1, last: lineAt(text, text.length - 1) + 1, count: 1 }
  const exact = exactPlaces(text, edit.old)
  const [only] = exact
  if (exact.length > 1 && edit.all) return replaceExactly(text, edit, exact)
  if (exact.length > 1) {
    return { why: 'ambiguous', strategy: 'exact', lines: exact.map((at) => lineAt(text, at) + 1) }
  }
  if (only !== undefined) return takenAtWord(text, edit, only)
  const lines = text.split('\n')
  const wanted = blocks(edit)
  const old = wanted.old.join('\n')
  const ways: readonly (readonly [Strategy, () => readonly Place[]])[] = [
    ['indentation', () => indentedPlaces(lines, wanted.old)],
    ['whitespace', () => loosePlaces(text, old, { quotes: false })],
    ['quotes', () => loosePlaces(text, old, { quotes: true })],
    ['fuzzy', () => [anchoredPassage(lines, wanted.old) ?? onePassage(lines, wanted.old) ?? []].flat()],
  ]
  // Another place that differs from this one only in white space or quotes may be meant as well.
  const twins = (): readonly (readonly [Strategy, readonly Place[]])[] => [
    ['indentation', indentedPlaces(lines, wanted.old)],
    ['quotes', loosePlaces(text, old, { quotes: true })],
  ]
  for (const [strategy, look] of ways) {
    const places = look()
    const [found] = places
    if (!found) continue
    if (places.length > 1) return { why: 'ambiguous', strategy, lines: places.map(({ first }) => first + 1) }
    for (const [strictness, alike] of twins()) {
      const others = alike.filter(({ first }) => first !== found.first)
      if (others.length === 0) continue
      return { why: 'ambiguous', strategy: strictness, lines: [found, ...others].map(({ first }) => first + 1) }
    }
    const result = editLines(lines, wanted, found, edit)
    const [first, last] = [found.first + 1, found.end]
    if (typeof result === 'string') return { text: result, strategy, first, last, count: 1 }
    return { why: 'unclear', strategy, lines: [first, last], ...result }
  }
  return { why: 'not-found' }
}

/** What the file has just so is exchanged just so. */
function takenAtWord(text: string, edit: Edit, at: number): Edited {
  const { old } = edit
  const end = at + old.length
  const start = text.lastIndexOf('\n', at - 1) + 1
  const indent = text.slice(start, at)
  const [from, fresh] = isBlank(indent) ? withIndent(edit, indent) : [0, edit.fresh]
  // A search text that ends with a line's end speaks of whole lines: the next one must not grow together with the new text.
  const isOpen = old.endsWith('\n') && fresh !== '' && !fresh.endsWith('\n') && end < text.length && text[end] !== '\n'
  const [first, last] = [lineAt(text, at), lineAt(text, Math.max(at, end - 1))]
  return {
    text: text.slice(0, at - from) + fresh + (isOpen ? '\n' : '') + text.slice(end),
    strategy: 'exact',
    first: first + 1,
    last: last + 1,
    count: 1,
  }
}

/**
 * A text that begins after a line's indentation: how much of that goes too, and what is put there. The new text may have the
 * indentation of the file already; and a line that goes away takes its indentation along.
 */
function withIndent({ old, fresh }: Edit, indent: string): [from: number, fresh: string] {
  if (fresh === '') return [indent.length, '']
  const whole = indent + indentOf(old)
  const isThere = indent !== '' && indentOf(fresh) === whole && fresh.trimStart() !== old.trimStart()
  return isThere ? [indent.length, fresh] : [0, fresh]
}

/** Exchanges whole lines. */
function editLines(lines: readonly string[], wanted: Wanted, found: Place, { old, fresh }: Edit): string | Doubt {
  if (fresh !== '' && isBlank(fresh)) return { doubt: 'whether a blank line is to be left' }
  const isInline = found.before !== '' || found.after !== ''
  if (isTorn(found, old, fresh) || (isInline && fresh.trim().includes('\n') && !old.trim().includes('\n'))) return TORN
  // The last line end of the search text may be a blank line that is to go.
  const isOpen = old.endsWith('\n') && fresh !== '' && !fresh.endsWith('\n')
  const fitted = isOpen && isBlank(lines[found.end] ?? 'x') ? undefined : fitEdges(lines, wanted, found)
  if (!fitted) return BLANKS
  if (hasTwinEdge(lines, wanted.old, found)) return { doubt: 'with which line it begins or ends' }
  if (overlaps(lines, wanted, found)) return TWICE
  const { place } = fitted
  const passage = withoutStaleLines({ file: lines.slice(place.first, place.end), ...completed(fitted.wanted, found) })
  if (!passage) return UNSURE
  const around = {
    above: lines.slice(0, place.first).findLast((line) => !isBlank(line)),
    below: lines.slice(place.end).find((line) => !isBlank(line)),
  }
  const merged = mergePassage(passage, around, styleOf(lines))
  if (!merged || same(merged, passage.file)) return UNSURE
  return [...lines.slice(0, place.first), ...merged, ...lines.slice(place.end)].join('\n')
}

const UNSURE: Doubt = { doubt: 'how the new lines are to be written there' }
const BLANKS: Doubt = { doubt: 'how many blank lines there should be before and after it' }
const TWICE: Doubt = { doubt: 'whether a line beside it, which new_string has too, is to be there twice' }
const TORN: Doubt = { doubt: 'whether it is meant to begin or end within a line' }

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
  if (fresh === '') return { old: gone(old), fresh: [] }
  const right = fresh.split('\n')
  if (ended && right.length > 1 && right.at(-1) === '') right.pop()
  return { old: left, fresh: right }
}

/** The lines that go away with a text: of the line ends around it one is its own, the others are blank lines. */
function gone(old: string): readonly string[] {
  const { above, inner, below } = frame(old.split('\n'))
  return below.length > 0 ? [...above, ...inner, ...below.slice(1)] : [...above.slice(1), ...inner]
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
