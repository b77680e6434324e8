import { setTimeout as wait } from 'node:timers/promises'
import { type CrowdWatch, crowdWatch, type Excess } from './crowd.ts'
import { endWithUs, letGo, newMark } from './end-with-us.ts'
import { cleanEnvironment, OFFLINE } from './environment.ts'
import { gitWithoutHelpers } from './git-helpers.ts'
import { endAtOnce, type Group, members, stop } from './group.ts'
import type { Command, CommandEnd, Processes } from './host.ts'
import { openOutput, type Output } from './output.ts'
import { HostProblem } from './problem.ts'
import type { Roots } from './roots.ts'
import type { Sandbox } from './sandbox/sandbox.ts'
import { start, type Started } from './start.ts'

/** What commands need beside the folders. */
export interface ProcessOptions {
  /** A folder of ours, for what commands print. */
  readonly scratch: string
  /** Names of variables that commands may inherit, beside the usual ones. */
  readonly variables?: readonly string[]
  readonly sandbox?: Sandbox
  /** What is to be said of programs that run beside commands. */
  readonly news?: () => readonly string[]
  /** How many processes a command may have at a time. */
  readonly processLimit?: number
  /** How much memory all processes of a command may have, in bytes. */
  readonly memoryLimit?: number
  /** How large a file a command in the sandbox may write, in bytes. */
  readonly fileLimit?: number
  /** Called once, when a command runs without the sandbox that it could have had. */
  readonly onUnboxed?: (why: string) => void
}

/** Processes of this machine, and a way to end those that are left. */
export interface LocalProcesses extends Processes {
  close(): void
}

/** Runs commands with bash, each in a group and session of its own. */
export function localProcesses(roots: Roots, options: ProcessOptions): LocalProcesses {
  const { scratch, variables, sandbox } = options
  const left = new Set<Started>()
  const running = new Set<Group>()
  const { processLimit, memoryLimit } = options
  const crowd = crowdWatch({
    ...(processLimit !== undefined && { processes: processLimit }),
    ...(memoryLimit !== undefined && { memory: memoryLimit }),
  })
  let told = false

  /** Why a command may not run; a sandbox that is missing is otherwise told to the person, once. */
  async function hindrance(): Promise<string | undefined> {
    const state = await sandbox?.state()
    if (!state || state.inForce || sandbox?.mode === 'off') return undefined
    const why = [`No sandbox: ${state.why}`, state.remedy].filter(Boolean).join(' ')
    if (sandbox?.mode === 'on') return `The command did not run, because it must run in a sandbox. ${why}`
    if (!told) options.onUnboxed?.(why)
    told = true
    return undefined
  }

  async function run(command: Command): Promise<CommandEnd> {
    for (let tries = 1; ; tries++) {
      if (command.signal?.aborted) return notRun('The command was cancelled before it began.', true)
      const hindered = command.access === 'outside' ? undefined : await hindrance()
      if (hindered !== undefined) return notRun(hindered)
      const end = await tryToRun(command)
      if (!('noBox' in end)) return end
      // What was to be mounted or covered went away in this moment; the command has not begun.
      if (tries === TRIES) return notRun(`The sandbox could not be started: ${end.noBox}`)
    }
  }

  async function tryToRun(command: Command): Promise<CommandEnd | { readonly noBox: string }> {
    const { name, mark, env: marked } = newMark('command')
    const output = openOutput(scratch, name)
    const git = command.gitHelpers === 'off' ? gitWithoutHelpers(scratch) : {}
    const box = command.access === undefined ? await sandbox?.state() : undefined
    const offline = box?.inForce && !box.network ? OFFLINE : {}
    const env = cleanEnvironment(process.env, variables, { ...offline, ...command.env, ...git, ...marked })
    let started: Started
    try {
      const { limit } = crowd
      const { fileLimit = MAX_FILE } = options
      const { descriptor } = output
      started = await start(roots, command, {
        env,
        mark,
        output: descriptor,
        limit,
        fileLimit,
        ...(sandbox && { sandbox }),
      })
    } catch (error) {
      output.close(false)
      if (error instanceof HostProblem) throw error
      return notRun(`The command could not be started: ${error instanceof Error ? error.message : String(error)}`)
    }
    const { group } = started
    running.add(group)
    endWithUs(group)
    crowd.join(group)
    const ending = await watch(started, group, command, output)
    const background = await leftRunning(group, ending !== undefined, crowd)
    const stopped = ending ?? tooMuch(crowd, await crowd.excess(group)) ?? wentOn(started)
    if (background.length === 0) {
      letGo(group)
      crowd.leave(group)
    }
    const { exitCode, signal, failed } = await Promise.race([started.ended, wait(PATIENCE, UNKNOWN, { ref: false })])
    if (failed && !stopped) {
      // What is to be said of earlier commands is kept for the next try.
      await started.shellEnded(false)
      running.delete(group)
      const noBox = output.text().text.trim()
      output.close(false)
      return { noBox }
    }
    const notes = [
      ...(await started.shellEnded(background.length > 0)),
      ...(await endedSince()),
      ...(options.news?.() ?? []),
    ]
    running.delete(group)
    if (background.length > 0) left.add(started)
    command.onOutput?.(output.news())
    const { text, left: missing } = output.text()
    const keep = missing > 0 || background.length > 0
    output.close(keep)
    return {
      output: text,
      exitCode,
      signal,
      background,
      group: group.id,
      ...(group.boxed && { boxed: true }),
      ...(notes.length > 0 && { notes }),
      ...(stopped && { error: stopped.why, ...stopped.as }),
      ...(keep && { file: output.file }),
    }
  }

  /** What went on in the background may have ended by now; says so if it did not end by itself. */
  async function endedSince(): Promise<string[]> {
    const notes: string[] = []
    for (const past of left) {
      const isOver = await hasEnded(past.group)
      const why = tooMuch(crowd, await crowd.excess(past.group))?.why ?? (isOver ? wentOn(past)?.why : undefined)
      if (why !== undefined) notes.push(`Of an earlier command, something went on in the background. ${why}`)
      if (!isOver) notes.push(...past.news())
      if (!isOver || !left.delete(past)) continue
      crowd.leave(past.group)
      letGo(past.group)
      notes.push(...(await past.shellEnded(false)))
    }
    return notes
  }

  return {
    run,
    close() {
      crowd.close()
      // What is in a box ends with it, and only then can nothing change any more what is checked.
      for (const group of [...running, ...[...left].map((past) => past.group)]) endAtOnce(group)
      for (const past of left) void past.shellEnded(false)
      left.clear()
    },
  }
}

