import { findAnchoredPassage } from './match/anchored-passage.ts'
import { fitBlankLines, hasAmbiguousEdge, repeatsNeighborLine, type LineEdit } from './merge/blank-lines.ts'
import { findOnlySimilarPassage } from './match/similar-passage.ts'
import { isCutWithinLine } from './match/cut-within-line.ts'
import { getIndent, isBlank } from './match/lines.ts'
import type { PassageMatch } from './match/find-matches.ts'
import { findExactOffsets, findIndentedMatches, findLineIndex, findLooseMatches } from './match/find-matches.ts'
import { mergePassage } from './merge/merge-passage.ts'
import { splitBlankEdges, areLinesEqual } from './merge/passage-pieces.ts'
import { correctStaleLines } from './merge/stale-lines.ts'
import { detectFileStyle } from './merge/file-style.ts'

export type MatchStrategy = 'exact' | 'indentation' | 'whitespace' | 'quotes' | 'fuzzy'

/** An edit that was made; or why it was not. Lines count from 1. */
export type EditResult =
  | {
      readonly text: string
      readonly strategy: MatchStrategy
      readonly first: number
      readonly last: number
      readonly count: number
    }
  | { readonly why: 'not-found' }
  | { readonly why: 'ambiguous'; readonly strategy: MatchStrategy; readonly lines: readonly number[] }
  | { readonly why: 'unclear'; readonly strategy: MatchStrategy; readonly doubt: EditDoubt }

export type EditDoubt = 'blank-replacement' | 'partial-line' | 'blank-lines' | 'edges' | 'duplicate-line' | 'layout'

/** Both texts with LF line endings. */
export interface TextEdit {
  readonly old: string
  readonly replacement: string
  readonly all?: boolean
}

/**
 * Applies an edit where only one place can be meant. Text that occurs exactly once is always replaced. Otherwise the
 * passage is searched with other indentation, then other white space, then other quotes, then small differences. A looser
 * strategy is tried only if a stricter one finds nothing, and two matches end the search.
 */
export function applySmartEdit(text: string, edit: TextEdit): EditResult {
  // Replacing the whole file is never ambiguous.
  if (edit.old === text) {
    const last = findLineIndex(text, text.length - 1) + 1
    return { text: edit.replacement, strategy: 'exact', first: 1, last, count: 1 }
  }
  const exact = findExactOffsets(text, edit.old)
  const [only] = exact
  if (exact.length > 1 && edit.all) return replaceAllExact(text, edit, exact)
  if (exact.length > 1) {
    return { why: 'ambiguous', strategy: 'exact', lines: exact.map((at) => findLineIndex(text, at) + 1) }
  }
  if (only !== undefined) return replaceExactMatch(text, edit, only)
  const lines = text.split('\n')
  const lineEdit = toLineEdit(edit)
  const old = lineEdit.old.join('\n')
  const strategies: readonly (readonly [MatchStrategy, () => readonly PassageMatch[]])[] = [
    ['indentation', () => findIndentedMatches(lines, lineEdit.old)],
    ['whitespace', () => findLooseMatches(text, old, { quotes: false })],
    ['quotes', () => findLooseMatches(text, old, { quotes: true })],
    [
      'fuzzy',
      () => [findAnchoredPassage(lines, lineEdit.old) ?? findOnlySimilarPassage(lines, lineEdit.old) ?? []].flat(),
    ],
  ]
  // Another place that differs only in white space or quotes may be meant as well.
  const findSimilarMatches = (): readonly (readonly [MatchStrategy, readonly PassageMatch[]])[] => [
    ['indentation', findIndentedMatches(lines, lineEdit.old)],
    ['quotes', findLooseMatches(text, old, { quotes: true })],
  ]
  for (const [strategy, findMatches] of strategies) {
    const matches = findMatches()
    const [found] = matches
    if (!found) continue
    if (matches.length > 1) return { why: 'ambiguous', strategy, lines: matches.map(({ first }) => first + 1) }
    for (const [strictness, similarMatches] of findSimilarMatches()) {
      const others = similarMatches.filter(({ first }) => first !== found.first)
      if (others.length === 0) continue
      return { why: 'ambiguous', strategy: strictness, lines: [found, ...others].map(({ first }) => first + 1) }
    }
    const result = replaceLines(lines, lineEdit, found, edit)
    if ('text' in result) return { ...result, strategy, first: found.first + 1, last: found.end, count: 1 }
    return { why: 'unclear', strategy, ...result }
  }
  return { why: 'not-found' }
}

