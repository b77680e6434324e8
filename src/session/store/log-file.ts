import { closeSync, fstatSync, fsync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Entry, LOG_ENTRY_TRAITS, type EntryBody } from '../log/entry.ts'
import { encodeLogLine } from '../log/log-line.ts'
import { externalizeMedia } from '../log/external-media.ts'
import {
  copyBytes,
  createPrivateFolder,
  fsyncFolder,
  fsyncFolderAsync,
  writeAllBytes,
  writeDurableFile,
} from './durable-write.ts'
import type { Lock } from './lock-file.ts'
import { createWriteError, getErrorCode } from './errors.ts'
import { getErrorMessage } from '../../model/error-message.ts'
import { createTakenOverError, type SessionLog, StoreError } from './store.ts'

/** The state of a log file that is opened for appending. */
interface LogFileState {
  readonly id: string
  readonly path: string
  readonly seq: number
  readonly at: number
  readonly sum: string
  readonly now: () => number
  /** Stores long media beside the log. It must be on the disk before the entry that refers to it. */
  readonly putBlob: (bytes: Uint8Array) => string
  readonly hasUserEntry: boolean
  /** Folders with a new entry since this log was created; without a sync, the log could be lost with that entry. */
  readonly unsyncedFolders: readonly string[]
  readonly lock: Lock
  /** Is no call of the last turn waiting to run? */
  readonly isIdle: boolean
  /** Is it certain that no entries are missing at the end of the log? */
  readonly isEndVerified: boolean
}

/** Appends to a log, line by line. `append` does not wait for the disk; `flush` does. */
export function openLogFile(initialState: LogFileState): Pick<SessionLog, 'lost' | 'append' | 'flush' | 'close'> {
  const { id, path, now, putBlob, lock } = initialState
  let { seq, at, sum, hasUserEntry } = initialState
  let { isIdle } = initialState
  let handle: number | undefined = openForAppend(path)
  let storeError: StoreError | undefined
  /** How many durable entries were written, and how many of them are on the disk. */
  let [writtenCount, syncedCount] = [0, 0]
  let syncing = Promise.resolve()
  /** The name of a new file must be on the disk, too. */
  let folderSync: Promise<unknown> | undefined
  let syncTimer: NodeJS.Timeout | undefined
  const lost = new AbortController()
  // Another machine may take the session over while nothing is written.
  const lockTimer = setInterval(() => lock.isTakenOver() && fail(createTakenOverError(id)), LOCK_CHECK_MS).unref()

  function fail(error: unknown): StoreError {
    // After a failure it is unknown what is on the disk, and later entries would build on it.
    storeError ??= error instanceof StoreError ? error : createWriteError(id, error, hasUserEntry)
    clearInterval(lockTimer)
    if (storeError.code === 'taken-over') lost.abort(storeError)
    return storeError
  }

  async function sync(): Promise<void> {
    if (storeError) throw storeError
    if (lock.isTakenOver()) throw fail(createTakenOverError(id))
    const upTo = writtenCount
    if (handle === undefined) return
    try {
      // Also where nothing is left to save: what follows a flush must not happen in a session that another process has.
      if (syncedCount >= upTo) return assertSameFile(handle)
      folderSync ??= Promise.all([dirname(path), ...initialState.unsyncedFolders].map(fsyncFolderAsync))
      await Promise.all([fsyncFile(handle), folderSync])
      assertSameFile(handle)
      syncedCount = upTo
    } catch (error) {
      throw fail(error)
    }
  }

  /** An entry in a file that was moved or replaced is not saved. */
  function assertSameFile(open: number): void {
    if (lock.isTakenOver()) throw createTakenOverError(id)
    const [pathStat, handleStat] = [statSync(path, { throwIfNoEntry: false }), fstatSync(open)]
    if (pathStat?.ino === handleStat.ino && pathStat.dev === handleStat.dev) return
    // Whoever took it over has closed it since.
    if (!lock.isOwn() && pathStat && hasSameStart(path, open)) throw createTakenOverError(id)
    throw new StoreError('file-replaced', restoreLog(id, path, open))
  }

  function flush(): Promise<void> {
    // One at a time; entries written meanwhile are covered by the next one.
    syncing = syncing.catch(() => undefined).then(sync)
    return syncing
  }

  /** Entries should soon be on the disk even if nobody calls `flush`. */
  function flushInBackground(): void {
    syncTimer = undefined
    // The next append throws the error.
    flush().catch(() => undefined)
  }

  return {
    lost: lost.signal,
    append(body: EntryBody) {
      if (handle === undefined) throw new StoreError('closed', `the session ${id} is closed`)
      if (storeError) throw storeError
      try {
        // The clock may be set back; the times of entries must not decrease.
        at = Math.max(at, now())
        // Own keys before the spread: otherwise V8 creates a shape of half a kilobyte for each object.
        const entry: Entry = { seq: seq + 1, at, ...body }
        const line = encodeLogLine({ seq: seq + 1, at, ...externalizeMedia(body, putBlob) }, sum)
        writeAllBytes(handle, line.line)
        seq++
        ;({ sum } = line)
        if (body.kind === 'user') hasUserEntry = true
        const traits = LOG_ENTRY_TRAITS[body.kind]
        isIdle = traits.isIdle === true
        if (traits.isDurable) {
          writtenCount++
          syncTimer ??= setTimeout(flushInBackground, SYNC_DELAY_MS).unref()
        }
        return entry
      } catch (error) {
        throw fail(error)
      }
    },
    flush,
    // All is done when this returns, so that a process may exit at once; only the file may be closed later.
    close() {
      if (handle === undefined) return Promise.resolve()
      const open = handle
      handle = undefined
      clearTimeout(syncTimer)
      clearInterval(lockTimer)
      try {
        if (syncedCount < writtenCount && !storeError) fsyncSync(open)
        if (!folderSync) [dirname(path), ...initialState.unsyncedFolders].forEach(fsyncFolder)
      } catch {
        // The log is being closed: no caller is left who could handle this.
      }
      // A flush in progress needs the open file.
      void syncing.catch(() => undefined).then(() => closeSync(open))
      // The next process to open it must know that no entries are missing at its end.
      if (lost.signal.aborted) return Promise.resolve()
      if (isIdle || !initialState.isEndVerified) lock.release()
      else lock.releaseUnfinished(seq)
      return Promise.resolve()
    },
  }
}

