import type { SandboxAccess, SandboxBlock } from '../../model/security/sandbox-access.ts'
import type { ResultPart } from '../../model/turn.ts'
import type { Agent } from '../agent.ts'
import type { ExecutingCall } from './call-state.ts'
import { toProposal, recordAndRequestApproval } from './approve-call.ts'
import { type ToolExecution, executeTool } from './execute-tool.ts'
import type { RunEvent } from '../loop/run-event.ts'

/**
 * Runs a call. If the sandbox kept its command from something, the person is told and may let it run again with more
 * access; the second run is in the log before it begins, like the first.
 */
export async function executeWithSandboxRetry(
  agent: Agent,
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
  const access = first.blocked && (await requestSandboxAccess(agent, call, first.blocked, signal, onEvent))
  if (!access || signal.aborted) return first
  const { id } = call.call
  const entry = agent.session.append({ kind: 'intent', call: id, name: call.tool.spec.name, input: call.input, access })
  onEvent({ type: 'entry', entry })
  await agent.session.flush()
  const second = await executeAndNotify(access)
  return { ...second, result: appendNote(second.result, RERUN_NOTES[access]) }

  async function executeAndNotify(currentAccess: SandboxAccess | undefined): Promise<ToolExecution> {
    const executed = await executeTool(agent, call, signal, onProgress, currentAccess)
    for (const text of executed.notices ?? []) onEvent({ type: 'notice', text })
    return executed
  }
}

const RERUN_NOTES: Readonly<Record<SandboxAccess, string>> = {
  network:
    'The command first failed in the sandbox for want of the network. The person let it run again with it; this is that run.',
  outside: 'The command first failed in the sandbox. The person let it run again outside of it; this is that run.',
}

const BLOCK_REASONS: Readonly<Record<SandboxBlock, string>> = {
  network: 'It failed in the sandbox, which closes the network.',
  files: 'It failed in the sandbox, which hides or protects files outside the workspace.',
}

/** What the person lets a blocked command do; nothing if they refuse, or if nobody is there. */
async function requestSandboxAccess(
  agent: Agent,
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
  const reply = await recordAndRequestApproval(agent, call.call, call, { details, decision }, signal, {
    onEvent,
  })
  if (reply?.outcome === 'proceed-once') return reply.access ?? neededAccess
  if (reply?.outcome !== 'proceed-always') return undefined
  const grant = grants.find(({ breadth }) => breadth === reply.grant?.breadth)
  if (grant) {
    const text = agent.sandboxAccess.remember(proposal, neededAccess, grant, reply.scope ?? 'session')
    onEvent({ type: 'notice', text })
  }
  return neededAccess
}

function appendNote(result: ResultPart, note: string): ResultPart {
  return { ...result, content: [...result.content, { kind: 'text', text: `\n[${note}]` }] }
}
