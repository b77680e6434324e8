import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { isObject } from '../../model/json.ts'
import type { Entry } from '../entry.ts'
import { type Line, LONGEST, readLine } from '../line.ts'

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
      const text = length > LONGEST ? {} : { text: Buffer.concat(begun).toString('utf8') }
      begun = []
      length = 0
      return text
    }
    for (;;) {
      const read = readSync(handle, chunk, 0, CHUNK, null)
      if (read === 0) break
      let from = 0
      for (let end = chunk.indexOf(LF); end >= 0 && end < read; end = chunk.indexOf(LF, from)) {
        // Most lines stand whole in one chunk, and need no copy.
        if (length === 0) yield { text: chunk.toString('utf8', from, end) }
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
    const part = (at: number): string[] => {
      const bytes = Buffer.allocUnsafe(Math.min(ENDS, size - at))
      return bytes.toString('utf8', 0, readSync(handle, bytes, 0, bytes.length, at)).split('\n')
    }
    const first = part(0).flatMap(entryOf)
    const last = size <= ENDS ? first : part(size - ENDS).flatMap(entryOf)
    return { first, last, changed: last.at(-1)?.at ?? Math.round(mtimeMs) }
  } finally {
    closeSync(handle)
  }
}

function entryOf(line: string): Entry[] {
  const entry = readLine(line)?.entry
  return entry && isObject(entry) && typeof entry.at === 'number' ? [entry] : []
}

const LF = 0x0a
const CHUNK = 2 ** 18
const ENDS = 2 ** 17
