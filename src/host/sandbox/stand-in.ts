import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync, type Stats } from 'node:fs'
import { hostname } from 'node:os'
import { gripFolder } from '../grip.ts'
import { errorCode } from '../problem.ts'
import { attempt, statsOf } from './no-follow.ts'

/**
 * Empty folders in the place of protected paths that are missing: a mount needs something to be mounted on. A stand-in is
 * shared by all processes that work in a project. Each process that uses it keeps a lease in it, an empty folder with a name
 * that says whose it is. The system removes no folder that holds something, so nobody can take a stand-in away from another,
 * and no process must know of any other. Git sees neither.
 */

/** Takes a lease on the stand-in at a path, which is made if nothing is there. False if something else is there. */
export function holdStandIn(path: string): boolean {
  if (!isLeased(path) && !takeLease(path)) return false
  inUse.set(path, (inUse.get(path) ?? 0) + 1)
  return true
}

/** Has this process a lease on a path, from a command that runs or has just ended? */
export function isLeased(path: string): boolean {
  return inUse.has(path) && statsOf(`${path}/${ownLease()}`) !== undefined
}

/** Gives back what was held. The stand-in stays for a moment, because the next command may need it. */
export function releaseStandIn(path: string): void {
  inUse.set(path, Math.max(0, (inUse.get(path) ?? 0) - 1))
  timer ??= setTimeout(removeUnused, LINGER).unref()
}

/** Removes the leases of this process that no command needs, and each stand-in that nobody needs. */
export function removeUnused(): void {
  timer = undefined
  for (const [path, users] of inUse) if (users === 0) removeNow(path)
}

/** Removes the stand-in at a path for the sake of a file that a person allowed; others may still have had a lease on it. */
export function removeForWrite(path: string): void {
  if (!isStandIn(path)) return
  inUse.delete(path)
  for (const name of namesIn(path)) attempt(() => rmdirSync(`${path}/${name}`))
  attempt(() => rmdirSync(path))
}

/** Removes what a process left at a path that was killed. */
export function removeAbandoned(path: string): void {
  if (inUse.has(path) || !isStandIn(path)) return
  removeStale(path)
  attempt(() => rmdirSync(path))
}

/** Is this folder one of ours, of whatever process? */
export function isStandIn(path: string): boolean {
  const stats = statsOf(path)
  // One without a lease has just been made, or is about to go.
  return stats?.isDirectory() === true && hasMark(stats) && namesIn(path).every((name) => LEASE.test(name))
}

function hasMark({ mode }: Stats): boolean {
  return (mode & STICKY) !== 0
}

/** Which stand-ins this process has leases on, and for how many commands. */
const inUse = new Map<string, number>()
let timer: NodeJS.Timeout | undefined

const LINGER = 250
/** The bit that tells a stand-in from an empty folder of somebody else; it is set in the moment that it is made. */
const STICKY = 0o1000
const MODE = STICKY | 0o755
const LEASE = /^\.dragoman-lease-([0-9a-f]{8})-([0-9a-f]{8})-(\d+)-(\d+)-(\d+)$/

function takeLease(path: string): boolean {
  for (let tries = 0; tries < 100; tries++) {
    try {
      mkdirSync(path, MODE)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST' || !isStandIn(path)) {
        if (statsOf(path) === undefined && errorCode(error) === 'EEXIST') continue
        return false
      }
      removeStale(path)
    }
    if (makeLease(path)) return true
  }
  return false
}

/** False if the stand-in went away in this moment. */
function makeLease(path: string): boolean {
  let folder
  try {
    folder = gripFolder(path)
    mkdirSync(`${folder.at}/${ownLease()}`, 0o755)
    return true
  } catch (error) {
    return errorCode(error) === 'EEXIST'
  } finally {
    folder?.release()
  }
}

function removeNow(path: string): void {
  inUse.delete(path)
  attempt(() => rmdirSync(`${path}/${ownLease()}`))
  if (attempt(() => rmdirSync(path)) || isStandIn(path)) return
  // Somebody has put something there: it is theirs now.
  const stats = statsOf(path)
  if (stats?.isDirectory() && hasMark(stats)) attempt(() => chmodSync(path, 0o755))
}

function removeStale(path: string): void {
  for (const name of namesIn(path))
    if (name !== ownLease() && isStale(path, name)) attempt(() => rmdirSync(`${path}/${name}`))
}

/** A lease of a process that has ended. Of other machines and process namespaces only time can tell. */
function isStale(path: string, name: string): boolean {
  const [, host, boot, namespace, pid = '', start] = LEASE.exec(name) ?? []
  const [, ownHost, ownBoot, ownNamespace] = LEASE.exec(ownLease()) ?? []
  if (host === ownHost && boot !== ownBoot) return true
  if (host === ownHost && namespace === ownNamespace) return startOf(pid) !== start
  return Date.now() - (statsOf(`${path}/${name}`)?.mtimeMs ?? 0) > DAY
}

const DAY = 24 * 3600 * 1000
let lease: string | undefined

function ownLease(): string {
  if (lease !== undefined) return lease
  const host = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
  const boot = textOf('/proc/sys/kernel/random/boot_id').replaceAll('-', '').slice(0, 8).padEnd(8, '0')
  const namespace = /\d+/.exec(linkOf('/proc/self/ns/pid'))?.[0] ?? '0'
  return (lease = `.dragoman-lease-${host}-${boot}-${namespace}-${process.pid}-${startOf(String(process.pid)) ?? '0'}`)
}

/** When a process was started, in ticks since the machine was; nothing if it has ended. */
function startOf(pid: string): string | undefined {
  const stat = textOf(`/proc/${pid}/stat`)
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return /^[ZX]?$/i.test(fields[0] ?? '') ? undefined : fields[19]
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1').trim()
  } catch {
    return ''
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
