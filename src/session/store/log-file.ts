import { closeSync, fstatSync, fsync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Entry, type EntryBody, mustBeDurable } from '../entry.ts'
import { writeLine } from '../line.ts'
import { stow } from '../media.ts'
import { folderSynced, syncFolder, writeWhole } from './durable.ts'
import { unsaved } from './problem.ts'
import { type SessionLog, StoreProblem } from './store.ts'

/** From where a log file goes on. */
export interface From {
  readonly id: string
  readonly path: string
  readonly seq: number
  readonly at: number
  readonly sum: string
  readonly now: () => number
  /** Keeps long media beside the log; it must be on the disk before the entry that names it. */
  readonly put: (bytes: Uint8Array) => string
  readonly closed: () => void
}

/** Writes a log on, line by line. A write waits for no disk; `saved` does, and leaves the program free meanwhile. */
export function openLogFile(from: From): Pick<SessionLog, 'append' | 'saved' | 'close'> {
  const { id, now, put } = from
  let { seq, at, sum } = from
  let handle: number | undefined = openForAppend(from.path)
  let problem: StoreProblem | undefined
  /** How many entries that must be on the disk were written, and how many of them are there. */
  let [written, synced] = [0, 0]
  let syncing = Promise.resolve()
  /** The name of a new file must be on the disk, too; what is in it would be lost with it. */
  let named: Promise<void> | undefined
  let soon: NodeJS.Timeout | undefined

  function fail(error: unknown): StoreProblem {
    // After a failure nobody knows what is on the disk, and what came later would stand on that.
    return (problem ??= error instanceof StoreProblem ? error : unsaved(id, error))
  }

  async function sync(): Promise<void> {
    if (problem) throw problem
    const upTo = written
    if (synced >= upTo || handle === undefined) return
    try {
      named ??= folderSynced(dirname(from.path))
      await Promise.all([flushed(handle), named])
      synced = upTo
    } catch (error) {
      throw fail(error)
    }
  }

  function saved(): Promise<void> {
    // One after the other; what was written while one waits goes along with the next.
    syncing = syncing.catch(() => undefined).then(sync)
    return syncing
  }

  /** What nobody waits for should be on the disk all the same, before it is long. */
  function saveAnyway(): void {
    soon = undefined
    // Whoever writes next is told.
    saved().catch(() => undefined)
  }

  return {
    append(body: EntryBody) {
      if (handle === undefined) throw new StoreProblem(`the session ${id} is closed`)
      if (problem) throw problem
      try {
        // A clock that was set back must not turn the order of things round.
        at = Math.max(at, now())
        // Own keys before those that are spread: otherwise V8 keeps a shape of its own for each object, of half a kilobyte.
        const entry: Entry = { seq: seq + 1, at, ...body }
        const line = writeLine({ seq: seq + 1, at, ...stow(body, put) }, sum)
        writeWhole(handle, line.line)
        seq++
        ;({ sum } = line)
        if (mustBeDurable(body)) {
          written++
          soon ??= setTimeout(saveAnyway, SOON).unref()
        }
        return entry
      } catch (error) {
        throw fail(error)
      }
    },
    saved,
    close() {
      if (handle === undefined) return
      const open = handle
      handle = undefined
      clearTimeout(soon)
      try {
        if (synced < written && !problem) fsyncSync(open)
        if (!named) syncFolder(dirname(from.path))
      } catch {
        // There is nobody left to tell who could do anything about it.
      }
      // A flush on its way must find the file open.
      void syncing.catch(() => undefined).then(() => closeSync(open))
      from.closed()
    },
  }
}

/** In milliseconds: long enough that what somebody waits for a moment later goes along. */
const SOON = 20

function flushed(handle: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(handle, (error) => (error ? reject(error) : resolve()))
  })
}

/** A torn last line stays as it is; the next entry begins on a line of its own. */
function openForAppend(path: string): number {
  const handle = openSync(path, 'a+')
  const { size } = fstatSync(handle)
  const last = Buffer.alloc(1)
  if (size > 0 && readSync(handle, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a) writeSync(handle, '\n')
  return handle
}
