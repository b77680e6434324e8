import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { codeOf } from './problem.ts'

/** Who holds a lock, as its file says: a process, when it started, and where its number means anything. */
export interface Holder {
  /** The text of the lock file: no two holders write the same. */
  readonly mark: string
  readonly pid: number
  readonly host: string
  /** `unknown`: it belongs to another PID namespace or machine, and cannot be seen from here. */
  readonly life: 'alive' | 'dead' | 'unknown'
}

/** The mark of this process. Older versions read its first two words and ignore the third. */
export function ownMark(): string {
  return (own ??= markOfSelf())
}

let own: string | undefined

function markOfSelf(): string {
  const { boot, namespace, machine, host } = surroundings()
  return `${process.pid} ${startOf(process.pid)} ${[boot, namespace, machine, host].join(':')}`
}

/** The mark of a log that its writer closed in the middle of a run, after the entry with this number: process 0 is never alive. */
export function closedMark(seq: number): string {
  return `0 closed ${seq}`
}

/** Reads who holds a lock; undefined if nobody does. */
export function readHolder(path: string): Holder | undefined {
  const mark = markIn(path)
  if (mark === undefined) return undefined
  const [pid, start = '', place = ''] = mark.split(' ')
  const [boot = '', namespace = '', machine = '', ...host] = place.split(':')
  const number = Number(pid)
  if (!Number.isInteger(number) || number <= 0) return { mark, pid: 0, host: '', life: 'dead' }
  const life = place === '' ? lifeOf(number, start) : lifeFrom({ boot, namespace, machine }, number, start)
  return { mark, pid: number, host: host.join(':'), life }
}

/** The text of a lock file; undefined if there is none. */
export function markIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

type Place = Pick<Surroundings, 'boot' | 'namespace' | 'machine'>

function lifeFrom(place: Place, pid: number, start: string): Holder['life'] {
  const here = surroundings()
  const isSameMachine = place.machine === here.machine
  // Nothing outlives the boot that it was started in.
  if (place.boot !== here.boot) return isSameMachine && place.boot !== '' ? 'dead' : 'unknown'
  if (place.namespace !== here.namespace) return 'unknown'
  return place.boot === '' && !isSameMachine ? 'unknown' : lifeOf(pid, start)
}

/** A process with the number of the holder may be another one by now; where the system tells when it started, that decides. */
function lifeOf(pid: number, start: string): 'alive' | 'dead' {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return 'dead'
  }
  const now = statOf(pid)
  // A zombie has ended; only its parent has not asked for its exit code.
  if (now && /^[ZXx]$/.test(now.state)) return 'dead'
  return start === '' || !now || now.start === start ? 'alive' : 'dead'
}

interface Surroundings {
  /** Differs after each boot; the same in all containers of a machine. Empty where the system does not tell. */
  readonly boot: string
  /** The PID namespace. */
  readonly namespace: string
  readonly machine: string
  readonly host: string
}

let known: Surroundings | undefined

function surroundings(): Surroundings {
  if (known) return known
  const host = hostname().replace(/\s/g, '')
  const machine = createHash('sha256').update(host).update(contentOf('/etc/machine-id')).digest('hex').slice(0, 12)
  const boot = contentOf('/proc/sys/kernel/random/boot_id').trim().replaceAll(':', '')
  return (known = { boot, namespace: namespaceOfSelf(), machine, host })
}

function namespaceOfSelf(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? ''
  } catch {
    return ''
  }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function startOf(pid: number): string {
  return statOf(pid)?.start ?? ''
}

function statOf(pid: number): { state: string; start: string } | undefined {
  const stat = contentOf(`/proc/${pid}/stat`)
  if (stat === '') return undefined
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', start: fields[19] ?? '' }
}
