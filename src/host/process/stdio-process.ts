import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { killOnExit, ensureWatchdog, cancelKillOnExit, createProcessMarker } from './kill-on-exit.ts'
import { createCleanEnvironment } from './environment.ts'
import { killGroupAndWait, type ProcessGroup, stopGroup } from './process-group.ts'
import { findShell } from './find-shell.ts'
import { withHighOomScore } from './oom-score.ts'
import { describeQuarantined } from './start-command.ts'
import { describeUnavailable } from '../sandbox/detect-sandbox.ts'
import type { SandboxLaunch, Sandbox } from '../sandbox/sandbox.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/** A program that runs beside us, with messages over its standard input and output. */
export interface StdioProgram {
  readonly command: string
  readonly args: readonly string[]
  readonly folder: string
  /** Variables beside those that every program gets. */
  readonly env?: Readonly<Record<string, string>>
  readonly trusted?: boolean
  readonly network?: boolean
}

interface StdioProcessListener {
  readonly onOutput: (bytes: Uint8Array) => void
  /** How it ended: the second half of a sentence, and its exit code, if it has one. */
  readonly onExit: (exitReason: string, exitCode: number | null) => void
}

export interface StdioProcess {
  readonly pid: number
  readonly sandboxed: boolean
  /** Resolves when the system has taken the text. */
  send(text: string): Promise<void>
  /** No more input follows. */
  endInput(): void
  /** The last part of its standard error. */
  recentStderr(): string
  /** Ends its input; stops it, with all that it started, if it does not exit. */
  close(): Promise<void>
}

export interface StdioProcesses {
  open(program: StdioProgram, listener: StdioProcessListener): Promise<StdioProcess>
  /** Protected paths that programs created and that were renamed, since the last call. */
  readonly takeNotices: () => string[]
  close(): void
}

interface StdioProcessOptions {
  /** Names of variables that programs may inherit, beside the usual ones. */
  readonly variables?: readonly string[]
  readonly sandbox?: Sandbox
  /** Called when a program runs without the sandbox that it could have had. */
  readonly onUnsandboxed?: (why: string) => void
}

/** Programs beside us, each in its own group and session, with a clean environment, in the sandbox unless trusted. */
export function createStdioProcesses(options: StdioProcessOptions): StdioProcesses {
  const running = new Map<ProcessGroup, () => string[]>()
  const pendingNotices: string[] = []

  return {
    async open(program, listener) {
      const folder = realpathSync(program.folder)
      if (!programExists(program.command, folder)) throw new Error(`The program ${program.command} was not found`)
      const { child, launch, marker } = await startWithRetry(options, program, folder)
      const group: ProcessGroup = { id: child.pid ?? 0, marker, ...(launch?.isolated && { isolated: true }) }
      running.set(group, () => describeQuarantined(launch?.found(), program.command))
      killOnExit(group)
      return createStdioProcess(child, group, launch, listener, () => {
        running.delete(group)
        cancelKillOnExit(group)
        pendingNotices.push(...describeQuarantined(launch?.check(), program.command))
      })
    },
    takeNotices: () => [...pendingNotices.splice(0), ...[...running.values()].flatMap((one) => one())],
    close() {
      for (const group of running.keys()) killGroupAndWait(group)
    },
  }
}

interface StartedProgram {
  readonly child: ChildProcess
  readonly launch: SandboxLaunch | undefined
  readonly marker: string
}

/** A path to be mounted or covered may disappear while a sandbox is set up; then the program has not started. */
async function startWithRetry(
  options: StdioProcessOptions,
  program: StdioProgram,
  folder: string,
): Promise<StartedProgram> {
  for (let attempt = 1; ; attempt++) {
    const started = await startOnce(options, program, folder)
    if (!started.launch?.isolated || (await waitUntilReady(started.child))) return started
    started.launch.release()
    const why = String(started.child.stderr?.read() ?? '').trim()
    if (attempt === MAX_START_ATTEMPTS)
      throw new Error(`The sandbox for ${program.command} could not be started: ${why}`)
  }
}

const MAX_START_ATTEMPTS = 5

async function startOnce(options: StdioProcessOptions, program: StdioProgram, folder: string): Promise<StartedProgram> {
  const launch = program.trusted ? undefined : await prepareSandbox(options, program, folder)
  const { marker, env: markerEnv } = createProcessMarker('companion')
  const env = createCleanEnvironment(process.env, options.variables, { ...program.env, ...markerEnv })
  const launchArgs = launch
    ? [launch.program, ...launch.args, ...(launch.isolated ? [findShell(), ...READY_SIGNAL_ARGS] : [])]
    : []
  const [command = '', ...args] = [...launchArgs, program.command, ...program.args]
  if (!launch?.isolated) ensureWatchdog()
  const extraStdio = launch ? ['pipe' as const, ...launch.openDescriptors()] : []
  const stdio = ['pipe' as const, 'pipe' as const, 'pipe' as const, ...extraStdio]
  const child = withHighOomScore(() => spawn(command, args, { cwd: folder, env, stdio, detached: true }))
  launch?.markStarted(child.pid)
  launch?.closeDescriptors()
  try {
    await new Promise<void>((done, fail) => {
      child.once('spawn', done)
      child.once('error', fail)
    })
  } catch (error) {
    launch?.release()
    throw toStartError(program.command, error)
  }
  return { child, launch, marker }
}

