import { closeSync, fstatSync, fsync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Entry, type EntryBody, isDurableEntry } from '../log/entry.ts'
import { encodeLogLine } from '../log/log-line.ts'
import { externalizeMedia } from '../log/external-media.ts'
import { fsyncFolderAsync, fsyncFolder, writeAllBytes } from './durable-write.ts'
import { restoreLog } from './restore-log.ts'
import type { Lock } from './lock.ts'
import { createWriteError } from './errors.ts'
import { type SessionLog, StoreError } from './store.ts'

/** From where a log file goes on. */
export interface LogFileState {
  readonly id: string
  readonly path: string
  readonly seq: number
  readonly at: number
  readonly sum: string
  readonly now: () => number
  /** Keeps long media beside the log; it must be on the disk before the entry that names it. */
  readonly putBlob: (bytes: Uint8Array) => string
  /** Was anything said in it so far? */
  readonly hasUserEntry: boolean
  /** Folders that hold a new name since this log was made: it would be lost with them. */
  readonly unsyncedFolders: readonly string[]
  readonly lock: Lock
  /** Can no call of the last turn be waiting to be carried out? */
  readonly isIdle: boolean
  /** Is it sure that the log has no entries that are missing at its end? */
  readonly isEndVerified: boolean
}

/** Writes a log on, line by line. A write waits for no disk; `saved` does, and leaves the program free meanwhile. */
export function openLogFile(initialState: LogFileState): Pick<SessionLog, 'append' | 'flush' | 'close'> {
  const { id, path, now, putBlob, lock } = initialState
  let { seq, at, sum, hasUserEntry } = initialState
  let { isIdle } = initialState
  let handle: number | undefined = openForAppend(path)
  let storeError: StoreError | undefined
  /** How many entries that must be on the disk were written, and how many of them are there. */
  let [writtenCount, syncedCount] = [0, 0]
  let syncing = Promise.resolve()
  /** The name of a new file must be on the disk, too; what is in it would be lost with it. */
  let folderSync: Promise<unknown> | undefined
  let syncTimer: NodeJS.Timeout | undefined

  function fail(error: unknown): StoreError {
    // After a failure nobody knows what is on the disk, and what came later would stand on that.
    return (storeError ??= error instanceof StoreError ? error : createWriteError(id, error, hasUserEntry))
  }

  async function sync(): Promise<void> {
    if (storeError) throw storeError
    const upTo = writtenCount
    if (syncedCount >= upTo || handle === undefined) return
    try {
      folderSync ??= Promise.all([dirname(path), ...initialState.unsyncedFolders].map(fsyncFolderAsync))
      await Promise.all([fsyncFile(handle), folderSync])
      assertSameFile(handle)
      syncedCount = upTo
    } catch (error) {
      throw fail(error)
    }
  }

  /** What was written to a file that nobody will find again is not saved. */
  function assertSameFile(open: number): void {
    if (lock.isTakenOver())
      throw new StoreError(`the session ${id} was taken over by another process; nothing more is done in it here`)
    const [pathStat, handleStat] = [statSync(path, { throwIfNoEntry: false }), fstatSync(open)]
    if (pathStat?.ino === handleStat.ino && pathStat.dev === handleStat.dev) return
    throw new StoreError(restoreLog(id, path, open))
  }

  function flush(): Promise<void> {
    // One after the other; what was written while one waits goes along with the next.
    syncing = syncing.catch(() => undefined).then(sync)
    return syncing
  }

  /** What nobody waits for should be on the disk all the same, before it is long. */
  function flushInBackground(): void {
    syncTimer = undefined
    // Whoever writes next is told.
    flush().catch(() => undefined)
  }

  return {
    append(body: EntryBody) {
      if (handle === undefined) throw new StoreError(`the session ${id} is closed`)
      if (storeError) throw storeError
      try {
        // A clock that was set back must not turn the order of things round.
        at = Math.max(at, now())
        // Own keys before those that are spread: otherwise V8 keeps a shape of its own for each object, of half a kilobyte.
        const entry: Entry = { seq: seq + 1, at, ...body }
        const line = encodeLogLine({ seq: seq + 1, at, ...externalizeMedia(body, putBlob) }, sum)
        writeAllBytes(handle, line.line)
        seq++
        ;({ sum } = line)
        if (body.kind === 'user') hasUserEntry = true
        isIdle = isIdleEntry(body.kind)
        if (isDurableEntry(body)) {
          writtenCount++
          syncTimer ??= setTimeout(flushInBackground, SYNC_DELAY_MS).unref()
        }
        return entry
      } catch (error) {
        throw fail(error)
      }
    },
    flush,
    close() {
      if (handle === undefined) return
      const open = handle
      handle = undefined
      clearTimeout(syncTimer)
      try {
        if (syncedCount < writtenCount && !storeError) fsyncSync(open)
        if (!folderSync) [dirname(path), ...initialState.unsyncedFolders].forEach(fsyncFolder)
      } catch {
        // There is nobody left to tell who could do anything about it.
      }
      // A flush on its way must find the file open.
      void syncing.catch(() => undefined).then(() => closeSync(open))
      // Whoever takes it up must know that nothing is missing at its end.
      if (isIdle || !initialState.isEndVerified) lock.release()
      else lock.releaseUnfinished(seq)
    },
  }
}

/** In milliseconds: long enough that what somebody waits for a moment later goes along. */
const SYNC_DELAY_MS = 20

/** After such an entry, no call of the last turn can be waiting to be carried out. */
export function isIdleEntry(kind: EntryBody['kind']): boolean {
  return kind === 'open' || kind === 'note' || kind === 'undo' || kind === 'close'
}

function fsyncFile(handle: number): Promise<void> {
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
