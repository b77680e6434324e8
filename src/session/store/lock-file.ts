import { closeSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { createClosedLockText, getOwnLockText, type LockHolder } from './lock-holder.ts'
import { readLockHolder, readTextIfPresent } from './lock-holder.ts'
import { getErrorCode } from './errors.ts'
import { StoreError } from './store.ts'
import { defined } from '../../model/defined.ts'
import { sha256Hex } from './sha256.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

export interface Lock {
  /** Are other processes kept out? Some file systems cannot do that. */
  readonly isExclusive: boolean
  /** The lock text of the dead holder that it was taken from. */
  readonly previousLockText?: string
  /** It was taken from a process that may still run, and still write. */
  readonly isTakenFromUnknown?: true
  /** Is it this one that is in the file? */
  readonly isOwn: () => boolean
  /** Has another process taken it over since? */
  readonly isTakenOver: () => boolean
  readonly release: () => void
  /** Releases it, but records that the log was closed in the middle of a run, after the entry with this number. */
  readonly releaseUnfinished: (seq: number) => void
}

/**
 * Creates a lock file that names this process. A lock of a dead process is replaced; with `takeOver` also one whose process
 * cannot be checked, but never one whose process is alive.
 */
export function acquireLock(
  path: string,
  label: string,
  { takeOver = false }: { readonly takeOver?: boolean } = {},
): Lock {
  const temporaryFile = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`
  // Two stores of one process are two holders. All readers ignore the fourth word.
  const lockText = `${getOwnLockText()} ${++acquiredCount}`
  writeNewFile(temporaryFile, lockText)
  try {
    for (let tries = 0; ; tries++) {
      const creation = createLockFile(temporaryFile, path, lockText)
      if (creation !== 'taken') return createLock(path, lockText, creation === 'linked')
      const holder = readLockHolder(path)
      if (holder && holder.liveness !== 'dead' && !(takeOver && holder.liveness === 'unknown'))
        throw createInUseError(label, holder)
      if (tries > MAX_LOCK_ATTEMPTS) throw new StoreError('in-use', `${label} cannot be locked: ${path}`)
      // On a file system without links, a lock file is created first and written afterwards.
      const isBeingWritten = holder?.lockText === '' && tries < MAX_LOCK_ATTEMPTS / 2
      if (holder && !isBeingWritten && replaceDeadLock(path, temporaryFile, holder))
        return createLock(path, lockText, true, holder)
      if (holder) sleepBriefly()
    }
  } finally {
    removeFile(temporaryFile)
  }
}

/** Is this lock held by a process that is alive, or may be? */
export function isLockHeld(path: string): boolean {
  const holder = readLockHolder(path)
  return holder !== undefined && holder.liveness !== 'dead'
}

/** The lock text, if the lock is held by a process that cannot be checked from here. */
export function findUnknownHolder(path: string): string | undefined {
  const holder = readLockHolder(path)
  return holder?.liveness === 'unknown' ? holder.lockText : undefined
}

let acquiredCount = 0

function createInUseError(label: string, { pid, host, liveness }: LockHolder): StoreError {
  const message =
    liveness === 'alive'
      ? `${label} is in use by process ${pid}; end that process, or fork the session`
      : `${label} is in use by process ${pid} of ${host === '' ? 'another machine' : host}, in another container or on another machine, where it cannot be checked; end that process, or add --take-over if it no longer runs`
  return new StoreError('in-use', message)
}

function createLock(path: string, lockText: string, isExclusive: boolean, previous?: LockHolder): Lock {
  const isOwnLock = (): boolean => readTextIfPresent(path) === lockText
  const closedLockFile = `${path}.${process.pid}.left`
  return {
    isExclusive,
    ...defined({ previousLockText: previous?.lockText }),
    ...(previous?.liveness === 'unknown' && { isTakenFromUnknown: true }),
    isOwn: isOwnLock,
    isTakenOver: () => ![lockText, undefined].includes(readTextIfPresent(path)),
    release() {
      if (isOwnLock()) removeFile(path)
    },
    releaseUnfinished(seq) {
      if (!isOwnLock()) return
      try {
        writeNewFile(closedLockFile, createClosedLockText(seq))
        renameSync(closedLockFile, path)
      } catch {
        removeFile(closedLockFile)
        removeFile(path)
      }
    },
  }
}

/** A lock file that cannot be removed does no harm once its process has ended. */
function removeFile(path: string): void {
  tryOrUndefined(() => rmSync(path, { force: true }))
}

/** Creating a link is atomic, unlike creating and writing a file. Not every file system has links. */
function createLockFile(temporaryFile: string, path: string, lockText: string): 'linked' | 'unsure' | 'taken' {
  try {
    linkSync(temporaryFile, path)
    return 'linked'
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return 'taken'
  }
  try {
    writeNewFile(path, lockText)
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return 'taken'
  }
  return 'unsure'
}

function writeNewFile(path: string, lockText: string): void {
  const handle = openSync(path, 'wx', 0o600)
  try {
    writeSync(handle, lockText)
  } finally {
    closeSync(handle)
  }
}

/**
 * Replaces a dead lock by ours. Several processes may find the same dead lock, so each first acquires a lock for the
 * replacement, and then reads the dead lock again, because it may have been replaced since.
 */
function replaceDeadLock(path: string, temporaryFile: string, dead: LockHolder): boolean {
  const name = sha256Hex(dead.lockText).slice(0, 12)
  const claim = tryOrUndefined(() => acquireLock(`${path}.${name}`, path))
  // Another process is about to replace it; the next attempt shows which.
  if (!claim) return false
  try {
    if (readTextIfPresent(path) !== dead.lockText) return false
    renameSync(temporaryFile, path)
    return true
  } finally {
    claim.release()
  }
}

function sleepBriefly(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + Math.random() * 4)
}

const MAX_LOCK_ATTEMPTS = 400
