import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { ensureWatchdog } from './kill-on-exit.ts'
import { type ProcessGroup, isProcessAlive, listSandboxInitPids, killGroup } from './process-group.ts'
import type { CommandRequest } from '../host.ts'
import { HostError } from '../host-error.ts'
import { withOpenedPath } from '../files/opened-path.ts'
import type { AllowedRoots } from '../files/allowed-roots.ts'
import type { QuarantinedPath } from '../sandbox/protect/missing-path-guard.ts'
import type { SandboxLaunch, Sandbox } from '../sandbox/sandbox.ts'
import { findShell } from './find-shell.ts'
import { getUptimeMs } from './uptime.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

export interface StartedCommand {
  readonly group: ProcessGroup
  readonly exit: Promise<ShellExit>
  /** Its input stays open when we end. */
  holdInput(): void
  /** Nothing of it keeps us alive any more. */
  unref(): void
  /** Resolves when the system has taken the text. */
  send(text: string): Promise<void>
  /**
   * Called when the shell has ended: closes the sandbox, unless something in it still runs. Returns what was changed and
   * restored.
   */
  finish(keepsRunning: boolean): Promise<string[]>
  /** What was changed and restored since the last call. */
  takeNotices(): string[]
  /** The protected path that it kept creating, so that it was stopped. */
  findRepeatedPath(): string | undefined
}

/** `failed`: it never started, because the sandbox could not be set up. */
interface ShellExit {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly failed: boolean
}

interface StartOptions {
  readonly env: Record<string, string>
  readonly marker: string
  /** The descriptor that it prints to. */
  readonly output: number
  readonly sandbox?: Sandbox
  readonly limit: number
  readonly fileLimit: number
}

/** Starts the shell in a folder that is held while it starts, so that it runs where it was checked. */
export async function startCommand(
  roots: AllowedRoots,
  { command, folder, access, hasInput }: CommandRequest,
  options: StartOptions,
): Promise<StartedCommand> {
  const real = withOpenedPath(roots, folder, { need: 'write' }, ({ path }) => path)
  const launchOptions = { firstDescriptor: 5, ...(access === 'network' && { network: true }) }
  const launch = access === 'outside' ? undefined : await options.sandbox?.prepareLaunch(real, launchOptions)
  if (!launch?.isolated) ensureWatchdog()
  const startedAt = getUptimeMs()
  try {
    const child = withOpenedPath(roots, folder, { need: 'write' }, ({ entry }): ChildProcess => {
      if (!entry) throw new HostError('not-found', `Folder not found: ${folder}`)
      if (!entry.stats.isDirectory()) throw new HostError('not-folder', `Not a folder: ${folder}`)
      const [program, ...args] = buildCommandLine(command, options, launch)
      // No input and no terminal: a program that asks a question gets the end of its input at once.
      const { output, env } = options
      const pipes = launch?.isolated ? (['pipe', 'pipe'] as const) : []
      const stdio = [
        hasInput ? ('pipe' as const) : ('ignore' as const),
        output,
        output,
        ...pipes,
        ...(launch?.descriptors ?? []),
      ]
      return withHighOomScore(() => spawn(program, args, { cwd: entry.at, env, stdio, detached: true }))
    })
    launch?.markStarted(child.pid)
    child.stdin?.on('error', () => undefined)
    const ended = launch?.isolated ? waitForSandboxedExit(child) : waitForExit(child)
    const exited = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', reject)
    })
    const { marker } = options
    const group: ProcessGroup = { id: child.pid ?? 0, marker, startedAt, ...(launch?.isolated && { isolated: true }) }
    return {
      group,
      exit: ended,
      holdInput: () => holdInput(child),
      unref() {
        child.unref()
        if (child.stdin && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
      },
      send: (text) =>
        new Promise((done, fail) => {
          if (!child.stdin?.writable) return fail(new Error('its input is closed'))
          child.stdin.write(text, (error) => (error ? fail(error) : done()))
        }),
      finish: (keepsRunning) => finishCommand(child, group, launch, exited, keepsRunning),
      takeNotices: () => describeQuarantined(launch?.found(), 'the command'),
      findRepeatedPath: () => launch?.repeated(),
    }
  } catch (error) {
    launch?.markStarted()
    launch?.release()
    throw error
  }
}

const heldChildren = new WeakSet<ChildProcess>()

/** Some programs end with their input, so a small process keeps it open as long as they run. */
function holdInput(child: ChildProcess): void {
  if (!child.stdin || child.stdin.destroyed || heldChildren.has(child)) return
  heldChildren.add(child)
  const script = 'while kill -0 -- "-$1" 2>/dev/null; do sleep 5; done'
  const holder = spawn(findShell(), ['--noprofile', '--norc', '-c', script, 'bash', String(child.pid)], {
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    stdio: ['ignore', 'ignore', 'ignore', child.stdin],
    detached: true,
  })
  holder.on('error', () => undefined)
  holder.unref()
}

