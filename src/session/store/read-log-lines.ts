import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Entry } from '../log/entry.ts'
import { isEntry } from '../log/entry-schema.ts'
import { MAX_LOG_LINE_BYTES, parseLogEntry } from '../log/log-line.ts'
import type { LogLine } from '../log/scan-log.ts'

/** Reads a file line by line, with at most one line in memory; lines that are too long are skipped. */
export function* readLogLines(path: string): Generator<LogLine> {
  const handle = openSync(path, 'r')
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    let partialLine: Buffer[] = []
    let length = 0
    const take = (piece: Buffer): void => {
      length += piece.length
      if (length > MAX_LOG_LINE_BYTES) partialLine = []
      else partialLine.push(Buffer.from(piece))
    }
    const line = (): LogLine => {
      const whole = length > MAX_LOG_LINE_BYTES ? {} : { bytes: Buffer.concat(partialLine) }
      partialLine = []
      length = 0
      return whole
    }
    for (;;) {
      const read = readSync(handle, chunk, 0, CHUNK_BYTES, null)
      if (read === 0) break
      let from = 0
      for (let end = chunk.indexOf(LF); end >= 0 && end < read; end = chunk.indexOf(LF, from)) {
        // Most lines are complete in one chunk, and need no copy.
        if (length === 0) yield { bytes: chunk.subarray(from, end) }
        else {
          take(chunk.subarray(from, end))
          yield line()
        }
        from = end + 1
      }
      if (from < read) take(chunk.subarray(from, read))
    }
    if (length > 0) yield { ...line(), isTorn: true }
  } finally {
    closeSync(handle)
  }
}

/**
 * The first entries of a log up to the first message, and the last ones from the last turn and the last request on, for lists:
 * reads only the two ends of a file of any size. Checksums are not verified, only the shape of the entries.
 */
export function readLogEnds(path: string): { first: Entry[]; last: Entry[]; changed: number } {
  const handle = openSync(path, 'r')
  try {
    const { size, mtimeMs } = fstatSync(handle)
    const part = (at: number, length: number): Buffer => {
      const bytes = Buffer.allocUnsafe(Math.min(length, size - at))
      return bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, at))
    }
    let first: Entry[] = []
    for (const length of FIRST_LENGTHS) {
      first = parseFirstEntries(part(0, length))
      if (length >= size || first.at(-1)?.kind === 'user') break
    }
    let last: Entry[] = []
    for (const length of LAST_LENGTHS) {
      const end = parseLastEntries(part(Math.max(0, size - length), length))
      last = end.entries
      // Long results at the end may fill more than that; the last turn of the model is before them.
      if (length >= size || (end.hasTurn && (end.hasRequest || length >= END_BYTES))) break
    }
    return { first, last, changed: last.at(-1)?.at ?? Math.round(mtimeMs) }
  } finally {
    closeSync(handle)
  }
}

/** The entries of complete lines, up to the first message. */
function parseFirstEntries(bytes: Buffer): Entry[] {
  const entries: Entry[] = []
  for (let at = 0; at < bytes.length && entries.at(-1)?.kind !== 'user';) {
    const lf = bytes.indexOf(LF, at)
    const end = lf < 0 ? bytes.length : lf
    const entry = parseLogEntry(bytes.subarray(at, end))
    if (isEntry(entry)) entries.push(entry)
    at = end + 1
  }
  return entries
}

/** The entries of complete lines, back to where the last turn and the last request are known. */
function parseLastEntries(bytes: Buffer) {
  const entries: Entry[] = []
  let [hasTurn, hasRequest] = [false, false]
  for (let end = bytes.length; end > 0 && !(hasTurn && hasRequest);) {
    const lf = bytes.lastIndexOf(LF, end - 1)
    const entry = parseLogEntry(bytes.subarray(lf + 1, end))
    end = lf
    if (!isEntry(entry)) continue
    entries.push(entry)
    hasTurn ||= entry.kind === 'turn'
    hasRequest ||= entry.kind === 'request'
  }
  return { entries: entries.reverse(), hasTurn, hasRequest }
}

const LF = 0x0a
const CHUNK_BYTES = 2 ** 18
const END_BYTES = 2 ** 17
/** Most sessions begin and end with short entries. */
const SHORT_END_BYTES = 2 ** 14
const FIRST_LENGTHS = [SHORT_END_BYTES, END_BYTES]
const LAST_LENGTHS = [SHORT_END_BYTES, END_BYTES, END_BYTES * 8, END_BYTES * 64]
