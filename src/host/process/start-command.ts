import { type ChildProcess, spawn } from 'node:child_process'
import { basename } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { CommandOutput } from './command-output.ts'
import { type CommandShell, MAX_SENT_LENGTH, type ShellExit } from './command-shell.ts'
import { ensureWatchdog } from './kill-on-exit.ts'
import { startPlainShell } from './plain-shell.ts'
import { startSandboxShell } from './sandbox-shell.ts'
import type { ShellTerms, SpareShell } from './spare-shell.ts'
import { type ProcessGroup, killGroup, killSandbox, readProcessMoment } from './process-group.ts'
import type { CommandRequest } from '../host.ts'
import { HostError } from '../host-error.ts'
import { withOpenedPath } from '../files/opened-path.ts'
import { defined } from '../../model/defined.ts'
import type { AllowedRoots } from '../files/allowed-roots.ts'
import type { QuarantinedPath } from '../sandbox/protect/missing-path-guard.ts'
import type { SandboxLaunch, Sandbox } from '../sandbox/sandbox.ts'
import { findShell } from './find-shell.ts'

export interface StartedCommand {
  readonly group: ProcessGroup
  readonly output: CommandOutput
  readonly begun: CommandShell['begun']
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

interface StartOptions {
  readonly scratch: string
  readonly env: Readonly<Record<string, string>>
  /** Variables beside those, of this command only. */
  readonly extraEnv: Readonly<Record<string, string>>
  readonly sandbox?: Sandbox
  readonly spare: SpareShell
  readonly processLimit: number
  readonly fileLimit: number
}

/** The descriptors before are those of the shell. */
const LAUNCH_OPTIONS = { firstDescriptor: 5 }

/** Prepares the launch of a command in a folder. */
export async function prepareCommand(roots: AllowedRoots, folder: string, sandbox: Sandbox): Promise<void> {
  await sandbox.prepareAhead?.(findPlace(roots, folder).path, LAUNCH_OPTIONS)
}

function findPlace(roots: AllowedRoots, folder: string) {
  return withFolder(roots, folder, (_, identity, path) => ({ identity, path }))
}

/** Starts the shell in a folder that is held while it starts, so that it runs where it was checked. */
export async function startCommand(
  roots: AllowedRoots,
  command: CommandRequest,
  options: StartOptions,
): Promise<StartedCommand> {
  const { folder, access, isHarmless = false } = command
  const place = findPlace(roots, folder)
  const launchOptions = access === 'network' ? { ...LAUNCH_OPTIONS, network: true } : LAUNCH_OPTIONS
  const launch = access === 'outside' ? undefined : await options.sandbox?.prepareLaunch(place.path, launchOptions)
  if (!launch?.isolated) ensureWatchdog()
  const start = readProcessMoment()
  try {
    const terms = createTerms(roots, command, place, launch, options)
    const shell = startShell(command, terms, options)
    const { child, marker, output, begun, exit } = shell
    launch?.markStarted(child.pid)
    child.stdin?.on('error', () => undefined)
    const exited = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
    if (child.pid === undefined) await new Promise((_, reject) => void child.once('error', reject))
    child.on('error', () => undefined)
    const isolated = launch?.isolated ? (true as const) : undefined
    const group: ProcessGroup = { id: child.pid ?? 0, marker, ...defined({ start, isolated }) }
    return {
      group,
      output,
      begun,
      exit,
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
      finish: (keepsRunning) => finishCommand({ ...shell, group, launch, exited, isHarmless }, keepsRunning),
      takeNotices: () => describeQuarantined(launch?.found(), 'the command'),
      findRepeatedPath: () => launch?.repeated(),
    }
  } catch (error) {
    launch?.closeDescriptors()
    launch?.release()
    throw error
  }
}

interface StartedShell extends CommandShell {
  /** Prepares for the next command, unless that was done or dropped. */
  readonly refill: () => void
  readonly drop: () => void
}

interface TermsOfCommand extends ShellTerms {
  readonly start: (longCommand?: string) => CommandShell
}

/** Holds a folder meanwhile. Its identity is the same whatever happens to its name. */
function withFolder<T>(roots: AllowedRoots, folder: string, use: (at: string, identity: string, path: string) => T): T {
  return withOpenedPath(roots, folder, { need: 'write' }, ({ entry, path }) => {
    if (!entry) throw new HostError('not-found', `Folder not found: ${folder}`)
    if (!entry.stats.isDirectory()) throw new HostError('not-folder', `Not a folder: ${folder}`)
    return use(entry.at, `${entry.stats.dev}:${entry.stats.ino}`, path)
  })
}

function createTerms(
  roots: AllowedRoots,
  { folder, hasInput }: CommandRequest,
  place: { readonly path: string; readonly identity: string },
  launch: SandboxLaunch | undefined,
  { scratch, env, processLimit, fileLimit }: StartOptions,
): TermsOfCommand {
  const options = { scratch, env, hasInput: hasInput === true }
  const close = (): void => launch?.closeDescriptors()
  if (launch?.isolated) {
    const { program, args, identity: mounted } = launch
    const limits = { processLimit, fileLimit }
    return {
      key: mounted && { program, args, mounted, place, options, limits },
      // No sandbox is set up while a command runs that could change what is mounted there.
      count: 1,
      start: (longCommand) => startSandboxShell(launch, { ...options, ...limits }, longCommand),
      close,
    }
  }
  return {
    key: launch ? undefined : { place, options },
    // The second one is for a model that answers before bash has started.
    count: 2,
    start: (longCommand) =>
      withFolder(roots, folder, (at, identity) => {
        if (identity !== place.identity) throw new HostError('moved', `${folder} was replaced.`)
        return startPlainShell(at, options, longCommand, launch && [launch.program, ...launch.args])
      }),
    close,
  }
}

/** The spare shell, if there is one for the same terms. */
function startShell({ command, hasInput }: CommandRequest, terms: TermsOfCommand, options: StartOptions): StartedShell {
  const { spare, extraEnv } = options
  const isLong = command.length > MAX_SENT_LENGTH
  const canWait = !isLong && !hasInput
  const shell = (canWait ? spare.take(terms) : undefined) ?? terms.start(isLong ? command : undefined)
  shell.run(command, extraEnv)
  let isOpen = true
  const drop = (): void => {
    if (isOpen) terms.close()
    isOpen = false
  }
  const refill = (): void => {
    if (isOpen) spare.refill(terms)
    isOpen = false
  }
  if (!canWait) drop()
  return { ...shell, refill, drop }
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

interface RunningCommand extends StartedShell {
  readonly group: ProcessGroup
  readonly launch: SandboxLaunch | undefined
  readonly exited: Promise<void>
  readonly isHarmless: boolean
}

async function finishCommand(
  { child, group, launch, exited, isHarmless, release, refill, drop }: RunningCommand,
  keepsRunning: boolean,
): Promise<string[]> {
  if (!launch) {
    refill()
    return []
  }
  if (keepsRunning) {
    child.unref()
    drop()
  } else if (launch.isolated) {
    // Who may have changed something must have ended before the next sandbox mounts it.
    if (isHarmless) refill()
    // Nothing but its own shell runs there any more; with its first process, all of them end.
    await killSandbox(group)
    release()
    void killIfLate(group, exited)
    refill()
  }
  const notices = describeQuarantined(launch.check(), 'the command')
  if (!keepsRunning) launch.release()
  return notices
}

/** The process that started the sandbox is outside of it, and ends by itself. */
async function killIfLate(group: ProcessGroup, exited: Promise<void>): Promise<void> {
  if (await Promise.race([exited, wait(EXIT_TIMEOUT_MS, 'late' as const, { ref: false })])) killGroup(group)
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
