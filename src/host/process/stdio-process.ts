import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { killOnExit, ensureWatchdog, cancelKillOnExit, createProcessMarker } from './kill-on-exit.ts'
import { createCleanEnvironment } from './environment.ts'
import { killGroupAndWait, type ProcessGroup, stopGroup } from './process-group.ts'
import { findShell } from './find-shell.ts'
import { withHighOomScore, describeQuarantined } from './start-command.ts'
import { describeUnavailable } from '../sandbox/detect-sandbox.ts'
import type { SandboxLaunch, Sandbox } from '../sandbox/sandbox.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/** A program that is to run beside us, and to be talked with over its standard input and output. */
export interface StdioProgram {
  readonly command: string
  readonly args: readonly string[]
  /** Where it starts. */
  readonly folder: string
  /** Variables beside those that every program gets. */
  readonly env?: Readonly<Record<string, string>>
  /** It runs outside of the sandbox. */
  readonly trusted?: boolean
  /** May it reach the network from inside the sandbox? */
  readonly network?: boolean
}

/** Who listens to a companion. */
export interface StdioProcessListener {
  /** What it prints, as it comes. */
  readonly onOutput: (bytes: Uint8Array) => void
  /** It has ended, of itself or because it was closed: how, in words. */
  readonly onExit: (exitReason: string) => void
}

/** A program that runs beside us. */
export interface StdioProcess {
  readonly pid: number
  /** It runs in the sandbox. */
  readonly sandboxed: boolean
  /** Done when the system has taken it. */
  send(text: string): Promise<void>
  /** The last that it printed where errors go. */
  recentStderr(): string
  /** Asks it to end by ending its input; what does not go is stopped, with all that it started. */
  close(): Promise<void>
}

/** Starts programs to talk with. */
export interface StdioProcesses {
  open(program: StdioProgram, listener: StdioProcessListener): Promise<StdioProcess>
  /** What programs made of protected paths, so that it was set aside, since it was last asked. */
  takeNotices(): string[]
  /** Ends all of them at once. */
  close(): void
}

/** What companions need of the host. */
export interface StdioProcessOptions {
  /** Names of variables that programs may inherit, beside the usual ones. */
  readonly variables?: readonly string[]
  readonly sandbox?: Sandbox
  /** Called when a program runs without the sandbox that it could have had. */
  readonly onUnsandboxed?: (why: string) => void
}

/** Programs beside us, each in a group and session of its own, with a clean environment, and shut in unless trusted. */
export function createStdioProcesses(options: StdioProcessOptions): StdioProcesses {
  const running = new Map<ProcessGroup, () => string[]>()
  const pendingNotices: string[] = []

  return {
    async open(program, listener) {
      const folder = realpathSync(program.folder)
      if (!programExists(program.command, folder)) throw new Error(`There is no program ${program.command}.`)
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

/** What was to be mounted or covered may go away in the moment in which a box is made; then the program has not begun. */
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
  const extraStdio = launch ? ['pipe' as const, ...(launch.descriptors ?? [])] : []
  const stdio = ['pipe' as const, 'pipe' as const, 'pipe' as const, ...extraStdio]
  const child = withHighOomScore(() => spawn(command, args, { cwd: folder, env, stdio, detached: true }))
  launch?.markStarted(child.pid)
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

/** A shell in the box says (on 3) that the box is made, and becomes the program. */
const READY_SIGNAL_ARGS = ['--noprofile', '--norc', '-c', 'echo >&3; exec 3>&-; exec "$@"', 'begin']

/** Says whether the shell in the box has spoken, once that is certain. */
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
  const errors = createTailBuffer(MAX_STDERR_BYTES)
  const exited = new Promise<void>((resolve_) => {
    // It may have ended before it was heard that it began.
    if (child.exitCode !== null || child.signalCode !== null) resolve_()
    else child.once('exit', () => resolve_())
  })
  let isClosed = false
  let stopping: Promise<void> | undefined

  child.stdout?.on('data', (bytes: Uint8Array) => {
    if (!isClosed) listener.onOutput(bytes)
  })
  child.stderr?.on('data', (bytes: Buffer) => errors.add(bytes))
  for (const stream of child.stdio) stream?.on('error', () => undefined)
  // What it left running may hold its output open for ever; so it is its own end that counts.
  void exited.then(() => setTimeout(() => finish(describeExit(child)), OUTPUT_DRAIN_MS))

  function finish(exitReason: string): void {
    if (isClosed) return
    isClosed = true
    killGroupAndWait(group)
    onClosed()
    const repeatedPath = launch?.repeated()
    launch?.release()
    for (const stream of child.stdio) stream?.destroy()
    listener.onExit(
      repeatedPath === undefined ? exitReason : `was stopped: it went on making ${repeatedPath}, which is protected`,
    )
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
        if (isClosed || !child.stdin?.writable) return fail(new Error('it has ended'))
        child.stdin.write(text, (error) => (error ? fail(error) : done()))
      }),
    recentStderr: () => errors.text(),
    close: () => (stopping ??= end()),
  }
}

/** How long it may take to end by itself. */
const STOP_GRACE_MS = 700
/** What it said before its end may still be on its way. */
const OUTPUT_DRAIN_MS = 20
const MAX_STDERR_BYTES = 8000

/** Keeps the last bytes of a stream of any length. */
function createTailBuffer(limit: number): { add(bytes: Buffer): void; text(): string } {
  let tailBytes = Buffer.alloc(0)
  return {
    add(bytes) {
      tailBytes = Buffer.concat([tailBytes, bytes.subarray(-limit)]).subarray(-limit)
    },
    text: () => tailBytes.toString('utf8').trim(),
  }
}

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

/** What a program needs to see beside the workspace: where it is installed, and what its arguments name. */
function listNeededPaths({ command, args }: StdioProgram, folder: string): string[] {
  return [folder, command, ...args].flatMap((word) => {
    const path = isAbsolute(word) || word.startsWith('.') ? resolve(folder, word) : undefined
    // What lies in its folder is seen with it, and a command may have put a link there.
    if (path?.startsWith(`${folder}/`)) return []
    return path !== undefined && existsSync(path) ? [findInstallationFolder(realpathSync(path))] : []
  })
}

/** The folder of the package that a file belongs to, with the packages that it uses. */
function findInstallationFolder(path: string): string {
  const modules = path.indexOf('/node_modules/')
  if (modules > 0) return path.slice(0, modules)
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    if (MANIFESTS.some((name) => existsSync(join(at, name)))) return at
  }
  return path
}

const MANIFESTS = ['package.json', 'pyproject.toml', 'pyvenv.cfg']

/** A box would only say that it could not start it. */
function programExists(command: string, folder: string): boolean {
  if (command.includes('/')) return existsSync(resolve(folder, command))
  return (process.env['PATH'] ?? '').split(delimiter).some((pathEntry) => existsSync(join(pathEntry, command)))
}

function toStartError(command: string, error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EACCES') return new Error(`${command} is no program that may be run.`)
  return new Error(`${command} could not be started: ${getErrorMessage(error)}`)
}

function describeExit({ exitCode, signalCode }: ChildProcess): string {
  return signalCode === null ? `ended with code ${exitCode}` : `was ended by ${signalCode}`
}
