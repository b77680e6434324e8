import { realpathSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { replaceFile } from '../../host/replace.ts'
import { isHeld, type Lock, takeLock } from '../../session/store/lock.ts'
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
  for (const until = Date.now() + PATIENCE; ;) {
    try {
      if (!isHeld(lock)) return takeLock(lock, path)
    } catch (error) {
      // Somebody was quicker.
      if (!(error instanceof StoreProblem)) throw error
    }
    if (Date.now() > until) throw new Complaint(`${path} is being changed by another process; try again`, EXIT.config)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 + Math.random() * 10)
  }
}

const PATIENCE = 10_000
