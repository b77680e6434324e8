import type { AgentContext } from '../../agent/agent-context.ts'
import type { StdioProcesses } from '../../host/process/stdio-process.ts'
import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'
import type { JsonObject } from '../../model/json.ts'
import { stringOrEmpty } from '../../model/json.ts'
import type { Policy } from '../../policy/policy.ts'
import { createErrorOutput } from '../../tool/error-output.ts'
import { expandVariables } from '../../tool/mcp/client/server-config.ts'
import type { Tool, ToolContext, ToolOutput } from '../../tool/tool.ts'
import { createDelegateRequests } from './delegate-requests.ts'
import { openAgentProcess } from './agent-process.ts'

/** Another agent that speaks the protocol, as the settings describe it. */
export interface AcpAgentConfig {
  readonly command: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly description?: string
  /** Seconds that a task may take; unlimited without it. */
  readonly timeout?: number
}

export interface DelegateOptions {
  /** Asks the user; without a user, everything that needs approval is refused. */
  readonly requestApproval: AgentContext['requestApproval'] | undefined
  readonly policy: Policy
  readonly createId: () => string
  readonly openProcess: StdioProcesses['open']
  /** The variables that `$NAME` in the settings stands for; the agent itself gets no others of ours. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A tool for each agent of the settings: it hands a task over, and returns the answer. */
export function createDelegateTools(
  configs: Readonly<Record<string, AcpAgentConfig>>,
  options: DelegateOptions,
): readonly Tool[] {
  return Object.entries(configs).map(([name, config]) => createDelegateTool(name, config, options))
}

function createDelegateTool(name: string, config: AcpAgentConfig, options: DelegateOptions): Tool {
  const about = config.description === undefined ? '' : ` ${config.description}`
  const description = `Hands a task to the agent ${name}, another coding agent that works in the same folder, and returns its answer.${about} It does not know this conversation: the task must say everything that it needs.`
  const schema: JsonObject = {
    type: 'object',
    properties: { task: { type: 'string', description: 'What to do, with all that the agent must know.' } },
    required: ['task'],
  }
  return {
    spec: { name: `delegate_${name.replace(/[^A-Za-z0-9_-]/g, '_')}`, description, schema },
    kind: 'other',
    origin: 'native',
    ...defined({ timeout: config.timeout === undefined ? undefined : config.timeout * 1000 }),
    // It is a program of its own, with its own tools.
    effects: () => [{ kind: 'unknown' }],
    check: (input) => (stringOrEmpty(input['task']).trim() === '' ? 'task must not be empty.' : undefined),
    preview: (input) =>
      Promise.resolve({
        kind: 'info',
        title: `Hand a task to the agent ${name}`,
        prompt: `${[config.command, ...(config.args ?? [])].join(' ')}\n\n${stringOrEmpty(input['task'])}`,
      }),
    run: (input, context) => delegate(name, config, stringOrEmpty(input['task']), context, options),
  }
}

async function delegate(
  name: string,
  config: AcpAgentConfig,
  task: string,
  context: ToolContext,
  options: DelegateOptions,
): Promise<ToolOutput> {
  const { signal, folders } = context
  const { command, args, env } = config
  const expanded = expandVariables({ command, ...defined({ args, env }) }, options.env)
  if ('problem' in expanded)
    return createErrorOutput(`The agent ${name} cannot start: ${expanded.problem}.`, 'delegate-failed')
  const requests = createDelegateRequests(name, context, options)
  let agent: Awaited<ReturnType<typeof openAgentProcess>> | undefined
  try {
    const start = { open: options.openProcess, signal }
    agent = await openAgentProcess({ ...config, ...expanded }, folders[0] ?? '.', requests, start)
    const stopReason = await agent.prompt(task, signal)
    const text = requests.takeText().trim()
    if (stopReason === 'cancelled') return createErrorOutput(`${name} was cancelled. ${text}`.trim(), 'cancelled')
    const note = STOP_NOTES[stopReason]
    const content = [text === '' ? '(no answer)' : text, note].filter((one) => one !== undefined).join('\n\n')
    return { content, display: { title: `Answer of ${name}`, markdown: content } }
  } catch (error) {
    if (signal.aborted) return createErrorOutput(`${name} was cancelled.`, 'cancelled')
    const details = agent?.recentStderr() ?? ''
    const reason = `The agent ${name} failed: ${getErrorMessage(error)}`
    return createErrorOutput([reason, details].filter((one) => one !== '').join('\n'), 'delegate-failed')
  } finally {
    await agent?.close()
  }
}

/** What the model should know about an end that is not a good one. */
const STOP_NOTES: Readonly<Record<string, string>> = {
  max_tokens: '[The agent stopped: its answer reached the length limit.]',
  max_turn_requests: '[The agent stopped: it reached its limit of turns.]',
  refusal: '[The agent refused to go on.]',
}
