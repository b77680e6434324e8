import { getUptimeMs } from './uptime.ts'
import { getAbortReason } from '../../model/abort-reason.ts'
import { setTimeout as wait } from 'node:timers/promises'
import { type ResourceMonitor, createResourceMonitor, type ExceededLimit } from './resource-monitor.ts'
import { killOnExit, cancelKillOnExit } from './kill-on-exit.ts'
import { createCleanEnvironment, OFFLINE_ENVIRONMENT } from './environment.ts'
import { createHelperlessGitEnvironment } from './helperless-git-environment.ts'
import { createBackgroundCommands, type StartedBackground } from './background-commands.ts'
import { createKeptCommands } from './kept-commands.ts'
import { findExitSignal } from './exit-signal.ts'
import { killGroupAndWait, type ProcessGroup, listGroupProcesses, stopGroup } from './process-group.ts'
import type { CommandRequest, CommandResult, Processes } from '../host.ts'
import type { CommandOutput } from './command-output.ts'
import { HostError } from '../host-error.ts'
import type { AllowedRoots } from '../files/allowed-roots.ts'
import { describeUnavailable } from '../sandbox/detect-sandbox.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import { createSpareShell } from './spare-shell.ts'
import { prepareCommand, startCommand, type StartedCommand, USE_FILE_TOOLS_HINT } from './start-command.ts'
import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'

export interface ProcessOptions {
  /** A folder of ours, outside of the others, for the output of commands. Tools may read it. */
  readonly scratch: string
  /** Names of variables that commands may inherit, beside the usual ones. */
  readonly variables?: readonly string[]
  readonly sandbox?: Sandbox
  /** Notices about programs that run beside commands. */
  readonly takeNotices?: () => readonly string[]
  /** How many processes a command may have at a time before it is stopped; 1,000 without it. */
  readonly processLimit?: number
  /** How much memory a command may use before it is stopped, in bytes; three quarters of the machine's without it. */
  readonly memoryLimit?: number
  /** How large a file a command in the sandbox may write, in bytes; 16 GiB without it. */
  readonly fileLimit?: number
  /** Commands that were started in the background go on when the host is closed, unless they are in a sandbox. */
  readonly keepBackground?: boolean
  /** Called once, when a command runs without the sandbox that it could have had. */
  readonly onUnsandboxed?: (why: string) => void
}

type LocalProcesses = Required<Processes> & {
  /** Returns notes that no result had. */
  close(): readonly string[]
}

