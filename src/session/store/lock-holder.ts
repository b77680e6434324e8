import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { getErrorCode } from './errors.ts'

/** Who holds a lock, as its file says: a process, when it started, and where its number means anything. */
export interface LockHolder {
  /** The text of the lock file: no two holders write the same. */
  readonly lockText: string
  readonly pid: number
  readonly host: string
  /** `unknown`: it belongs to another PID namespace or machine, and cannot be seen from here. */
  readonly liveness: 'alive' | 'dead' | 'unknown'
}

/** The mark of this process. Older versions read its first two words and ignore the third. */
export function getOwnLockText(): string {
  return (cachedLockText ??= createLockText())
}

let cachedLockText: string | undefined

function createLockText(): string {
  const { boot, namespace, machine, host } = getMachineIdentity()
  return `${process.pid} ${readStartTime(process.pid)} ${[boot, namespace, machine, host].join(':')}`
}

/** The mark of a log that its writer closed in the middle of a run, after the entry with this number: process 0 is never alive. */
export function createClosedLockText(seq: number): string {
  return `0 closed ${seq}`
}

/** Reads who holds a lock; undefined if nobody does. */
export function readLockHolder(path: string): LockHolder | undefined {
  const lockText = readLockText(path)
  if (lockText === undefined) return undefined
  const [pid, start = '', location = ''] = lockText.split(' ')
  const [boot = '', namespace = '', machine = '', ...host] = location.split(':')
  const number = Number(pid)
  if (!Number.isInteger(number) || number <= 0) return { lockText, pid: 0, host: '', liveness: 'dead' }
  const liveness =
    location === '' ? checkLocalLiveness(number, start) : checkLivenessAt({ boot, namespace, machine }, number, start)
  return { lockText, pid: number, host: host.join(':'), liveness }
}

/** The text of a lock file; undefined if there is none. */
export function readLockText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

type ProcessLocation = Pick<MachineIdentity, 'boot' | 'namespace' | 'machine'>

function checkLivenessAt(location: ProcessLocation, pid: number, start: string): LockHolder['liveness'] {
  const currentIdentity = getMachineIdentity()
  const isSameMachine = location.machine === currentIdentity.machine
  // Nothing outlives the boot that it was started in.
  if (location.boot !== currentIdentity.boot) return isSameMachine && location.boot !== '' ? 'dead' : 'unknown'
  if (location.namespace !== currentIdentity.namespace) return 'unknown'
  return location.boot === '' && !isSameMachine ? 'unknown' : checkLocalLiveness(pid, start)
}

/** A process with the number of the holder may be another one by now; where the system tells when it started, that decides. */
function checkLocalLiveness(pid: number, start: string): 'alive' | 'dead' {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (getErrorCode(error) !== 'EPERM') return 'dead'
  }
  const now = readProcessStat(pid)
  // A zombie has ended; only its parent has not asked for its exit code.
  if (now && /^[ZXx]$/.test(now.state)) return 'dead'
  return start === '' || !now || now.start === start ? 'alive' : 'dead'
}

interface MachineIdentity {
  /** Differs after each boot; the same in all containers of a machine. Empty where the system does not tell. */
  readonly boot: string
  /** The PID namespace. */
  readonly namespace: string
  readonly machine: string
  readonly host: string
}

let cachedIdentity: MachineIdentity | undefined

function getMachineIdentity(): MachineIdentity {
  if (cachedIdentity) return cachedIdentity
  const host = hostname().replace(/\s/g, '')
  const machine = createHash('sha256')
    .update(host)
    .update(readFileOrEmpty('/etc/machine-id'))
    .digest('hex')
    .slice(0, 12)
  const boot = readFileOrEmpty('/proc/sys/kernel/random/boot_id').trim().replaceAll(':', '')
  return (cachedIdentity = { boot, namespace: readPidNamespace(), machine, host })
}

function readPidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''
  } catch {
    return ''
  }
}

function readFileOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function readStartTime(pid: number): string {
  return readProcessStat(pid)?.start ?? ''
}

function readProcessStat(pid: number): { state: string; start: string } | undefined {
  const stat = readFileOrEmpty(`/proc/${pid}/stat`)
  if (stat === '') return undefined
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', start: fields[19] ?? '' }
}
