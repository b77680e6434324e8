import { type CommandShell, formatSentCommand, READ_COMMAND_SCRIPT, type ShellExit } from './command-shell.ts'
import { type ShellOptions, startWaiting } from './command-shell.ts'

/** The shell of the command takes the place of the one that waits. */
const SCRIPT = `${READ_COMMAND_SCRIPT}
exec "$BASH" --noprofile --norc -c -- "\${1:-$command}" 3<&-`

/**
 * A shell without a sandbox, or where the rules of the sandbox are names and not mounts: `launcher` applies them. A long command
 * must be given here; a short one is sent by `run`.
 */
export function startPlainShell(
  cwd: string,
  options: ShellOptions,
  longCommand = '',
  launcher: readonly string[] = [],
): CommandShell {
  const { lifeline, ...shell } = startWaiting({ ...options, launcher, cwd, script: SCRIPT, scriptArgs: [longCommand] })
  const exit = new Promise<ShellExit>((resolve) => {
    shell.child.once('exit', (exitCode, signal) => resolve({ exitCode, signal, failed: false }))
  })
  return {
    ...shell,
    begun: Promise.resolve(true),
    exit,
    run: (command, env) => void lifeline.end(formatSentCommand(longCommand === '' ? command : '', env)),
    release: () => void lifeline.end(),
  }
}
