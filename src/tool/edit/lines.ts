/** The white space that a line begins with. */
export function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

/** Is there nothing to be seen in this line? */
export function isBlank(line: string): boolean {
  return line.trim() === ''
}

/** A line without what models get wrong most easily: white space, and the shape of quotes and dashes. */
export function essence(line: string): string {
  return squeeze(line).text
}

/** Which differences do not count. */
export interface Tolerance {
  readonly quotes: boolean
}

/**
 * A text without its white space, except where that keeps two words apart; and for each character the place where it
 * came from.
 */
export function squeeze(text: string, { quotes }: Tolerance = { quotes: true }): { text: string; from: number[] } {
  const kept: string[] = []
  const from: number[] = []
  let gap = -1
  for (let at = 0; at < text.length; at++) {
    const sign = text[at] ?? ''
    if (SPACE.test(sign)) {
      if (gap < 0) gap = at
      continue
    }
    const plain = quotes ? (ALIKE.get(sign) ?? sign) : sign
    if (gap >= 0 && WORD.test(kept.at(-1) ?? '') && WORD.test(plain)) {
      kept.push(' ')
      from.push(gap)
    }
    gap = -1
    for (const one of plain) {
      kept.push(one)
      from.push(at)
    }
  }
  return { text: kept.join(''), from }
}

/** Counts as a part of a word: without a space between, two of these are one word. */
export const WORD = /[\p{L}\p{N}_$]/u
/** Quotes and dashes of all kinds. */
export const QUOTES = /['"`‘’“”„‚´–—−‐‑…]/g
/** Those that programs are written with. */
export const PLAIN_QUOTES = '\'"`'
const SPACE = /\s/
const ALIKE = new Map([
  ...['"', '‘', '’', '“', '”', '„', '‚', '`', '´'].map((sign): [string, string] => [sign, "'"]),
  ...['–', '—', '−', '‐', '‑'].map((sign): [string, string] => [sign, '-']),
  ['…', '...'],
])

/** How alike two lines are, from 0 to 1: the share of the letter pairs that both have. */
export function similarity(one: string, other: string): number {
  return likeness(essence(one), essence(other))
}

/** The same of lines of which only the essence is left. */
export function likeness(left: string, right: string): number {
  if (left === right) return 1
  if (left.length < 2 || right.length < 2) return 0
  const counts = new Map<string, number>()
  for (let at = 0; at + 1 < left.length; at++) add(counts, left.slice(at, at + 2), 1)
  let shared = 0
  for (let at = 0; at + 1 < right.length; at++) {
    const pair = right.slice(at, at + 2)
    if ((counts.get(pair) ?? 0) <= 0) continue
    shared++
    add(counts, pair, -1)
  }
  return (2 * shared) / (left.length + right.length - 2)
}

function add(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}
