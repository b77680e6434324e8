import { align } from './align.ts'
import { essence, indentOf, isBlank, likeness, QUOTES } from './lines.ts'
import type { Passage } from './pieces.ts'
import { trailOf } from './style.ts'

/**
 * Puts lines right that the model remembers as they were some time ago: such a line stands alone between lines that are as the
 * model has them, and the file has one line in its place. What the model did not change stays as the file has it; what it did
 * change must have been made from the file's line rather than from the memory. Nothing where that is not clear.
 */
export function withoutStaleLines(passage: Passage): Passage | undefined {
  const pairs = stalePairs(passage)
  if (pairs.length === 0) return passage
  const { file } = passage
  const [old, fresh] = [[...passage.old], [...passage.fresh]]
  for (const [o, f] of pairs) {
    const [memory, real] = [essence(passage.old[o] ?? ''), essence(file[f] ?? '')]
    const timesOf = (key: string, lines: readonly string[]): number =>
      lines.filter((line) => essence(line) === key).length
    if (timesOf(memory, passage.old) !== 1 || timesOf(real, file) !== 1 || timesOf(real, passage.old) !== 0)
      return undefined
    const [remembered, copied] = [timesOf(memory, passage.fresh), timesOf(real, passage.fresh)]
    // A bracket in the new text may be any bracket.
    if (remembered + copied > 1 || (remembered + copied === 1 && !WORDS.test(copied === 1 ? real : memory)))
      return undefined
    if (remembered + copied === 0 && !isMadeFrom(passage, memory, real)) return undefined
    // Once the line is put right, it tells no more in which quotes the model wrote the others.
    const isRequoted = signsOf(passage.old[o]).some((sign) => !file[f]?.includes(sign))
    const others = passage.fresh.filter((line) => essence(line) !== memory && !file.includes(line))
    if (isRequoted && others.some((line) => signsOf(line).length > 0)) return undefined
    const put = (lines: string[], at: number): void => {
      const line = lines[at] ?? ''
      lines[at] = indentOf(line) + (file[f] ?? '').trim() + trailOf(line)
    }
    put(old, o)
    if (remembered === 1)
      put(
        fresh,
        fresh.findIndex((line) => essence(line) === memory),
      )
  }
  return { file, old, fresh }
}

function signsOf(line = ''): readonly string[] {
  return line.match(QUOTES) ?? []
}

/** The lines of the memory and of the file that stand in the same place, and are not the same. */
function stalePairs({ old, file }: Pick<Passage, 'old' | 'file'>): [old: number, file: number][] {
  const solid = (lines: readonly string[]): number[] => lines.flatMap((line, at) => (isBlank(line) ? [] : [at]))
  const [left, right] = [solid(old), solid(file)]
  const keys = (lines: readonly string[], places: readonly number[]): string[] =>
    places.map((at) => essence(lines[at] ?? ''))
  const [ours, theirs] = [keys(old, left), keys(file, right)]
  const same = align(ours, theirs, (one, other) => (one === other ? 1 + Math.min(one.length, 40) / 40 : 0))
  const found: [number, number][] = []
  let [i, j] = [0, 0]
  for (const [o, f] of [...same, [left.length, right.length] as const]) {
    if (o - i === 1 && f - j === 1) found.push([left[i] ?? 0, right[j] ?? 0])
    ;[i, j] = [o + 1, f + 1]
  }
  return found
}

/** Is what takes the place of a stale line made with the file's line in mind, and not from the memory of it? */
function isMadeFrom({ old, file, fresh }: Passage, memory: string, real: string): boolean {
  if (likeness(memory, real) < MIN_SIMILAR) return false
  const known = new Set([...old, ...file].map(essence))
  const news = fresh.map(essence).filter((key) => key !== '' && !known.has(key))
  // What is taken out, or is another line altogether, leaves nothing of either.
  if (!news.some((key) => Math.max(likeness(key, memory), likeness(key, real)) >= MIN_SIMILAR)) return true
  const brought = wordsOf(news)
  const isBrought = (word: string): boolean => brought.has(word)
  const [stale, missed] = [without(wordsOf([memory]), wordsOf([real])), without(wordsOf([real]), wordsOf([memory]))]
  const elsewhere = wordsOf(file.map(essence))
  if (stale.some((word) => isBrought(word) && !elsewhere.has(word))) return false
  // What the memory only lacks must not get lost.
  return stale.length > 0 || (missed.length > 0 && missed.every(isBrought))
}

/** Two lines count as the same line, changed, from here on. */
const MIN_SIMILAR = 0.5

/** The words and numbers of some lines. */
function wordsOf(keys: readonly string[]): ReadonlySet<string> {
  return new Set(keys.flatMap((key) => key.match(/[\p{L}\p{N}_$]+/gu) ?? []))
}

function without(words: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...words].filter((word) => !others.has(word))
}

/** Do two lines differ in one word, at one place, and share enough? */
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
  return [...wordsOf(rest)].join('').length >= MIN_SHARED
}

/** So many letters of the other words. */
const MIN_SHARED = 6
const WORDS = /\w{3}/
