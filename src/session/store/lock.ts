import { closeSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { codeOf } from './problem.ts'
import { StoreProblem } from './store.ts'

/** A lock that is held. */
export interface Lock {
  /** Does it keep others out? There are disks on which nothing does. */
  readonly sure: boolean
  readonly release: () => void
}

/** Takes a lock file that names this process. A lock whose process is gone is taken over. */
export function takeLock(path: string, what: string): Lock {
  const own = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`
  const mark = `${process.pid} ${startOf(process.pid)}`
  const held = (sure: boolean): Lock => ({ sure, release: () => release(path, mark) })
  write(own, mark)
  try {
    for (let tries = 0; ; tries++) {
      const made = make(own, path, mark)
      if (made !== 'taken') return held(made === 'linked')
      const holder = readHolder(path)
      if (holder !== undefined && isAlive(holder)) {
        throw new StoreProblem(`${what} is in use by process ${holder.pid}; end that, or fork the session`)
      }
      if (tries > 20) throw new StoreProblem(`${what} cannot be locked: ${path}`)
      if (holder) takeAway(path, `${own}.old`, holder)
    }
  } finally {
    rmSync(own, { force: true })
  }
}

/** Is this lock held by a process that lives? */
export function isHeld(path: string): boolean {
  const holder = readHolder(path)
  return holder !== undefined && isAlive(holder)
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

/** Of two processes that find the same dead lock, only one may remove it; the other would remove the new one. */
function takeAway(path: string, aside: string, dead: Holder): void {
  try {
    renameSync(path, aside)
    if (readHolder(aside)?.mark !== dead.mark) linkSync(aside, path)
  } catch {
    // Somebody was quicker; the next round shows who.
  } finally {
    rmSync(aside, { force: true })
  }
}

interface Holder {
  readonly mark: string
  readonly pid: number
  readonly start: string
}

function readHolder(path: string): Holder | undefined {
  try {
    const mark = readFileSync(path, 'utf8')
    const [pid, start = ''] = mark.split(' ')
    return { mark, pid: Number(pid), start }
  } catch {
    return undefined
  }
}

/** A process with the number of the holder may be another one by now; where the system tells when it started, that decides. */
function isAlive({ pid, start }: Holder): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
  const now = startOf(pid)
  return start === '' || now === '' || now === start
}

function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
  } catch {
    return ''
  }
}

function release(path: string, mark: string): void {
  try {
    if (readFileSync(path, 'utf8') === mark) rmSync(path, { force: true })
  } catch {
    // Somebody removed it; there is nothing left to release.
  }
}
