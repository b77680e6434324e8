import type { JsonObject } from '../../model/json.ts'
import type { SandboxBlock } from '../../model/security/sandbox-access.ts'
import { setTimeout as wait } from 'node:timers/promises'
import type { CommandRequest, CommandResult, Host } from '../../host/host.ts'
import type { Tool, ToolOutput } from '../tool.ts'
import text from './run-shell-command.md'
import { describeBackgroundState, READ_COMMAND_TOOL_NAME, STOP_COMMAND_TOOL_NAME } from './background-commands.ts'
import { createErrorOutput } from '../error-output.ts'
import { defineBuiltin, createSameToolAliases, createSimilarToolAliases } from './support/define-builtin.ts'
import { getOptionalTextArgument, getTextArgument } from './support/read-arguments.ts'
import { toAbsolutePath, toDisplayPath } from './support/paths.ts'
import { cleanOutput } from './support/clean-output.ts'
import { findCommandPrograms } from './support/command-programs.ts'
import { detectSandboxBlock } from './support/sandbox-block.ts'
import { defined } from '../../model/defined.ts'
import { SHELL_TOOL_NAME } from '../../policy/rules/rule.ts'

/** Timeouts in milliseconds. */
export interface ShellToolOptions {
  /** Of the whole command; unlimited without it. */
  readonly timeout?: number
  /** Without output. A server that was started in the foreground is stopped by it. */
  readonly idle?: number
  /** There are tools to read, feed and stop commands in the background. */
  readonly hasBackgroundTools?: boolean
}

export function createShellTool({
  timeout,
  idle = DEFAULT_IDLE_MS,
  hasBackgroundTools = false,
}: ShellToolOptions = {}): Tool {
  return defineBuiltin({
    name: SHELL_TOOL_NAME,
    text: `${text.trim()} ${hasBackgroundTools ? BACKGROUND_TEXT : AMPERSAND_TEXT}`,
    kind: 'execute',
    hookName: 'Bash',
    aliases: { dir_path: 'directory', is_background: 'run_in_background' },
    ruleAliases: ['ShellTool'],
    nameAliases: [
      ...createSameToolAliases('Bash', 'Shell'),
      { name: 'bash', parameters: { workdir: 'directory' } },
      { name: 'shell_command', parameters: { workdir: 'directory' } },
      { name: 'execute_command', parameters: { cwd: 'directory' } },
      // The command of some is a list of words; exec_command returns before the command ends.
      ...createSimilarToolAliases('run_in_terminal', 'run_terminal_cmd', 'shell', 'container.exec', 'local_shell'),
      ...createSimilarToolAliases('exec_command'),
    ],
    properties: {
      command: { type: 'string', description: 'The command, exactly as bash gets it.' },
      description: { type: 'string', description: 'What it does, in a few words, for the person.' },
      directory: { type: 'string', description: 'Workspace directory to run it in; the root without it.' },
      ...(hasBackgroundTools && { run_in_background: BACKGROUND_SCHEMA }),
    },
    required: ['command'],
    ruleInput: (command) => ({ command }),
    effects: (input, folders) => [
      { kind: 'exec', command: getTextArgument(input, 'command'), folder: resolveFolder(input, folders) },
    ],

    check(input) {
      const command = getTextArgument(input, 'command')
      if (command.trim() === '') return 'command must not be empty.'
      return command.includes('\0') ? 'command must not contain a zero byte.' : undefined
    },

    preview(input, { folders }) {
      const command = getTextArgument(input, 'command')
      const folder = resolveFolder(input, folders)
      const purpose = getOptionalTextArgument(input, 'description') ?? 'Run a command'
      const title = `${purpose} (in ${toDisplayPath(folder, folders)})`
      const rootCommand = findCommandPrograms(command).join(', ')
      return Promise.resolve({ kind: 'exec', title, command, rootCommand, folder })
    },

    async run(input, { host, folders, signal, progress, sandboxAccess, gitHelpers, isHarmless }) {
      const command = getTextArgument(input, 'command')
      const folder = resolveFolder(input, folders)
      const info = await host.files.info(folder)
      if (info?.kind !== 'folder') return createErrorOutput(`Directory not found: ${folder}`, 'file-not-found')
      const options = { idleTimeout: idle, ...defined({ timeout, access: sandboxAccess, gitHelpers, isHarmless }) }
      if (hasBackgroundTools && input['run_in_background'] === true)
        return startInBackground(host, { command, folder, ...options })
      const onOutput = createTailProgress(progress)
      const end = await host.processes.run({ command, folder, signal, onOutput, ...options })
      const blocked = sandboxAccess ? undefined : detectSandboxBlock(end, cleanOutput(end.output), folders)
      const remarks = createRemarks(end, mentionsTemporaryPath(command, folders), blocked, hasBackgroundTools)
      return toShellOutput(
        end,
        command,
        getOptionalTextArgument(input, 'directory'),
        blocked,
        remarks,
        hasBackgroundTools,
      )
    },
  })
}

