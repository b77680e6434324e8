import { alignByWeight } from '../match/align.ts'
import { findQuotes, normalizeLine, getIndent, isBlank, measureSimilarity } from '../match/lines.ts'
import type { PassageEdit } from './passage-pieces.ts'
import { getTrailingSpace } from './file-style.ts'

/**
 * Corrects lines that the model remembers in an older version: a single such line between equal lines, with one line of the
 * file in its place. What the model did not change stays as in the file; what it changed must be based on the file's line.
 * Undefined if that is not clear.
 */
export function correctStaleLines(passage: PassageEdit): PassageEdit | undefined {
  const pairs = findStalePairs(passage)
  if (pairs.length === 0) return passage
  const { file } = passage
  const [old, replacement] = [[...passage.old], [...passage.replacement]]
  for (const [o, f] of pairs) {
    const [rememberedLine, fileLine] = [normalizeLine(passage.old[o] ?? ''), normalizeLine(file[f] ?? '')]
    const timesOf = (key: string, lines: readonly string[]): number =>
      lines.filter((line) => normalizeLine(line) === key).length
    if (timesOf(rememberedLine, passage.old) !== 1 || timesOf(fileLine, file) !== 1) return undefined
    if (timesOf(fileLine, passage.old) !== 0) return undefined
    const [remembered, copied] = [timesOf(rememberedLine, passage.replacement), timesOf(fileLine, passage.replacement)]
    // A bracket in the new text may be any bracket.
    const times = remembered + copied
    if (times > 1 || (times === 1 && !WORD_PATTERN.test(copied === 1 ? fileLine : rememberedLine))) return undefined
    if (times === 0 && !isBasedOnFile(passage, rememberedLine, fileLine)) return undefined
    // Once the line is corrected, it no longer shows which quotes the model used in the others.
    const isRequoted = findQuotes(passage.old[o] ?? '').some((quote) => !file[f]?.includes(quote))
    const others = passage.replacement.filter((line) => normalizeLine(line) !== rememberedLine && !file.includes(line))
    if (isRequoted && others.some((line) => findQuotes(line).length > 0)) return undefined
    const replaceLine = (lines: string[], at: number): void => {
      const line = lines[at] ?? ''
      lines[at] = getIndent(line) + (file[f] ?? '').trim() + getTrailingSpace(line)
    }
    replaceLine(old, o)
    const rememberedAt = replacement.findIndex((line) => normalizeLine(line) === rememberedLine)
    if (remembered === 1) replaceLine(replacement, rememberedAt)
  }
  return { file, old, replacement }
}

function findStalePairs({ old, file }: Pick<PassageEdit, 'old' | 'file'>): [old: number, file: number][] {
  const solid = (lines: readonly string[]): number[] => lines.flatMap((line, at) => (isBlank(line) ? [] : [at]))
  const [left, right] = [solid(old), solid(file)]
  const keys = (lines: readonly string[], places: readonly number[]): string[] =>
    places.map((at) => normalizeLine(lines[at] ?? ''))
  const [modelKeys, fileKeys] = [keys(old, left), keys(file, right)]
  const same = alignByWeight(modelKeys, fileKeys, (one, other) =>
    one === other ? 1 + Math.min(one.length, 40) / 40 : 0,
  )
  const found: [number, number][] = []
  let [i, j] = [0, 0]
  for (const [o, f] of [...same, [left.length, right.length] as const]) {
    if (o - i === 1 && f - j === 1) found.push([left[i] ?? 0, right[j] ?? 0])
    ;[i, j] = [o + 1, f + 1]
  }
  return found
}

function isBasedOnFile({ old, file, replacement }: PassageEdit, rememberedLine: string, fileLine: string): boolean {
  if (measureSimilarity(rememberedLine, fileLine) < MIN_SIMILARITY) return false
  const knownLines = new Set([...old, ...file].map(normalizeLine))
  const newLines = replacement.map(normalizeLine).filter((key) => key !== '' && !knownLines.has(key))
  // If the line was removed or fully replaced, nothing of either is left.
  const isVersion = (key: string): boolean =>
    Math.max(measureSimilarity(key, rememberedLine), measureSimilarity(key, fileLine)) >= MIN_SIMILARITY
  if (!newLines.some(isVersion)) return true
  const newWords = collectWords(newLines)
  const isBrought = (word: string): boolean => newWords.has(word)
  const [stale, missed] = [
    subtractWords(collectWords([rememberedLine]), collectWords([fileLine])),
    subtractWords(collectWords([fileLine]), collectWords([rememberedLine])),
  ]
  const fileWords = collectWords(file.map(normalizeLine))
  if (stale.some((word) => isBrought(word) && !fileWords.has(word))) return false
  // What the remembered line lacks must not get lost.
  return stale.length > 0 || (missed.length > 0 && missed.every(isBrought))
}

/** From here on two lines count as versions of one line. */
const MIN_SIMILARITY = 0.5

function collectWords(keys: readonly string[]): ReadonlySet<string> {
  return new Set(keys.flatMap((key) => key.match(/[\p{L}\p{N}_$]+/gu) ?? []))
}

function subtractWords(words: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...words].filter((word) => !others.has(word))
}

/** Do two lines differ in one word only, and have enough other words? */
export function differsInOneWord(one: string, other: string): boolean {
  const least = Math.min(one.length, other.length)
  let start = 0
  while (start < least && one[start] === other[start]) start++
  let end = 0
  while (end < least - start && one.at(-1 - end) === other.at(-1 - end)) end++
  const isWord = (line: string): boolean => /^[\p{L}\p{N}_$]*$/u.test(line.slice(start, line.length - end))
  if (!isWord(one) || !isWord(other)) return false
  const [left, right] = [one.slice(0, start), one.slice(one.length - end)]
  const rest = [left.replace(/[\p{L}\p{N}_$]+$/u, ''), right.replace(/^[\p{L}\p{N}_$]+/u, '')]
  return [...collectWords(rest)].join('').length >= MIN_SHARED_CHARS
}

/** Characters of the other words. */
const MIN_SHARED_CHARS = 6
const WORD_PATTERN = /\w{3}/
