import { type Entry } from './entry.ts'
import { isEntry, isSeq } from './entry-schema.ts'
import {
  MAX_LINE_BYTES,
  type ParsedLogLine,
  parseLogLine,
  splitJoinedLines,
  INITIAL_SUM,
  parseTrailingSum,
  computeChainSum,
} from './log-line.ts'
import { stripUnverifiedContent } from './unverified-entry.ts'

/** Something that was found wrong in a log. What was damaged stays in the file as it is. */
export interface LogDamage {
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
export interface ScannedLog {
  /** In the order in which they were written. */
  readonly entries: readonly Entry[]
  readonly damages: readonly LogDamage[]
  /** Entries up to the one with this number may have been followed by others that are lost; 0 if nothing is. */
  readonly uncertainUpTo: number
  /** The sum that the next line goes on from. */
  readonly lastSum: string
  /** The highest number that a line bears, be it damaged: the next one must be higher. */
  readonly highestSeq: number
}

/** A line of a log file, without its end. */
export interface LogLine {
  /** Absent if it is so long that it was not read. Only good until the next line is asked for. */
  readonly bytes?: Buffer
  /** The last line, if it has no end. */
  readonly isTorn?: true
}

/** Reads a log from its text. */
export function scanLog(text: string | Buffer): ScannedLog {
  return scanLogLines(splitIntoLines(Buffer.from(text)))
}

/**
 * Reads a log, whatever state it is in: what is damaged is passed over and reported, and everything else is kept. A line
 * is used if it proves itself by its own hash, or by its sum together with that of the line with the number before it,
 * wherever that stands. Lines without a hash of their own that lost the line before them are used in part.
 */
export function scanLogLines(lines: Iterable<LogLine>): ScannedLog {
  const { records, damages, lost, hashedFrom: firstHashedSeq } = readRecords(lines)
  const entries: Entry[] = []
  const lineNumbers: number[] = []
  const lossLines = damages.map(({ line }) => line)
  // The sums that the next line may go on from: that of the last good line; of damaged ones since, what they say and what it should be.
  let sums = [INITIAL_SUM]
  let last: { seq: number; sum: string; isProved: boolean } | undefined
  let highestSeq = 0
  let uncertainUpTo = 0
  let missing = 0

  const reportLoss = (line: number, what: LogDamage['what']): void => {
    damages.push({ line, what })
    lossLines.push(line)
  }
  const accept = ({ line, parsed }: LogRecord, entry: Entry | undefined, isProved: boolean): void => {
    const { seq } = parsed.entry
    if (last && seq > last.seq + 1) uncertainUpTo = last.seq
    last = { seq, sum: parsed.sum, isProved }
    highestSeq = Math.max(highestSeq, seq)
    sums = [parsed.sum]
    if (!entry) return
    entries.push(entry)
    lineNumbers.push(line)
  }

  const sorted = sortBySeq(records, damages)
  for (const [at, record] of sorted.entries()) {
    const { parsed, line } = record
    const { seq } = parsed.entry
    // After a line that nobody can vouch for, even the next one may have lost what it goes on from.
    const gap = last ? seq - last.seq - (last.isProved ? 1 : 0) : Math.max(lost, missingBefore(parsed.entry))
    if (seq === last?.seq && parsed.sum === last.sum) {
      damages.push({ line, what: 'repeated' })
      continue
    }
    const isLinked = record.isChained || [...sums, ...record.straySums].some((sum) => isChainedTo(record, sum))
    const isProved = isLinked || (parsed.isVerified === true && seq !== last?.seq)
    const isUsable = isProved && isEntry(parsed.entry) && seq - (last?.seq ?? 0) <= MAX_SEQ_JUMP
    if (isProved && !isUsable) {
      reportLoss(line, 'foreign')
      // Its number may be absurd, but the lines after it go on from its sum.
      sums = [parsed.sum, ...sums].slice(0, MAX_CANDIDATE_SUMS)
      if (isSeq(seq) && seq - (last?.seq ?? 0) <= MAX_SEQ_JUMP) highestSeq = Math.max(highestSeq, seq)
    } else if (isUsable) {
      if (seq === last?.seq) damages.push({ line, what: 'parallel' })
      else if (!isLinked) damages.push({ line, what: 'unlinked' })
      accept(record, parsed.entry, true)
    } else if (
      isEntry(parsed.entry) &&
      canBeLegacyLine(record, gap, lost + missing, firstHashedSeq, findDuplicate(at))
    ) {
      const rest = stripUnverifiedContent(parsed.entry)
      if (rest === parsed.entry) damages.push({ line, what: 'unlinked' })
      else reportLoss(line, 'unproved')
      accept(record, rest, false)
    } else {
      reportLoss(line, 'altered')
      const expectedSums = record.text === undefined ? [] : sums.map((sum) => computeChainSum(record.text ?? '', sum))
      sums = [...sums, parsed.sum, ...expectedSums].slice(0, MAX_CANDIDATE_SUMS)
      missing++
      if (isSeq(seq) && seq <= highestSeq + records.length + lost) highestSeq = Math.max(highestSeq, seq)
    }
  }
  damages.sort((one, other) => one.line - other.line)
  return {
    entries,
    damages,
    uncertainUpTo: Math.max(uncertainUpTo, lastBeforeLoss()),
    lastSum: sums[0] ?? INITIAL_SUM,
    highestSeq,
  }

  /** The next line with the same number, if there is one; and whether it goes on from what was read before. */
  function findDuplicate(at: number): DuplicateState {
    const next = sorted[at + 1]
    if (next?.parsed.entry.seq !== sorted[at]?.parsed.entry.seq || !next) return 'none'
    return next.isChained || next.parsed.isVerified === true || sums.some((sum) => isChainedTo(next, sum))
      ? 'proved'
      : 'unproved'
  }

  /** The number of the last entry that a lost line may have followed. */
  function lastBeforeLoss(): number {
    if (lossLines.length === 0) return 0
    const isMoved = damages.some(({ what }) => what === 'misplaced')
    const line = isMoved ? Infinity : lossLines.reduce((highest, one) => Math.max(highest, one))
    return entries.reduce(
      (highest, { seq }, at) => ((lineNumbers[at] ?? 0) <= line ? Math.max(highest, seq) : highest),
      0,
    )
  }
}

interface LogRecord {
  readonly line: number
  readonly parsed: Omit<ParsedLogLine, 'text'>
  /** It goes on from the line before it in the file, and that is proved. */
  readonly isChained: boolean
  /** The sum that it goes on from, if that is the one of the line before it in the file. */
  readonly previousSum?: string
  /** Only where that is not so: in a log without damage no text is kept. */
  readonly text?: string
  /** The sums of unreadable lines right before it. */
  readonly straySums: readonly string[]
}

function isChainedTo({ previousSum, text, parsed }: LogRecord, before: string): boolean {
  return previousSum === undefined ? computeChainSum(text ?? '', before) === parsed.sum : previousSum === before
}

/** May this line, which proves itself in no way, be one of an older version that only lost the line before it? */
function canBeLegacyLine(
  { parsed }: LogRecord,
  gap: number,
  lost: number,
  firstHashedSeq: number,
  duplicates: DuplicateState,
): boolean {
  // Whoever writes hashes goes on writing them.
  if (parsed.isVerified !== undefined || parsed.entry.seq > firstHashedSeq || gap <= 0 || duplicates === 'proved')
    return false
  return gap <= lost || duplicates === 'none'
}

/** How many entries of this log are missing before what is the first one of it now. Before the one that opens it there are none. */
function missingBefore({ seq, kind }: ParsedLogLine['entry']): number {
  return kind === 'open' ? 0 : seq - 1
}

/** Is there another line with the same number, and does that one prove itself? */
type DuplicateState = 'none' | 'unproved' | 'proved'

/** All that can be read, how many entries may be missing because they cannot, and the first number that has a hash. */
function readRecords(lines: Iterable<LogLine>) {
  const records: LogRecord[] = []
  const damages: LogDamage[] = []
  let straySums: string[] = []
  let lost = 0
  let number = 0
  let firstHashedSeq = Infinity

  function addRecord(read: ParsedLogLine): void {
    const { text, ...rest } = read
    const before = records.at(-1)
    const after = before?.parsed.sum ?? INITIAL_SUM
    const isLinked = computeChainSum(text, after) === read.sum
    const isChained = isLinked && (before === undefined || before.isChained || before.parsed.isVerified === true)
    records.push({
      line: number,
      parsed: rest,
      straySums,
      isChained,
      ...(isLinked ? { previousSum: after } : { text }),
    })
    if (straySums.length > 0) straySums = []
    if (read.isVerified) firstHashedSeq = Math.min(firstHashedSeq, read.entry.seq)
  }

  for (const { bytes, isTorn } of lines) {
    number++
    if (bytes?.length === 0) continue
    if (bytes === undefined || bytes.length > MAX_LINE_BYTES) {
      damages.push({ line: number, what: 'too-long' })
      lost++
      continue
    }
    const whole = parseLogLine(bytes)
    if (whole) {
      addRecord(whole)
      continue
    }
    for (const piece of splitJoinedLines(bytes)) {
      const read = parseLogLine(piece)
      if (read) addRecord(read)
      else {
        damages.push({ line: number, what: isTorn ? 'torn' : 'unreadable' })
        lost += 1 + Math.floor(piece.length / MIN_ENTRY_BYTES)
        const sum = parseTrailingSum(piece)
        if (sum !== undefined && straySums.length < MAX_CANDIDATE_SUMS) straySums = [...straySums, sum]
      }
    }
  }
  return { records, damages, lost, hashedFrom: firstHashedSeq }
}

function* splitIntoLines(bytes: Buffer): Generator<LogLine> {
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(0x0a, at)
    yield end < 0 ? { bytes: bytes.subarray(at), isTorn: true } : { bytes: bytes.subarray(at, end) }
    at = end < 0 ? bytes.length : end + 1
  }
}

/** By their numbers. Lines that were moved are put back where they belong. */
function sortBySeq(records: readonly LogRecord[], damages: LogDamage[]): readonly LogRecord[] {
  const seen = new Set<number>()
  let highest = -Infinity
  let isSorted = true
  for (const { line, parsed } of records) {
    const { seq } = parsed.entry
    if (seq < highest) {
      isSorted = false
      if (!seen.has(seq)) damages.push({ line, what: 'misplaced' })
    }
    seen.add(seq)
    highest = Math.max(highest, seq)
  }
  if (isSorted) return records
  return records.toSorted((one, other) => one.parsed.entry.seq - other.parsed.entry.seq || one.line - other.line)
}

/** No entry is shorter than this. */
const MIN_ENTRY_BYTES = 60

/** No log has so many lines that its numbers could jump so far. */
const MAX_SEQ_JUMP = 1e9

const MAX_CANDIDATE_SUMS = 16
