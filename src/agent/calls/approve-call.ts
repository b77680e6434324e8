import { isDeepStrictEqual } from 'node:util'
import type { CallDecision } from '../../model/call-decision.ts'
import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import { createErrorResult, createTextResult, type CallErrorType } from '../../model/result.ts'
import type { SandboxAccess } from '../../model/security/sandbox-access.ts'
import { clipText } from '../../model/text.ts'
import type { CallPart, ResultPart } from '../../model/turn.ts'
import type { Decision, Grant, GrantScope, Proposal } from '../../policy/policy.ts'
import type { ApprovalDetails, MarkdownDisplay } from '../../tool/tool.ts'
import type { AgentContext } from '../agent-context.ts'
import type { ApprovalReply, ApprovalTerms, ValidCall } from './call-state.ts'
import {
  type ApprovalCallbacks,
  findLoggedReply,
  requestApproval,
  resolveCoveredApprovals,
  toProposal,
} from './request-approval.ts'
import { callHook } from '../hooks/call-hook.ts'
import type { PreToolUseOutcome } from '../hooks/hooks.ts'
import { decideWithSandbox, offerGrants, rememberGrant, type SandboxNeeds, toQuestionDetails } from './sandbox-needs.ts'
import { createToolContext } from './tool-context.ts'

/** A call may run, it already has its result, or it waits for an answer that comes later, perhaps to another process. */
type CallApproval =
  | { readonly isPending: true }
  | { readonly valid: ValidCall; readonly terms: ApprovalTerms }
  | { readonly result: ResultPart; readonly decision?: CallDecision }

/** Validates a call, and asks the policy and then, if needed, the user whether it may run. */
export async function approveCall(
  agent: AgentContext,
  call: CallPart,
  signal: AbortSignal,
  callbacks: ApprovalCallbacks & { readonly onValidated: (valid: ValidCall) => Promise<void> },
): Promise<CallApproval> {
  const proposed = validateCall(agent, call)
  if ('result' in proposed) return proposed
  const hooked = await applyPreToolUse(agent, call, proposed, signal, callbacks)
  if ('result' in hooked) return hooked
  const { valid, outcome } = hooked
  await callbacks.onValidated(valid)
  const proposal = toProposal(valid)
  const { decision: ownDecision, needs } = await decideWithSandbox(agent, proposal)
  const policyDecision = await applyHookPermission(agent, ownDecision, proposal, needs, outcome)
  const { isOffline } = needs
  const { access } = policyDecision
  switch (policyDecision.verdict) {
    case 'allow': {
      const { gitHelpers, isHarmless, rule } = policyDecision
      const isByHook = ownDecision.verdict !== 'allow'
      const decision: CallDecision = isByHook
        ? { by: 'hook', outcome: 'allowed' }
        : { by: 'policy', outcome: 'allowed', rule }
      return {
        valid: { ...valid, ...defined({ gitHelpers, isHarmless }) },
        terms: { decision, ...defined({ access, isOffline }) },
      }
    }
    case 'deny':
      return denyByPolicy(call, policyDecision)
    case 'ask':
      break
    default:
      policyDecision.verdict satisfies never
  }

  const grants = agent.requestApproval ? await offerGrants(agent, proposal, needs) : undefined
  const question: Decision = { ...policyDecision, ...(grants && grants.length > 0 && { grants }) }
  const preview = await previewCall(agent, call, valid, question, signal)
  if ('problem' in preview) return rejectCall(call, 'invalid-arguments', preview.problem)
  const details: ApprovalDetails = preview.kind === 'exec' ? { ...preview, ...toQuestionDetails(needs) } : preview
  const reply =
    findLoggedReply(agent, call, details) ??
    (await requestApproval(agent, call, valid, { details, decision: question }, signal, callbacks))
  if (!reply && agent.requestApproval) return { isPending: true }
  if (details.kind === 'question') return answerQuestion(call, details, reply)
  if (!reply) return details.kind === 'plan' ? handOverPlan(call, details.plan) : denyUnasked(call, question)
  const isPlan = details.kind === 'plan'
  let sandboxAccess: SandboxAccess | undefined
  switch (reply.outcome) {
    case 'cancel':
      return denyByUser(call, reply, details)
    case 'modify': {
      if (!reply.input) break
      const approval = await approveModifiedInput(agent, call, valid, reply.input)
      if (!('valid' in approval)) return approval
      await callbacks.onValidated(approval.valid)
      if (isPlan) agent.mode?.set('default')
      return approval
    }
    case 'proceed-always': {
      if (isPlan) agent.mode?.set('auto_edit')
      const chosen = findChosenGrant(reply, question)
      if (!chosen) break
      callbacks.onEvent({ type: 'notice', text: rememberGrant(agent, proposal, chosen.grant, chosen.scope) })
      await resolveCoveredApprovals(agent)
      sandboxAccess = chosen.grant.sandboxAccess
      break
    }
    case 'proceed-once':
    case 'covered':
      break
    default:
      reply.outcome satisfies never
  }
  if (isPlan && reply.outcome !== 'proceed-always') agent.mode?.set('default')
  const decision: CallDecision = { by: reply.outcome === 'covered' ? 'earlier-answer' : 'user', outcome: 'allowed' }
  if (details.kind === 'exec' && details.outsidePaths) sandboxAccess = 'outside'
  else if (details.kind === 'exec' && details.isOffline && reply.access === 'network') sandboxAccess = 'network'
  const sandbox = sandboxAccess ? { sandboxAccess } : defined({ isOffline })
  return { valid, terms: { decision, ...defined({ access }), ...sandbox } }
}

