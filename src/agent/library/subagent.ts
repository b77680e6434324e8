import { getParentRun } from '../calls/parent-run.ts'
import type { AgentContext } from '../agent-context.ts'
import { tool, toolOutput } from '../../tool/custom-tool.ts'
import type { Tool } from '../../tool/tool.ts'
import type { SubagentOrigin } from '../../session/log/entry.ts'
import { inheritApproval } from '../subagents/inherit-approval.ts'
import type { Agent } from './library-agent.ts'

/** What an agent takes over from the run that calls it as a tool, or from the server that runs it. */
export type InheritedContext = Pick<AgentContext, 'limitModel' | 'requestApproval' | 'canRetryLater'> &
  /** Of a server only. */
  Pick<Partial<AgentContext>, 'toolbox' | 'describeEnvironment'>

/**
 * An agent as a tool. Each call is a session of its own. It stops with the run that called it, its cost counts towards the limit
 * of that run, its calls are approved where those of that run are, and its events are part of that run's events.
 */
export function createAgentTool(
  name: string,
  description: string,
  createChild: (inherited: InheritedContext, origin: SubagentOrigin | undefined) => Agent<unknown>,
): Tool {
  return tool({
    name,
    description,
    parameters: {
      type: 'object',
      properties: { prompt: { type: 'string', description: 'The task, with everything that is needed to do it.' } },
      required: ['prompt'],
    },
    timeout: MAX_TIMEOUT_MS,
    // The calls that it makes are checked one by one.
    effects: () => [],
    async execute({ prompt }, context) {
      const parent = getParentRun(context)
      const origin = parent && { session: parent.agent.session.id, call: parent.call, name }
      const child = createChild(parent ? toInheritedContext(parent.agent, name) : {}, origin)
      if (parent) {
        const link = { kind: 'subagent', call: parent.call, session: child.session, name } as const
        parent.onEvent({ type: 'entry', entry: parent.agent.session.append(link) })
      }
      try {
        const run = child.run(prompt, { signal: context.signal })
        for await (const event of run)
          parent?.onEvent({ type: 'subagent', call: parent.call, name, session: child.session, event })
        const { text, output, finish, fault } = await run
        if (finish === 'done') return output === undefined ? text : output
        const message = fault?.message ?? `${name} stopped: ${finish}.`
        return toolOutput({ content: text === '' ? message : `${text}\n\n[${message}]`, error: { message } })
      } finally {
        await child.close()
      }
    },
  })
}

/** The longest that a timer can wait: the limits of the agent itself apply. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1

function toInheritedContext({ limitModel, requestApproval }: AgentContext, name: string): InheritedContext {
  return {
    ...(limitModel && { limitModel }),
    ...(requestApproval && { requestApproval: inheritApproval(requestApproval, name) }),
  }
}

/** A tool with which the model hands the conversation over to another agent. */
export function createHandoffTool(name: string, description: string, onHandoff: () => void): Tool {
  return tool({
    name: `transfer_to_${name.replace(/\W+/g, '_')}`,
    description: `Hands the conversation over to ${name}.${description === '' ? '' : ` ${description}`}`,
    parameters: { type: 'object', properties: {} },
    effects: () => [],
    execute() {
      onHandoff()
      return `${name} continues the conversation.`
    },
  })
}