/** Runs commands with bash, each in its own group and session. close() ends what still runs. */
export function createLocalProcesses(roots: AllowedRoots, options: ProcessOptions): LocalProcesses {
  const { scratch, variables, sandbox } = options
  const backgroundCommands = new Set<StartedCommand>()
  const running = new Set<ProcessGroup>()
  const monitor = createResourceMonitor(defined({ processes: options.processLimit, memory: options.memoryLimit }))
  const kept = createKeptCommands(scratch)
  const released = new AbortController()
  const spare = createSpareShell()
  const late = createLateEnds()
  const backgroundList = createBackgroundCommands(kept, options.keepBackground)
  let wasUnsandboxedReported = false

  /** Why a command may not run. A missing sandbox that is optional is reported to the user, once. */
  async function findBlockedReason(): Promise<string | undefined> {
    const state = await sandbox?.state()
    if (!state || state.isActive || sandbox?.mode === 'off') return undefined
    const why = describeUnavailable(state)
    if (sandbox?.mode === 'on') return `The command did not run, because it must run in a sandbox. ${why}`
    if (!wasUnsandboxedReported) options.onUnsandboxed?.(why)
    wasUnsandboxedReported = true
    return undefined
  }

  async function run(
    command: CommandRequest,
    onStarted?: (started: StartedBackground) => void,
  ): Promise<CommandResult> {
    for (let attempt = 1; ; attempt++) {
      if (command.signal?.aborted) return notRunResult('The command was cancelled before it started.', true)
      const blockedReason = command.access === 'outside' ? undefined : await findBlockedReason()
      if (blockedReason !== undefined) return notRunResult(blockedReason)
      const end = await runOnce(command, onStarted)
      if (!('startFailure' in end)) return end
      // A path to be mounted or covered disappeared at this moment; the command has not started.
      if (attempt === MAX_START_ATTEMPTS) return notRunResult(`The sandbox could not be started: ${end.startFailure}`)
    }
  }

  async function runOnce(
    command: CommandRequest,
    onStarted?: (started: StartedBackground) => void,
  ): Promise<CommandResult | { readonly startFailure: string }> {
    await late.settle()
    const git = command.gitHelpers === 'off' ? createHelperlessGitEnvironment(scratch) : {}
    const sandboxState = command.access === undefined ? await sandbox?.state() : undefined
    const offline = sandboxState?.isActive && !sandboxState.network ? OFFLINE_ENVIRONMENT : {}
    const env = createCleanEnvironment(process.env, variables, offline)
    let started: StartedCommand
    try {
      started = await startCommand(roots, command, {
        scratch,
        env,
        extraEnv: { ...command.env, ...git },
        spare,
        processLimit: monitor.maxProcesses,
        fileLimit: options.fileLimit ?? DEFAULT_MAX_FILE_BYTES,
        ...defined({ sandbox }),
      })
    } catch (error) {
      if (error instanceof HostError) throw error
      return notRunResult(`The command could not be started: ${getErrorMessage(error)}`)
    }
    const { group, output } = started
    running.add(group)
    killOnExit(group)
    monitor.watch(group)
    if (onStarted && (await started.begun)) onStarted({ ...started, outputFile: output.file })
    const isReleased = (): boolean => released.signal.aborted && kept.has(group)
    const ending = await watchCommand(started, group, command, output, isReleased)
    if (isReleased()) {
      started.unref()
      output.close(true)
      return { ...notRunResult('It goes on after the session.'), group: group.id }
    }
    // What changes nothing leaves nothing in the background, and need not be waited for: it is closed and checked before the next
    // command starts.
    const isLate = command.isHarmless === true && ending === undefined
    const background = isLate ? [] : await listBackgroundProcesses(group, ending !== undefined, monitor)
    const stopped =
      ending ??
      describeExceededLimit(monitor, await monitor.findExceededLimit(group)) ??
      describeRepeatedWrites(started)
    const unwatch = (): void => {
      cancelKillOnExit(group)
      monitor.unwatch(group)
    }
    if (background.length === 0 && !isLate) unwatch()
    const { exitCode, signal, failed } = await Promise.race([
      started.exit,
      wait(STOP_GRACE_MS, UNKNOWN_EXIT, { ref: false }),
    ])
    if (failed && !stopped) {
      // Notices about earlier commands are kept for the next attempt.
      unwatch()
      await started.finish(false)
      running.delete(group)
      const startFailure = output.text().text.trim()
      output.close(false)
      return { startFailure }
    }
    const finish = async (): Promise<string[]> => {
      // A sandbox ends with all that is in it.
      if (isLate && !group.isolated && listGroupProcesses(group).length > 0) await stopGroup(group, STOP_GRACE_MS)
      if (isLate) unwatch()
      const found = await started.finish(background.length > 0)
      running.delete(group)
      return found
    }
    const notes = [
      ...late.takeNotes(),
      ...(isLate ? late.add(finish) : await finish()),
      ...(await collectBackgroundNotices()),
      ...(options.takeNotices?.() ?? []),
    ]
    if (background.length > 0) backgroundCommands.add(started)
    command.onOutput?.(output.readNew())
    const { text, omittedBytes } = output.text()
    const keepFile = omittedBytes > 0 || background.length > 0
    output.close(keepFile)
    return {
      output: text,
      exitCode,
      signal: signal ?? findExitSignal(exitCode) ?? null,
      background,
      group: group.id,
      ...(background.length > 0 && { backgroundId: backgroundList.addRest(command, group, output.file) }),
      ...(group.isolated && { sandboxed: true }),
      ...(notes.length > 0 && { notes }),
      ...(stopped && { error: stopped.why, ...stopped.flags }),
      ...(omittedBytes > 0 && { omittedBytes }),
      ...(keepFile && { outputFile: output.file }),
    }
  }

  /** Finishes earlier commands whose background processes have ended, and reports those that were stopped. */
  async function collectBackgroundNotices(): Promise<string[]> {
    const notes: string[] = []
    for (const earlierCommand of backgroundCommands) {
      const isEnded = await hasGroupEnded(earlierCommand.group)
      const why =
        describeExceededLimit(monitor, await monitor.findExceededLimit(earlierCommand.group))?.why ??
        (isEnded ? describeRepeatedWrites(earlierCommand)?.why : undefined)
      if (why !== undefined) notes.push(`Background processes of an earlier command: ${why}`)
      if (!isEnded) notes.push(...earlierCommand.takeNotices())
      if (!isEnded || !backgroundCommands.delete(earlierCommand)) continue
      monitor.unwatch(earlierCommand.group)
      cancelKillOnExit(earlierCommand.group)
      notes.push(...(await earlierCommand.finish(false)))
    }
    return notes
  }

  return {
    run: (command) => run(command),
    start: (command) => backgroundList.start(command, run),
    listBackground: () => backgroundList.list(),
    restoreBackground: () => backgroundList.restore(),
    onIdle: () => spare.onIdle(),
    async prepare(folder) {
      // Not before the first command, because the first launch may create something in the workspace.
      if (!sandbox || !spare.isWaiting) return
      await late.settle()
      if (running.size === 0) await prepareCommand(roots, folder, sandbox)
    },
    close() {
      released.abort(getAbortReason())
      spare.close()
      monitor.close()
      // What is in a sandbox ends with it; only then nothing can change the files that are checked.
      for (const group of [...running, ...[...backgroundCommands].map((earlierCommand) => earlierCommand.group)])
        if (!kept.has(group)) killGroupAndWait(group)
      for (const earlierCommand of backgroundCommands) void earlierCommand.finish(false)
      backgroundCommands.clear()
      return late.takeNotes()
    },
  }
}

