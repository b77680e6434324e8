import type { StdioProcess, StdioProcesses } from '../../host/process/stdio-process.ts'
import { findShell } from '../../host/process/find-shell.ts'
import type { JsonObject } from '../../model/json.ts'
import type { CommandHook } from './hook-definition.ts'

/** How the command of a hook ended. */
export interface HookCommandResult {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command of a hook with JSON on its standard input. Rejects if it cannot start, takes too long, or is stopped. */
export async function runHookCommand(
  processes: Pick<StdioProcesses, 'open'>,
  { command, timeoutMs, isTrusted }: CommandHook,
  input: JsonObject,
  folder: string,
  signal: AbortSignal,
): Promise<HookCommandResult> {
  let stdout = ''
  const decoder = new TextDecoder()
  let onExit: (exitCode: number | null) => void = () => undefined
  const exited = new Promise<number | null>((resolve) => (onExit = resolve))
  const program = {
    command: findShell(),
    args: ['-c', command],
    folder,
    env: Object.fromEntries(PROJECT_VARIABLES.map((name) => [name, folder])),
    trusted: isTrusted,
    network: isTrusted,
  }
  const child = await processes.open(program, {
    onOutput: (bytes) => {
      if (stdout.length < MAX_OUTPUT_CHARS) stdout += decoder.decode(bytes, { stream: true })
    },
    onExit: (_reason, exitCode) => onExit(exitCode ?? null),
  })
  // A command need not read its input.
  await child.send(`${JSON.stringify(input)}\n`).catch(() => undefined)
  child.endInput()
  const ended = await waitForEnd(exited, timeoutMs, signal)
  const stderr = child.recentStderr()
  if (ended !== 'timeout' && ended !== 'aborted') return { exitCode: ended, stdout, stderr }
  await stopChild(child)
  throw new Error(ended === 'timeout' ? `it took longer than ${timeoutMs / 1000} s` : 'it was stopped')
}

const PROJECT_VARIABLES = ['DRAGOMAN_PROJECT_DIR', 'CLAUDE_PROJECT_DIR', 'GEMINI_PROJECT_DIR']
const MAX_OUTPUT_CHARS = 2 ** 20

async function waitForEnd(
  exited: Promise<number | null>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<number | null | 'timeout' | 'aborted'> {
  let timer: NodeJS.Timeout | undefined
  let onAbort: (() => void) | undefined
  const stopped = new Promise<'timeout' | 'aborted'>((resolve) => {
    timer = setTimeout(() => resolve('timeout'), timeoutMs)
    onAbort = () => resolve('aborted')
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([exited, stopped])
  } finally {
    clearTimeout(timer)
    if (onAbort) signal.removeEventListener('abort', onAbort)
  }
}

async function stopChild(child: StdioProcess): Promise<void> {
  await child.close().catch(() => undefined)
}