/** A hook may refuse a call, or change its arguments; those are validated like the first ones. */
async function applyPreToolUse(
  agent: AgentContext,
  call: CallPart,
  valid: ValidCall,
  signal: AbortSignal,
  { onEvent }: ApprovalCallbacks,
): Promise<
  { readonly valid: ValidCall; readonly outcome?: PreToolUseOutcome } | Extract<CallApproval, { result: unknown }>
> {
  if (!agent.hooks?.preToolUse) return { valid }
  const details = { tool: valid.tool, call: call.id, input: valid.input }
  const outcome = await callHook(agent, 'preToolUse', details, signal, onEvent)
  if (!outcome) return { valid }
  const { permission, reason = 'no reason was given', updatedInput, additionalContext, stopReason } = outcome
  if (permission === 'deny' || stopReason !== undefined) {
    const text = `A hook refused this call: ${permission === 'deny' ? reason : stopReason}`
    return { result: createTextResult(call, 'denied', text), decision: { by: 'hook', outcome: 'denied' } }
  }
  const changed = updatedInput && validateCall(agent, { ...call, input: updatedInput })
  if (changed && 'result' in changed) {
    const problem = changed.result.error?.message ?? ''
    onEvent({ type: 'notice', text: `A hook changed the arguments of ${call.name} to invalid ones: ${problem}` })
    return changed
  }
  const notes = [
    ...(changed ? [CHANGED_INPUT_NOTE] : []),
    ...(additionalContext === undefined ? [] : [additionalContext]),
  ]
  const next = changed ?? valid
  return { outcome, valid: notes.length > 0 ? { ...next, notes } : next }
}

const CHANGED_INPUT_NOTE = 'A hook of the user changed the arguments of this call before it ran.'

/**
 * A hook may ask about what is allowed. What it allows beyond the policy is only what the user could allow from now on: no rule,
 * danger or need of more access than the sandbox gives is overridden.
 */
async function applyHookPermission(
  { policy }: AgentContext,
  decision: Decision,
  proposal: Proposal,
  needs: SandboxNeeds,
  { permission, reason }: PreToolUseOutcome = {},
): Promise<Decision> {
  if (permission === 'ask' && decision.verdict === 'allow')
    return { ...decision, verdict: 'ask', rule: 'hook', why: reason ?? 'A hook asks about this call.' }
  if (permission !== 'allow' || decision.verdict !== 'ask' || needs.outsidePaths || needs.isOnlyAccess) return decision
  const canBeAllowed = decision.isRoutine ?? ((await policy.offers?.(proposal)) ?? []).length > 0
  return canBeAllowed ? { ...decision, verdict: 'allow' } : decision
}

/** A call that the user changed is checked like any other: it may be about another file. */
async function approveModifiedInput(
  agent: AgentContext,
  call: CallPart,
  { input: proposed }: ValidCall,
  input: JsonObject,
): Promise<CallApproval> {
  const valid = validateCall(agent, { ...call, input })
  if ('result' in valid) return valid
  const { decision: policyDecision, needs } = await decideWithSandbox(agent, toProposal(valid))
  if (policyDecision.verdict === 'deny') return denyByPolicy(call, policyDecision)
  const decision: CallDecision = { by: 'user', outcome: 'modified' }
  const sandboxAccess = needs.outsidePaths && ('outside' as const)
  const { access } = policyDecision
  return { valid, terms: { decision, modified: true, proposed, ...defined({ access, sandboxAccess }) } }
}

/** The grant that the user chose. Only grants that the question offered count, whatever the reply says. */
function findChosenGrant(
  { grant: chosen, scope = 'session' }: ApprovalReply,
  { grants = [] }: Decision,
): { readonly grant: Grant; readonly scope: GrantScope } | undefined {
  const grant = chosen
    ? grants.find(({ breadth, rules }) => breadth === chosen.breadth && isDeepStrictEqual(rules, chosen.rules))
    : grants[0]
  return grant && { grant, scope: grant.scopes?.includes(scope) ? scope : 'session' }
}

function validateCall(agent: AgentContext, call: CallPart): ValidCall | { result: ResultPart } {
  const found = agent.toolbox.find(call.name)
  if ('problem' in found) return rejectCall(call, 'unknown-tool', found.problem)
  const inexact = findInexactInteger(call.input)
  if (inexact !== undefined) {
    const message = `The number ${inexact} is too large to be passed on exactly. Write it in quotes if the tool accepts a string.`
    return rejectCall(call, 'invalid-arguments', message)
  }
  const accepted = agent.toolbox.validateInput(found.tool, call.input ?? {}, call.name)
  if ('problem' in accepted) return rejectCall(call, 'invalid-arguments', accepted.problem)
  const problem = found.tool.check?.(accepted.input, agent.folders)
  if (problem !== undefined) return rejectCall(call, 'invalid-arguments', problem)
  return { tool: found.tool, input: accepted.input, effects: found.tool.effects(accepted.input, agent.folders) }
}

