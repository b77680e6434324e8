import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from '../../model/json.ts'
import type { SandboxAccess } from '../../model/security/sandbox-access.ts'
import { clipText } from '../../model/text.ts'
import type { CallPart, ResultPart } from '../../model/turn.ts'
import type { FileAccess, Decision, Grant, GrantScope, Proposal } from '../../policy/policy.ts'
import type { ApprovalDetails, MarkdownDisplay } from '../../tool/tool.ts'
import type { Agent } from '../agent.ts'
import type { ApprovalRequest, ApprovalReply } from './call-state.ts'
import { createToolContext } from './execute-tool.ts'
import type { RunEvent } from '../loop/run-event.ts'
import type { ValidCall } from './schedule.ts'
import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/** A call may run, with the word that allowed it; or it has its result already. */
export type CallApproval =
  | {
      readonly valid: ValidCall
      readonly decision: string
      readonly access?: readonly FileAccess[]
      readonly sandboxAccess?: SandboxAccess
      readonly isOffline?: true
      readonly modified?: true
      readonly proposed?: JsonObject
    }
  | { readonly result: ResultPart; readonly decision?: string }

interface ApprovalCallbacks {
  readonly onEvent: (event: RunEvent) => void
  /** A call that could run; it is waited for. */
  readonly onValidated: (valid: ValidCall) => Promise<void>
  readonly onApprovalRequested: (valid: ValidCall, ask: ApprovalRequest) => void
}

/** Validates a call, and gets it allowed: by the policy, by a person, or not at all. */
export async function approveCall(
  agent: Agent,
  call: CallPart,
  signal: AbortSignal,
  callbacks: ApprovalCallbacks,
): Promise<CallApproval> {
  const valid = validateCall(agent, call)
  if ('result' in valid) return valid
  await callbacks.onValidated(valid)
  const proposal = toProposal(valid)
  const policyDecision = await agent.policy.decide(proposal)
  const isOffline = (await agent.sandboxAccess?.isOffline(proposal)) ? { isOffline: true as const } : {}
  if (policyDecision.verdict === 'allow') {
    const { gitHelpers, rule } = policyDecision
    return {
      valid: { ...valid, ...(gitHelpers && { gitHelpers }) },
      decision: `allowed by ${rule}`,
      ...pickAccess(policyDecision),
      ...isOffline,
    }
  }
  if (policyDecision.verdict === 'deny')
    return createDeniedResult(call, `${policyDecision.why} The policy forbids it.`, `denied by ${policyDecision.rule}`)

  const grants = agent.requestApproval ? await agent.policy.offers?.(proposal) : undefined
  const decision: Decision = { ...policyDecision, ...(grants && grants.length > 0 && { grants }) }
  const shown = await previewCall(agent, call, valid, decision, signal)
  if ('problem' in shown) return createErrorResult(call, shown.problem, 'invalid-arguments')
  // Whoever is asked about what needs the network knows beforehand that it has none.
  const details: ApprovalDetails = shown.kind === 'exec' && decision.needsNetwork ? { ...shown, ...isOffline } : shown
  const reply =
    findLoggedReply(agent, call, details) ??
    (await recordAndRequestApproval(agent, call, valid, { details, decision }, signal, callbacks))
  if (!reply && details.kind === 'plan') return createPlanHandoverResult(call, details.plan)
  if (!reply)
    return createDeniedResult(
      call,
      `${decision.why} Nobody is there to be asked; try another way, or say what is needed.`,
      'denied: nobody to ask',
    )
  if (reply.outcome === 'cancel') {
    const words = reply.words === undefined || reply.words === '' ? '' : ` They say: ${reply.words}`
    const text = `The person refused this call.${words}`
    const document = details.kind === 'plan' ? { title: `Plan refused.${words}`, markdown: details.plan } : undefined
    return createDeniedResult(call, text, 'denied by the person', document)
  }
  if (reply.outcome === 'modify' && reply.input) {
    const approval = await approveModifiedInput(agent, call, valid, reply.input)
    if ('valid' in approval) await callbacks.onValidated(approval.valid)
    if (details.kind === 'plan' && 'valid' in approval) agent.mode?.set('default')
    return approval
  }
  if (details.kind === 'plan') agent.mode?.set(reply.outcome === 'proceed-always' ? 'auto_edit' : 'default')
  const chosenGrant = findChosenGrant(reply, decision)
  if (chosenGrant) {
    callbacks.onEvent({ type: 'notice', text: agent.policy.remember(proposal, chosenGrant.grant, chosenGrant.scope) })
    await resolveCoveredApprovals(agent)
  }
  const approver = reply.outcome === 'covered' ? 'an earlier answer of the person' : 'the person'
  const isOnline = details.kind === 'exec' && details.isOffline && reply.access === 'network'
  const sandbox = isOnline ? { sandboxAccess: 'network' as const } : isOffline
  return { valid, decision: `allowed by ${approver}`, ...pickAccess(decision), ...sandbox }
}