function replaceExactMatch(text: string, edit: TextEdit, at: number): EditResult {
  const { old } = edit
  const end = at + old.length
  const start = text.lastIndexOf('\n', at - 1) + 1
  const indent = text.slice(start, at)
  const [from, replacement] = isBlank(indent) ? adjustIndent(edit, indent) : [0, edit.replacement]
  // A search text that ends with a line ending means whole lines: the next line must not be joined to the new text.
  const isOpen =
    old.endsWith('\n') && replacement !== '' && !replacement.endsWith('\n') && end < text.length && text[end] !== '\n'
  const [first, last] = [findLineIndex(text, at), findLineIndex(text, Math.max(at, end - 1))]
  return {
    text: text.slice(0, at - from) + replacement + (isOpen ? '\n' : '') + text.slice(end),
    strategy: 'exact',
    first: first + 1,
    last: last + 1,
    count: 1,
  }
}

/** How much of the indentation before the search text is replaced, and by what: the new text may contain it already. */
function adjustIndent({ old, replacement }: TextEdit, indent: string): [from: number, fresh: string] {
  if (replacement === '') return [indent.length, '']
  const whole = indent + getIndent(old)
  const isThere = indent !== '' && getIndent(replacement) === whole && replacement.trimStart() !== old.trimStart()
  return isThere ? [indent.length, replacement] : [0, replacement]
}

function replaceLines(
  lines: readonly string[],
  lineEdit: LineEdit,
  found: PassageMatch,
  { old, replacement }: TextEdit,
): { readonly text: string } | { readonly doubt: EditDoubt } {
  if (replacement !== '' && isBlank(replacement)) return { doubt: 'blank-replacement' }
  const isInline = found.before !== '' || found.after !== ''
  if (
    isCutWithinLine(found, old, replacement) ||
    (isInline && replacement.trim().includes('\n') && !old.trim().includes('\n'))
  )
    return { doubt: 'partial-line' }
  // The last line ending of the search text may be a blank line to be removed.
  const isOpen = old.endsWith('\n') && replacement !== '' && !replacement.endsWith('\n')
  const fitted = isOpen && isBlank(lines[found.end] ?? 'x') ? undefined : fitBlankLines(lines, lineEdit, found)
  if (!fitted) return { doubt: 'blank-lines' }
  if (hasAmbiguousEdge(lines, lineEdit.old, found)) return { doubt: 'edges' }
  if (repeatsNeighborLine(lines, lineEdit, found)) return { doubt: 'duplicate-line' }
  const { match } = fitted
  const passage = correctStaleLines({ file: lines.slice(match.first, match.end), ...completeLines(fitted.edit, found) })
  if (!passage) return { doubt: 'layout' }
  const surroundings = {
    above: lines.slice(0, match.first).findLast((line) => !isBlank(line)),
    below: lines.slice(match.end).find((line) => !isBlank(line)),
  }
  const merged = mergePassage(passage, surroundings, detectFileStyle(lines))
  if (!merged || areLinesEqual(merged, passage.file)) return { doubt: 'layout' }
  return { text: [...lines.slice(0, match.first), ...merged, ...lines.slice(match.end)].join('\n') }
}

function replaceAllExact(text: string, { old, replacement }: TextEdit, matches: readonly number[]): EditResult {
  const [first = 0] = matches
  const last = (matches.at(-1) ?? 0) + Math.max(0, old.replace(/\n$/, '').length - 1)
  return {
    text: text.split(old).join(replacement),
    strategy: 'exact',
    first: findLineIndex(text, first) + 1,
    last: findLineIndex(text, last) + 1,
    count: matches.length,
  }
}

function toLineEdit({ old, replacement }: TextEdit): LineEdit {
  const ended = old.endsWith('\n') && old.trim() !== ''
  const left = (ended ? old.slice(0, -1) : old).split('\n')
  if (replacement === '') return { old: listRemovedLines(old), replacement: [] }
  const right = replacement.split('\n')
  if (ended && right.length > 1 && right.at(-1) === '') right.pop()
  return { old: left, replacement: right }
}

/** The lines that are removed with a text: one of the line endings around it is its own, the others are blank lines. */
function listRemovedLines(old: string): readonly string[] {
  const { above, inner, below } = splitBlankEdges(old.split('\n'))
  return below.length > 0 ? [...above, ...inner, ...below.slice(1)] : [...above.slice(1), ...inner]
}

/** Completes a text that begins or ends within a line to whole lines of the file. */
function completeLines({ old, replacement }: LineEdit, { before, after }: PassageMatch): LineEdit {
  if (before === '' && after === '') return { old, replacement }
  const surroundings = (lines: readonly string[]): string[] => {
    const all = lines.length === 0 ? [''] : [...lines]
    if (before !== '') all[0] = before + (all[0] ?? '').trimStart()
    if (after !== '') all[all.length - 1] = (all.at(-1) ?? '').trimEnd() + after
    return all
  }
  return { old: surroundings(old), replacement: surroundings(replacement) }
}