/** The first integer that lost digits when it was parsed: in a path or an id it would be another number. */
function findInexactInteger(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value) ? value : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const inner of Object.values(value)) {
    const found = findInexactInteger(inner)
    if (found !== undefined) return found
  }
  return undefined
}

/** What the user is shown: the preview of the tool, or else the arguments. */
async function previewCall(
  agent: AgentContext,
  call: CallPart,
  valid: ValidCall,
  { access }: Decision,
  signal: AbortSignal,
): Promise<ApprovalDetails | { problem: string }> {
  const context = createToolContext(agent, signal, () => undefined, defined({ access }))
  try {
    return (await valid.tool.preview?.(valid.input, context)) ?? describeCall(call, valid)
  } catch (error) {
    // The message quotes the file. For a file outside the workspace the model must not get it without approval.
    if (access?.some(({ isOutside }) => isOutside)) return describeCall(call, valid)
    return { problem: getErrorMessage(error) }
  }
}

function describeCall({ name }: CallPart, { tool, input, effects }: ValidCall): ApprovalDetails {
  const paths = new Set(effects.flatMap((effect) => ('path' in effect ? [effect.path] : [])))
  if (tool.verb === undefined || paths.size === 0)
    return { kind: 'info', title: `Call ${name}`, prompt: JSON.stringify(input, undefined, 2) }
  return { kind: 'info', title: `${tool.verb} ${[...paths].join(', ')}`, prompt: formatArguments(input) }
}

/** One argument per line. Further lines of a value are indented, so that they cannot pass for another argument. */
function formatArguments(input: JsonObject): string {
  return Object.entries(input)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return `${name}: ${text.replaceAll('\n', '\n  ')}`
    })
    .join('\n')
}

/** A message may quote arguments of any length. */
const MAX_MESSAGE_CHARS = 4000

function rejectCall(call: CallPart, type: CallErrorType, message: string): { result: ResultPart } {
  return { result: createErrorResult(call, type, clipText(message, MAX_MESSAGE_CHARS)) }
}

function denyByPolicy(call: CallPart, { why, rule }: Decision): CallApproval {
  const result = createTextResult(call, 'denied', `Denied by the policy: ${why}`)
  return { result, decision: { by: 'policy', outcome: 'denied', rule } }
}

function denyUnasked(call: CallPart, { why }: Decision): CallApproval {
  const text = `${why} There is no user to ask. Try another way, or say what is needed.`
  return { result: createTextResult(call, 'denied', text), decision: { by: 'nobody', outcome: 'denied' } }
}

function denyByUser(call: CallPart, { words = '' }: ApprovalReply, details: ApprovalDetails): CallApproval {
  const comment = words === '' ? '' : ` Comment: ${words}`
  const result = createTextResult(call, 'denied', `The user refused this call.${comment}`)
  const display: MarkdownDisplay | undefined =
    details.kind === 'plan' ? { title: `Plan refused.${comment}`, markdown: details.plan } : undefined
  return {
    result: { ...result, ...(display && { display: { ...display } }) },
    decision: { by: 'user', outcome: 'denied' },
  }
}

/** The words of the user are the result. Without a user, the model must decide itself. */
function answerQuestion(
  call: CallPart,
  { question }: ApprovalDetails & { kind: 'question' },
  reply: ApprovalReply | undefined,
): CallApproval {
  if (!reply) {
    const text = 'Nobody is there to answer. Decide yourself, and say in your answer what you assumed.'
    return { result: createTextResult(call, 'ok', text), decision: { by: 'nobody', outcome: 'unanswered' } }
  }
  const { words = '' } = reply
  const isAnswered = reply.outcome !== 'cancel' && words !== ''
  const text = isAnswered
    ? `The user answered: ${words}`
    : `The user did not want to answer.${words === '' ? '' : ` Comment: ${words}`}`
  const markdown = `${question}\n\n${isAnswered ? `**${words}**` : 'No answer.'}`
  const result = {
    ...createTextResult(call, 'ok', text),
    display: { title: isAnswered ? 'answered' : 'not answered', markdown },
  }
  return { result, decision: { by: 'user', outcome: isAnswered ? 'answered' : 'denied' } }
}

/** Without a user to approve it, a plan is the result of the run: it is printed, and plan mode stays on. */
function handOverPlan(call: CallPart, markdown: string): CallApproval {
  const text = 'The user was given the plan, but has not approved it yet. Plan mode is still on.'
  const result = { ...createTextResult(call, 'ok', text), display: { title: 'The plan', markdown } }
  return { result, decision: { by: 'nobody', outcome: 'plan-handed-over' } }
}
