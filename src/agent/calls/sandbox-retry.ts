import type { SandboxAccess, SandboxBlock } from '../../model/security/sandbox-access.ts'
import { executeTool, type ToolExecution } from '../../tool/execute-tool.ts'
import { defined } from '../../model/defined.ts'
import type { AgentContext } from '../agent-context.ts'
import type { ExecutingCall } from './call-state.ts'
import { requestApproval, toProposal } from './request-approval.ts'
import { setParentRun } from './parent-run.ts'
import { createToolContext } from './tool-context.ts'
import type { RunEvent } from '../loop/run-event.ts'

/**
 * Runs a call. If the sandbox blocked its command, the user may let it run again with more access. The second run is in the
 * log before it starts, like the first.
 */
export async function executeWithSandboxRetry(
  agent: AgentContext,
  call: ExecutingCall,
  signal: AbortSignal,
  onProgress: (text: string) => void,
  onEvent: (event: RunEvent) => void,
): Promise<ToolExecution> {
  const isCommand = call.effects.some(({ kind }) => kind === 'exec')
  const grantedByRule =
    isCommand && !call.sandboxAccess ? await agent.sandboxAccess?.findAccess(toProposal(call)) : undefined
  const granted = call.sandboxAccess ?? grantedByRule
  const first = await executeAndNotify(granted)
  if (first.blocked && !agent.requestApproval) onEvent({ type: 'notice', text: UNATTENDED_NOTICES[first.blocked] })
  const access = first.blocked && (await requestSandboxAccess(agent, call, first.blocked, signal, onEvent))
  if (!access || signal.aborted) return first
  const { id } = call.call
  const entry = agent.session.append({ kind: 'intent', call: id, name: call.tool.spec.name, input: call.input, access })
  onEvent({ type: 'entry', entry })
  await agent.session.flush()
  const second = await executeAndNotify(access)
  const note = { kind: 'text', text: `\n[${RERUN_NOTES[access]}]` } as const
  return { ...second, result: { ...second.result, content: [...second.result.content, note] } }

  async function executeAndNotify(currentAccess: SandboxAccess | undefined): Promise<ToolExecution> {
    const { tool, input } = call
    const progress = throttleProgress(onProgress, () => agent.clock.now())
    const createContext = (toolSignal: AbortSignal) => {
      const terms = { ...call, ...defined({ sandboxAccess: currentAccess }) }
      const context = createToolContext(agent, toolSignal, progress, terms)
      setParentRun(context, { agent, call: call.call.id, onEvent })
      return context
    }
    const execute = () =>
      executeTool({ id: call.call.id, name: tool.spec.name }, tool, input, createContext, {
        ms: tool.timeout,
        signal,
        clock: agent.clock,
      })
    const executed = await (agent.traceToolRun?.(call.call, execute) ?? execute())
    for (const text of executed.notices ?? []) onEvent({ type: 'notice', text })
    return executed
  }
}

/** Progress reaches the user at most once a second. */
function throttleProgress(show: (text: string) => void, now: () => number): (text: string) => void {
  let last = Number.NEGATIVE_INFINITY
  return (text) => {
    if (now() - last < 1000) return
    last = now()
    show(text)
  }
}

const RERUN_NOTES: Readonly<Record<SandboxAccess, string>> = {
  network:
    'The command first failed in the sandbox because it had no network access. The user allowed network access, and this is the output of the second run.',
  outside:
    'The command first failed in the sandbox. The user allowed it to run outside the sandbox, and this is the output of the second run.',
}

/** For a run without a user who could be asked. */
const UNATTENDED_NOTICES: Readonly<Record<SandboxBlock, string>> = {
  network: 'A command failed because the sandbox has no network access. Allow it with --sandbox-network.',
  files:
    'A command failed because the sandbox hides or protects files outside the workspace. Allow the command with sandboxOptions.allowOutside, or use --sandbox off.',
}

const BLOCK_REASONS: Readonly<Record<SandboxBlock, string>> = {
  network: 'It failed in the sandbox, which has no network access.',
  files: 'It failed in the sandbox, which hides or protects files outside the workspace.',
}

async function requestSandboxAccess(
  agent: AgentContext,
  call: ExecutingCall,
  blocked: SandboxBlock,
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void,
): Promise<SandboxAccess | undefined> {
  const [command] = call.effects.filter((effect) => effect.kind === 'exec')
  if (!agent.requestApproval || !agent.sandboxAccess || !command) return undefined
  const proposal = toProposal(call)
  const neededAccess: SandboxAccess = blocked === 'network' ? 'network' : 'outside'
  const grants = await agent.sandboxAccess.offers(proposal, neededAccess)
  const title = neededAccess === 'network' ? 'Run it again with network access?' : 'Run it again outside the sandbox?'
  const details = { kind: 'sandbox', title, command: command.command, folder: command.folder, blocked } as const
  const decision = { verdict: 'ask', rule: 'sandbox', why: BLOCK_REASONS[blocked], grants } as const
  const reply = await requestApproval(agent, call.call, call, { details, decision }, signal, { onEvent })
  if (!reply) return undefined
  switch (reply.outcome) {
    case 'proceed-once':
      return reply.access ?? neededAccess
    case 'proceed-always': {
      const grant = grants.find(({ breadth }) => breadth === reply.grant?.breadth)
      if (grant) {
        const text = agent.sandboxAccess.remember(proposal, neededAccess, grant, reply.scope ?? 'session')
        onEvent({ type: 'notice', text })
      }
      return neededAccess
    }
    case 'modify':
    case 'cancel':
    case 'covered':
      return undefined
    default:
      return reply.outcome satisfies never
  }
}