const DEFAULT_IDLE_MS = 300_000

const BACKGROUND_TEXT = 'Start servers and long commands with `run_in_background`.'
const AMPERSAND_TEXT = 'Start servers in the background with `&`.'
const BACKGROUND_SCHEMA = {
  type: 'boolean',
  description: 'Return while it runs, for servers and long commands.',
} as const

async function startInBackground({ processes }: Host, request: CommandRequest): Promise<ToolOutput> {
  if (!processes.start) return createErrorOutput('Commands cannot run in the background here.', 'not-available')
  const started = await processes.start(request)
  if (!('id' in started)) return toShellOutput(started, request.command, undefined, undefined, [])
  // What fails, fails mostly at once.
  await Promise.race([started.waitForEnd(), wait(START_CHECK_MS)])
  const output = cleanOutput(started.readNew()).trimEnd()
  const state = describeBackgroundState(started)
  const content = `Background command ${started.id}: ${state}\nOutput: ${output === '' ? '(empty)' : output}\nRead on with ${READ_COMMAND_TOOL_NAME}, stop it with ${STOP_COMMAND_TOOL_NAME}.`
  return {
    content,
    display: `${started.id}: ${state}${output === '' ? '' : `\n${output}`}`,
    facts: { background: started.id },
  }
}

const START_CHECK_MS = 300

/** A directory by its path, or by the name of one of the workspace's folders. */
function resolveFolder(input: JsonObject, folders: readonly string[]): string {
  const directory = getOptionalTextArgument(input, 'directory')
  if (directory === undefined) return folders[0] ?? '/'
  const namedFolder = folders.slice(1).find((folder) => folder.endsWith(`/${directory}`))
  return namedFolder ?? toAbsolutePath(directory, folders)
}

function toShellOutput(
  end: CommandResult,
  command: string,
  directory: string | undefined,
  blocked: SandboxBlock | undefined,
  remarks: readonly string[],
  hasBackgroundTools = false,
): ToolOutput {
  const output = cleanOutput(end.output, end)
  const how = hasBackgroundTools ? 'with run_in_background' : 'in the background with &'
  const hint = end.timedOut ? ` Start long-running programs ${how}.` : ''
  const more = remarks.map((remark) => `\n[${remark}]`).join('')
  const error = end.error === undefined ? undefined : end.error + hint
  const shown = output.replace(/\n+$/, '') + more
  // Always the same eight fields, in the same order.
  const content = [
    `Command: ${command}`,
    `Directory: ${directory ?? '(root)'}`,
    `Output: ${shown.trim() === '' ? '(empty)' : shown.replace(/\n+$/, '')}`,
    `Error: ${error ?? '(none)'}`,
    `Exit Code: ${end.exitCode ?? '(none)'}`,
    `Signal: ${end.signal ?? '(none)'}`,
    `Background PIDs: ${end.background.length === 0 ? '(none)' : end.background.join(', ')}`,
    `Process Group PGID: ${end.group ?? '(none)'}`,
  ].join('\n')
  const stable = JSON.stringify([output, error, end.exitCode, end.signal])
  const isSuccess = end.error === undefined && end.signal === null && end.exitCode === 0
  const display =
    output.trim() === '' ? formatExitStatus(end) : isSuccess ? output : `${output.trimEnd()}\n${formatExitStatus(end)}`
  const facts = { exitCode: end.exitCode, ...(end.changesRecorded && { changesRecorded: true }) }
  const messages = [...(end.notes ?? []), ...(end.notices ?? [])]
  const notices = messages.length > 0 && { notices: messages }
  if (end.error === undefined) return { content, display, stable, facts, ...notices, ...(blocked && { blocked }) }
  const type = end.timedOut ? 'timeout' : end.cancelled ? 'cancelled' : 'shell-execute-error'
  return { content, display, stable, facts, ...notices, error: { message: end.error, type } }
}

