import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'
import { type Model, wrapInsideRetry } from '../../provider/index.ts'
import type { SubagentOrigin } from '../../session/log/entry.ts'
import type { Session } from '../../session/session.ts'
import type { TaskRequest } from '../../tool/builtin/task.ts'
import { createErrorOutput } from '../../tool/error-output.ts'
import type { ToolContext, ToolOutput } from '../../tool/tool.ts'
import type { AgentContext } from '../agent-context.ts'
import { getParentRun, type ParentRun } from '../calls/parent-run.ts'
import { createSeenFiles } from '../calls/seen-files.ts'
import { run } from '../loop/run.ts'
import type { RunEvent } from '../loop/run-event.ts'
import type { AgentDefinition } from './agent-definition.ts'
import { filterToolbox } from './filter-toolbox.ts'
import { inheritApproval } from './inherit-approval.ts'

export interface SubagentRunnerOptions {
  readonly agents: readonly AgentDefinition[]
  /** The name of the tool that starts subagents. */
  readonly toolName: string
  readonly createSession: (origin: SubagentOrigin) => Promise<Session>
  /** Opens the model of a definition; rejects if there is no such model here. */
  readonly openModel: (name: string) => Promise<Model>
}

/** Runs the subagents of a session: each has a log of its own, and shares the policy, the host and the limits of the run. */
export function createSubagentRunner(
  options: SubagentRunnerOptions,
): (request: TaskRequest, context: ToolContext) => Promise<ToolOutput> {
  return async (request, context) => {
    const parent = getParentRun(context)
    const definition = options.agents.find(({ name }) => name === request.agent)
    if (!parent || !definition) return createErrorOutput(`There is no agent “${request.agent}”.`, 'unknown-agent')
    const { background } = parent.agent
    const isBackground = (request.isBackground ?? definition.isBackground ?? false) && background !== undefined
    const { name } = definition
    const session = await options.createSession({ session: parent.agent.session.id, call: parent.call, name })
    const entry = parent.agent.session.append({
      kind: 'subagent',
      call: parent.call,
      session: session.id,
      name,
      ...(isBackground && { isBackground }),
    })
    parent.onEvent({ type: 'entry', entry })
    const work = async (emit: (event: RunEvent) => void, signal: AbortSignal): Promise<SubagentEnd> => {
      try {
        const { agent, notices } = await createChildContext(definition, parent, session, options)
        for (const text of notices) emit({ type: 'notice', text })
        return await runToEnd(agent, request.prompt, signal, (event) =>
          emit({ type: 'subagent', call: parent.call, name, session: session.id, event }),
        )
      } finally {
        await session.close()
      }
    }
    if (!isBackground) return toToolOutput(name, await work(parent.onEvent, context.signal))
    background.start(session.id, async (emit, signal) => formatReport(name, request, await work(emit, signal)))
    return {
      content: `${name} works in the background (session ${session.id}). A message with its answer follows when it is done; go on with something else, or end your turn to wait for it.`,
      display: `${name} works in the background.`,
    }
  }
}

/** How a subagent ended. Without a problem it is done. */
interface SubagentEnd {
  readonly text: string
  readonly problem?: string
}

async function runToEnd(
  agent: AgentContext,
  prompt: string,
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void,
): Promise<SubagentEnd> {
  let end: SubagentEnd = { text: '', problem: 'It did not end.' }
  for await (const event of run(agent, [{ kind: 'text', text: prompt }], signal)) {
    onEvent(event)
    if (event.type !== 'run-close') continue
    const { reason, text, fault } = event
    end = reason === 'done' ? { text } : { text, problem: fault?.message ?? `It stopped: ${reason}.` }
  }
  return end
}

function toToolOutput(name: string, { text, problem }: SubagentEnd): ToolOutput {
  if (problem !== undefined) {
    const message = `${name} did not finish. ${problem}`
    return { content: text === '' ? message : `${text}\n\n[${message}]`, error: { message, type: 'subagent-failed' } }
  }
  const content = text.trim() === '' ? '(no answer)' : text
  return { content, display: { title: `Answer of ${name}`, markdown: content } }
}

function formatReport(name: string, { description }: TaskRequest, { text, problem }: SubagentEnd): string {
  const head = `The agent ${name} that worked in the background on “${description}” `
  const parts = [`${head}${problem === undefined ? 'is done.' : `did not finish. ${problem}`}`, text.trim()]
  return parts.filter((part) => part !== '').join('\n\n')
}

async function createChildContext(
  definition: AgentDefinition,
  { agent: parent }: ParentRun,
  session: Session,
  { toolName, openModel }: SubagentRunnerOptions,
): Promise<{ readonly agent: AgentContext; readonly notices: readonly string[] }> {
  const {
    takeQueuedMessages: _messages,
    takeHandoff: _handoff,
    output: _output,
    toolChoice: _choice,
    background: _background,
    traceToolRun: _trace,
    // A plan is approved, and a mode is chosen, for the session only.
    mode: _mode,
    requestApproval,
    ...shared
  } = parent
  const { name, instructions, maxTurns, maxCost, maxMs } = definition
  const toolbox = filterToolbox(parent.toolbox, definition, toolName)
  const { model, notice } = await chooseChildModel(definition, parent, openModel)
  const unknown = toolbox.unknownNames
  const notices = [
    ...(notice === undefined ? [] : [notice]),
    ...(unknown.length > 0 ? [`The agent ${name} names tools that do not exist here: ${unknown.join(', ')}.`] : []),
  ]
  return {
    notices,
    agent: {
      ...shared,
      session,
      model: maxCost === undefined ? model : await limitCost(model, maxCost, parent),
      toolbox,
      seenFiles: createSeenFiles(),
      system: instructions,
      subagent: name,
      limits: { ...defined({ turns: maxTurns ?? parent.limits?.turns, ms: maxMs }) },
      ...(requestApproval && { requestApproval: inheritApproval(requestApproval, name) }),
    },
  }
}

/** A name that means nothing here is that of another vendor: the agent then runs on the model of the session. */
async function chooseChildModel(
  { name, model: wanted }: AgentDefinition,
  parent: AgentContext,
  openModel: SubagentRunnerOptions['openModel'],
): Promise<{ readonly model: Model; readonly notice?: string }> {
  if (wanted === undefined || wanted === 'inherit') return { model: parent.model }
  try {
    const model = await openModel(wanted)
    return { model: parent.limitModel?.(model) ?? model }
  } catch (error) {
    const { provider, model } = parent.model.origin
    return {
      model: parent.model,
      notice: `The agent ${name} runs on ${provider}/${model}: its model ${wanted} is not available (${getErrorMessage(error)}).`,
    }
  }
}

async function limitCost(model: Model, dollars: number, { catalog }: AgentContext): Promise<Model> {
  const prices = await catalog?.()
  if (!prices) return model
  const { createBudgetLedger, withBudget } = await import('../../provider/optional-middleware.ts')
  const ledger = createBudgetLedger({ money: dollars }, prices.cost)
  return wrapInsideRetry(model, (inner) => withBudget(inner, ledger))
}
