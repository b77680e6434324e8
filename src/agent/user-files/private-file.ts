import { basename, dirname } from 'node:path'
import { getErrnoCode } from '../../host/host-error.ts'
import { describeDiskError, ensurePrivateFolder } from '../../host/files/private-folder.ts'
import { replaceFile } from '../../host/files/replace-file.ts'
import { realPathOrSelf } from '../../host/files/user-folders.ts'
import { isLockHeld, type Lock, acquireLock, findUnknownHolder } from '../../session/store/lock-file.ts'
import { StoreError } from '../../session/store/store.ts'

/** Makes the error that the caller throws for a message to the user. */
export type CreateError = (message: string) => Error

/**
 * Replaces the content of a private file atomically and under a lock. `text` is called while the lock is held. If the file
 * is a link, its target is replaced.
 */
export function updatePrivateFile(
  path: string,
  text: () => string,
  createError: CreateError = (message) => new Error(message),
): void {
  let lock: Lock | undefined
  try {
    ensurePrivateFolder(dirname(path))
    const real = realPathOrSelf(path)
    lock = acquireFileLock(real, createError)
    const name = basename(real)
    replaceFile(dirname(real), name, Buffer.from(text()), { mode: 0o600, temporaryName: `${name}.new` })
  } catch (error) {
    // Not an error of the disk: it has its message already.
    if (getErrnoCode(error) === '') throw error
    throw createError(`${path} cannot be written: ${describeDiskError(error)}; it was not changed`)
  } finally {
    lock?.release()
  }
}

/**
 * Does work that takes longer, such as a request, under a lock. The lock of a process that has ended is taken over. On a
 * disk where no lock can be made, processes work at the same time.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = await acquireWorkLock(`${path}.lock`, path)
  try {
    return await work()
  } finally {
    lock?.release()
  }
}

async function acquireWorkLock(lock: string, path: string): Promise<Lock | undefined> {
  for (const until = Date.now() + WORK_LOCK_TIMEOUT_MS; ;) {
    try {
      ensurePrivateFolder(dirname(lock))
      if (!isLockHeld(lock)) return acquireLock(lock, path)
    } catch (error) {
      if (!(error instanceof StoreError)) return undefined
    }
    if (Date.now() > until) throw new Error('another process has held the lock for too long; stop it and try again')
    await new Promise((resolve) => void setTimeout(resolve, 20 + Math.random() * 30))
  }
}

/** Longer than any request that is made under such a lock. */
const WORK_LOCK_TIMEOUT_MS = 90_000

/** Changes take milliseconds, so the holder of the lock is waited for. */
function acquireFileLock(path: string, createError: CreateError): Lock {
  const lock = `${path}.lock`
  const firstHolder = findUnknownHolder(lock)
  for (const until = Date.now() + FILE_LOCK_TIMEOUT_MS; ;) {
    try {
      if (!isLockHeld(lock)) return acquireLock(lock, path)
    } catch (error) {
      // Another process was faster.
      if (!(error instanceof StoreError)) throw error
    }
    // Whether a process in another container still runs cannot be seen; but no change takes so long.
    if (Date.now() > until && firstHolder !== undefined && findUnknownHolder(lock) === firstHolder)
      return acquireLock(lock, path, { takeOver: true })
    if (Date.now() > until) throw createError(`${path} is being changed by another process; try again`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 + Math.random() * 10)
  }
}

const FILE_LOCK_TIMEOUT_MS = 10_000