/** What the person made of a call is judged like any other: it may be about another file. */
async function approveModifiedInput(
  agent: Agent,
  call: CallPart,
  valid: ValidCall,
  input: JsonObject,
): Promise<CallApproval> {
  const changed = validateCall(agent, { ...call, input })
  if ('result' in changed) return changed
  const decision = await agent.policy.decide(toProposal(changed))
  if (decision.verdict === 'deny')
    return createDeniedResult(call, `${decision.why} The policy forbids it.`, `denied by ${decision.rule}`)
  const words = 'changed and allowed by the person'
  return { valid: changed, decision: words, ...pickAccess(decision), modified: true, proposed: valid.input }
}

export function toProposal({ tool, input, effects }: ValidCall): Proposal {
  return { tool: tool.spec.name, input, effects }
}

function pickAccess({ access }: Decision): { readonly access?: readonly FileAccess[] } {
  return access ? { access } : {}
}

/**
 * What a person answered in another process. It counts only if what was asked about is what would happen now, and only as
 * a yes or a no to this one call: what else stands in a log, like a rule for good or other arguments, is asked about again.
 */
function findLoggedReply(agent: Agent, call: CallPart, details: ApprovalDetails): ApprovalReply | undefined {
  const found = agent.session.findReply(call.id)
  const ask = found && agent.session.entries.find((entry) => entry.kind === 'ask' && entry.ask === found.ask)
  if (!found || ask?.kind !== 'ask') return undefined
  const { outcome, words } = found
  if (outcome !== 'cancel' && outcome !== 'proceed-once') return undefined
  if (outcome === 'proceed-once' && !isDeepStrictEqual(ask.details, toJsonObject(details))) return undefined
  return { ask: found.ask, outcome, ...defined({ words }) }
}

/** Which grant was chosen. Only what the decision offers counts, whatever an answer says. */
function findChosenGrant(
  { outcome, grant, scope }: ApprovalReply,
  { grants = [] }: Decision,
): { readonly grant: Grant; readonly scope: GrantScope } | undefined {
  const chosenGrant =
    outcome === 'proceed-always' && grant
      ? grants.find(({ breadth, rules }) => breadth === grant.breadth && isDeepStrictEqual(rules, grant.rules))
      : outcome === 'proceed-always-server'
        ? grants.find(({ breadth }) => breadth === 'server')
        : outcome === 'proceed-always' || outcome === 'proceed-always-saved'
          ? grants[0]
          : undefined
  const wantedScope = scope ?? (outcome === 'proceed-always-saved' ? 'user' : 'session')
  if (!chosenGrant) return undefined
  return { grant: chosenGrant, scope: chosenGrant.scopes?.includes(wantedScope) ? wantedScope : 'session' }
}

/** Questions of a session that wait for an answer. */
const pendingApprovals = new WeakMap<Agent['session'], Set<PendingApproval>>()

interface PendingApproval {
  readonly proposal: Proposal
  readonly markCovered: () => void
}

/** What was just allowed may answer other questions, too: those that the policy would not ask any more. */
async function resolveCoveredApprovals(agent: Agent): Promise<void> {
  for (const { proposal, markCovered } of pendingApprovals.get(agent.session) ?? []) {
    if ((await agent.policy.decide(proposal)).verdict === 'allow') markCovered()
  }
}

function validateCall(agent: Agent, call: CallPart): ValidCall | { result: ResultPart } {
  const found = agent.toolbox.find(call.name)
  if ('problem' in found) return createErrorResult(call, found.problem, 'unknown-tool')
  const inexactNumber = findInexactInteger(call.input)
  if (inexactNumber !== undefined)
    return createErrorResult(call, formatInexactInteger(inexactNumber), 'invalid-arguments')
  const accepted = agent.toolbox.validateInput(found.tool, call.input ?? {}, call.name)
  if ('problem' in accepted) return createErrorResult(call, accepted.problem, 'invalid-arguments')
  const problem = found.tool.check?.(accepted.input, agent.folders)
  if (problem !== undefined) return createErrorResult(call, problem, 'invalid-arguments')
  return { tool: found.tool, input: accepted.input, effects: found.tool.effects(accepted.input, agent.folders) }
}

/** The first whole number that lost digits when it was read: as part of a path or an id it would mean another one. */
function findInexactInteger(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value) ? value : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const inner of Object.values(value)) {
    const found = findInexactInteger(inner)
    if (found !== undefined) return found
  }
  return undefined
}

function formatInexactInteger(inexactNumber: number): string {
  return `The number ${inexactNumber} is too large to be passed on exactly. Write it in quotes, if the tool takes text.`
}

