import type { SandboxAccess, SandboxBlock } from '../model/sandbox-access.ts'
import type { ResultPart } from '../model/turn.ts'
import type { Agent } from './agent.ts'
import type { Executing } from './call-state.ts'
import { proposalOf, question } from './confirm.ts'
import { type Executed, execute } from './execute.ts'
import type { RunEvent } from './run-event.ts'

/**
 * Runs a call. If the sandbox kept its command from something, the person is told and may let it run again with more
 * access; the second run is in the log before it begins, like the first.
 */
export async function executeWithAccess(
  agent: Agent,
  call: Executing,
  signal: AbortSignal,
  onProgress: (text: string) => void,
  onEvent: (event: RunEvent) => void,
): Promise<Executed> {
  const isCommand = call.effects.some(({ kind }) => kind === 'exec')
  const byRule = isCommand && !call.sandboxAccess ? await agent.sandboxAccess?.granted(proposalOf(call)) : undefined
  const granted = call.sandboxAccess ?? byRule
  const first = await executeAndTell(granted)
  const access = first.blocked && (await askForAccess(agent, call, first.blocked, signal, onEvent))
  if (!access || signal.aborted) return first
  const { id } = call.call
  const entry = agent.session.append({ kind: 'intent', call: id, name: call.tool.spec.name, input: call.input, access })
  onEvent({ type: 'entry', entry })
  await agent.session.saved()
  const second = await executeAndTell(access)
  return { ...second, result: withNote(second.result, RAN_AGAIN[access]) }

  async function executeAndTell(by: SandboxAccess | undefined): Promise<Executed> {
    const executed = await execute(agent, call, signal, onProgress, by)
    for (const text of executed.notices ?? []) onEvent({ type: 'notice', text })
    return executed
  }
}

const RAN_AGAIN: Readonly<Record<SandboxAccess, string>> = {
  network:
    'The command first failed in the sandbox for want of the network. The person let it run again with it; this is that run.',
  outside: 'The command first failed in the sandbox. The person let it run again outside of it; this is that run.',
}

const BLOCKED: Readonly<Record<SandboxBlock, string>> = {
  network: 'It failed in the sandbox, which closes the network.',
  files: 'It failed in the sandbox, which hides or protects files outside the workspace.',
}

/** What the person lets a blocked command do; nothing if they refuse, or if nobody is there. */
async function askForAccess(
  agent: Agent,
  call: Executing,
  blocked: SandboxBlock,
  signal: AbortSignal,
  onEvent: (event: RunEvent) => void,
): Promise<SandboxAccess | undefined> {
  const [command] = call.effects.filter((effect) => effect.kind === 'exec')
  if (!agent.ask || !agent.sandboxAccess || !command) return undefined
  const proposal = proposalOf(call)
  const usual: SandboxAccess = blocked === 'network' ? 'network' : 'outside'
  const grants = await agent.sandboxAccess.offers(proposal, usual)
  const title = usual === 'network' ? 'Run it again with network access?' : 'Run it again outside the sandbox?'
  const details = { kind: 'sandbox', title, command: command.command, folder: command.folder, blocked } as const
  const decision = { verdict: 'ask', rule: 'sandbox', why: BLOCKED[blocked], grants } as const
  const reply = await question(agent, call.call, call, { details, decision }, signal, { event: onEvent })
  if (reply?.outcome === 'proceed-once') return reply.access ?? usual
  if (reply?.outcome !== 'proceed-always') return undefined
  const grant = grants.find(({ breadth }) => breadth === reply.grant?.breadth)
  if (grant) {
    const text = agent.sandboxAccess.remember(proposal, usual, grant, reply.scope ?? 'session')
    onEvent({ type: 'notice', text })
  }
  return usual
}

function withNote(result: ResultPart, note: string): ResultPart {
  return { ...result, content: [...result.content, { kind: 'text', text: `\n[${note}]` }] }
}
