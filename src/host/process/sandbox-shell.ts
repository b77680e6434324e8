import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { SandboxLaunch } from '../sandbox/sandbox.ts'
import { type CommandShell, formatSentCommand, READ_COMMAND_SCRIPT, type ShellExit } from './command-shell.ts'
import { type ShellOptions, startWaiting } from './command-shell.ts'

export interface SandboxShellOptions extends ShellOptions {
  readonly processLimit: number
  readonly fileLimit: number
}

/** The system counts threads, and programs have several. */
const THREADS_PER_PROCESS = 4

/**
 * The first process in a sandbox, and a second one that waits for the command. It reports (on 4) that the command starts, and its
 * exit code, and waits (on 3) until it is released: the sandbox ends with it, and background processes may still run there. Where
 * the system counts the sandbox apart, it also limits the number of threads.
 */
const SCRIPT = `exec 5>&2 2>/dev/null
[ -z "$2" ] || ulimit -u "$2"
ulimit -f "$3"
(
${READ_COMMAND_SCRIPT}
echo + >&4
exec "$BASH" --noprofile --norc -c -- "\${1:-$command}" 2>&5 3<&- 4>&- 5>&-
)
echo "=$?" >&4
exec 4>&- 1>&- 5>&-
read -r <&3`

/** A long command must be given here; a short one is sent by `run`. */
export function startSandboxShell(launch: SandboxLaunch, options: SandboxShellOptions, longCommand = ''): CommandShell {
  const maxThreads = launch.hasOwnProcessCount ? String(options.processLimit * THREADS_PER_PROCESS) : ''
  const { lifeline, ...shell } = startWaiting({
    ...options,
    launcher: [launch.program, ...launch.args],
    cwd: '/',
    script: SCRIPT,
    scriptArgs: [longCommand, maxThreads, String(Math.ceil(options.fileLimit / 1024))],
    openDescriptors: () => ['pipe', ...launch.openDescriptors()],
  })
  return {
    ...shell,
    ...readReports(shell.child),
    run: (command, env) => void lifeline.write(formatSentCommand(longCommand === '' ? command : '', env)),
    release: () => void lifeline.end(),
  }
}

/** Reads the reports; without the first one the command did not run. */
function readReports(child: ChildProcess): Pick<CommandShell, 'begun' | 'exit'> {
  const status = child.stdio[4] as Readable | null
  status?.on('error', () => undefined)
  let reports = ''
  const hasBegun = (): boolean => reports.startsWith('+')
  let onBegun: (isBegun: boolean) => void = () => undefined
  const begun = new Promise<boolean>((resolve) => (onBegun = resolve))
  const exit = new Promise<ShellExit>((resolve) => {
    status?.on('data', (data: Buffer) => {
      reports += data.toString('latin1')
      const exitCode = /=(\d+)\n/.exec(reports)?.[1]
      if (hasBegun() || exitCode !== undefined) onBegun(hasBegun())
      if (exitCode !== undefined) resolve({ exitCode: Number(exitCode), signal: null, failed: !hasBegun() })
    })
    const onEnd = (exitCode: number | null, signal: string | null): void => {
      onBegun(hasBegun())
      resolve({ exitCode, signal, failed: exitCode !== null && !hasBegun() })
    }
    child.once('error', () => onEnd(-1, null))
    child.once('close', onEnd)
  })
  return { begun, exit }
}
