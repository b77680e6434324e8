import { createHash } from 'node:crypto'
import { isObject } from '../model/json.ts'
import type { Entry } from './entry.ts'

/** The sum before the first line. */
export const START = '0'.repeat(16)

/** An entry as a line of the log. The sum at its end covers the line and, through the sum before it, all lines before. */
export function writeLine(entry: Entry, before: string): { line: string; sum: string } {
  const text = JSON.stringify(entry)
  const sum = sumOf(text, before)
  return { line: `${text.slice(0, -1)},"sum":"${sum}"}\n`, sum }
}

/** Something that was found wrong in a log. What was damaged stays in the file as it is. */
export interface Damage {
  /** Counts from 1. */
  readonly line: number
  readonly what: 'unreadable' | 'altered' | 'unlinked' | 'repeated' | 'torn'
}

/** What a log holds. */
export interface Scanned {
  readonly entries: readonly Entry[]
  readonly damages: readonly Damage[]
  /** The sum that the next line goes on from. */
  readonly sum: string
}

/**
 * Reads a log, whatever state it is in: a line that is damaged is passed over and reported, and those after it are kept.
 * A line that only lost its link, because the one before it is damaged, is kept too: losing what was acknowledged is worse.
 */
export function scanLog(text: string): Scanned {
  const entries: Entry[] = []
  const damages: Damage[] = []
  // The sums that the next line may go on from: what the last line says its sum is, and what it should be.
  let sums = [START]
  let lost = 0
  let number = 0
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at)
    const line = text.slice(at, end < 0 ? text.length : end)
    at = end < 0 ? text.length : end + 1
    number++
    if (line === '') continue
    const read = readLine(line)
    const last = entries.at(-1)?.seq ?? 0
    const damage = (what: Damage['what']) => void damages.push({ line: number, what })
    if (!read) {
      damage(end < 0 ? 'torn' : 'unreadable')
      // A lost line end makes two entries one line.
      lost += 1 + Math.floor(line.length / SHORTEST)
    } else if (read.entry.seq <= last) {
      damage('repeated')
    } else if (sums.some((sum) => sumOf(read.text, sum) === read.sum)) {
      entries.push(read.entry)
      sums = [read.sum]
      lost = 0
    } else if (lost > 0 && read.entry.seq <= last + lost + 1) {
      damage('unlinked')
      entries.push(read.entry)
      sums = [read.sum]
      lost = 0
    } else {
      damage('altered')
      sums = [read.sum, ...sums.map((sum) => sumOf(read.text, sum))]
      lost++
    }
  }
  return { entries, damages, sum: sums[0] ?? START }
}

/** No entry is shorter than this. */
const SHORTEST = 60

const TAIL = /,"sum":"([0-9a-f]{16})"\}\r?$/

function readLine(line: string): { entry: Entry; text: string; sum: string } | undefined {
  const tail = TAIL.exec(line)
  if (!tail) return undefined
  const text = `${line.slice(0, tail.index)}}`
  try {
    const entry: unknown = JSON.parse(text)
    if (!isObject(entry) || typeof entry['seq'] !== 'number' || typeof entry['kind'] !== 'string') return undefined
    return { entry: entry as unknown as Entry, text, sum: tail[1] ?? '' }
  } catch {
    return undefined
  }
}

function sumOf(text: string, before: string): string {
  return createHash('sha256').update(before).update(text).digest('hex').slice(0, 16)
}
