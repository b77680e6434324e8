import { createHash } from 'node:crypto'
import { isObject } from '../model/json.ts'
import type { Entry } from './entry.ts'

/** The sum before the first line. */
export const START = '0'.repeat(16)

/** An entry as a line of the log. The sum at its end covers the line and, through the sum before it, all lines before. */
export function writeLine(entry: Entry, before: string): { line: Buffer; sum: string } {
  const text = JSON.stringify(entry)
  // An entry may hold very much: its bytes are made once, and serve for the sum and for the line.
  const length = Buffer.byteLength(text)
  const line = Buffer.allocUnsafe(length + TAIL_LENGTH)
  line.write(text)
  const sum = sumOf(line.subarray(0, length), before)
  line.write(`,"sum":"${sum}"}\n`, length - 1)
  return { line, sum }
}

/** Something that was found wrong in a log. What was damaged stays in the file as it is. */
export interface Damage {
  /** Counts from 1. */
  readonly line: number
  /** `orphaned`: what it was forked from is gone; `circular`: it was forked from itself. */
  readonly what:
    | 'unreadable'
    | 'torn'
    | 'too-long'
    | 'altered'
    | 'unlinked'
    | 'repeated'
    | 'misplaced'
    | 'orphaned'
    | 'circular'
}

/** What a log holds. */
export interface Scanned {
  /** In the order in which they were written. */
  readonly entries: readonly Entry[]
  readonly damages: readonly Damage[]
  /** The sum that the next line goes on from. */
  readonly sum: string
  /** The highest number that any line bears, be it damaged: the next one must be higher. */
  readonly top: number
}

/** A line of a log file. */
export interface Line {
  /** Absent if it is so long that it was not read. */
  readonly text?: string
  /** The last line, if it has no end. */
  readonly torn?: true
}

/** Reads a log from its text. */
export function scanLog(text: string): Scanned {
  return scanLines(linesOf(text))
}

/**
 * Reads a log, whatever state it is in: what is damaged is passed over and reported, and everything else is kept. Each
 * line is judged by its own sum and by that of the line with the number before it, wherever that stands. One that only
 * lost its link, because the line before it is gone, is kept too: losing what was acknowledged is worse.
 */
export function scanLines(lines: Iterable<Line>): Scanned {
  const { records, damages, lost } = readRecords(lines)
  const entries: Entry[] = []
  // The sums that the next line may go on from: that of the last good line; of damaged ones since, what they say and what it should be.
  let sums = [START]
  let missing = 0
  for (const record of inOrder(records, damages)) {
    const last = entries.at(-1)?.seq
    const gap = last === undefined ? lost : record.entry.seq - last - 1
    if (last !== undefined && record.entry.seq <= last) damages.push({ line: record.line, what: 'repeated' })
    else if (sums.some((sum) => follows(record, sum))) {
      entries.push(record.entry)
      sums = [record.sum]
    } else if (gap > 0 && gap <= lost + missing) {
      damages.push({ line: record.line, what: 'unlinked' })
      entries.push(record.entry)
      sums = [record.sum]
    } else {
      damages.push({ line: record.line, what: 'altered' })
      const should = record.text === undefined ? [] : sums.map((sum) => sumOf(record.text ?? '', sum))
      sums = [...sums, record.sum, ...should].slice(0, 16)
      missing++
    }
  }
  const top = records.reduce((highest, { entry }) => Math.max(highest, entry.seq), 0)
  return { entries, damages: damages.sort((one, other) => one.line - other.line), sum: sums[0] ?? START, top }
}

interface LogRecord {
  readonly line: number
  readonly entry: Entry
  readonly sum: string
  /** The sum that it goes on from, if that is the one of the line before it in the file. */
  readonly after?: string
  /** Only where that is not so: in a log without damage no text is kept. */
  readonly text?: string
}

function follows({ after, text, sum }: LogRecord, before: string): boolean {
  return after === undefined ? sumOf(text ?? '', before) === sum : after === before
}

/** All that can be read, and how many entries may be missing because they cannot. */
function readRecords(lines: Iterable<Line>): { records: LogRecord[]; damages: Damage[]; lost: number } {
  const records: LogRecord[] = []
  const damages: Damage[] = []
  let lost = 0
  let number = 0
  for (const { text, torn } of lines) {
    number++
    if (text === '') continue
    if (text === undefined || text.length > LONGEST) {
      damages.push({ line: number, what: 'too-long' })
      lost++
      continue
    }
    // Two entries may stand on one line, if the end of the first was lost.
    for (const piece of text.split(GLUED)) {
      const read = readLine(piece)
      if (read) {
        const after = records.at(-1)?.sum ?? START
        const linked = sumOf(read.text, after) === read.sum
        records.push({ line: number, entry: read.entry, sum: read.sum, ...(linked ? { after } : { text: read.text }) })
      } else {
        damages.push({ line: number, what: torn ? 'torn' : 'unreadable' })
        lost += 1 + Math.floor(piece.length / SHORTEST)
      }
    }
  }
  return { records, damages, lost }
}

function* linesOf(text: string): Generator<Line> {
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\n', at)
    yield end < 0 ? { text: text.slice(at), torn: true } : { text: text.slice(at, end) }
    at = end < 0 ? text.length : end + 1
  }
}

/** By their numbers. Lines that were moved are put back where they belong. */
function inOrder(records: readonly LogRecord[], damages: Damage[]): LogRecord[] {
  const sorted = [...records].sort((one, other) => one.entry.seq - other.entry.seq || one.line - other.line)
  let highest = 0
  for (const { line, entry } of records) {
    if (entry.seq < highest && !records.some((other) => other.entry.seq === entry.seq && other.line < line)) {
      damages.push({ line, what: 'misplaced' })
    }
    highest = Math.max(highest, entry.seq)
  }
  return sorted
}

/** No entry is shorter than this. */
const SHORTEST = 60

/** An entry that is longer than this is not read: the rest of the session matters more than it. */
export const LONGEST = 64 * 2 ** 20

/** What comes in the place of the bracket that ends an entry. */
const TAIL_LENGTH = ',"sum":"0123456789abcdef"}\n'.length - 1

const TAIL = /,"sum":"([0-9a-f]{16})"\}\r?$/

const GLUED = /(?<=,"sum":"[0-9a-f]{16}"\}).?(?=\{"seq":)/

/** Reads one line by itself: whether it belongs where it stands is another question. */
export function readLine(line: string): { entry: Entry; text: string; sum: string } | undefined {
  const tail = TAIL.exec(line)
  if (!tail) return undefined
  const text = `${line.slice(0, tail.index)}}`
  try {
    const entry: unknown = JSON.parse(text)
    if (!isObject(entry) || !Number.isSafeInteger(entry['seq']) || typeof entry['kind'] !== 'string') return undefined
    return { entry: entry as unknown as Entry, text, sum: tail[1] ?? '' }
  } catch {
    return undefined
  }
}

function sumOf(text: string | Uint8Array, before: string): string {
  return createHash('sha256').update(before).update(text).digest('hex').slice(0, 16)
}
