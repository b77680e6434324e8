import { createHash } from 'node:crypto'
import { closeSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { closedMark, type Holder, markIn, ownMark, readHolder } from './holder.ts'
import { codeOf } from './problem.ts'
import { StoreProblem } from './store.ts'

/** A lock that is held. */
export interface Lock {
  /** Does it keep others out? There are disks on which nothing does. */
  readonly sure: boolean
  /** The mark that was found in its place, of a holder that is gone. */
  readonly former?: string
  /** Has somebody else taken it over meanwhile? */
  readonly isTaken: () => boolean
  readonly release: () => void
  /** Releases it, but leaves a mark: what it guards was left in the middle of something, after the entry with this number. */
  readonly leave: (seq: number) => void
}

/** How a lock is taken. */
export interface LockOptions {
  /** Also from a holder of which nobody here can see whether it lives. One that is seen to live keeps it. */
  readonly takeOver?: boolean
}

/** Takes a lock file that names this process. A lock whose process is gone is taken over. */
export function takeLock(path: string, what: string, { takeOver = false }: LockOptions = {}): Lock {
  const own = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`
  const mark = ownMark()
  write(own, mark)
  try {
    for (let tries = 0; ; tries++) {
      const made = make(own, path, mark)
      if (made !== 'taken') return heldLock(path, mark, made === 'linked')
      const holder = readHolder(path)
      if (holder && holder.life !== 'dead' && !(takeOver && holder.life === 'unknown')) throw inUse(what, holder)
      if (tries > MAX_TRIES) throw new StoreProblem(`${what} cannot be locked: ${path}`)
      // On a disk without links a lock is made first and written then.
      const isBeingWritten = holder?.mark === '' && tries < MAX_TRIES / 2
      if (holder && !isBeingWritten && replaceDead(path, own, holder)) return heldLock(path, mark, true, holder.mark)
      if (holder) pause()
    }
  } finally {
    remove(own)
  }
}

/** Is this lock held by a process that lives, or that may? */
export function isHeld(path: string): boolean {
  const holder = readHolder(path)
  return holder !== undefined && holder.life !== 'dead'
}

/** Is this lock held by a process of which nobody here can see whether it lives? Gives its mark. */
export function unknownHolder(path: string): string | undefined {
  const holder = readHolder(path)
  return holder?.life === 'unknown' ? holder.mark : undefined
}

function inUse(what: string, { pid, host, life }: Holder): StoreProblem {
  return new StoreProblem(
    life === 'alive'
      ? `${what} is in use by process ${pid}; end that, or fork the session`
      : `${what} is in use by process ${pid} of ${host === '' ? 'another machine' : host}, in another container or on another machine, so that nobody here can see whether it still runs; end that, or, if it is gone, add --take-over`,
  )
}

function heldLock(path: string, mark: string, sure: boolean, former?: string): Lock {
  const isOurs = (): boolean => markIn(path) === mark
  const left = `${path}.${process.pid}.left`
  return {
    sure,
    ...(former !== undefined && { former }),
    isTaken: () => ![mark, undefined].includes(markIn(path)),
    release() {
      if (isOurs()) remove(path)
    },
    leave(seq) {
      if (!isOurs()) return
      try {
        write(left, closedMark(seq))
        renameSync(left, path)
      } catch {
        remove(left)
        remove(path)
      }
    },
  }
}

/** What cannot be removed stays; a lock whose process is gone keeps nobody out. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The disk is read-only, or gone.
  }
}

/** A link either appears whole or not at all, unlike a file that is made and then written. Not every disk has links. */
function make(own: string, path: string, mark: string): 'linked' | 'unsure' | 'taken' {
  try {
    linkSync(own, path)
    return 'linked'
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return 'taken'
  }
  try {
    write(path, mark)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return 'taken'
  }
  return 'unsure'
}

function write(path: string, mark: string): void {
  const handle = openSync(path, 'wx', 0o600)
  try {
    writeSync(handle, mark)
  } finally {
    closeSync(handle)
  }
}

/**
 * Puts our lock in the place of a dead one. Of all who find the same dead lock, only the one who holds the lock for just
 * that may replace it; and it looks again, because the dead lock may be gone since.
 */
function replaceDead(path: string, own: string, dead: Holder): boolean {
  const name = createHash('sha256').update(dead.mark).digest('hex').slice(0, 12)
  let claim: Lock
  try {
    claim = takeLock(`${path}.${name}`, path)
  } catch {
    // Somebody else is about to; the next round shows who.
    return false
  }
  try {
    if (markIn(path) !== dead.mark) return false
    renameSync(own, path)
    return true
  } finally {
    claim.release()
  }
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + Math.random() * 4)
}

const MAX_TRIES = 400