/** A list of processes is not exact while they fork and end, so one empty list proves nothing. */
async function hasEnded(group: Group): Promise<boolean> {
  if (members(group).length > 0) return false
  await wait(20)
  return members(group).length === 0
}

/** A process that not even the system can end, for the moment. */
const UNKNOWN = { exitCode: null, signal: null, failed: false }

interface Stopped {
  readonly why: string
  readonly as?: Pick<CommandEnd, 'timedOut' | 'cancelled'>
}

function tooMuch({ limit, memory }: CrowdWatch, excess: Excess | undefined): Stopped | undefined {
  if (excess === undefined) return undefined
  const what =
    excess === 'processes'
      ? `the process limit was reached (${limit} at a time)`
      : `the memory limit was reached (${Math.round(memory / 2 ** 20)} MB)`
  return { why: `The command was stopped: ${what}.` }
}

function wentOn(started: Started): Stopped | undefined {
  const path = started.repeated()
  if (path === undefined) return undefined
  const why = `it went on making ${path}, which is protected. Write it with the file tools, which ask.`
  return { why: `The command was stopped: ${why}` }
}

/** Waits for the end, shows what comes, and stops what takes too long, is silent too long, or is not wanted any more. */
async function watch(started: Started, group: Group, command: Command, output: Output): Promise<Stopped | undefined> {
  const over = new AbortController()
  const ended = started.ended.then(() => over.abort())
  const begun = performance.now()
  let lastSize = 0
  let lastNews = begun
  let stopped: Stopped | undefined
  const cancelled = aborted(command.signal, over.signal)
  while (!over.signal.aborted) {
    await Promise.race([ended, cancelled, wait(POLL, undefined, { signal: over.signal }).catch(() => undefined)])
    if (over.signal.aborted) break
    const size = output.size()
    const now = performance.now()
    if (size !== lastSize) lastNews = now
    lastSize = size
    const news = command.onOutput ? output.news() : ''
    if (news !== '') command.onOutput?.(news)
    stopped = reason(command, { ran: now - begun, silent: now - lastNews, size })
    if (!stopped) continue
    await stop(group, PATIENCE)
    break
  }
  await Promise.race([ended, wait(PATIENCE, undefined, { ref: false })])
  return stopped
}

const TRIES = 5
const POLL = 50
const PATIENCE = 2000
/** More than a build writes into one file. */
const MAX_FILE = 16 * 2 ** 30
/** No disk is filled for the sake of an output that nobody can read. */
const MAX_OUTPUT = 8 * 2 ** 30

function reason(
  { signal, timeout, idle }: Command,
  { ran, silent, size }: { ran: number; silent: number; size: number },
): Stopped | undefined {
  if (signal?.aborted) return { why: 'The command was cancelled.', as: { cancelled: true } }
  const as = { timedOut: true } as const
  if (timeout !== undefined && ran >= timeout) return { why: `The command was stopped after ${timeout / 1000} s.`, as }
  if (idle !== undefined && silent >= idle) {
    return { why: `The command was stopped: it had printed nothing for ${idle / 1000} s.`, as }
  }
  return size > MAX_OUTPUT ? { why: 'The command was stopped: it printed too much.' } : undefined
}

function aborted(signal: AbortSignal | undefined, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal?.addEventListener('abort', () => resolve(), { once: true, signal: over })
  })
}

/**
 * What goes on after the shell has ended. A pipe's last reader and the like get a moment to finish; and what becomes more
 * and more is watched for longer, because it may reach the limit.
 */
async function leftRunning(group: Group, wasStopped: boolean, crowd: CrowdWatch): Promise<number[]> {
  const begun = performance.now()
  let until = begun + (wasStopped ? 0 : GRACE)
  let most = crowd.limit / 10
  for (;;) {
    const count = crowd.count(group)
    if ((await crowd.excess(group)) !== undefined) return []
    const now = performance.now()
    if (!wasStopped && count > most) until = Math.min(now + GRACE, begun + LONG_GRACE)
    most = Math.max(most, count)
    if (count === 0) return []
    const alive = now >= until ? members(group) : undefined
    if (alive && alive.length <= crowd.limit) return alive
    await wait(20)
  }
}

const GRACE = 200
const LONG_GRACE = 5000

function notRun(error: string, cancelled?: true): CommandEnd {
  const end = { output: '', exitCode: null, signal: null, error, background: [], group: undefined }
  return cancelled ? { ...end, cancelled } : end
}
