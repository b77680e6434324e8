import { closeSync, fstatSync, fsync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Entry, type EntryBody, mustBeDurable } from '../entry.ts'
import { writeLine } from '../line.ts'
import { stow } from '../media.ts'
import { folderSynced, syncFolder, writeWhole } from './durable.ts'
import { rescueLog } from './rescue-log.ts'
import type { Lock } from './lock.ts'
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
  /** Was anything said in it so far? */
  readonly hasWords: boolean
  /** Folders that hold a new name since this log was made: it would be lost with them. */
  readonly newNames: readonly string[]
  readonly lock: Lock
  /** Can no call of the last turn be waiting to be carried out? */
  readonly isAtRest: boolean
  /** Is it sure that the log has no entries that are missing at its end? */
  readonly isEndSure: boolean
}

/** Writes a log on, line by line. A write waits for no disk; `saved` does, and leaves the program free meanwhile. */
export function openLogFile(from: From): Pick<SessionLog, 'append' | 'saved' | 'close'> {
  const { id, path, now, put, lock } = from
  let { seq, at, sum, hasWords } = from
  let { isAtRest } = from
  let handle: number | undefined = openForAppend(path)
  let problem: StoreProblem | undefined
  /** How many entries that must be on the disk were written, and how many of them are there. */
  let [written, synced] = [0, 0]
  let syncing = Promise.resolve()
  /** The name of a new file must be on the disk, too; what is in it would be lost with it. */
  let named: Promise<unknown> | undefined
  let soon: NodeJS.Timeout | undefined

  function fail(error: unknown): StoreProblem {
    // After a failure nobody knows what is on the disk, and what came later would stand on that.
    return (problem ??= error instanceof StoreProblem ? error : unsaved(id, error, hasWords))
  }

  async function sync(): Promise<void> {
    if (problem) throw problem
    const upTo = written
    if (synced >= upTo || handle === undefined) return
    try {
      named ??= Promise.all([dirname(path), ...from.newNames].map(folderSynced))
      await Promise.all([flushed(handle), named])
      checkPlace(handle)
      synced = upTo
    } catch (error) {
      throw fail(error)
    }
  }

  /** What was written to a file that nobody will find again is not saved. */
  function checkPlace(open: number): void {
    if (lock.isTaken())
      throw new StoreProblem(`the session ${id} was taken over by another process; nothing more is done in it here`)
    const [there, here] = [statSync(path, { throwIfNoEntry: false }), fstatSync(open)]
    if (there?.ino === here.ino && there.dev === here.dev) return
    throw new StoreProblem(rescueLog(id, path, open))
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
        if (body.kind === 'user') hasWords = true
        isAtRest = isResting(body.kind)
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
        if (!named) [dirname(path), ...from.newNames].forEach(syncFolder)
      } catch {
        // There is nobody left to tell who could do anything about it.
      }
      // A flush on its way must find the file open.
      void syncing.catch(() => undefined).then(() => closeSync(open))
      // Whoever takes it up must know that nothing is missing at its end.
      if (isAtRest || !from.isEndSure) lock.release()
      else lock.leave(seq)
    },
  }
}

/** In milliseconds: long enough that what somebody waits for a moment later goes along. */
const SOON = 20

/** After such an entry, no call of the last turn can be waiting to be carried out. */
export function isResting(kind: EntryBody['kind']): boolean {
  return kind === 'open' || kind === 'note' || kind === 'undo' || kind === 'close'
}

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