/** A shell in the sandbox reports (on 3) that the sandbox is set up, and becomes the program. */
const READY_SIGNAL_ARGS = ['--noprofile', '--norc', '-c', 'echo >&3; exec 3>&-; exec "$@"', 'begin']

function waitUntilReady({ stdio }: ChildProcess): Promise<boolean> {
  const status = stdio[3] as Readable | null
  return new Promise((resolve_) => {
    status?.once('data', () => resolve_(true))
    status?.once('close', () => resolve_(false))
    status?.once('error', () => resolve_(false))
  })
}

function createStdioProcess(
  child: ChildProcess,
  group: ProcessGroup,
  launch: SandboxLaunch | undefined,
  listener: StdioProcessListener,
  onClosed: () => void,
): StdioProcess {
  let stderrTail = Buffer.alloc(0)
  const exited = new Promise<void>((resolve_) => {
    // It may have ended before its start was reported.
    if (child.exitCode !== null || child.signalCode !== null) resolve_()
    else child.once('exit', () => resolve_())
  })
  let isClosed = false
  let stopping: Promise<void> | undefined

  child.stdout?.on('data', (bytes: Uint8Array) => {
    if (!isClosed) listener.onOutput(bytes)
  })
  child.stderr?.on('data', (bytes: Buffer) => {
    stderrTail = Buffer.concat([stderrTail, bytes.subarray(-MAX_STDERR_BYTES)]).subarray(-MAX_STDERR_BYTES)
  })
  for (const stream of child.stdio) stream?.on('error', () => undefined)
  // Background processes may hold its output open for ever, so its own exit counts.
  void exited.then(() => setTimeout(() => finish(describeExit(child)), OUTPUT_DRAIN_MS))

  function finish(exitReason: string): void {
    if (isClosed) return
    isClosed = true
    killGroupAndWait(group)
    onClosed()
    const repeatedPath = launch?.repeated()
    launch?.release()
    for (const stream of child.stdio) stream?.destroy()
    const repeatReason = `was stopped: it kept creating ${repeatedPath}, which is protected`
    listener.onExit(repeatedPath === undefined ? exitReason : repeatReason, child.exitCode)
  }

  async function end(): Promise<void> {
    child.stdin?.end()
    const timedOut = await Promise.race([exited, wait(STOP_GRACE_MS, 'late' as const, { ref: false })])
    if (timedOut) await stopGroup(group, STOP_GRACE_MS)
    finish('was closed')
  }

  return {
    pid: group.id,
    sandboxed: launch !== undefined,
    send: (text) =>
      new Promise((done, fail) => {
        if (isClosed || !child.stdin?.writable) return fail(new Error('the process has ended'))
        child.stdin.write(text, (error) => (error ? fail(error) : done()))
      }),
    endInput: () => void child.stdin?.end(),
    recentStderr: () => stderrTail.toString('utf8').trim(),
    close: () => (stopping ??= end()),
  }
}

/** Milliseconds to exit by itself. */
const STOP_GRACE_MS = 700
/** Its last output may still be on its way. */
const OUTPUT_DRAIN_MS = 20
const MAX_STDERR_BYTES = 8000

async function prepareSandbox(
  { sandbox, onUnsandboxed }: StdioProcessOptions,
  program: StdioProgram,
  folder: string,
): Promise<SandboxLaunch | undefined> {
  const launch = await sandbox?.prepareLaunch(folder, {
    network: program.network ?? true,
    visiblePaths: listNeededPaths(program, folder),
    firstDescriptor: 4,
    localSockets: true,
  })
  if (launch || !sandbox || sandbox.mode === 'off') return launch
  const state = await sandbox.state()
  const why = state.isActive ? '' : describeUnavailable(state)
  if (sandbox.mode === 'on') throw new Error(`It must run in a sandbox. ${why}`)
  onUnsandboxed?.(why)
  return undefined
}

/** What a program needs to see beside the workspace: its installation, and paths in its arguments. */
function listNeededPaths({ command, args }: StdioProgram, folder: string): string[] {
  return [folder, command, ...args].flatMap((word) => {
    const path = isAbsolute(word) || word.startsWith('.') ? resolve(folder, word) : undefined
    // Paths in its folder are visible anyway, and a command may have put a link there.
    if (path?.startsWith(`${folder}/`)) return []
    return path !== undefined && existsSync(path) ? [findInstallationFolder(realpathSync(path))] : []
  })
}

function findInstallationFolder(path: string): string {
  const modules = path.indexOf('/node_modules/')
  if (modules > 0) return path.slice(0, modules)
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    if (MANIFESTS.some((name) => existsSync(join(at, name)))) return at
  }
  return path
}

const MANIFESTS = ['package.json', 'pyproject.toml', 'pyvenv.cfg']

/** A sandbox would only report that it could not start it. */
function programExists(command: string, folder: string): boolean {
  if (command.includes('/')) return existsSync(resolve(folder, command))
  return (process.env['PATH'] ?? '').split(delimiter).some((pathEntry) => existsSync(join(pathEntry, command)))
}

function toStartError(command: string, error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EACCES') return new Error(`${command} is not executable`)
  return new Error(`${command} could not be started: ${getErrorMessage(error)}`)
}

function describeExit({ exitCode, signalCode }: ChildProcess): string {
  return signalCode === null ? `ended with code ${exitCode}` : `was ended by ${signalCode}`
}