/**
 * In a sandbox the shell has a parent: it reports (on 4) that it starts and the exit code of the shell, and then waits (on
 * 3) until it is released, because the sandbox ends with it, and background processes may still run there. Where the system
 * counts the sandbox apart, it also limits the number of threads.
 */
const SANDBOX_INIT_SCRIPT =
  'exec 5>&2 2>/dev/null; [ -z "$2" ] || ulimit -u "$2"; ulimit -f "$3"; echo >&4; "$BASH" --noprofile --norc -c -- "$1" 2>&5 3<&- 4>&- 5>&-; echo $? >&4; exec 4>&- 1>&- 5>&-; read -r <&3'

/**
 * If memory runs out, the system should end a command before anything else of the user. A child inherits the score of its
 * parent at its start; later its descendants could no longer be reached.
 */
export function withHighOomScore<T>(spawnChild: () => T): T {
  const previousScore = accessOomScore()
  if (previousScore === undefined) return spawnChild()
  try {
    accessOomScore('1000')
    return spawnChild()
  } finally {
    accessOomScore(previousScore)
  }
}

/** The score by which the system chooses what to end when memory runs out; sets it if a value is given. */
function accessOomScore(value?: string): string | undefined {
  return tryOrUndefined(() => {
    if (value !== undefined) writeFileSync(OOM_SCORE_PATH, value)
    return process.platform === 'linux' ? readFileSync(OOM_SCORE_PATH, 'latin1') : undefined
  })
}

const OOM_SCORE_PATH = '/proc/self/oom_score_adj'

/** The system counts threads, and programs have several. */
const THREADS_PER_PROCESS = 4

function buildCommandLine(
  command: string,
  limits: Pick<StartOptions, 'limit' | 'fileLimit'>,
  launch: SandboxLaunch | undefined,
): [string, ...string[]] {
  const plain = [findShell(), '--noprofile', '--norc', '-c', '--'] as const
  if (!launch) return [...plain, command]
  const maxThreads = launch.hasOwnProcessCount ? String(limits.limit * THREADS_PER_PROCESS) : ''
  const fileBlocks = String(Math.ceil(limits.fileLimit / 1024))
  const script = launch.isolated ? [SANDBOX_INIT_SCRIPT, 'bash', command, maxThreads, fileBlocks] : [command]
  return [launch.program, ...launch.args, ...plain, ...script]
}

function waitForExit(child: ChildProcess): Promise<ShellExit> {
  return new Promise((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode, signal, failed: false }))
  })
}

/** Reads the reports of the shell's parent; without the first one there was no sandbox, and the command did not run. */
function waitForSandboxedExit(child: ChildProcess): Promise<ShellExit> {
  const [, , , lifeline, status] = child.stdio as (Readable | Writable | null)[]
  for (const end of [lifeline, status]) end?.on('error', () => undefined)
  // What still runs in a sandbox must not keep us alive.
  if (lifeline && 'unref' in lifeline && typeof lifeline.unref === 'function') lifeline.unref()
  return new Promise((resolve) => {
    let statusText = ''
    status?.on('data', (data: Buffer) => {
      statusText += data.toString('latin1')
      if (/\n.*\n/.test(statusText)) resolve({ exitCode: Number(statusText.trim()), signal: null, failed: false })
    })
    child.once('close', (exitCode, signal) =>
      resolve({ exitCode, signal, failed: exitCode !== null && statusText === '' }),
    )
  })
}

async function finishCommand(
  child: ChildProcess,
  group: ProcessGroup,
  launch: SandboxLaunch | undefined,
  exited: Promise<void>,
  keepsRunning: boolean,
): Promise<string[]> {
  if (!launch) return []
  if (keepsRunning) {
    child.unref()
  } else if (launch.isolated) {
    const initPids = listSandboxInitPids(group)
    ;(child.stdio[3] as Writable | null)?.end()
    const timedOut = await Promise.race([exited, wait(EXIT_TIMEOUT_MS, 'late' as const, { ref: false })])
    if (timedOut) {
      killGroup(group)
      await Promise.race([exited, wait(EXIT_TIMEOUT_MS, undefined, { ref: false })])
    }
    for (const deadline = Date.now() + EXIT_TIMEOUT_MS; initPids.some(isProcessAlive) && Date.now() < deadline;)
      await wait(1)
  }
  const notices = describeQuarantined(launch.check(), 'the command')
  if (!keepsRunning) launch.release()
  return notices
}

export function describeQuarantined(found: readonly QuarantinedPath[] = [], who: string): string[] {
  return found.map(({ path, newPath }) =>
    newPath === undefined
      ? `${path} is a protected link. It was changed while ${who} ran, and was restored.`
      : `${path} is protected. It appeared while ${who} ran and was renamed to ${basename(newPath)}. If it is yours, rename it back. ${USE_FILE_TOOLS_HINT}`,
  )
}

export const USE_FILE_TOOLS_HINT = 'To write it, use the file tools, which ask for approval.'

const EXIT_TIMEOUT_MS = 1000
