import { mkdirSync, realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { replaceFile } from '../../host/replace.ts'
import { isHeld, type Lock, takeLock, unknownHolder } from '../../session/store/lock.ts'
import { StoreProblem } from '../../session/store/store.ts'
import { Complaint, EXIT } from '../exit.ts'

/**
 * Changes a file of ours, which only this person can read: whole or not at all, and one after the other. What is to stand
 * in it is asked for while nobody else may change it. Whoever made a link of it keeps the link.
 */
export function changeOwnFile(path: string, text: () => string): void {
  let lock: Lock | undefined
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const real = realOf(path)
    lock = lockFor(real)
    const name = basename(real)
    replaceFile(dirname(real), name, Buffer.from(text()), { mode: 0o600, fresh: `${name}.new` })
  } catch (error) {
    if (error instanceof Complaint) throw error
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'no reason is known'
    throw new Complaint(`${path} cannot be written (${why}); nothing in it was changed`, EXIT.config)
  } finally {
    lock?.release()
  }
}

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
