import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { cpus } from 'node:os'
import { setImmediate as nextTick, setTimeout as wait } from 'node:timers/promises'
import { readStatFields } from './proc-stat-fields.ts'
import { getUptimeMs } from './uptime.ts'
import { lazy } from '../../model/lazy.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

export interface ProcessGroup {
  /** The PID of the shell, which is also the id of its group and session. */
  readonly id: number
  /** A variable in the environment of every process of the command, even of those that left the group. */
  readonly marker: string
  /**
   * The command is in a sandbox: `id` is its monitor process, and everything below it belongs to the command, except for
   * the sandbox's own processes.
   */
  readonly isolated?: true
  /** When the command started. */
  readonly start?: ProcessMoment
}

/** A moment between the starts of two processes of the machine. */
export interface ProcessMoment {
  readonly uptimeMs: number
  /** The last process that was started before. */
  readonly lastPid: number
}

/** Undefined where the system does not say so. */
export function readProcessMoment(): ProcessMoment | undefined {
  const text = hasProcFs ? tryOrUndefined(() => readFileSync('/proc/loadavg', 'latin1')) : undefined
  const lastPid = Number(text?.trim().split(' ').at(-1))
  return lastPid > 0 ? { uptimeMs: getUptimeMs(), lastPid } : undefined
}

/** Without the shell itself. */
export function listGroupProcesses(group: ProcessGroup): number[] {
  if (!hasProcFs) return listFromPs(group)
  if (group.isolated) return listSandboxProcesses(group)
  const found = listFromProc(group)
  if (found.length > 0 || !canSignal(-group.id)) return found
  // They come and go faster than they can be listed.
  pauseGroup(group)
  const pausedPids = listFromProc(group)
  resumeGroup(group)
  return pausedPids
}

/** Does anything of a command run that another process of ours has started? Its number may be that of another process by now. */
export function isCommandAlive(group: ProcessGroup): boolean {
  if (hasProcFs && isProcessAlive(group.id) && hasMarker(String(group.id), group.marker)) return true
  return hasProcFs && !group.isolated && listMarkedProcesses(group).length > 0
}

/** How many processes are in a sandbox, from its own process table; undefined if that cannot be read. */
export function countSandboxProcesses(group: ProcessGroup): number | undefined {
  if (!group.isolated) return undefined
  return tryOrUndefined(() => {
    const first = readFileSync(`/proc/${group.id}/task/${group.id}/children`, 'latin1').trim()
    const table = `/proc/${first}/root/proc`
    // A sandbox without its own /proc sees that of the machine.
    if (first === '' || statSync(table).dev === statSync('/proc').dev) return undefined
    const count = readdirSync(table).filter((name) => PID_PATTERN.test(name)).length
    return Math.max(0, count - SANDBOX_INIT_COUNT)
  })
}

/** Ends all processes of a command: with SIGTERM first, if there is a grace period. */
export async function stopGroup(group: ProcessGroup, graceMs: number): Promise<void> {
  if (graceMs > 0) signalGroup(group, 'SIGTERM')
  const deadline = Date.now() + graceMs
  while (Date.now() < deadline && (group.isolated ? listGroupProcesses(group).length > 0 : hasLiveProcess(group)))
    await wait(20)
  // What forks faster than it dies is killed in the next round.
  for (let round = 0; round < 10; round++) {
    signalGroup(group, 'SIGKILL')
    if (!hasLiveProcess(group)) return
    await wait(20)
  }
}

/** At once, without waiting. */
export function killGroup(group: ProcessGroup): void {
  signalGroup(group, 'SIGKILL')
}

/** Waits until they have ended, for at most a second. */
export function killGroupAndWait(group: ProcessGroup): void {
  if (!hasProcFs) return killGroup(group)
  const all = [group.id, ...listGroupProcesses(group), ...listSandboxInitPids(group)]
  killGroup(group)
  const deadline = Date.now() + 1000
  const isAnyLeft = (): boolean => all.some(isProcessAlive)
  while (isAnyLeft() && Date.now() < deadline) sleepSync(2)
}

