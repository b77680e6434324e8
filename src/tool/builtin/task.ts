import type { Tool, ToolContext, ToolOutput } from '../tool.ts'
import text from './task.md'
import { createSameToolAliases, createSimilarToolAliases, defineBuiltin } from './support/define-builtin.ts'
import { getOptionalTextArgument, getTextArgument } from './support/read-arguments.ts'

export const TASK_TOOL_NAME = 'task'

/** A task that the model gives to an agent. */
export interface TaskRequest {
  readonly agent: string
  readonly description: string
  readonly prompt: string
  readonly isBackground?: boolean
}

export interface TaskToolOptions {
  readonly agents: readonly { readonly name: string; readonly description: string }[]
  readonly run: (request: TaskRequest, context: ToolContext) => Promise<ToolOutput>
}

export function createTaskTool({ agents, run }: TaskToolOptions): Tool {
  const names = agents.map(({ name }) => name)
  const list = agents.map(({ name, description }) => `- ${name}: ${description}`).join('\n')
  return defineBuiltin({
    name: TASK_TOOL_NAME,
    text: `${text.trim()}\n\nThe agents:\n${list}`,
    kind: 'other',
    hookName: 'Task',
    aliases: { agent: 'subagent_type', agent_name: 'subagent_type', agent_type: 'subagent_type' },
    nameAliases: [
      ...createSameToolAliases('Task', 'Agent'),
      ...createSimilarToolAliases('subagent', 'spawn_agent', 'invoke_agent', 'delegate_to_agent'),
    ],
    properties: {
      description: { type: 'string', description: 'The task in three to five words, for the person.' },
      prompt: { type: 'string', description: 'The task, with everything that is needed to do it.' },
      subagent_type: { type: 'string', ...(names.length > 0 && { enum: names }), description: 'The agent.' },
      run_in_background: {
        type: 'boolean',
        description: 'Return at once; a message with the answer follows when it is done.',
      },
    },
    required: ['description', 'prompt', 'subagent_type'],
    // The calls that the agent makes are checked one by one.
    effects: () => [],
    check: (input) => (getTextArgument(input, 'prompt').trim() === '' ? 'prompt must not be empty.' : undefined),
    run: (input, context) =>
      run(
        {
          agent: getTextArgument(input, 'subagent_type'),
          description: getOptionalTextArgument(input, 'description') ?? '',
          prompt: getTextArgument(input, 'prompt'),
          ...(typeof input['run_in_background'] === 'boolean' && { isBackground: input['run_in_background'] }),
        },
        context,
      ),
  })
}
