import type { JsonObject } from '../../model/json.ts'
import type { SandboxBlock } from '../../model/sandbox-access.ts'
import type { CommandEnd } from '../../host/host.ts'
import type { Tool, ToolOutput } from '../define.ts'
import text from './run-shell-command.md'
import { builtin, failure } from './support/builtin.ts'
import { someTextIn, textIn } from './support/input.ts'
import { absolute, shown } from './support/paths.ts'
import { plainOutput } from './support/plain-output.ts'
import { rootCommands } from './support/root-commands.ts'
import { sandboxBlock } from './support/sandbox-block.ts'
import { shellResult } from './support/shell-result.ts'

/** How long commands may take, in milliseconds. */
export interface ShellOptions {
  /** In all; without it, as long as it takes. */
  readonly timeout?: number
  /** Without printing anything. A server that was started in the foreground ends here. */
  readonly idle?: number
}

/** Runs shell commands. */
export function runShellCommand({ timeout, idle = DEFAULT_IDLE }: ShellOptions = {}): Tool {
  return builtin({
    name: 'run_shell_command',
    text,
    kind: 'execute',
    aliases: { dir_path: 'directory' },
    nameAliases: [
      { name: 'Bash', parameters: {} },
      { name: 'bash', parameters: { workdir: 'directory' } },
      { name: 'Shell', parameters: {} },
      { name: 'shell_command', parameters: { workdir: 'directory' } },
      { name: 'execute_command', parameters: { cwd: 'directory' } },
      { name: 'run_in_terminal' },
      { name: 'run_terminal_cmd' },
      // Its command is a list of words, which no shell reads.
      { name: 'shell' },
      { name: 'container.exec' },
      { name: 'local_shell' },
      // It comes back before the command ends.
      { name: 'exec_command' },
    ],
    properties: {
      command: { type: 'string', description: 'The command, exactly as bash gets it.' },
      description: { type: 'string', description: 'What it does, in a few words, for the person.' },
      directory: { type: 'string', description: 'Workspace directory to run it in; the root without it.' },
    },
    required: ['command'],
    effects: (input, folders) => [
      { kind: 'exec', command: textIn(input, 'command'), folder: folderIn(input, folders) },
    ],

    check(input) {
      const command = textIn(input, 'command')
      if (command.trim() === '') return 'command must not be empty.'
      return command.includes('\0') ? 'command must not contain a zero byte.' : undefined
    },

    preview(input, { folders }) {
      const command = textIn(input, 'command')
      const folder = folderIn(input, folders)
      const what = someTextIn(input, 'description') ?? 'Run a command'
      const title = `${what} (in ${shown(folder, folders)})`
      return Promise.resolve({ kind: 'exec', title, command, rootCommand: rootCommands(command).join(', '), folder })
    },

    async run(input, { host, folders, signal, progress, sandboxAccess, gitHelpers }) {
      const command = textIn(input, 'command')
      const folder = folderIn(input, folders)
      const info = await host.files.info(folder)
      if (info?.kind !== 'folder') return failure(`Directory not found: ${folder}`, 'file-not-found')
      const live = lastLines(progress)
      const end = await host.processes.run({
        command,
        folder,
        idle,
        signal,
        onOutput: live,
        ...(timeout !== undefined && { timeout }),
        ...(sandboxAccess && { access: sandboxAccess }),
        ...(gitHelpers && { gitHelpers }),
      })
      const blocked = sandboxAccess ? undefined : sandboxBlock(end, plainOutput(end.output), folders)
      return outputOf(end, command, someTextIn(input, 'directory'), blocked)
    },
  })
}

/** Five minutes. */
const DEFAULT_IDLE = 300_000

/** A directory by its path, or by the name of one of the workspace's folders. */
function folderIn(input: JsonObject, folders: readonly string[]): string {
  const directory = someTextIn(input, 'directory')
  if (directory === undefined) return folders[0] ?? '/'
  const named = folders.slice(1).find((folder) => folder.endsWith(`/${directory}`))
  return named ?? absolute(directory, folders)
}

function outputOf(
  end: CommandEnd,
  command: string,
  directory: string | undefined,
  blocked: SandboxBlock | undefined,
): ToolOutput {
  const output = plainOutput(end.output)
  const hint = end.timedOut ? ' Start what does not end by itself in the background with &.' : ''
  const more = remarksOf(end, blocked)
    .map((remark) => `\n[${remark}]`)
    .join('')
  const error = end.error === undefined ? undefined : end.error + hint
  const content = shellResult({ ...end, command, directory, output: output.replace(/\n+$/, '') + more, error })
  const stable = JSON.stringify([output, error, end.exitCode, end.signal])
  const isWell = end.error === undefined && end.signal === null && end.exitCode === 0
  const display = output.trim() === '' ? displayOf(end) : isWell ? output : `${output.trimEnd()}\n${displayOf(end)}`
  const facts = { exitCode: end.exitCode }
  const notices = end.notes && { notices: end.notes }
  if (end.error === undefined) return { content, display, stable, facts, ...notices, ...(blocked && { blocked }) }
  const type = end.timedOut ? 'timeout' : end.cancelled ? 'cancelled' : 'shell-execute-error'
  return { content, display, stable, facts, ...notices, error: { message: end.error, type } }
}

/** What the model should know beside the output. */
function remarksOf({ background, boxed, file, notes = [] }: CommandEnd, blocked: SandboxBlock | undefined): string[] {
  const goesOn = background.length > 0
  return [
    ...(goesOn && file !== undefined ? [`What goes on prints to ${file}`] : []),
    // Numbers and ports of one box mean nothing in another.
    ...(goesOn && boxed ? [OTHER_BOX] : []),
    ...(blocked ? [BLOCKED[blocked]] : []),
    ...notes,
  ]
}

const OTHER_BOX =
  'It goes on in a sandbox of its own and ends with this session; other commands can neither reach its ports nor kill it, so start a server and use it in one command'

const BLOCKED: Readonly<Record<SandboxBlock, string>> = {
  network:
    'The command ran in a sandbox without network access. The person can allow it for a command, or for all with --sandbox-network',
  files:
    'The command ran in a sandbox: it can write only the workspace and /tmp, no git or editor settings, and the home folder is hidden. The person can allow a command to run outside of it',
}

function displayOf({ error, exitCode, signal }: CommandEnd): string {
  if (error !== undefined) return error
  if (signal !== null) return `The command was ended by ${signal}.`
  return exitCode === 0 ? '(no output)' : `The command exited with code ${exitCode}.`
}

/** Shows the end of what has been printed so far. */
function lastLines(progress: (text: string) => void): (text: string) => void {
  let tail = ''
  return (news) => {
    if (news === '') return
    tail = (tail + news).slice(-MAX_LIVE)
    progress(plainOutput(tail))
  }
}

const MAX_LIVE = 10_000
