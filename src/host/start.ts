import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { expectUnboxed } from './end-with-us.ts'
import { type Group, isAlive, keepersOf, stopNow } from './group.ts'
import type { Command } from './host.ts'
import { HostProblem } from './problem.ts'
import { reach } from './reach.ts'
import type { Roots } from './roots.ts'
import type { SetAside } from './sandbox/missing-paths.ts'
import type { Enclosed, Sandbox } from './sandbox/sandbox.ts'
import { shell } from './shell.ts'

/** A command that has been started. */
export interface Started {
  readonly group: Group
  /** How its shell ended. */
  readonly ended: Promise<Ended>
  /** Its shell has ended; its box is opened, unless something in it goes on. Says what was changed and put back. */
  shellEnded(goesOn: boolean): Promise<string[]>
  /** What was changed and put back since it was last asked. */
  news(): string[]
  /** The protected path that it went on making after it was set aside, so that it was stopped. */
  repeated(): string | undefined
}

/** How a shell ended; `failed` if it never began, because there was no box for it. */
export interface Ended {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly failed: boolean
}

/** What a command is started with. */
export interface StartOptions {
  readonly env: Record<string, string>
  readonly mark: string
  /** The descriptor that it prints to. */
  readonly output: number
  readonly sandbox?: Sandbox
  /** How many processes it may have. */
  readonly limit: number
  /** How large a file it may write, in bytes. */
  readonly fileLimit: number
}

/** Starts the shell in a folder that is held while it starts, so that it begins where it was judged to begin. */
export async function start(
  roots: Roots,
  { command, folder, access }: Command,
  options: StartOptions,
): Promise<Started> {
  const real = reach(roots, folder, { need: 'write' }, ({ path }) => path)
  const box =
    access === 'outside'
      ? undefined
      : await options.sandbox?.enclose(real, { firstDescriptor: 5, ...(access === 'network' && { network: true }) })
  if (!box?.boxed) expectUnboxed()
  try {
    const child = reach(roots, folder, { need: 'write' }, ({ found }): ChildProcess => {
      if (!found) throw new HostProblem('not-found', `Folder not found: ${folder}`)
      if (!found.stats.isDirectory()) throw new HostProblem('not-folder', `Not a folder: ${folder}`)
      const [program, ...args] = wholeCommand(command, options, box)
      // Input is closed, and there is no terminal: whatever asks a question gets the end of its input at once.
      const { output, env } = options
      const pipes = box?.boxed ? (['pipe', 'pipe'] as const) : []
      const stdio = ['ignore' as const, output, output, ...pipes, ...(box?.descriptors ?? [])]
      return endedFirst(() => spawn(program, args, { cwd: found.at, env, stdio, detached: true }))
    })
    box?.begun(child.pid)
    const ended = box?.boxed ? endInBox(child) : endOf(child)
    const gone = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
    const group: Group = { id: child.pid ?? 0, mark: options.mark, ...(box?.boxed && { boxed: true }) }
    return {
      group,
      ended,
      shellEnded: (goesOn) => opened(child, group, box, gone, goesOn),
      news: () => newsOf(box?.found(), 'the command'),
      repeated: () => box?.repeated(),
    }
  } catch (error) {
    box?.begun()
    box?.release()
    throw error
  }
}

/**
 * In a box the shell has a keeper: it says (on 4) that it begins and, when the shell has ended, how; and then waits (on 3) until it is let go,
 * because the box ends with it, and something may still go on in there. Where the system counts the box apart, it holds the
 * command to a number of threads too, so that even the quickest does not get far before it is noticed.
 */
const KEEPER =
  'exec 5>&2 2>/dev/null; [ -z "$2" ] || ulimit -u "$2"; ulimit -f "$3"; echo >&4; "$BASH" --noprofile --norc -c -- "$1" 2>&5 3<&- 4>&- 5>&-; echo $? >&4; exec 4>&- 1>&- 5>&-; read -r <&3'

/**
 * Where memory runs out, the system is to end a command before anything else of the person. A child has the score that its
 * parent has when it is started, and so have all of its own: later they would not be reached any more.
 */
export function endedFirst<T>(spawnChild: () => T): T {
  const own = score()
  if (own === undefined) return spawnChild()
  try {
    score('1000')
    return spawnChild()
  } finally {
    score(own)
  }
}

/** How likely this process is ended when memory runs out; with a value, sets it. */
function score(value?: string): string | undefined {
  try {
    if (value !== undefined) writeFileSync(SCORE, value)
    return process.platform === 'linux' ? readFileSync(SCORE, 'latin1') : undefined
  } catch {
    return undefined
  }
}

const SCORE = '/proc/self/oom_score_adj'

/** Programs have several threads, and the system counts threads. */
const THREADS = 4

type Limits = Pick<StartOptions, 'limit' | 'fileLimit'>

function wholeCommand(command: string, limits: Limits, box: Enclosed | undefined): [string, ...string[]] {
  const plain = [shell(), '--noprofile', '--norc', '-c', '--'] as const
  if (!box) return [...plain, command]
  const most = box.countedApart ? String(limits.limit * THREADS) : ''
  const fileBlocks = String(Math.ceil(limits.fileLimit / 1024))
  return [box.program, ...box.args, ...plain, ...(box.boxed ? [KEEPER, 'bash', command, most, fileBlocks] : [command])]
}

function endOf(child: ChildProcess): Promise<Ended> {
  return new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal, failed: false }))
  })
}

/** What the keeper says; if it does not even say that it begins, there was no box, and the command did not run. */
function endInBox(child: ChildProcess): Promise<Ended> {
  const [, , , lifeline, status] = child.stdio as (Readable | Writable | null)[]
  for (const end of [lifeline, status]) end?.on('error', () => undefined)
  // What goes on in a box must not keep us from ending.
  if (lifeline && 'unref' in lifeline && typeof lifeline.unref === 'function') lifeline.unref()
  return new Promise((resolve) => {
    let said = ''
    status?.on('data', (data: Buffer) => {
      said += data.toString('latin1')
      if (/\n.*\n/.test(said)) resolve({ exitCode: Number(said.trim()), signal: null, failed: false })
    })
    child.once('close', (exitCode, signal) => resolve({ exitCode, signal, failed: exitCode !== null && said === '' }))
  })
}

async function opened(
  child: ChildProcess,
  group: Group,
  box: Enclosed | undefined,
  gone: Promise<void>,
  goesOn: boolean,
): Promise<string[]> {
  if (!box) return []
  if (goesOn) {
    child.unref()
  } else if (box.boxed) {
    const keepers = keepersOf(group)
    ;(child.stdio[3] as Writable | null)?.end()
    const late = await Promise.race([gone, wait(PATIENCE, 'late' as const, { ref: false })])
    if (late) {
      stopNow(group)
      await Promise.race([gone, wait(PATIENCE, undefined, { ref: false })])
    }
    for (const until = Date.now() + PATIENCE; keepers.some(isAlive) && Date.now() < until;) await wait(1)
  }
  const news = newsOf(box.check(), 'the command')
  if (!goesOn) box.release()
  return news
}

/** Says what appeared while something ran and was set aside, or changed and was put back. */
export function newsOf(found: readonly SetAside[] = [], who: string): string[] {
  return found.map(({ path, now }) =>
    now === undefined
      ? `${path} is a protected link. It was changed while ${who} ran, and was put back.`
      : `${path} is protected. It appeared while ${who} ran and was renamed ${basename(now)}. Rename it back if it is yours; a model writes it with the file tools, which ask.`,
  )
}

const PATIENCE = 1000
