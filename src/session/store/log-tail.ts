import { closeSync, fstatSync, fsync, openSync, readSync } from 'node:fs'
import type { Entry } from '../log/entry.ts'
import { isEntry } from '../log/entry-schema.ts'
import { parseLogLine } from '../log/log-line.ts'

/** Reads what was added to a log file since the last time. */
export interface LogTail {
  /** The entries with a higher number. They are on the disk when it resolves. */
  readonly readAfter: (after: number) => Promise<{ entries: readonly Entry[]; upTo: number }>
}

/**
 * Only the new lines are read, if each of them is verified by its own hash; otherwise, and if the file is another one, `readAll`
 * decides what the log says. Lines are written before they are on the disk, so each reading waits for the disk.
 */
export function createLogTail(path: string, readAll: (after: number) => Promise<readonly Entry[]>): LogTail {
  /** The file, and the end of the last line that was read. */
  let position: { file: string; offset: number } | undefined

  function readLines(handle: number, after: number): readonly Entry[] | undefined {
    const { size, file } = describeFile(handle)
    if (position?.file !== file || size < position.offset || size - position.offset > MAX_TAIL_BYTES) return undefined
    const bytes = Buffer.allocUnsafe(size - position.offset)
    const length = readSync(handle, bytes, 0, bytes.length, position.offset)
    const entries: Entry[] = []
    let [start, last] = [0, after]
    // A line without its end is still being written.
    for (let end = bytes.indexOf(LF); end >= 0 && end < length; end = bytes.indexOf(LF, start)) {
      const line = bytes.subarray(start, end)
      const parsed = line.length > 0 ? parseLogLine(line) : undefined
      if (!parsed?.isVerified || !isEntry(parsed.entry)) return undefined
      // A lower number than the last: lines were repeated, or two processes wrote.
      if (parsed.entry.seq > last) entries.push(parsed.entry)
      last = Math.max(last, parsed.entry.seq)
      start = end + 1
    }
    position = { file, offset: position.offset + start }
    return entries
  }

  return {
    async readAfter(after) {
      const handle = openSync(path, process.platform === 'win32' ? 'r+' : 'r')
      try {
        const before = describeFile(handle)
        let entries = readLines(handle, after)
        if (!entries) {
          entries = await readAll(after)
          position = { file: before.file, offset: before.size }
        }
        if (entries.length > 0) await fsyncFile(handle)
        return { entries, upTo: entries.at(-1)?.seq ?? after }
      } finally {
        closeSync(handle)
      }
    },
  }
}

const LF = 0x0a
const MAX_TAIL_BYTES = 2 ** 25

function describeFile(handle: number): { file: string; size: number } {
  const { dev, ino, size } = fstatSync(handle)
  return { file: `${dev} ${ino}`, size }
}

function fsyncFile(handle: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(handle, (error) => (error ? reject(error) : resolve()))
  })
}
