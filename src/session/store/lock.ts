import { closeSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { createClosedLockText, type LockHolder, readLockText, getOwnLockText, readLockHolder } from './lock-holder.ts'
import { getErrorCode } from './errors.ts'
import { StoreError } from './store.ts'
import { defined } from '../../model/defined.ts'
import { sha256Hex } from './sha256.ts'

/** A lock that is held. */
export interface Lock {
  /** Does it keep others out? There are disks on which nothing does. */
  readonly isExclusive: boolean
  /** The mark that was found in its place, of a holder that is gone. */
  readonly previousLockText?: string
  /** Has somebody else taken it over meanwhile? */
  readonly isTakenOver: () => boolean
  readonly release: () => void
  /** Releases it, but leaves a mark: what it guards was left in the middle of something, after the entry with this number. */
  readonly releaseUnfinished: (seq: number) => void
}

/** How a lock is taken. */
export interface LockOptions {
  /** Also from a holder of which nobody here can see whether it lives. One that is seen to live keeps it. */
  readonly takeOver?: boolean
}

/** Takes a lock file that names this process. A lock whose process is gone is taken over. */
export function acquireLock(path: string, label: string, { takeOver = false }: LockOptions = {}): Lock {
  const temporaryFile = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`
  const lockText = getOwnLockText()
  writeNewFile(temporaryFile, lockText)
  try {
    for (let tries = 0; ; tries++) {
      const creation = createLockFile(temporaryFile, path, lockText)
      if (creation !== 'taken') return createLock(path, lockText, creation === 'linked')
      const holder = readLockHolder(path)
      if (holder && holder.liveness !== 'dead' && !(takeOver && holder.liveness === 'unknown'))
        throw createInUseError(label, holder)
      if (tries > MAX_LOCK_ATTEMPTS) throw new StoreError(`${label} cannot be locked: ${path}`)
      // On a disk without links a lock is made first and written then.
      const isBeingWritten = holder?.lockText === '' && tries < MAX_LOCK_ATTEMPTS / 2
      if (holder && !isBeingWritten && replaceDeadLock(path, temporaryFile, holder))
        return createLock(path, lockText, true, holder.lockText)
      if (holder) sleepBriefly()
    }
  } finally {
    removeFile(temporaryFile)
  }
}

/** Is this lock held by a process that lives, or that may? */
export function isLockHeld(path: string): boolean {
  const holder = readLockHolder(path)
  return holder !== undefined && holder.liveness !== 'dead'
}

/** Is this lock held by a process of which nobody here can see whether it lives? Gives its mark. */
export function findUnknownHolder(path: string): string | undefined {
  const holder = readLockHolder(path)
  return holder?.liveness === 'unknown' ? holder.lockText : undefined
}

function createInUseError(label: string, { pid, host, liveness }: LockHolder): StoreError {
  return new StoreError(
    liveness === 'alive'
      ? `${label} is in use by process ${pid}; end that, or fork the session`
      : `${label} is in use by process ${pid} of ${host === '' ? 'another machine' : host}, in another container or on another machine, so that nobody here can see whether it still runs; end that, or, if it is gone, add --take-over`,
  )
}

function createLock(path: string, lockText: string, isExclusive: boolean, previousLockText?: string): Lock {
  const isOwnLock = (): boolean => readLockText(path) === lockText
  const closedLockFile = `${path}.${process.pid}.left`
  return {
    isExclusive,
    ...defined({ previousLockText }),
    isTakenOver: () => ![lockText, undefined].includes(readLockText(path)),
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

/** What cannot be removed stays; a lock whose process is gone keeps nobody out. */
function removeFile(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The disk is read-only, or gone.
  }
}

/** A link either appears whole or not at all, unlike a file that is made and then written. Not every disk has links. */
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
 * Puts our lock in the place of a dead one. Of all who find the same dead lock, only the one who holds the lock for just
 * that may replace it; and it looks again, because the dead lock may be gone since.
 */
function replaceDeadLock(path: string, temporaryFile: string, dead: LockHolder): boolean {
  const name = sha256Hex(dead.lockText).slice(0, 12)
  let claim: Lock
  try {
    claim = acquireLock(`${path}.${name}`, path)
  } catch {
    // Somebody else is about to; the next round shows who.
    return false
  }
  try {
    if (readLockText(path) !== dead.lockText) return false
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
