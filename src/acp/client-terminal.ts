import type { CommandRequest, CommandResult, Host } from '../host/host.ts'
import { findShell } from '../host/process/find-shell.ts'
import { createHelperlessGitEnvironment } from '../host/process/helperless-git-environment.ts'
import type { Connection } from './connection.ts'
import type { CreateTerminalResponse, TerminalOutputResponse, WaitForTerminalExitResponse } from './protocol.ts'
import type { HostWrapOptions } from './setup.ts'

interface ClientTerminalOptions extends HostWrapOptions {
  readonly connection: Connection
  readonly sessionId: () => string
  /** Called before the command can end, so that the editor shows the terminal. */
  readonly onTerminal: (command: string, terminalId: string) => void
}

/** Runs commands in a terminal of the editor, unless they have a sandbox here, which the editor's terminals do not. */
export function withClientTerminal(host: Host, options: ClientTerminalOptions): Host {
  const run = async (command: CommandRequest): Promise<CommandResult> => {
    if (await options.isSandboxed()) return host.processes.run(command)
    const terminalId = await createTerminalOrStop(command, options)
    if (terminalId === STOPPED) return { ...NO_OUTPUT, error: 'The command was cancelled.', cancelled: true }
    return terminalId === undefined ? host.processes.run(command) : runInTerminal(command, terminalId, options)
  }
  return { ...host, processes: { ...host.processes, run } }
}

const NO_OUTPUT = { output: '', exitCode: null, signal: null, background: [], group: undefined } as const

/** Undefined: the client refused, so that nothing has started there. A terminal that comes too late is killed. */
async function createTerminalOrStop(
  command: CommandRequest,
  options: ClientTerminalOptions,
): Promise<string | typeof STOPPED | undefined> {
  const { connection } = options
  const { signal } = command
  if (signal?.aborted) return STOPPED
  let onAbort: () => void = ignoreError
  const stopped = new Promise<typeof STOPPED>((resolve) => (onAbort = () => resolve(STOPPED)))
  signal?.addEventListener('abort', onAbort, { once: true })
  // A client that is gone may have started the command: it must not run here, too.
  const created = createTerminal(command, options).catch(() => (connection.isClosed ? STOPPED : undefined))
  const first = await Promise.race([created, stopped])
  signal?.removeEventListener('abort', onAbort)
  if (first === STOPPED) void endLateTerminal(created, options)
  return first
}

const STOPPED = Symbol('stopped')

async function endLateTerminal(
  created: Promise<string | typeof STOPPED | undefined>,
  { connection, sessionId }: ClientTerminalOptions,
): Promise<void> {
  const terminalId = await created
  if (typeof terminalId !== 'string') return
  for (const method of ['kill', 'release'])
    void connection.request(`terminal/${method}`, { sessionId: sessionId(), terminalId }).catch(ignoreError)
}

async function createTerminal(
  { command, folder, env = {}, gitHelpers }: CommandRequest,
  { connection, sessionId, scratch }: ClientTerminalOptions,
): Promise<string> {
  const variables = {
    ...NON_INTERACTIVE,
    ...(gitHelpers === 'off' && createHelperlessGitEnvironment(scratch)),
    ...env,
  }
  const params = {
    sessionId: sessionId(),
    command: findShell(),
    args: ['-c', command],
    cwd: folder,
    env: Object.entries(variables).map(([name, value]) => ({ name, value })),
    outputByteLimit: MAX_OUTPUT_BYTES,
  }
  return (await connection.request<CreateTerminalResponse>('terminal/create', params)).terminalId
}

/** A terminal makes programs ask and page; nobody types there. */
const NON_INTERACTIVE = { PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', GIT_EDITOR: 'false' } as const

const MAX_OUTPUT_BYTES = 2 ** 20
const POLL_INTERVAL_MS = 500
/** How long a client may take to end a command that it was told to kill. */
const KILL_GRACE_MS = 5000

async function runInTerminal(
  { command, timeout, idleTimeout, signal, onOutput }: CommandRequest,
  terminalId: string,
  { connection, sessionId, onTerminal }: ClientTerminalOptions,
): Promise<CommandResult> {
  const ids = { sessionId: sessionId(), terminalId }
  const request = <Result>(method: string): Promise<Result> => connection.request<Result>(`terminal/${method}`, ids)
  onTerminal(command, terminalId)
  let stopReason: Pick<CommandResult, 'error' | 'timedOut' | 'cancelled'> | undefined
  let giveUp: () => void = ignoreError
  const givenUp = new Promise<void>((resolve) => (giveUp = resolve))
  const stop = (reason: NonNullable<typeof stopReason>): void => {
    if (stopReason) return
    stopReason = reason
    void request('kill').catch(ignoreError)
    setTimeout(giveUp, KILL_GRACE_MS).unref()
  }
  const onAbort = (): void => stop({ error: 'The command was cancelled.', cancelled: true })
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(() => stop({ error: `The command timed out after ${timeout / 1000} s.`, timedOut: true }), timeout)
  let seen = ''
  let lastOutputAt = performance.now()
  const readOutput = async (): Promise<void> => {
    const { output } = await request<TerminalOutputResponse>('output')
    if (output !== seen) {
      lastOutputAt = performance.now()
      onOutput?.(output.startsWith(seen) ? output.slice(seen.length) : output)
    }
    seen = output
    if (idleTimeout !== undefined && performance.now() - lastOutputAt > idleTimeout)
      stop({ error: `The command printed nothing for ${idleTimeout / 1000} s and was stopped.`, timedOut: true })
  }
  const poll = setInterval(() => void readOutput().catch(ignoreError), POLL_INTERVAL_MS)
  try {
    const noStatus = givenUp.then((): WaitForTerminalExitResponse => ({}))
    const status = await Promise.race([request<WaitForTerminalExitResponse>('wait_for_exit'), noStatus])
    // A client that does not answer any more must not keep the run from its end.
    const seenOutput = givenUp.then((): TerminalOutputResponse => ({ output: seen, truncated: false }))
    const { output, truncated } = await Promise.race([request<TerminalOutputResponse>('output'), seenOutput])
    return {
      output,
      exitCode: status.exitCode ?? null,
      signal: status.signal ?? null,
      background: [],
      group: undefined,
      ...(truncated && { notes: ['The beginning of the output is missing: it was too long.'] }),
      ...stopReason,
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const lost = { error: `The editor's terminal failed: ${message}` }
    return { ...NO_OUTPUT, output: seen, ...(stopReason ?? lost) }
  } finally {
    clearInterval(poll)
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
    void request('release').catch(ignoreError)
  }
}

/** The end of the command reports what is wrong. */
function ignoreError(): void {}
