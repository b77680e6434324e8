import { getUptimeMs } from '../process/uptime.ts'
import { randomBytes } from 'node:crypto'
import { closeSync, linkSync, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { renameSync, statSync, writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { getErrnoCode } from '../host-error.ts'
import { tryFileOperation } from '../sandbox/protect/no-follow-files.ts'
import { tryParseJson } from '../../model/json.ts'
import { lazy } from '../../model/lazy.ts'
import { readStatFields } from '../process/proc-stat-fields.ts'
import { createTemporaryName, removeIfPresent } from './replace-file.ts'
import { sha256Hex } from './sha256.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

/** Lets one writer at a time change a file: of this process, and of all others that share the lock folder. */
interface WriteLocks {
  /** `temporary` is the name for a new file beside it. */
  withLock<T>(real: string, work: (temporary: string) => Promise<T>): Promise<T>
}

/**
 * Lock files are in a folder of ours, never in the project. A lock names its holder and the temporary file that the holder
 * is about to create, so that both can be removed if the holder is dead. Without a folder, or if it cannot be written, only
 * this process is serialised: a missing lock is no reason to refuse an edit, because writes compare the content anyway.
 */
export function createWriteLocks(folder: string | undefined): WriteLocks {
  const lastWrites = new Map<string, Promise<unknown>>()
  return {
    async withLock(real, work) {
      const key = lockKey(real)
      const previous = lastWrites.get(key)
      const done = (async () => {
        await previous?.catch(() => undefined)
        const temporary = createTemporaryName()
        const release =
          folder === undefined ? undefined : await acquireLock(folder, key, join(dirname(real), temporary))
        try {
          return await work(temporary)
        } finally {
          release?.()
        }
      })()
      lastWrites.set(key, done)
      try {
        return await done
      } finally {
        if (lastWrites.get(key) === done) lastWrites.delete(key)
      }
    },
  }
}

/** Removes the lock files and temporary files of writers that were killed. */
export function removeAbandonedWrites(folder: string): void {
  for (const name of tryOrUndefined(() => readdirSync(folder)) ?? []) {
    const path = join(folder, name)
    const holder = name.endsWith(LOCK_SUFFIX) ? readLockHolder(path) : undefined
    if (holder && isAbandoned(holder)) removeAbandonedLock(path, holder)
  }
}

const LOCK_SUFFIX = '.lock'

/** Spellings of one name that a disk may not distinguish share a lock. */
function lockKey(real: string): string {
  return sha256Hex(real.normalize('NFC').toLowerCase()).slice(0, 32)
}

async function acquireLock(folder: string, key: string, temporary: string): Promise<(() => void) | undefined> {
  const path = join(folder, `${key}${LOCK_SUFFIX}`)
  const content = JSON.stringify({ ...describeSelf(), temporary } satisfies LockOwner)
  let waitedForContent = ''
  let waitStart = 0
  for (;;) {
    try {
      createLockFile(path, content)
      return () => {
        if (readLockHolder(path)?.content === content) removeIfPresent(path)
      }
    } catch (error) {
      const makeFolder = () => void mkdirSync(folder, { recursive: true, mode: 0o700 })
      if (getErrnoCode(error) === 'ENOENT' && tryFileOperation(makeFolder)) continue
      if (getErrnoCode(error) !== 'EEXIST') return undefined
    }
    const holder = readLockHolder(path)
    if (holder && isAbandoned(holder)) removeAbandonedLock(path, holder)
    if (waitedForContent !== (holder?.content ?? '')) {
      waitedForContent = holder?.content ?? ''
      waitStart = getUptimeMs()
    }
    // Nobody writes for so long: the lock file could not be removed, by its holder or by us.
    if (getUptimeMs() - waitStart > LEASE_MS) return undefined
    await delay(2 + Math.random() * 8)
  }
}

function createLockFile(path: string, content: string): void {
  const descriptor = openSync(path, 'wx', 0o600)
  try {
    writeSync(descriptor, content)
  } finally {
    closeSync(descriptor)
  }
}

interface LockOwner {
  readonly pid: number
  /** The start time of the process as the system counts it; empty if unknown. */
  readonly start: string
  /** Boot id and PID namespace: only there the PID means this process. */
  readonly space: string
  readonly temporary: string
}

interface LockHolder {
  readonly content: string
  readonly modifiedAt: number
}

function readLockHolder(path: string): LockHolder | undefined {
  return tryOrUndefined(() => ({ content: readFileSync(path, 'utf8'), modifiedAt: statSync(path).mtimeMs }))
}

/** A write takes milliseconds. A holder that is unknown or does not release its lock is not waited for longer. */
const LEASE_MS = 5_000

function isAbandoned({ content, modifiedAt }: LockHolder): boolean {
  const holder = parseLockOwner(content)
  if (holder && holder.space === describeSelf().space) return !isOwnerAlive(holder)
  return Math.abs(Date.now() - modifiedAt) > LEASE_MS
}

function parseLockOwner(content: string): LockOwner | undefined {
  const value = tryParseJson(content)
  return typeof value === 'object' && value !== null ? (value as LockOwner) : undefined
}

function isOwnerAlive({ pid, start }: LockOwner): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    return getErrnoCode(error) === 'EPERM'
  }
  const now = readProcessStat(pid)
  // A zombie still has its PID.
  return now === undefined || start === '' || (now.start === start && now.state !== 'Z')
}

function readProcessStat(pid: number): { readonly state: string; readonly start: string } | undefined {
  const fields = tryOrUndefined(() => readStatFields(`/proc/${pid}/stat`))
  return fields && { state: fields[0] ?? '', start: fields[19] ?? '' }
}

const describeSelf = lazy((): Omit<LockOwner, 'temporary'> => {
  return { pid: process.pid, start: readProcessStat(process.pid)?.start ?? '', space: readPidNamespace() }
})

function readPidNamespace(): string {
  return (
    tryOrUndefined(
      () => `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`,
    ) ?? hostname()
  )
}

/**
 * If two processes find the same dead holder, only one may remove the lock; the other would remove that of the next holder.
 */
function removeAbandonedLock(path: string, deadHolder: LockHolder): void {
  const movedPath = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    renameSync(path, movedPath)
    const movedHolder = readLockHolder(movedPath)
    if (movedHolder?.content === deadHolder.content) removeTemporaryFile(deadHolder)
    else linkSync(movedPath, path)
  } catch {
    // Another process was faster; the next look shows it.
  }
  removeIfPresent(movedPath)
}

function removeTemporaryFile({ content }: LockHolder): void {
  const temporary = parseLockOwner(content)?.temporary
  if (typeof temporary !== 'string' || !TEMPORARY_FILE_PATTERN.test(temporary)) return
  if (lstatSync(temporary, { throwIfNoEntry: false })?.isFile()) removeIfPresent(temporary)
}

const TEMPORARY_FILE_PATTERN = /\/\.dragoman-[0-9a-f]{16}\.tmp$/
