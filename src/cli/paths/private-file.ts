import { realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { replaceFile } from '../../host/files/replace-file.ts'
import { isLockHeld, type Lock, acquireLock, findUnknownHolder } from '../../session/store/lock.ts'
import { StoreError } from '../../session/store/store.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import { describeDiskError, ensurePrivateFolder } from './private-folder.ts'

/**
 * Changes a file of ours, which only this person can read: whole or not at all, and one after the other. What is to stand
 * in it is asked for while nobody else may change it. Whoever made a link of it keeps the link.
 */
export function updatePrivateFile(path: string, text: () => string): void {
  let lock: Lock | undefined
  try {
    ensurePrivateFolder(dirname(path))
    const real = resolveLinks(path)
    lock = acquireFileLock(real)
    const name = basename(real)
    replaceFile(dirname(real), name, Buffer.from(text()), { mode: 0o600, temporaryName: `${name}.new` })
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError(
      `${path} cannot be written: ${describeDiskError(error)}; nothing in it was changed`,
      EXIT_CODE.config,
    )
  } finally {
    lock?.release()
  }
}

/**
 * Does some work that takes longer, such as a request, while no other process does the same. The lock of a process that
 * has ended is taken over. On a disk where no lock can be made, everybody works at once.
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
    if (Date.now() > until)
      throw new Error('another process has been doing the same for too long; end it and try again')
    await new Promise((resolve) => void setTimeout(resolve, 20 + Math.random() * 30))
  }
}

/** Longer than any request that is made under such a lock. */
const WORK_LOCK_TIMEOUT_MS = 90_000

function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** Changes take milliseconds, so whoever holds the lock is waited for. */
function acquireFileLock(path: string): Lock {
  const lock = `${path}.lock`
  const firstHolder = findUnknownHolder(lock)
  for (const until = Date.now() + FILE_LOCK_TIMEOUT_MS; ;) {
    try {
      if (!isLockHeld(lock)) return acquireLock(lock, path)
    } catch (error) {
      // Somebody was quicker.
      if (!(error instanceof StoreError)) throw error
    }
    // Nobody here can see whether a process in another container still runs; but no change takes so long.
    if (Date.now() > until && firstHolder !== undefined && findUnknownHolder(lock) === firstHolder)
      return acquireLock(lock, path, { takeOver: true })
    if (Date.now() > until)
      throw new UserError(`${path} is being changed by another process; try again`, EXIT_CODE.config)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 + Math.random() * 10)
  }
}

const FILE_LOCK_TIMEOUT_MS = 10_000