/** Long enough to cover a `flush` that follows shortly after an append. */
const SYNC_DELAY_MS = 20

function fsyncFile(handle: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(handle, (error) => (error ? reject(error) : resolve()))
  })
}

const LOCK_CHECK_MS = 1000

/** Do two files begin with the same session? The first line has its name and the time when it was created. */
function hasSameStart(path: string, open: number): boolean {
  const readStart = (handle: number): Buffer => {
    const bytes = Buffer.alloc(START_BYTES)
    return bytes.subarray(0, readSync(handle, bytes, 0, START_BYTES, 0))
  }
  const other = openSync(path, 'r')
  try {
    const [one, two] = [readStart(open), readStart(other)]
    const end = one.indexOf(LF)
    return one.subarray(0, end < 0 ? one.length : end).equals(two.subarray(0, end < 0 ? one.length : end))
  } finally {
    closeSync(other)
  }
}

const START_BYTES = 4096
const LF = 0x0a

/** A torn last line stays; the next entry starts a new line. */
function openForAppend(path: string): number {
  const handle = openSync(path, 'a+')
  const { size } = fstatSync(handle)
  const last = Buffer.alloc(1)
  if (size > 0 && readSync(handle, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a) writeSync(handle, '\n')
  return handle
}

/**
 * Saves a log whose file was moved, removed or replaced while it was open. The content is still in the open file: it is
 * copied to the old path, or beside it if that is taken. Returns the error message.
 */
function restoreLog(id: string, path: string, from: number): string {
  for (const name of [id, ...Array.from({ length: 9 }, (_, at) => `${id}-copy${at + 1}`)]) {
    const target = path.replace(/[^/\\]*$/, `${name}.jsonl`)
    try {
      createPrivateFolder(dirname(target)).forEach(fsyncFolder)
      writeDurableFile(target, 'wx', (handle) => copyBytes(from, handle))
      fsyncFolder(dirname(target))
      return `the log of the session ${id} was moved, removed or replaced during the session; it was saved again, continue with dragoman --resume ${name}`
    } catch (error) {
      if (getErrorCode(error) === 'EEXIST') continue
      return `the log of the session ${id} was moved, removed or replaced during the session and cannot be saved again (${getErrorMessage(error)}), so the run was stopped`
    }
  }
  return `the log of the session ${id} was replaced during the session, so the run was stopped`
}
