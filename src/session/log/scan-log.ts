import { type Entry } from './entry.ts'
import { isEntry, isSeq } from './entry-schema.ts'
import { computeChainSum, INITIAL_SUM, MAX_LOG_LINE_BYTES, type ParsedLogLine } from './log-line.ts'
import { parseLogLine, parseTrailingSum, splitJoinedLines } from './log-line.ts'
import { createTimeSlices, type TimeSlices } from '../time-slices.ts'
import { stripUnverifiedContent } from './unverified-entry.ts'

/** Damage in a log. The file is never changed. */
export interface LogDamage {
  /** Starts at 1. */
  readonly line: number
  /**
   * `unlinked`: used, although the line before it is lost. `unproved`: the same, but the line has no hash, so only a part of
   * it is used. `foreign`: intact, but no entry that this version knows. `parallel`: two processes wrote at the same time.
   * `orphaned`: the parent of the fork is missing. `circular`: the session is a fork of itself.
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

export interface ScannedLog {
  /** In the order in which they were written. */
  readonly entries: readonly Entry[]
  readonly damages: readonly LogDamage[]
  /** Entries that followed up to this number may be lost; 0 if none are. */
  readonly uncertainUpTo: number
  /** The sum that the next line builds on. */
  readonly lastSum: string
  /** The highest number of any line, even a damaged one: the next one must be higher. */
  readonly highestSeq: number
}

export interface LogLine {
  /** Absent if the line was too long to be read. Valid only until the next line is read. */
  readonly bytes?: Buffer
  /** The last line, without a line break. */
  readonly isTorn?: true
}

/**
 * Reads a log in any state: damage is reported, and everything else is used. A line is verified by its own hash, or by its
 * sum and the sum of the line with the number before it, wherever that line is. A line without a hash whose predecessor is
 * lost is used in part. A long log is read in slices.
 */
export async function scanLogLines(lines: Iterable<LogLine>): Promise<ScannedLog> {
  const slices = createTimeSlices()
  const { records, damages, lost, firstHashedSeq } = await readRecords(lines, slices)
  const entries: Entry[] = []
  const lineNumbers: number[] = []
  const lossLines = damages.map(({ line }) => line)
  // The sums that the next line may build on: of the last good line, and of damaged lines since, both as read and as computed.
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
    if (slices.isOver()) await slices.pause()
    const { parsed, line } = record
    const { seq } = parsed.entry
    // After an unverified line, even the next number may have lost its predecessor.
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
      // Its number may be wrong, but the lines after it build on its sum.
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

  function findDuplicate(at: number): DuplicateState {
    const next = sorted[at + 1]
    if (next?.parsed.entry.seq !== sorted[at]?.parsed.entry.seq || !next) return 'none'
    return next.isChained || next.parsed.isVerified === true || sums.some((sum) => isChainedTo(next, sum))
      ? 'proved'
      : 'unproved'
  }

  /** The last entry that may have been followed by a lost line. */
  function lastBeforeLoss(): number {
    if (lossLines.length === 0) return 0
    const isMoved = damages.some(({ what }) => what === 'misplaced')
    const line = isMoved ? Infinity : lossLines.reduce((highest, one) => Math.max(highest, one))
    const before = entries.filter((_, at) => (lineNumbers[at] ?? 0) <= line)
    return before.reduce((highest, { seq }) => Math.max(highest, seq), 0)
  }
}

interface LogRecord {
  readonly line: number
  readonly parsed: Omit<ParsedLogLine, 'text'>
  /** It builds on the line before it in the file, and that line is verified. */
  readonly isChained: boolean
  /** The sum of the line before it in the file, if it builds on that. */
  readonly previousSum?: string
  /** Only otherwise, so that no text is kept for a log without damage. */
  readonly text?: string
  /** The sums of unreadable lines right before it. */
  readonly straySums: readonly string[]
}

function isChainedTo({ previousSum, text, parsed }: LogRecord, before: string): boolean {
  return previousSum === undefined ? computeChainSum(text ?? '', before) === parsed.sum : previousSum === before
}

/** May this unverified line be one of an older version whose predecessor is lost? */
function canBeLegacyLine(
  { parsed }: LogRecord,
  gap: number,
  lost: number,
  firstHashedSeq: number,
  duplicates: DuplicateState,
): boolean {
  // After the first line with a hash, all lines have one.
  if (parsed.isVerified !== undefined || parsed.entry.seq > firstHashedSeq || gap <= 0 || duplicates === 'proved')
    return false
  return gap <= lost || duplicates === 'none'
}

/** How many entries are missing before the first line that was read. */
function missingBefore({ seq, kind }: ParsedLogLine['entry']): number {
  return kind === 'open' ? 0 : seq - 1
}

/** Is there another line with the same number, and is it verified? */
type DuplicateState = 'none' | 'unproved' | 'proved'

/** The lines that can be parsed, how many entries may be lost (`lost`), and the first number with a hash. */
async function readRecords(lines: Iterable<LogLine>, slices: TimeSlices) {
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
    const link = isLinked ? { previousSum: after } : { text }
    records.push({ line: number, parsed: rest, straySums, isChained, ...link })
    if (straySums.length > 0) straySums = []
    if (read.isVerified) firstHashedSeq = Math.min(firstHashedSeq, read.entry.seq)
  }

  for (const { bytes, isTorn } of lines) {
    if (slices.isOver()) await slices.pause()
    number++
    if (bytes?.length === 0) continue
    if (bytes === undefined || bytes.length > MAX_LOG_LINE_BYTES) {
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
  return { records, damages, lost, firstHashedSeq }
}

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

const MIN_ENTRY_BYTES = 60

/** No log has so many lines. */
const MAX_SEQ_JUMP = 1e9

const MAX_CANDIDATE_SUMS = 16