/** Commands that have ended, but were not closed and checked. */
function createLateEnds() {
  const notes: string[] = []
  let pending: Promise<void> = Promise.resolve()
  return {
    add(finish: () => Promise<string[]>): [] {
      const before = pending
      // The next request to the model is sent before.
      pending = new Promise<void>((resolve) => void setImmediate(resolve))
        .then(() => before)
        .then(finish)
        .then((found) => void notes.push(...found.map((note) => `An earlier command: ${note}`)))
        .catch(() => undefined)
      return []
    },
    settle: (): Promise<void> => pending,
    takeNotes: (): string[] => notes.splice(0),
  }
}

/** A process list is not exact while processes fork and exit, so one empty list proves nothing. */
async function hasGroupEnded(group: ProcessGroup): Promise<boolean> {
  if (listGroupProcesses(group).length > 0) return false
  await wait(20)
  return listGroupProcesses(group).length === 0
}

/** For a process that even the system cannot end at the moment. */
const UNKNOWN_EXIT = { exitCode: null, signal: null, failed: false }

interface StopReason {
  readonly why: string
  readonly flags?: Pick<CommandResult, 'timedOut' | 'cancelled'>
}

function describeExceededLimit(
  { maxProcesses, maxMemoryBytes }: ResourceMonitor,
  excess: ExceededLimit | undefined,
): StopReason | undefined {
  if (excess === undefined) return undefined
  const reached = {
    processes: `the process limit was reached (${maxProcesses} at a time)`,
    memory: `the memory limit was reached (${Math.round(maxMemoryBytes / 2 ** 20)} MB)`,
  } satisfies Record<ExceededLimit, string>
  return { why: `The command was stopped: ${reached[excess]}.` }
}

function describeRepeatedWrites(started: StartedCommand): StopReason | undefined {
  const path = started.findRepeatedPath()
  if (path === undefined) return undefined
  return { why: `The command was stopped: it kept creating ${path}, which is protected. ${USE_FILE_TOOLS_HINT}` }
}

