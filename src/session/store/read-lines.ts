import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Entry } from '../entry.ts'
import { isEntry } from '../entry-schema.ts'
import { LONGEST, readLine } from '../line.ts'
import type { Line } from '../scan.ts'

/** The lines of a file, one after the other: never more of it in memory than one line, and of one that is too long, nothing. */
export function* linesOfFile(path: string): Generator<Line> {
  const handle = openSync(path, 'r')
  try {
    const chunk = Buffer.allocUnsafe(CHUNK)
    let begun: Buffer[] = []
    let length = 0
    const take = (piece: Buffer): void => {
      length += piece.length
      if (length > LONGEST) begun = []
      else begun.push(Buffer.from(piece))
    }
    const line = (): Line => {
      const whole = length > LONGEST ? {} : { bytes: Buffer.concat(begun) }
      begun = []
      length = 0
      return whole
    }
    for (;;) {
      const read = readSync(handle, chunk, 0, CHUNK, null)
      if (read === 0) break
      let from = 0
      for (let end = chunk.indexOf(LF); end >= 0 && end < read; end = chunk.indexOf(LF, from)) {
        // Most lines stand whole in one chunk, and need no copy.
        if (length === 0) yield { bytes: chunk.subarray(from, end) }
        else {
          take(chunk.subarray(from, end))
          yield line()
        }
        from = end + 1
      }
      if (from < read) take(chunk.subarray(from, read))
    }
    if (length > 0) yield { ...line(), torn: true }
  } finally {
    closeSync(handle)
  }
}

/** What a list shows of a log: the first entries and the last ones, read from both ends of a file of any size. */
export function endsOfFile(path: string): { first: Entry[]; last: Entry[]; changed: number } {
  const handle = openSync(path, 'r')
  try {
    const { size, mtimeMs } = fstatSync(handle)
    const part = (at: number, length = ENDS): Entry[] => {
      const bytes = Buffer.allocUnsafe(Math.min(length, size - at))
      return entriesIn(bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, at)))
    }
    const first = part(0)
    let last = size <= ENDS ? first : part(size - ENDS)
    // Long results at the end may fill more than that; the last answer stands before them.
    for (let length = ENDS * 8; !last.some(isAnswer) && length <= MAX_ENDS && length < size * 8; length *= 8)
      last = part(Math.max(0, size - length), length)
    return { first, last, changed: last.at(-1)?.at ?? Math.round(mtimeMs) }
  } finally {
    closeSync(handle)
  }
}

function isAnswer({ kind }: Entry): boolean {
  return kind === 'turn'
}

/** The entries of whole lines. A list does not check their sums, only that they have the shape of entries. */
function entriesIn(bytes: Buffer): Entry[] {
  const entries: Entry[] = []
  for (let at = 0; at < bytes.length;) {
    const lf = bytes.indexOf(LF, at)
    const end = lf < 0 ? bytes.length : lf
    const entry = readLine(bytes.subarray(at, end))?.entry
    if (isEntry(entry)) entries.push(entry)
    at = end + 1
  }
  return entries
}

const LF = 0x0a
const CHUNK = 2 ** 18
const ENDS = 2 ** 17
const MAX_ENDS = 2 ** 23
