import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { getErrorCode } from './errors.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { lazy } from '../../model/lazy.ts'

/** The process that holds a lock, as the lock file says. */
export interface LockHolder {
  /** The text of the lock file, different for each holder. */
  readonly lockText: string
  readonly pid: number
  readonly host: string
  /** `unknown`: the process is in another PID namespace or on another machine, and cannot be checked. */
  readonly liveness: 'alive' | 'dead' | 'unknown'
}

/** The lock text of this process: PID, start time, location. Older versions read the first two and ignore the third. */
export const getOwnLockText = lazy(() => {
  const { boot, namespace, machine, host } = getMachineIdentity()
  return `${process.pid} ${readProcessStat(process.pid)?.start ?? ''} ${[boot, namespace, machine, host].join(':')}`
})

/** The lock text of a log that was closed in the middle of a run after this entry: process 0 is never alive. */
export function createClosedLockText(seq: number): string {
  return `0 closed ${seq}`
}

export function readLockHolder(path: string): LockHolder | undefined {
  const lockText = readTextIfPresent(path)
  if (lockText === undefined) return undefined
  const [pid, start = '', location = ''] = lockText.split(' ')
  const [boot = '', namespace = '', machine = '', ...host] = location.split(':')
  const number = Number(pid)
  if (!Number.isInteger(number) || number <= 0) return { lockText, pid: 0, host: '', liveness: 'dead' }
  const liveness =
    location === '' ? checkLocalLiveness(number, start) : checkLivenessAt({ boot, namespace, machine }, number, start)
  return { lockText, pid: number, host: host.join(':'), liveness }
}

export function readTextIfPresent(path: string): string | undefined {
  return tryOrUndefined(() => readFileSync(path, 'utf8'))
}

type ProcessLocation = Pick<MachineIdentity, 'boot' | 'namespace' | 'machine'>

function checkLivenessAt(location: ProcessLocation, pid: number, start: string): LockHolder['liveness'] {
  const currentIdentity = getMachineIdentity()
  const isSameMachine = location.machine === currentIdentity.machine
  // No process survives a reboot.
  if (location.boot !== currentIdentity.boot) return isSameMachine && location.boot !== '' ? 'dead' : 'unknown'
  if (location.namespace !== currentIdentity.namespace) return 'unknown'
  return location.boot === '' && !isSameMachine ? 'unknown' : checkLocalLiveness(pid, start)
}

/** Another process may have the PID by now, so the start time is compared where the system tells it. */
function checkLocalLiveness(pid: number, start: string): 'alive' | 'dead' {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (getErrorCode(error) !== 'EPERM') return 'dead'
  }
  const now = readProcessStat(pid)
  // A zombie has ended, though its parent has not read the exit code yet.
  if (now && /^[ZXx]$/.test(now.state)) return 'dead'
  return start === '' || !now || now.start === start ? 'alive' : 'dead'
}

interface MachineIdentity {
  /** Differs after each boot, and is the same in all containers of a machine. Empty where the system does not tell. */
  readonly boot: string
  readonly namespace: string
  readonly machine: string
  readonly host: string
}

const getMachineIdentity = lazy((): MachineIdentity => {
  const host = hostname().replace(/\s/g, '')
  const machine = createHash('sha256')
    .update(host)
    .update(readTextIfPresent('/etc/machine-id') ?? '')
    .digest('hex')
    .slice(0, 12)
  const boot = (readTextIfPresent('/proc/sys/kernel/random/boot_id') ?? '').trim().replaceAll(':', '')
  return { boot, namespace: readPidNamespace(), machine, host }
})

function readPidNamespace(): string {
  return tryOrUndefined(() => /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '') ?? ''
}

function readProcessStat(pid: number): { state: string; start: string } | undefined {
  const stat = readTextIfPresent(`/proc/${pid}/stat`)
  if (!stat) return undefined
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', start: fields[19] ?? '' }
}