function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** The first process of a sandbox ends last: then no other is left in there. */
export function listSandboxInitPids({ id, isolated }: ProcessGroup): number[] {
  return isolated ? listChildPids(id) : []
}

function listChildPids(pid: number): number[] {
  const text = tryOrUndefined(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')) ?? ''
  return text.trim().split(' ').filter(Boolean).map(Number)
}

/** Waits until no process of a sandbox can run any more, for at most a second. Nothing but its shell runs there. */
export async function killSandbox(group: ProcessGroup): Promise<void> {
  const initPids = listSandboxInitPids(group)
  const shellPids = initPids.flatMap(listChildPids)
  for (const pid of [...initPids, ...shellPids]) sendSignal(pid, 'SIGKILL')
  /**
   * The system takes milliseconds to free what a sandbox had, but a process that exits runs no more. Orphans only ever move up
   * to the first process, so in this order none is missed.
   */
  const isHalted = (): boolean =>
    [...shellPids, ...initPids].every(
      (pid) => isExiting(pid) && listChildPids(pid).every((one) => shellPids.includes(one)),
    )
  const start = Date.now()
  while (initPids.some(isProcessAlive) && !isHalted() && Date.now() - start < 1000) {
    // Not spinning: they may need this very processor to exit.
    if (Date.now() - start < 5) sleepSync(0.1)
    await (Date.now() - start < 5 ? nextTick() : wait(1))
  }
}

/** Has every thread of a process begun to exit? Then none of them runs any more. */
function isExiting(pid: number): boolean {
  const threads = tryOrUndefined(() => readdirSync(`/proc/${pid}/task`)) ?? []
  return threads.every((thread) => {
    const fields = tryOrUndefined(() => readStatFields(`/proc/${pid}/task/${thread}/stat`))
    if (!fields) return true
    const [state = '', , , , , , flags] = fields
    return ENDED_STATES.has(state) || (Number(flags) & PF_EXITING) !== 0
  })
}

/** A flag of the kernel. */
const PF_EXITING = 4

/** Stops a whole command at once, except for what has left its group. */
export function pauseGroup(group: ProcessGroup): void {
  sendSignal(-group.id, 'SIGSTOP')
}

export function resumeGroup(group: ProcessGroup): void {
  sendSignal(-group.id, 'SIGCONT')
}

function signalGroup(group: ProcessGroup, signal: NodeJS.Signals): void {
  // Without its monitor a sandbox is gone at once, and its processes could not clean up.
  if (!group.isolated || signal === 'SIGKILL') sendSignal(-group.id, signal)
  for (const pid of listGroupProcesses(group)) sendSignal(pid, signal)
}

function hasLiveProcess(group: ProcessGroup): boolean {
  return isProcessAlive(group.id) || listGroupProcesses(group).length > 0
}

/** Ignores a process that has ended. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  tryOrUndefined(() => process.kill(pid, signal))
}

export function isProcessAlive(pid: number): boolean {
  if (!hasProcFs) return canSignal(pid)
  const stat = readProcessStat(String(pid))
  return stat !== undefined && !ENDED_STATES.has(stat.state)
}

function canSignal(pid: number): boolean {
  return tryOrUndefined(() => process.kill(pid, 0)) ?? false
}

const hasProcFs = process.platform === 'linux' && existsSync('/proc/self/stat')

/** A zombie has ended; only its parent has not noticed. */
const ENDED_STATES: ReadonlySet<string> = new Set(['Z', 'X', 'x'])

function listFromProc(group: ProcessGroup): number[] {
  const { id, marker } = group
  const newPids = listNewPids(group)
  return (newPids ?? readdirSync('/proc').filter((name) => PID_PATTERN.test(name)))
    .filter((name) => Number(name) !== id && Number(name) !== process.pid)
    .filter((name) => {
      const stat = readProcessStat(name)
      if (!stat || ENDED_STATES.has(stat.state)) return false
      if (stat.group !== id && stat.session !== id && !hasMarker(name, marker)) return false
      return newPids === undefined || !isThread(name)
    })
    .map(Number)
}

/**
 * The processes that are younger than a command, if it is young itself: the system numbers processes in order. Undefined if
 * the numbers may have started again from the beginning.
 */
function listNewPids({ start }: ProcessGroup): string[] | undefined {
  const now = start && readProcessMoment()
  if (!start || !now) return undefined
  const count = now.lastPid - start.lastPid
  const maxForks = (now.uptimeMs - start.uptimeMs + 1) * MAX_FORKS_PER_MS * getProcessorCount()
  if (count < 0 || count > MAX_NEW_PIDS || maxForks > getMaxPid() / 2) return undefined
  const pids = Array.from({ length: count }, (_, at) => String(start.lastPid + 1 + at))
  return pids.filter((pid) => existsSync(`/proc/${pid}`))
}

/** More than a processor can do. */
const MAX_FORKS_PER_MS = 50
const MAX_NEW_PIDS = 200
const getProcessorCount = lazy(() => cpus().length)
const getMaxPid = lazy(() => Number(tryOrUndefined(() => readFileSync('/proc/sys/kernel/pid_max', 'latin1')) ?? 0))

/** Threads have numbers, too, but are not listed in /proc. */
function isThread(pid: string): boolean {
  return tryOrUndefined(() => !readFileSync(`/proc/${pid}/status`, 'latin1').includes(`\nTgid:\t${pid}\n`)) ?? true
}

function listMarkedProcesses({ id, marker }: ProcessGroup): number[] {
  return readdirSync('/proc')
    .filter((name) => PID_PATTERN.test(name) && Number(name) !== id && hasMarker(name, marker))
    .map(Number)
    .filter(isProcessAlive)
}

/**
 * The ancestors of a process in a sandbox always lead to the monitor: orphans get the first process of the sandbox as
 * parent.
 */
function listSandboxProcesses({ id }: ProcessGroup): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc').filter((one) => PID_PATTERN.test(one))) {
    const stat = readProcessStat(name)
    if (!stat || ENDED_STATES.has(stat.state)) continue
    const siblings = children.get(stat.parent)
    if (siblings) siblings.push(Number(name))
    else children.set(stat.parent, [Number(name)])
  }
  const found: number[] = []
  const pending = [...(children.get(id) ?? [])]
  for (let pid = pending.pop(); pid !== undefined; pid = pending.pop()) {
    pending.push(...(children.get(pid) ?? []))
    if (!isSandboxInit(pid)) found.push(pid)
  }
  return found
}

/** The first two processes of a sandbox keep it. */
const SANDBOX_INIT_COUNT = 2
const PID_PATTERN = /^\d+$/

/** By their PIDs in the sandbox. */
function isSandboxInit(pid: number): boolean {
  return tryOrUndefined(() => /^NSpid:\t\d+\t[12]$/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))) ?? true
}

function readProcessStat(name: string): { state: string; parent: number; group: number; session: number } | undefined {
  return tryOrUndefined(() => {
    const [state = '', parent, group, session] = readStatFields(`/proc/${name}/stat`)
    return { state, parent: Number(parent), group: Number(group), session: Number(session) }
  })
}

function hasMarker(name: string, marker: string): boolean {
  return tryOrUndefined(() => readFileSync(`/proc/${name}/environ`, 'latin1').includes(marker)) ?? false
}

function listFromPs({ id }: ProcessGroup): number[] {
  const table = tryOrUndefined(() => execFileSync('ps', ['-axo', 'pid=,pgid=,stat='], { encoding: 'utf8' })) ?? ''
  return table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([pid, group, state]) => Number(group) === id && Number(pid) !== id && !state?.startsWith('Z'))
    .map(([pid]) => Number(pid))
}
