import { realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { replaceFile } from '../../host/replace.ts'
import { isHeld, type Lock, takeLock, unknownHolder } from '../../session/store/lock.ts'
import { StoreProblem } from '../../session/store/store.ts'
import { Complaint, EXIT } from '../exit.ts'
import { diskReason, makeFolder } from './make-folder.ts'

/**
 * Changes a file of ours, which only this person can read: whole or not at all, and one after the other. What is to stand
 * in it is asked for while nobody else may change it. Whoever made a link of it keeps the link.
 */
export function changeOwnFile(path: string, text: () => string): void {
  let lock: Lock | undefined
  try {
    makeFolder(dirname(path))
    const real = realOf(path)
    lock = lockFor(real)
    const name = basename(real)
    replaceFile(dirname(real), name, Buffer.from(text()), { mode: 0o600, fresh: `${name}.new` })
  } catch (error) {
    if (error instanceof Complaint) throw error
    throw new Complaint(`${path} cannot be written: ${diskReason(error)}; nothing in it was changed`, EXIT.config)
  } finally {
    lock?.release()
  }
}

/**
 * Does some work that takes longer, such as a request, while no other process does the same. The lock of a process that
 * has ended is taken over. On a disk where no lock can be made, everybody works at once.
 */
export async function withOwnLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = await waitForLock(`${path}.lock`, path)
  try {
    return await work()
  } finally {
    lock?.release()
  }
}

async function waitForLock(lock: string, path: string): Promise<Lock | undefined> {
  for (const until = Date.now() + WORK_PATIENCE; ;) {
    try {
      makeFolder(dirname(lock))
      if (!isHeld(lock)) return takeLock(lock, path)
    } catch (error) {
      if (!(error instanceof StoreProblem)) return undefined
    }
    if (Date.now() > until)
      throw new Error('another process has been doing the same for too long; end it and try again')
    await new Promise((resolve) => void setTimeout(resolve, 20 + Math.random() * 30))
  }
}

/** Longer than any request that is made under such a lock. */
const WORK_PATIENCE = 90_000

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** Changes take milliseconds, so whoever holds the lock is waited for. */
function lockFor(path: string): Lock {
  const lock = `${path}.lock`
  const unknown = unknownHolder(lock)
  for (const until = Date.now() + PATIENCE; ;) {
    try {
      if (!isHeld(lock)) return takeLock(lock, path)
    } catch (error) {
      // Somebody was quicker.
      if (!(error instanceof StoreProblem)) throw error
    }
    // Nobody here can see whether a process in another container still runs; but no change takes so long.
    if (Date.now() > until && unknown !== undefined && unknownHolder(lock) === unknown)
      return takeLock(lock, path, { takeOver: true })
    if (Date.now() > until) throw new Complaint(`${path} is being changed by another process; try again`, EXIT.config)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 + Math.random() * 10)
  }
}

const PATIENCE = 10_000
