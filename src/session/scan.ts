import { type Entry } from './entry.ts'
import { isEntry, isSeq } from './entry-schema.ts'
import { LONGEST, type ReadLine, readLine, splitGlued, START, sumAtEnd, sumOf } from './line.ts'
import { unprovedRest } from './unproved.ts'

/** Something that was found wrong in a log. What was damaged stays in the file as it is. */
export interface Damage {
  /** Counts from 1. */
  readonly line: number
  /**
   * `unlinked`: kept, though the line before it is lost. `unproved`: the same, but the line has no hash of its own, so that
   * only a part of it is used. `foreign`: whole, but no entry that this version knows. `parallel`: two programs wrote at once.
   * `orphaned`: what it was forked from is gone; `circular`: it was forked from itself.
   */
  readonly what:
    | 'unreadable'
    | 'torn'
    | 'too-long'
    | 'altered'
    | 'unlinked'
    | 'unproved'
    | 'foreign'
    | 'parallel'
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
  /** Entries up to the one with this number may have been followed by others that are lost; 0 if nothing is. */
  readonly uncertainUpTo: number
  /** The sum that the next line goes on from. */
  readonly sum: string
  /** The highest number that a line bears, be it damaged: the next one must be higher. */
  readonly top: number
}

/** A line of a log file, without its end. */
export interface Line {
  /** Absent if it is so long that it was not read. Only good until the next line is asked for. */
  readonly bytes?: Buffer
  /** The last line, if it has no end. */
  readonly torn?: true
}

/** Reads a log from its text. */
export function scanLog(text: string | Buffer): Scanned {
  return scanLines(linesOf(Buffer.from(text)))
}

/**
 * Reads a log, whatever state it is in: what is damaged is passed over and reported, and everything else is kept. A line
 * is used if it proves itself by its own hash, or by its sum together with that of the line with the number before it,
 * wherever that stands. Lines without a hash of their own that lost the line before them are used in part.
 */
export function scanLines(lines: Iterable<Line>): Scanned {
  const { records, damages, lost, hashedFrom } = readRecords(lines)
  const entries: Entry[] = []
  const places: number[] = []
  const losses = damages.map(({ line }) => line)
  // The sums that the next line may go on from: that of the last good line; of damaged ones since, what they say and what it should be.
  let sums = [START]
  let last: { seq: number; sum: string; isProved: boolean } | undefined
  let top = 0
  let uncertainUpTo = 0
  let missing = 0

  const lose = (line: number, what: Damage['what']): void => {
    damages.push({ line, what })
    losses.push(line)
  }
  const accept = ({ line, read }: LogRecord, entry: Entry | undefined, isProved: boolean): void => {
    const { seq } = read.entry
    if (last && seq > last.seq + 1) uncertainUpTo = last.seq
    last = { seq, sum: read.sum, isProved }
    top = Math.max(top, seq)
    sums = [read.sum]
    if (!entry) return
    entries.push(entry)
    places.push(line)
  }

  const sorted = inOrder(records, damages)
  for (const [at, record] of sorted.entries()) {
    const { read, line } = record
    const { seq } = read.entry
    // After a line that nobody can vouch for, even the next one may have lost what it goes on from.
    const gap = last ? seq - last.seq - (last.isProved ? 1 : 0) : Math.max(lost, missingBefore(read.entry))
    if (seq === last?.seq && read.sum === last.sum) {
      damages.push({ line, what: 'repeated' })
      continue
    }
    const isLinked = record.isChained || [...sums, ...record.strays].some((sum) => follows(record, sum))
    const isProved = isLinked || (read.proved === true && seq !== last?.seq)
    const isFit = isProved && isEntry(read.entry) && seq - (last?.seq ?? 0) <= MAX_JUMP
    if (isProved && !isFit) {
      lose(line, 'foreign')
      // Its number may be absurd, but the lines after it go on from its sum.
      sums = [read.sum, ...sums].slice(0, MAX_SUMS)
      if (isSeq(seq) && seq - (last?.seq ?? 0) <= MAX_JUMP) top = Math.max(top, seq)
    } else if (isFit) {
      if (seq === last?.seq) damages.push({ line, what: 'parallel' })
      else if (!isLinked) damages.push({ line, what: 'unlinked' })
      accept(record, read.entry, true)
    } else if (isEntry(read.entry) && canBeUnproved(record, gap, lost + missing, hashedFrom, rivalsOf(at))) {
      const rest = unprovedRest(read.entry)
      if (rest === read.entry) damages.push({ line, what: 'unlinked' })
      else lose(line, 'unproved')
      accept(record, rest, false)
    } else {
      lose(line, 'altered')
      const should = record.text === undefined ? [] : sums.map((sum) => sumOf(record.text ?? '', sum))
      sums = [...sums, read.sum, ...should].slice(0, MAX_SUMS)
      missing++
      if (isSeq(seq) && seq <= top + records.length + lost) top = Math.max(top, seq)
    }
  }
  damages.sort((one, other) => one.line - other.line)
  return { entries, damages, uncertainUpTo: Math.max(uncertainUpTo, lastBeforeLoss()), sum: sums[0] ?? START, top }

  /** The next line with the same number, if there is one; and whether it goes on from what was read before. */
  function rivalsOf(at: number): Rivals {
    const next = sorted[at + 1]
    if (next?.read.entry.seq !== sorted[at]?.read.entry.seq || !next) return 'none'
    return next.isChained || next.read.proved === true || sums.some((sum) => follows(next, sum)) ? 'proved' : 'unproved'
  }

  /** The number of the last entry that a lost line may have followed. */
  function lastBeforeLoss(): number {
    if (losses.length === 0) return 0
    const isMoved = damages.some(({ what }) => what === 'misplaced')
    const line = isMoved ? Infinity : losses.reduce((highest, one) => Math.max(highest, one))
    return entries.reduce((highest, { seq }, at) => ((places[at] ?? 0) <= line ? Math.max(highest, seq) : highest), 0)
  }
}

