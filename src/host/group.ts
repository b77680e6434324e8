import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** The processes of one command. */
export interface Group {
  /** The number of the shell, which is also that of its group and its session. */
  readonly id: number
  /** A word in the environment of every process of the command, even of those that left the group. */
  readonly mark: string
  /** The command is in a box: `id` is its lid, and all below it belongs to the command, but for what keeps the box. */
  readonly boxed?: true
}

/** The processes of a command that are still alive, the shell left out. */
export function members(group: Group): number[] {
  if (!hasProc) return fromPs(group)
  if (group.boxed) return inBox(group)
  const found = fromProc(group)
  if (found.length > 0 || !send0(-group.id)) return found
  // They come and go faster than they can be listed.
  hold(group)
  const held = fromProc(group)
  letRun(group)
  return held
}

/** How many processes are in a box, found in one look at its own process table; unknown where that cannot be seen. */
export function quickCount(group: Group): number | undefined {
  if (!group.boxed) return undefined
  try {
    const first = readFileSync(`/proc/${group.id}/task/${group.id}/children`, 'latin1').trim()
    const table = `/proc/${first}/root/proc`
    // Where the box has no table of its own, it sees that of the machine.
    if (first === '' || statSync(table).dev === statSync('/proc').dev) return undefined
    const count = readdirSync(table).filter((name) => NUMBER.test(name)).length
    return Math.max(0, count - KEEPERS)
  } catch {
    return undefined
  }
}

/** Ends all processes of a command: asks them first, if there is time to wait, and then does not ask any more. */
export async function stop(group: Group, patience: number): Promise<void> {
  if (patience > 0) signalAll(group, 'SIGTERM')
  const until = Date.now() + patience
  while (Date.now() < until && (group.boxed ? members(group).length > 0 : anyAlive(group))) await wait(20)
  // What forks faster than it dies is met again in the next round.
  for (let round = 0; round < 10; round++) {
    signalAll(group, 'SIGKILL')
    if (!anyAlive(group)) return
    await wait(20)
  }
}

/** Ends all processes of a command at once, with no time to wait. */
export function stopNow(group: Group): void {
  signalAll(group, 'SIGKILL')
}

/** Ends all processes of a command and waits until that has happened, for a second at most. */
export function endAtOnce(group: Group): void {
  if (!hasProc) return stopNow(group)
  const all = [group.id, ...members(group), ...keepersOf(group)]
  stopNow(group)
  const until = Date.now() + 1000
  const isLeft = (): boolean => all.some(isAlive)
  while (isLeft() && Date.now() < until) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
}

/** The first process of a box ends last: when it has, there is no other in there any more. */
export function keepersOf({ id, boxed }: Group): number[] {
  try {
    if (!boxed) return []
    return readFileSync(`/proc/${id}/task/${id}/children`, 'latin1').trim().split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** Holds a command still, all of it at once but for what has left its group. */
export function hold(group: Group): void {
  send(-group.id, 'SIGSTOP')
}

/** Lets a command go on that was held. */
export function letRun(group: Group): void {
  send(-group.id, 'SIGCONT')
}

function signalAll(group: Group, signal: NodeJS.Signals): void {
  // Without its lid a box is gone at once, and nobody in it could tidy up.
  if (!group.boxed || signal === 'SIGKILL') send(-group.id, signal)
  for (const pid of members(group)) send(pid, signal)
}

function anyAlive(group: Group): boolean {
  return isAlive(group.id) || members(group).length > 0
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended already.
  }
}

/** Is there a process of this number that has not ended? */
export function isAlive(pid: number): boolean {
  if (!hasProc) return send0(pid)
  const stat = statOf(String(pid))
  return stat !== undefined && !ENDED.has(stat.state)
}

function send0(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const hasProc = process.platform === 'linux' && existsSync('/proc/self/stat')

/** A zombie has ended; only its parent has not noticed. */
const ENDED: ReadonlySet<string> = new Set(['Z', 'X', 'x'])

function fromProc({ id, mark }: Group): number[] {
  return readdirSync('/proc')
    .filter((name) => NUMBER.test(name) && Number(name) !== id && Number(name) !== process.pid)
    .filter((name) => {
      const stat = statOf(name)
      if (!stat || ENDED.has(stat.state)) return false
      return stat.group === id || stat.session === id || hasMark(name, mark)
    })
    .map(Number)
}

/** Whatever a process in a box does, its parents lead to the lid: who loses one gets the first process of the box. */
function inBox({ id }: Group): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc').filter((one) => NUMBER.test(one))) {
    const stat = statOf(name)
    if (!stat || ENDED.has(stat.state)) continue
    const siblings = children.get(stat.parent)
    if (siblings) siblings.push(Number(name))
    else children.set(stat.parent, [Number(name)])
  }
  const found: number[] = []
  const todo = [...(children.get(id) ?? [])]
  for (let pid = todo.pop(); pid !== undefined; pid = todo.pop()) {
    todo.push(...(children.get(pid) ?? []))
    if (!keepsBox(pid)) found.push(pid)
  }
  return found
}

/** The first two processes of a box keep it. */
const KEEPERS = 2
const NUMBER = /^\d+$/

/** By their numbers in there. */
function keepsBox(pid: number): boolean {
  try {
    return /^NSpid:\t\d+\t[12]$/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
  } catch {
    return true
  }
}

function statOf(name: string): { state: string; parent: number; group: number; session: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
    // The second field is the program's name in brackets and may hold anything, brackets too.
    const [state = '', parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state, parent: Number(parent), group: Number(group), session: Number(session) }
  } catch {
    return undefined
  }
}

function hasMark(name: string, mark: string): boolean {
  try {
    return readFileSync(`/proc/${name}/environ`, 'latin1').includes(mark)
  } catch {
    return false
  }
}

function fromPs({ id }: Group): number[] {
  try {
    const table = execFileSync('ps', ['-axo', 'pid=,pgid=,stat='], { encoding: 'utf8' })
    return table
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([pid, group, state]) => Number(group) === id && Number(pid) !== id && !state?.startsWith('Z'))
      .map(([pid]) => Number(pid))
  } catch {
    return []
  }
}