/** Puts a question into the log, and to the person if there is one. */
export async function recordAndRequestApproval(
  agent: Agent,
  call: CallPart,
  valid: ValidCall,
  { details, decision }: Pick<ApprovalRequest, 'details' | 'decision'>,
  signal: AbortSignal,
  callbacks: Pick<ApprovalCallbacks, 'onEvent'> & Partial<ApprovalCallbacks>,
): Promise<ApprovalReply | undefined> {
  const ask: ApprovalRequest = { id: agent.createId(), call: call.id, tool: valid.tool.spec.name, details, decision }
  const entry = agent.session.append({ kind: 'ask', ask: ask.id, call: call.id, details: toJsonObject(details) })
  callbacks.onEvent({ type: 'entry', entry })
  callbacks.onApprovalRequested?.(valid, ask)
  if (!agent.requestApproval) return undefined
  callbacks.onEvent({ type: 'ask', ask })
  const reply = await awaitReply(agent, ask, toProposal(valid), signal)
  const { outcome, words, input, grant, scope, access } = reply
  const answer = agent.session.append({
    kind: 'reply',
    ask: ask.id,
    outcome,
    ...defined({ words, input }),
    ...(grant && { grant: toJsonObject(grant) }),
    ...defined({ scope }),
    ...(access && { access }),
  })
  callbacks.onEvent({ type: 'entry', entry: answer })
  callbacks.onEvent({ type: 'reply', reply })
  return reply
}

/** The person's answer, or that another answer of theirs covers this question. */
async function awaitReply(
  agent: Agent,
  ask: ApprovalRequest,
  proposal: Proposal,
  signal: AbortSignal,
): Promise<ApprovalReply> {
  // What is asked about a command that has run already is no matter of the rules about commands.
  if (ask.details.kind === 'sandbox')
    return (await agent.requestApproval?.(ask, signal)) ?? { ask: ask.id, outcome: 'cancel' }
  const covered = new AbortController()
  const all = pendingApprovals.get(agent.session) ?? new Set()
  const one: PendingApproval = { proposal, markCovered: () => covered.abort() }
  pendingApprovals.set(agent.session, all.add(one))
  try {
    const reply = await agent.requestApproval?.(ask, AbortSignal.any([signal, covered.signal]))
    if (reply && !covered.signal.aborted) return reply
    return { ask: ask.id, outcome: signal.aborted ? 'cancel' : 'covered' }
  } finally {
    all.delete(one)
  }
}

function toJsonObject(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value))
}

/** What the person is shown: what the tool says it would do, or else the arguments that it would get. */
async function previewCall(
  agent: Agent,
  call: CallPart,
  valid: ValidCall,
  decision: Decision,
  signal: AbortSignal,
): Promise<ApprovalDetails | { problem: string }> {
  try {
    const shown = await valid.tool.preview?.(
      valid.input,
      createToolContext(agent, signal, () => undefined, pickAccess(decision)),
    )
    return shown ?? describeCall(call, valid)
  } catch (error) {
    // What is wrong with an edit says what is in the file: of one outside the workspace nobody is told that unasked.
    if (decision.access?.some(({ isOutside }) => isOutside)) return describeCall(call, valid)
    return { problem: getErrorMessage(error) }
  }
}

function describeCall({ name }: CallPart, { tool, input, effects }: ValidCall): ApprovalDetails {
  const paths = new Set(effects.flatMap((effect) => ('path' in effect ? [effect.path] : [])))
  if (tool.verb === undefined || paths.size === 0)
    return { kind: 'info', title: `Call ${name}`, prompt: JSON.stringify(input, undefined, 2) }
  return { kind: 'info', title: `${tool.verb} ${[...paths].join(', ')}`, prompt: formatArguments(input) }
}

/** Arguments as a person reads them, a line each; what goes on in a next line is indented, so that it can pass for no other. */
function formatArguments(input: JsonObject): string {
  return Object.entries(input)
    .map(
      ([name, value]) =>
        `${name}: ${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\n', '\n  ')}`,
    )
    .join('\n')
}

/** What is told of a call that did not run; a message may quote arguments of any length. */
const MAX_MESSAGE_CHARS = 4000

function createErrorResult(call: CallPart, why: string, type: string): { result: ResultPart } {
  const message = clipText(why, MAX_MESSAGE_CHARS)
  const content = [{ kind: 'text', text: message }] as const
  return {
    result: { kind: 'result', id: call.id, name: call.name, status: 'error', content, error: { message, type } },
  }
}

function createDeniedResult(call: CallPart, text: string, decision: string, shown?: MarkdownDisplay): CallApproval {
  const content = [{ kind: 'text', text }] as const
  const display = shown && { display: { ...shown } }
  return { result: { kind: 'result', id: call.id, name: call.name, status: 'denied', content, ...display }, decision }
}

/** A plan that nobody is there to approve is what came of the run: it is printed, and plan mode stays on. */
function createPlanHandoverResult(call: CallPart, markdown: string): CallApproval {
  const text = 'The person has been given the plan. They have not approved it yet, and plan mode is still on.'
  const display = { title: 'The plan', markdown }
  const content = [{ kind: 'text', text }] as const
  return {
    result: { kind: 'result', id: call.id, name: call.name, status: 'ok', content, display },
    decision: 'handed over',
  }
}