/** Waits for the end, reports output, and stops a command that runs too long, is silent too long, or was cancelled. */
async function watchCommand(
  started: StartedCommand,
  group: ProcessGroup,
  command: CommandRequest,
  output: CommandOutput,
  isReleased: () => boolean,
): Promise<StopReason | undefined> {
  const finished = new AbortController()
  const ended = started.exit.then(() => finished.abort(getAbortReason()))
  const startedAt = getUptimeMs()
  let lastSize = 0
  let lastOutputAt = startedAt
  let stopped: StopReason | undefined
  const cancelled = waitForAbort(command.signal, finished.signal)
  while (!finished.signal.aborted) {
    await Promise.race([
      ended,
      cancelled,
      wait(POLL_INTERVAL_MS, undefined, { signal: finished.signal }).catch(() => undefined),
    ])
    if (finished.signal.aborted) break
    if (isReleased()) return undefined
    const size = output.size()
    const now = getUptimeMs()
    if (size !== lastSize) lastOutputAt = now
    lastSize = size
    const newText = command.onOutput ? output.readNew() : ''
    if (newText !== '') command.onOutput?.(newText)
    stopped = findStopReason(command, { runtimeMs: now - startedAt, idleMs: now - lastOutputAt, size })
    if (!stopped) continue
    await stopGroup(group, STOP_GRACE_MS)
    break
  }
  await Promise.race([ended, wait(STOP_GRACE_MS, undefined, { ref: false })])
  return stopped
}

const MAX_START_ATTEMPTS = 5
const POLL_INTERVAL_MS = 50
const STOP_GRACE_MS = 2000
/** More than a build writes into one file. */
const DEFAULT_MAX_FILE_BYTES = 16 * 2 ** 30
/** No disk should be filled by an output that nobody can read. */
const MAX_OUTPUT_BYTES = 8 * 2 ** 30

function findStopReason(
  { signal, timeout, idleTimeout }: CommandRequest,
  { runtimeMs, idleMs, size }: { runtimeMs: number; idleMs: number; size: number },
): StopReason | undefined {
  if (signal?.aborted) return { why: 'The command was cancelled.', flags: { cancelled: true } }
  const as = { timedOut: true } as const
  if (timeout !== undefined && runtimeMs >= timeout)
    return { why: `The command was stopped after ${timeout / 1000} s.`, flags: as }
  if (idleTimeout !== undefined && idleMs >= idleTimeout) {
    return { why: `The command was stopped: it printed nothing for ${idleTimeout / 1000} s.`, flags: as }
  }
  return size > MAX_OUTPUT_BYTES ? { why: 'The command was stopped: it printed too much.' } : undefined
}

function waitForAbort(signal: AbortSignal | undefined, finished: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal?.addEventListener('abort', () => resolve(), { once: true, signal: finished })
  })
}

/**
 * The processes that remain after the shell has ended. They get a moment to finish, and longer while their number grows,
 * because it may reach the limit.
 */
async function listBackgroundProcesses(
  group: ProcessGroup,
  wasStopped: boolean,
  monitor: ResourceMonitor,
): Promise<number[]> {
  const startedAt = getUptimeMs()
  let deadline = startedAt + (wasStopped ? 0 : EXIT_GRACE_MS)
  let maxCount = monitor.maxProcesses / 10
  for (;;) {
    const count = monitor.countProcesses(group)
    if ((await monitor.findExceededLimit(group)) !== undefined) return []
    const now = getUptimeMs()
    if (!wasStopped && count > maxCount) deadline = Math.min(now + EXIT_GRACE_MS, startedAt + MAX_EXIT_GRACE_MS)
    maxCount = Math.max(maxCount, count)
    if (count === 0) return []
    const alive = now >= deadline ? listGroupProcesses(group) : undefined
    if (alive && alive.length <= monitor.maxProcesses) return alive
    await wait(20)
  }
}

const EXIT_GRACE_MS = 200
const MAX_EXIT_GRACE_MS = 5000

function notRunResult(error: string, cancelled?: true): CommandResult {
  const end = { output: '', exitCode: null, signal: null, error, background: [], group: undefined }
  return cancelled ? { ...end, cancelled } : end
}
