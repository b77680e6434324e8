import { setTimeout as wait } from 'node:timers/promises'
import type { BackgroundCommand } from '../../host/host.ts'
import type { JsonObject } from '../../model/json.ts'
import { createErrorOutput } from '../error-output.ts'
import type { Tool, ToolContext, ToolOutput } from '../tool.ts'
import readText from './read-command-output.md'
import sendText from './send-command-input.md'
import stopText from './stop-command.md'
import { cleanOutput } from './support/clean-output.ts'
import { createSameToolAliases, createSimilarToolAliases, defineBuiltin } from './support/define-builtin.ts'
import { getOptionalTextArgument, getTextArgument } from './support/read-arguments.ts'

export const READ_COMMAND_TOOL_NAME = 'read_command_output'
export const STOP_COMMAND_TOOL_NAME = 'stop_command'

const ID = { type: 'string', description: 'The id of the background command.' } as const
const ID_ALIASES = { bash_id: 'id', shell_id: 'id', task_id: 'id', session_id: 'id' }

export const readCommandOutputTool: Tool = defineBuiltin({
  name: READ_COMMAND_TOOL_NAME,
  text: readText,
  kind: 'read',
  hookName: 'BashOutput',
  aliases: ID_ALIASES,
  nameAliases: [
    ...createSameToolAliases('BashOutput', 'TaskOutput', 'read_background_output'),
    ...createSimilarToolAliases('list_background_processes'),
  ],
  properties: {
    id: { ...ID, description: 'The id of the background command; without it, all are listed.' },
    wait_seconds: { type: 'number', description: 'Wait so long for its end; default 0, at most 300.' },
  },
  required: [],
  effects: () => [],
  async run(input, context) {
    const id = getOptionalTextArgument(input, 'id')
    if (id === undefined) return listCommands(context)
    const found = findCommand(context, id)
    if ('content' in found) return found
    await waitForEnd(found, input['wait_seconds'], context.signal)
    const output = cleanOutput(found.readNew()).trimEnd()
    const state = describeBackgroundState(found)
    return {
      content: `Background command ${found.id}: ${state}\nNew output: ${output === '' ? '(none)' : output}`,
      display: output === '' ? state : `${output}\n${state}`,
      // To look again while nothing happens is no loop of the model's own.
      stable: `${output}${state}${Date.now()}`,
    }
  },
})

export const sendCommandInputTool: Tool = defineBuiltin({
  name: 'send_command_input',
  text: sendText,
  kind: 'execute',
  aliases: { ...ID_ALIASES, chars: 'text', input: 'text' },
  nameAliases: [...createSameToolAliases('write_stdin')],
  properties: { id: ID, text: { type: 'string', description: 'The text; a line ends with a line break.' } },
  required: ['id', 'text'],
  // A shell or an interpreter carries it out.
  effects: () => [{ kind: 'unknown' }],
  preview: (input, context) => {
    const found = findCommand(context, getTextArgument(input, 'id'))
    const command = 'content' in found ? getTextArgument(input, 'id') : found.command
    return Promise.resolve({ kind: 'info', title: `Send input to ${command}`, prompt: getTextArgument(input, 'text') })
  },
  async run(input, context) {
    const found = findCommand(context, getTextArgument(input, 'id'))
    if ('content' in found) return found
    try {
      await found.send(getTextArgument(input, 'text'))
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      return createErrorOutput(`Nothing was sent to ${found.id}: ${why}.`, 'input-closed')
    }
    await Promise.race([found.waitForEnd(), wait(ANSWER_MS)])
    const output = cleanOutput(found.readNew()).trimEnd()
    return { content: `Sent. ${describeBackgroundState(found)}\nNew output: ${output === '' ? '(none)' : output}` }
  },
})

export const stopCommandTool: Tool = defineBuiltin({
  name: STOP_COMMAND_TOOL_NAME,
  text: stopText,
  kind: 'execute',
  hookName: 'KillShell',
  aliases: ID_ALIASES,
  nameAliases: [...createSameToolAliases('KillShell', 'KillBash', 'TaskStop')],
  properties: { id: ID },
  required: ['id'],
  effects: () => [],
  async run(input, context) {
    const found = findCommand(context, getTextArgument(input, 'id'))
    if ('content' in found) return found
    if (!found.end) await found.stop()
    const output = cleanOutput(found.readNew()).trimEnd()
    return {
      content: `Background command ${found.id}: ${describeBackgroundState(found)}\nNew output: ${output === '' ? '(none)' : output}`,
    }
  },
})

/** What a command in the background does, in a clause. */
export function describeBackgroundState({ end, startedAt }: BackgroundCommand): string {
  if (!end) return `running for ${Math.round((Date.now() - startedAt) / 1000)} s`
  if (end.error !== undefined) return `ended. ${end.error}`
  if (end.signal !== null) return `ended by ${end.signal}`
  return end.exitCode === null ? 'ended' : `ended with exit code ${end.exitCode}`
}

/** A program that answers, answers soon. */
const ANSWER_MS = 500
const MAX_WAIT_SECONDS = 300

function listAll({ host }: Pick<ToolContext, 'host'>): readonly BackgroundCommand[] {
  return host.processes.listBackground?.() ?? []
}

function listCommands(context: ToolContext): ToolOutput {
  const lines = listAll(context).map((one) => `${one.id}: ${one.command} (${describeBackgroundState(one)})`)
  return { content: lines.length === 0 ? 'No command runs in the background.' : lines.join('\n') }
}

function findCommand(context: ToolContext, id: string): BackgroundCommand | ToolOutput {
  const all = listAll(context)
  const found = all.find((one) => one.id === id)
  if (found) return found
  const hint = all.length === 0 ? 'There is none.' : `There are: ${all.map((one) => one.id).join(', ')}.`
  return createErrorOutput(`There is no background command “${id}”. ${hint}`, 'not-found')
}

async function waitForEnd(
  command: BackgroundCommand,
  seconds: JsonObject[string] | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (typeof seconds !== 'number' || seconds <= 0 || command.end) return
  const ms = Math.min(seconds, MAX_WAIT_SECONDS) * 1000
  await Promise.race([command.waitForEnd(), wait(ms, undefined, { signal }).catch(() => undefined)])
}
