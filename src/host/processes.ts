import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { cleanEnvironment } from './environment.ts'
import { type Group, members, stop, stopNow } from './group.ts'
import type { Command, CommandEnd, Processes } from './host.ts'
import { openOutput, type Output } from './output.ts'
import { HostProblem } from './problem.ts'
import { reach } from './reach.ts'
import type { Roots } from './roots.ts'

/** What commands need beside the folders. */
export interface ProcessOptions {
  /** A folder of ours, for what commands print. */
  readonly scratch: string
  /** Names of variables that commands may inherit, beside the usual ones. */
  readonly variables?: readonly string[]
}

/** Processes of this machine, and a way to end those that are left. */
export interface LocalProcesses extends Processes {
  close(): void
}

/** Runs commands with bash, each in a group and session of its own. */
export function localProcesses(roots: Roots, { scratch, variables }: ProcessOptions): LocalProcesses {
  const left = new Set<Group>()
  const running = new Set<Group>()

  async function run(command: Command): Promise<CommandEnd> {
    if (command.signal?.aborted) return notRun('The command was cancelled before it began.', true)
    const name = `command-${Date.now()}-${randomBytes(4).toString('hex')}`
    const mark = `DRAGOMAN_COMMAND=${name}`
    const output = openOutput(scratch, name)
    const env = cleanEnvironment(process.env, variables, { ...command.env, DRAGOMAN_COMMAND: name })
    let started: Started
    try {
      started = await start(roots, command, env, output.descriptor)
    } catch (error) {
      output.close(false)
      if (error instanceof HostProblem) throw error
      return notRun(`The command could not be started: ${error instanceof Error ? error.message : String(error)}`)
    }
    const group: Group = { id: started.pid, mark }
    running.add(group)
    endWithUs(group)
    const stopped = await watch(started, group, command, output)
    const background = await leftRunning(group, stopped !== undefined)
    running.delete(group)
    unfinished.delete(group)
    if (background.length > 0) left.add(group)
    for (const past of left) if (members(past).length === 0) left.delete(past)
    command.onOutput?.(output.news())
    const { text, left: missing } = output.text()
    const keep = missing > 0 || background.length > 0
    output.close(keep)
    const { exitCode, signal } = await Promise.race([started.ended, wait(PATIENCE, UNKNOWN, { ref: false })])
    return {
      output: text,
      exitCode,
      signal,
      background,
      group: group.id,
      ...(stopped && { error: stopped.why }),
      ...(keep && { file: output.file }),
      ...(stopped?.cancelled ? { cancelled: true } : stopped && { timedOut: true }),
    }
  }

  return {
    run,
    close() {
      for (const group of [...running, ...left]) stopNow(group)
      left.clear()
    },
  }
}

/** Commands that have not ended; they end with us, however we end. */
const unfinished = new Set<Group>()

function endWithUs(group: Group): void {
  if (unfinished.size === 0 && !process.listeners('exit').includes(endAll)) process.on('exit', endAll)
  unfinished.add(group)
}

function endAll(): void {
  for (const group of unfinished) stopNow(group)
}

/** A process that not even the system can end, for the moment. */
const UNKNOWN = { exitCode: null, signal: null }

interface Started {
  readonly pid: number
  readonly ended: Promise<{ readonly exitCode: number | null; readonly signal: string | null }>
}

/** Starts the shell in a folder that is held while it starts, so that it begins where it was judged to begin. */
async function start(
  roots: Roots,
  { command, folder }: Command,
  env: Record<string, string>,
  descriptor: number,
): Promise<Started> {
  const child = reach(roots, folder, { need: 'write' }, ({ found }): ChildProcess => {
    if (!found) throw new HostProblem('not-found', `Folder not found: ${folder}`)
    if (!found.stats.isDirectory()) throw new HostProblem('not-folder', `Not a folder: ${folder}`)
    // Input is closed, and there is no terminal: whatever asks a question gets the end of its input at once.
    const stdio = ['ignore' as const, descriptor, descriptor]
    return spawn(shell(), ['--noprofile', '--norc', '-c', command], { cwd: found.at, env, stdio, detached: true })
  })
  const ended = new Promise<{ exitCode: number | null; signal: string | null }>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  return { pid: child.pid ?? 0, ended }
}

function shell(): string {
  return ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash', '/opt/homebrew/bin/bash'].find(existsSync) ?? 'bash'
}

interface Stopped {
  readonly why: string
  readonly cancelled?: true
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
  await Promise.race([ended, wait(PATIENCE)])
  return stopped
}

const POLL = 50
const PATIENCE = 2000
/** No disk is filled for the sake of an output that nobody can read. */
const MAX_OUTPUT = 8 * 2 ** 30

function reason(
  { signal, timeout, idle }: Command,
  { ran, silent, size }: { ran: number; silent: number; size: number },
): Stopped | undefined {
  if (signal?.aborted) return { why: 'The command was cancelled.', cancelled: true }
  if (timeout !== undefined && ran >= timeout) return { why: `The command was stopped after ${timeout / 1000} s.` }
  if (idle !== undefined && silent >= idle) {
    return { why: `The command was stopped: it had printed nothing for ${idle / 1000} s.` }
  }
  return size > MAX_OUTPUT ? { why: 'The command was stopped: it printed too much.' } : undefined
}

function aborted(signal: AbortSignal | undefined, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal?.addEventListener('abort', () => resolve(), { once: true, signal: over })
  })
}

/** What goes on after the shell has ended. A pipe's last reader and the like get a moment to finish. */
async function leftRunning(group: Group, wasStopped: boolean): Promise<number[]> {
  const until = performance.now() + (wasStopped ? 0 : GRACE)
  for (;;) {
    const alive = members(group)
    if (alive.length === 0 || performance.now() >= until) return alive
    await wait(20)
  }
}

const GRACE = 200

function notRun(error: string, cancelled?: true): CommandEnd {
  const end = { output: '', exitCode: null, signal: null, error, background: [], group: undefined }
  return cancelled ? { ...end, cancelled } : end
}