interface LogRecord {
  readonly line: number
  readonly read: Omit<ReadLine, 'text'>
  /** It goes on from the line before it in the file, and that is proved. */
  readonly isChained: boolean
  /** The sum that it goes on from, if that is the one of the line before it in the file. */
  readonly after?: string
  /** Only where that is not so: in a log without damage no text is kept. */
  readonly text?: string
  /** The sums of unreadable lines right before it. */
  readonly strays: readonly string[]
}

function follows({ after, text, read }: LogRecord, before: string): boolean {
  return after === undefined ? sumOf(text ?? '', before) === read.sum : after === before
}

/** May this line, which proves itself in no way, be one of an older version that only lost the line before it? */
function canBeUnproved({ read }: LogRecord, gap: number, lost: number, hashedFrom: number, rivals: Rivals): boolean {
  // Whoever writes hashes goes on writing them.
  if (read.proved !== undefined || read.entry.seq > hashedFrom || gap <= 0 || rivals === 'proved') return false
  return gap <= lost || rivals === 'none'
}

/** How many entries of this log are missing before what is the first one of it now. Before the one that opens it there are none. */
function missingBefore({ seq, kind }: ReadLine['entry']): number {
  return kind === 'open' ? 0 : seq - 1
}

/** Is there another line with the same number, and does that one prove itself? */
type Rivals = 'none' | 'unproved' | 'proved'

/** All that can be read, how many entries may be missing because they cannot, and the first number that has a hash. */
function readRecords(lines: Iterable<Line>) {
  const records: LogRecord[] = []
  const damages: Damage[] = []
  let strays: string[] = []
  let lost = 0
  let number = 0
  let hashedFrom = Infinity

  function take(read: ReadLine): void {
    const { text, ...rest } = read
    const before = records.at(-1)
    const after = before?.read.sum ?? START
    const isLinked = sumOf(text, after) === read.sum
    const isChained = isLinked && (before === undefined || before.isChained || before.read.proved === true)
    records.push({ line: number, read: rest, strays, isChained, ...(isLinked ? { after } : { text }) })
    if (strays.length > 0) strays = []
    if (read.proved) hashedFrom = Math.min(hashedFrom, read.entry.seq)
  }

  for (const { bytes, torn } of lines) {
    number++
    if (bytes?.length === 0) continue
    if (bytes === undefined || bytes.length > LONGEST) {
      damages.push({ line: number, what: 'too-long' })
      lost++
      continue
    }
    const whole = readLine(bytes)
    if (whole) {
      take(whole)
      continue
    }
    for (const piece of splitGlued(bytes)) {
      const read = readLine(piece)
      if (read) take(read)
      else {
        damages.push({ line: number, what: torn ? 'torn' : 'unreadable' })
        lost += 1 + Math.floor(piece.length / SHORTEST)
        const sum = sumAtEnd(piece)
        if (sum !== undefined && strays.length < MAX_SUMS) strays = [...strays, sum]
      }
    }
  }
  return { records, damages, lost, hashedFrom }
}

function* linesOf(bytes: Buffer): Generator<Line> {
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0x0a, at)
    yield end < 0 ? { bytes: bytes.subarray(at), torn: true } : { bytes: bytes.subarray(at, end) }
    at = end < 0 ? bytes.length : end + 1
  }
}

/** By their numbers. Lines that were moved are put back where they belong. */
function inOrder(records: readonly LogRecord[], damages: Damage[]): readonly LogRecord[] {
  const seen = new Set<number>()
  let highest = -Infinity
  let isSorted = true
  for (const { line, read } of records) {
    const { seq } = read.entry
    if (seq < highest) {
      isSorted = false
      if (!seen.has(seq)) damages.push({ line, what: 'misplaced' })
    }
    seen.add(seq)
    highest = Math.max(highest, seq)
  }
  if (isSorted) return records
  return records.toSorted((one, other) => one.read.entry.seq - other.read.entry.seq || one.line - other.line)
}

/** No entry is shorter than this. */
const SHORTEST = 60

/** No log has so many lines that its numbers could jump so far. */
const MAX_JUMP = 1e9

const MAX_SUMS = 16