function createRemarks(
  { background, backgroundId, sandboxed, outputFile, notes = [] }: CommandResult,
  usesTemporary: boolean,
  blocked: SandboxBlock | undefined,
  hasBackgroundTools: boolean,
): string[] {
  const isInBackground = background.length > 0
  return [
    ...(isInBackground && outputFile !== undefined ? [`Background processes print to ${outputFile}`] : []),
    ...(isInBackground && hasBackgroundTools && backgroundId !== undefined
      ? [`They are the background command ${backgroundId}: stop them with ${STOP_COMMAND_TOOL_NAME}`]
      : []),
    // PIDs and ports of one sandbox mean nothing in another.
    ...(isInBackground && sandboxed ? [BACKGROUND_SANDBOX_NOTE] : []),
    ...(sandboxed && !blocked && usesTemporary ? [TEMPORARY_NOTE] : []),
    ...(blocked ? [BLOCK_NOTES[blocked]] : []),
    ...notes,
  ]
}

const BACKGROUND_SANDBOX_NOTE =
  'Background processes run in a sandbox of their own and end with this session. Other commands cannot reach their ports or kill them, so start a server and use it in the same command'

/** Of the machine, not of a workspace that is in a temporary folder. */
function mentionsTemporaryPath(command: string, folders: readonly string[]): boolean {
  const other = folders.reduce((rest, folder) => rest.replaceAll(folder, ''), command)
  return /(?<![\w.~-])\/(?:var\/)?tmp\//.test(other)
}

const TEMPORARY_NOTE =
  'In the sandbox, /tmp is private to the commands of this session. What the user should find belongs into the workspace'

const BLOCK_NOTES: Readonly<Record<SandboxBlock, string>> = {
  network:
    'The command ran in a sandbox without network access. The user can allow it for a command, or for all with --sandbox-network',
  files:
    'The command ran in a sandbox: it can write only the workspace and /tmp, no git or editor settings, and the home folder is hidden. The user can allow a command to run outside of it',
}

function formatExitStatus({ error, exitCode, signal }: CommandResult): string {
  if (error !== undefined) return error
  if (signal !== null) return `The command was ended by ${signal}.`
  return exitCode === 0 ? '(no output)' : `The command exited with code ${exitCode}.`
}

function createTailProgress(progress: (text: string) => void): (text: string) => void {
  let tail = ''
  let lastAt = -Infinity
  return (newOutput) => {
    if (newOutput === '') return
    tail = (tail + newOutput).slice(-MAX_PROGRESS_CHARS)
    // A command may print a hundred thousand lines, one at a time.
    if (tail.length === MAX_PROGRESS_CHARS && performance.now() - lastAt < MIN_PROGRESS_INTERVAL_MS) return
    lastAt = performance.now()
    progress(cleanOutput(tail))
  }
}

const MIN_PROGRESS_INTERVAL_MS = 250

const MAX_PROGRESS_CHARS = 10_000
