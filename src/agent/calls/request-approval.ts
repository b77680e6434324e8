import { isDeepStrictEqual } from 'node:util'
import { defined } from '../../model/defined.ts'
import type { JsonObject } from '../../model/json.ts'
import type { CallPart } from '../../model/turn.ts'
import type { Proposal } from '../../policy/policy.ts'
import type { ApprovalDetails } from '../../tool/tool.ts'
import type { AgentContext } from '../agent-context.ts'
import type { RunEvent } from '../loop/run-event.ts'
import { callHook } from '../hooks/call-hook.ts'
import type { ApprovalReply, ApprovalRequest, ValidCall } from './call-state.ts'

export interface ApprovalCallbacks {
  readonly onEvent: (event: RunEvent) => void
  readonly onApprovalRequested?: (valid: ValidCall, ask: ApprovalRequest) => void
}

export function toProposal({ tool, input, effects }: ValidCall): Proposal {
  return { tool: tool.spec.name, input, effects }
}

/**
 * Writes a question to the log, unless it is there already, asks the user if there is one, and writes the answer to the log.
 */
export async function requestApproval(
  agent: AgentContext,
  call: CallPart,
  valid: ValidCall,
  { details, decision }: Pick<ApprovalRequest, 'details' | 'decision'>,
  signal: AbortSignal,
  callbacks: ApprovalCallbacks,
): Promise<ApprovalReply | undefined> {
  const loggedAsk = findOpenAsk(agent, call, details)
  const ask: ApprovalRequest = {
    id: loggedAsk ?? agent.createId(),
    call: call.id,
    tool: valid.tool.spec.name,
    details,
    decision,
  }
  if (loggedAsk === undefined) {
    const entry = agent.session.append({ kind: 'ask', ask: ask.id, call: call.id, details: toJsonObject(details) })
    callbacks.onEvent({ type: 'entry', entry })
  }
  callbacks.onApprovalRequested?.(valid, ask)
  if (!agent.requestApproval) return undefined
  callbacks.onEvent({ type: 'ask', ask })
  const message = `Approval needed: ${details.title}`
  // Nobody waits for it.
  void callHook(agent, 'notification', { message, kind: 'permission_prompt' }, signal, callbacks.onEvent)
  const reply = await awaitReply(agent, agent.requestApproval, ask, toProposal(valid), signal)
  if (!reply) return undefined
  const { outcome, words, input, grant, scope, access } = reply
  const answer = agent.session.append({
    kind: 'reply',
    ask: ask.id,
    outcome,
    ...defined({ words, input, grant: grant && toJsonObject(grant), scope, access }),
  })
  callbacks.onEvent({ type: 'entry', entry: answer })
  callbacks.onEvent({ type: 'reply', reply })
  return reply
}

/**
 * The answer that another process wrote to the log. It counts only if the question was about exactly what would happen now,
 * and only as a yes or a no to this one call: rules and other arguments in a log are never used.
 */
export function findLoggedReply(
  agent: AgentContext,
  call: CallPart,
  details: ApprovalDetails,
): ApprovalReply | undefined {
  const found = agent.session.findReply(call.id)
  const asks = agent.session.entries.filter((entry) => entry.kind === 'ask')
  const ask = asks.find((entry) => entry.ask === found?.ask)
  if (!found || !ask) return undefined
  const { outcome, words } = found
  if (outcome !== 'cancel' && outcome !== 'proceed-once') return undefined
  if (outcome === 'proceed-once' && !isDeepStrictEqual(ask.details, toJsonObject(details))) return undefined
  return { ask: found.ask, outcome, ...defined({ words }) }
}

/** The same question about the same call, if an earlier run left it open in the log. */
function findOpenAsk({ session }: AgentContext, call: CallPart, details: ApprovalDetails): string | undefined {
  const ask = session.entries.findLast((entry) => entry.kind === 'ask' && entry.call === call.id)
  if (ask?.kind !== 'ask' || session.findReply(call.id)) return undefined
  return isDeepStrictEqual(ask.details, toJsonObject(details)) ? ask.ask : undefined
}

/** Ends the open questions that the policy would not ask any more, because of what was just allowed. */
export async function resolveCoveredApprovals(agent: AgentContext): Promise<void> {
  for (const { proposal, markCovered } of pendingApprovals.get(agent.policy) ?? [])
    if ((await agent.policy.decide(proposal)).verdict === 'allow') markCovered()
}

/** By policy, because an agent and its subagents share one. */
const pendingApprovals = new WeakMap<AgentContext['policy'], Set<PendingApproval>>()

interface PendingApproval {
  readonly proposal: Proposal
  readonly markCovered: () => void
}

async function awaitReply(
  agent: AgentContext,
  askUser: NonNullable<AgentContext['requestApproval']>,
  ask: ApprovalRequest,
  proposal: Proposal,
  signal: AbortSignal,
): Promise<ApprovalReply | undefined> {
  const refusal: ApprovalReply = { ask: ask.id, outcome: 'cancel' }
  // The rules for commands do not cover whether a command runs a second time with more access. That cannot wait either.
  if (ask.details.kind === 'sandbox') return (await askUser(ask, signal)) ?? refusal
  if (ask.details.kind === 'exec' && ask.details.outsidePaths) return askUser(ask, signal)
  const covered = new AbortController()
  const all = pendingApprovals.get(agent.policy) ?? new Set()
  const one: PendingApproval = { proposal, markCovered: () => covered.abort() }
  pendingApprovals.set(agent.policy, all.add(one))
  try {
    const reply = await askUser(ask, AbortSignal.any([signal, covered.signal]))
    if (!covered.signal.aborted) return reply
    return signal.aborted ? refusal : { ask: ask.id, outcome: 'covered' }
  } finally {
    all.delete(one)
  }
}

function toJsonObject(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value))
}
