import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { StoreProblem } from './store.ts'

/** Takes a lock file that names this process; gives the way to release it. A lock whose process is gone is taken over. */
export function takeLock(path: string, what: string): () => void {
  const own = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`
  const mark = `${process.pid} ${startOf(process.pid)}`
  const handle = openSync(own, 'wx', 0o600)
  writeSync(handle, mark)
  fsyncSync(handle)
  closeSync(handle)
  try {
    for (let tries = 0; ; tries++) {
      try {
        // A link either appears whole or not at all, unlike a file that is made and then written.
        linkSync(own, path)
        return () => release(path, mark)
      } catch {
        const holder = readHolder(path)
        if (holder !== undefined && isAlive(holder)) {
          throw new StoreProblem(`${what} is in use by process ${holder.pid}; end that, or fork the session`)
        }
        if (tries > 20) throw new StoreProblem(`${what} cannot be locked: ${path}`)
        rmSync(path, { force: true })
      }
    }
  } finally {
    rmSync(own, { force: true })
  }
}

interface Holder {
  readonly pid: number
  readonly start: string
}

function readHolder(path: string): Holder | undefined {
  try {
    const [pid, start = ''] = readFileSync(path, 'utf8').split(' ')
    return { pid: Number(pid), start }
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
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
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
