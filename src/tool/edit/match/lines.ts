export function getIndent(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

export function isBlank(line: string): boolean {
  return line.trim() === ''
}

/** A line without what models often get wrong: white space, and the kind of quotes and dashes. */
export function normalizeLine(line: string): string {
  return squeezeWhitespace(line).text
}

export interface MatchTolerance {
  readonly quotes: boolean
}

/** A text without white space, except where it separates two words; `offsets` are the positions in the original. */
export function squeezeWhitespace(
  text: string,
  { quotes }: MatchTolerance = { quotes: true },
): { text: string; offsets: number[] } {
  const characters: string[] = []
  const offsets: number[] = []
  let whitespaceStart = -1
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if (WHITESPACE_PATTERN.test(character)) {
      if (whitespaceStart < 0) whitespaceStart = at
      continue
    }
    const normalized = quotes ? (QUOTE_EQUIVALENTS.get(character) ?? character) : character
    if (
      whitespaceStart >= 0 &&
      WORD_CHARACTER_PATTERN.test(characters.at(-1) ?? '') &&
      WORD_CHARACTER_PATTERN.test(normalized)
    ) {
      characters.push(' ')
      offsets.push(whitespaceStart)
    }
    whitespaceStart = -1
    for (const one of normalized) {
      characters.push(one)
      offsets.push(at)
    }
  }
  return { text: characters.join(''), offsets }
}

export type NonBlankLine = ReturnType<typeof toNonBlankLines>[number]

/** The lines that are not blank, without their style (`key`), and where they are. */
export function toNonBlankLines(lines: readonly string[]) {
  return lines.flatMap((line, at) => (isBlank(line) ? [] : [{ line, key: normalizeLine(line), at }]))
}

export function indexByKey(lines: readonly NonBlankLine[]): Map<string, number[]> {
  const places = new Map<string, number[]>()
  for (const [at, { key }] of lines.entries()) {
    const same = places.get(key)
    if (same) same.push(at)
    else places.set(key, [at])
  }
  return places
}

export function findQuotes(line: string): readonly string[] {
  return line.match(QUOTE_PATTERN) ?? []
}

/** Two of these without white space between are one word. */
export const WORD_CHARACTER_PATTERN = /[\p{L}\p{N}_$]/u
export const QUOTE_PATTERN = /['"`‘’“”„‚´–—−‐‑…]/g
export const ASCII_QUOTES = '\'"`'
const WHITESPACE_PATTERN = /\s/
const QUOTE_EQUIVALENTS = new Map([
  ...['"', '‘', '’', '“', '”', '„', '‚', '`', '´'].map((character): [string, string] => [character, "'"]),
  ...['–', '—', '−', '‐', '‑'].map((character): [string, string] => [character, '-']),
  ['…', '...'],
])

/** The share of character pairs that both lines have, from 0 to 1. */
export function measureLineSimilarity(one: string, other: string): number {
  return measureSimilarity(normalizeLine(one), normalizeLine(other))
}

/** The same for normalized lines. */
export function measureSimilarity(left: string, right: string): number {
  if (left === right) return 1
  if (left.length < 2 || right.length < 2) return 0
  const counts = new Map<string, number>()
  for (let at = 0; at + 1 < left.length; at++) addCount(counts, left.slice(at, at + 2), 1)
  let shared = 0
  for (let at = 0; at + 1 < right.length; at++) {
    const pair = right.slice(at, at + 2)
    if ((counts.get(pair) ?? 0) <= 0) continue
    shared++
    addCount(counts, pair, -1)
  }
  return (2 * shared) / (left.length + right.length - 2)
}

function addCount(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}
