import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Entry } from '../log/entry.ts'
import { isEntry } from '../log/entry-schema.ts'
import { MAX_LOG_LINE_BYTES, parseLogLine } from '../log/log-line.ts'
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

/** The first and the last entries of a log, for lists: reads only the two ends of a file of any size. */
export function readLogEnds(path: string): { first: Entry[]; last: Entry[]; changed: number } {
  const handle = openSync(path, 'r')
  try {
    const { size, mtimeMs } = fstatSync(handle)
    const part = (at: number, length = END_BYTES): Entry[] => {
      const bytes = Buffer.allocUnsafe(Math.min(length, size - at))
      return parseEntries(bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, at)))
    }
    const first = part(0)
    let last = size <= END_BYTES ? first : part(size - END_BYTES)
    // Long results at the end may fill more than that; the last turn of the model is before them.
    for (
      let length = END_BYTES * 8;
      !last.some(({ kind }) => kind === 'turn') && length <= MAX_END_BYTES && length < size * 8;
      length *= 8
    )
      last = part(Math.max(0, size - length), length)
    return { first, last, changed: last.at(-1)?.at ?? Math.round(mtimeMs) }
  } finally {
    closeSync(handle)
  }
}

/** The entries of complete lines. Checksums are not verified for a list, only the shape of the entries. */
function parseEntries(bytes: Buffer): Entry[] {
  const entries: Entry[] = []
  for (let at = 0; at < bytes.length;) {
    const lf = bytes.indexOf(LF, at)
    const end = lf < 0 ? bytes.length : lf
    const entry = parseLogLine(bytes.subarray(at, end))?.entry
    if (isEntry(entry)) entries.push(entry)
    at = end + 1
  }
  return entries
}

const LF = 0x0a
const CHUNK_BYTES = 2 ** 18
const END_BYTES = 2 ** 17
const MAX_END_BYTES = 2 ** 23
