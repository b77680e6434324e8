import { type ChildProcess, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
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

/** A shell that waits for its command. */
export interface CommandShell extends WaitingProcess {
  /** Has the command started? Not if the sandbox could not be set up. */
  readonly begun: Promise<boolean>
  /** Of the command. */
  readonly exit: Promise<ShellExit>
  run(command: string, env: Readonly<Record<string, string>>): void
  /** A shell that still waits ends, and a sandbox with everything in it. */
  readonly release: () => void
}

interface WaitingProcess {
  readonly child: ChildProcess
  readonly marker: string
  readonly output: CommandOutput
}

export interface ShellOptions {
  readonly scratch: string
  /** Without the marker, which each shell has for itself. */
  readonly env: Readonly<Record<string, string>>
  readonly hasInput: boolean
}

/** Shells read from a pipe byte by byte, so a long command is an argument. */
export const MAX_SENT_LENGTH = 2000

/** Reads variables and the command from 3, each with a zero byte at its end, and an empty one between. */
export const READ_COMMAND_SCRIPT = `while IFS= read -r -d '' variable <&3 && [ -n "$variable" ]; do export "$variable"; done
IFS= read -r -d '' command <&3 || exit`

interface WaitingStart extends ShellOptions {
  /** The program that starts the shell, with its arguments, if there is one. */
  readonly launcher: readonly string[]
  readonly cwd: string
  readonly script: string
  readonly scriptArgs: readonly string[]
  /** From 4 on. */
  readonly openDescriptors?: () => readonly ('pipe' | number)[]
}

/** Starts bash with a script that waits for a command on 3. Start-up files of the user are for the command's own shell. */
export function startWaiting(start: WaitingStart): WaitingProcess & { readonly lifeline: Writable } {
  const { name, marker, env: markerEnv } = createProcessMarker('command')
  const output = openCommandOutput(start.scratch, name)
  const { descriptor } = output
  // No input and no terminal: a program that asks a question gets the end of its input at once.
  const input = start.hasInput ? ('pipe' as const) : ('ignore' as const)
  const shell = [findShell(), '--noprofile', '--norc', '-p', '-c', '--', start.script, 'bash', ...start.scriptArgs]
  const [program = '', ...args] = [...start.launcher, ...shell]
  try {
    const child = withHighOomScore(() =>
      spawn(program, args, {
        cwd: start.cwd,
        env: { ...start.env, ...markerEnv },
        stdio: [input, descriptor, descriptor, 'pipe', ...(start.openDescriptors?.() ?? [])],
        detached: true,
      }),
    )
    const lifeline = child.stdio[3] as Writable
    // What still runs must not keep us alive.
    if ('unref' in lifeline && typeof lifeline.unref === 'function') lifeline.unref()
    lifeline.on('error', () => undefined)
    return { child, marker, output, lifeline }
  } catch (error) {
    output.close(false)
    throw error
  }
}

/** What the script of a waiting shell reads; a long command is its argument. */
export function formatSentCommand(command: string, env: Readonly<Record<string, string>>): string {
  const variables = Object.entries(env).map(([key, value]) => `${key}=${value}\0`)
  return `${variables.join('')}\0${command}\0`
}
