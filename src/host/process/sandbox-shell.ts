import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { SandboxLaunch } from '../sandbox/sandbox.ts'
import { type CommandOutput, openCommandOutput } from './command-output.ts'
import { findShell } from './find-shell.ts'
import { createProcessMarker } from './kill-on-exit.ts'
import { withHighOomScore } from './oom-score.ts'

/** How a shell ended. `failed`: it never ran the command, because the sandbox could not be set up. */
export interface ShellExit {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly failed: boolean
}

/** A shell in a sandbox of its own that waits for its command. */
export interface SandboxShell {
  readonly child: ChildProcess
  readonly marker: string
  readonly output: CommandOutput
  /** Has the command started? Not if the sandbox could not be set up. */
  readonly begun: Promise<boolean>
  /** Of the command. */
  readonly exit: Promise<ShellExit>
  run(command: string, env: Readonly<Record<string, string>>): void
  /** Ends the sandbox with everything in it. */
  release(): void
}

export interface ShellOptions {
  readonly scratch: string
  /** Without the marker, which each shell has for itself. */
  readonly env: Readonly<Record<string, string>>
  readonly hasInput: boolean
  readonly processLimit: number
  readonly fileLimit: number
}

/** Shells read from a pipe byte by byte, so a long command is an argument. */
export const MAX_SENT_LENGTH = 2000

/** The system counts threads, and programs have several. */
const THREADS_PER_PROCESS = 4

/**
 * The first process in a sandbox. Variables and the command come on 3, each with a zero byte at its end, and an empty one
 * between. It reports (on 4) that the command starts, and its exit code, and waits (on 3) until it is released: the sandbox
 * ends with it, and background processes may still run there. Where the system counts the sandbox apart, it also limits the
 * number of threads.
 */
const SANDBOX_INIT_SCRIPT = `exec 5>&2 2>/dev/null
[ -z "$2" ] || ulimit -u "$2"
ulimit -f "$3"
while IFS= read -r -d '' variable <&3 && [ -n "$variable" ]; do export "$variable"; done
IFS= read -r -d '' command <&3 || exit
echo >&4
"$BASH" --noprofile --norc -c -- "\${1:-$command}" 2>&5 3<&- 4>&- 5>&-
echo $? >&4
exec 4>&- 1>&- 5>&-
read -r <&3`

/** A long command must be given here; a short one is sent by `run`. */
export function startSandboxShell(launch: SandboxLaunch, options: ShellOptions, longCommand = ''): SandboxShell {
  const { name, marker, env: markerEnv } = createProcessMarker('command')
  const output = openCommandOutput(options.scratch, name)
  const { descriptor } = output
  // No input and no terminal: a program that asks a question gets the end of its input at once.
  const input = options.hasInput ? ('pipe' as const) : ('ignore' as const)
  const env = { ...options.env, ...markerEnv }
  const maxThreads = launch.hasOwnProcessCount ? String(options.processLimit * THREADS_PER_PROCESS) : ''
  const limits = [maxThreads, String(Math.ceil(options.fileLimit / 1024))]
  const shell = [findShell(), '--noprofile', '--norc', '-c', '--', SANDBOX_INIT_SCRIPT, 'bash', longCommand, ...limits]
  const start = (): ChildProcess => {
    const stdio = [input, descriptor, descriptor, 'pipe' as const, 'pipe' as const, ...launch.openDescriptors()]
    return spawn(launch.program, [...launch.args, ...shell], { cwd: '/', env, stdio, detached: true })
  }
  try {
    const child = withHighOomScore(start)
    const lifeline = child.stdio[3] as Writable
    // What still runs in a sandbox must not keep us alive.
    if ('unref' in lifeline && typeof lifeline.unref === 'function') lifeline.unref()
    lifeline.on('error', () => undefined)
    return {
      child,
      marker,
      output,
      ...readReports(child),
      run(command, variables) {
        const list = Object.entries(variables).map(([key, value]) => `${key}=${value}\0`)
        lifeline.write(`${list.join('')}\0${longCommand === '' ? command : ''}\0`)
      },
      release: () => void lifeline.end(),
    }
  } catch (error) {
    output.close(false)
    throw error
  }
}

/** Reads the reports; without the first one the command did not run. */
function readReports(child: ChildProcess): Pick<SandboxShell, 'begun' | 'exit'> {
  const status = child.stdio[4] as Readable | null
  status?.on('error', () => undefined)
  let reports = ''
  let onBegun: (isBegun: boolean) => void = () => undefined
  const begun = new Promise<boolean>((resolve) => (onBegun = resolve))
  const exit = new Promise<ShellExit>((resolve) => {
    status?.on('data', (data: Buffer) => {
      reports += data.toString('latin1')
      onBegun(true)
      if (/\n.*\n/.test(reports)) resolve({ exitCode: Number(reports.trim()), signal: null, failed: false })
    })
    const onEnd = (exitCode: number | null, signal: string | null): void => {
      onBegun(reports !== '')
      resolve({ exitCode, signal, failed: exitCode !== null && reports === '' })
    }
    child.once('error', () => onEnd(-1, null))
    child.once('close', onEnd)
  })
  return { begun, exit }
}
