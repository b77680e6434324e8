import { createHash, randomBytes } from 'node:crypto'
import { closeSync, linkSync, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { renameSync, statSync, unlinkSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { errorCode } from './problem.ts'

/** Lets one writer at a time change a file: of this process, and of all others that share the folder of lock files. */
export interface WriteLocks {
  /** Does some work on a real path while nobody else has its lock. `temporary` is the name to use for a new file beside it. */
  during<T>(real: string, work: (temporary: string) => Promise<T>): Promise<T>
}

/**
 * A lock file stands in a folder of ours, never in the project. It names its holder and the temporary file that the holder is
 * going to make, so that whoever finds the holder dead can remove both. Without a folder only this process is kept in order; so
 * it is where the folder cannot be written, because a missing lock is no reason to refuse an edit: a write compares anyway.
 */
export function writeLocks(folder: string | undefined): WriteLocks {
  const last = new Map<string, Promise<unknown>>()
  return {
    async during(real, work) {
      const key = keyOf(real)
      const before = last.get(key)
      const done = (async () => {
        await before?.catch(() => undefined)
        const temporary = `.dragoman-${randomBytes(8).toString('hex')}.tmp`
        const release = folder === undefined ? undefined : await acquire(folder, key, join(dirname(real), temporary))
        try {
          return await work(temporary)
        } finally {
          release?.()
        }
      })()
      last.set(key, done)
      try {
        return await done
      } finally {
        if (last.get(key) === done) last.delete(key)
      }
    },
  }
}

/** Removes what writers left behind that were killed: their lock files, and the temporary files beside what they wrote. */
export function removeAbandonedWrites(folder: string): void {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    return
  }
  for (const name of names) {
    const path = join(folder, name)
    const holder = name.endsWith(SUFFIX) ? holderOf(path) : undefined
    if (holder && isAbandoned(holder)) takeAway(path, holder)
  }
}

const SUFFIX = '.lock'

/** Two spellings of one name, on a disk that does not tell them apart, have one lock. */
function keyOf(real: string): string {
  return createHash('sha256').update(real.normalize('NFC').toLowerCase()).digest('hex').slice(0, 32)
}

async function acquire(folder: string, key: string, temporary: string): Promise<(() => void) | undefined> {
  const path = join(folder, `${key}${SUFFIX}`)
  const mark = JSON.stringify({ ...self(), temporary } satisfies Mark)
  let waitedFor = ''
  let since = 0
  for (;;) {
    try {
      create(path, mark)
      return () => {
        if (holderOf(path)?.mark === mark) remove(path)
      }
    } catch (error) {
      if (errorCode(error) === 'ENOENT' && makeFolder(folder)) continue
      if (errorCode(error) !== 'EEXIST') return undefined
    }
    const holder = holderOf(path)
    if (holder && isAbandoned(holder)) takeAway(path, holder)
    if (waitedFor !== (holder?.mark ?? '')) {
      waitedFor = holder?.mark ?? ''
      since = performance.now()
    }
    // Alive or not, nobody writes for so long: its lock file could not be removed, by it or by us.
    if (performance.now() - since > LEASE) return undefined
    await delay(2 + Math.random() * 8)
  }
}

function create(path: string, mark: string): void {
  const descriptor = openSync(path, 'wx', 0o600)
  try {
    writeSync(descriptor, mark)
  } finally {
    closeSync(descriptor)
  }
}

function makeFolder(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return true
  } catch {
    return false
  }
}

interface Mark {
  readonly pid: number
  /** When the process began, in the system's own count; empty where it does not say. */
  readonly start: string
  /** The machine since its start, and the PID namespace: only there the number means this process. */
  readonly space: string
  readonly temporary: string
}

interface Holder {
  readonly mark: string
  readonly changed: number
}

function holderOf(path: string): Holder | undefined {
  try {
    return { mark: readFileSync(path, 'utf8'), changed: statSync(path).mtimeMs }
  } catch {
    return undefined
  }
}

/** A write takes milliseconds. So a holder of whom nothing can be learned, or who never lets go, is waited for no longer. */
const LEASE = 5_000

function isAbandoned({ mark, changed }: Holder): boolean {
  const holder = parse(mark)
  if (holder && holder.space === self().space) return !isAlive(holder)
  return Math.abs(Date.now() - changed) > LEASE
}

function parse(mark: string): Mark | undefined {
  try {
    const value: unknown = JSON.parse(mark)
    return typeof value === 'object' && value !== null ? (value as Mark) : undefined
  } catch {
    return undefined
  }
}

function isAlive({ pid, start }: Mark): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
  const now = statOf(pid)
  // A dead process that nobody has waited for has a number still.
  return now === undefined || start === '' || (now.start === start && now.state !== 'Z')
}

function statOf(pid: number): { readonly state: string; readonly start: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', start: fields[19] ?? '' }
  } catch {
    return undefined
  }
}

let own: Omit<Mark, 'temporary'> | undefined

function self(): Omit<Mark, 'temporary'> {
  own ??= { pid: process.pid, start: statOf(process.pid)?.start ?? '', space: pidSpace() }
  return own
}

function pidSpace(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

/** Of two that find the same dead holder, one may remove the lock file; the other would remove the next holder's. */
function takeAway(path: string, dead: Holder): void {
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    renameSync(path, aside)
    const taken = holderOf(aside)
    if (taken?.mark === dead.mark) removeTemporary(dead)
    else linkSync(aside, path)
  } catch {
    // Somebody was quicker; the next look shows who.
  }
  remove(aside)
}

function removeTemporary({ mark }: Holder): void {
  const temporary = parse(mark)?.temporary
  if (typeof temporary !== 'string' || !TEMPORARY.test(temporary)) return
  if (lstatSync(temporary, { throwIfNoEntry: false })?.isFile()) remove(temporary)
}

const TEMPORARY = /\/\.dragoman-[0-9a-f]{16}\.tmp$/

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // It is gone already.
  }
}
