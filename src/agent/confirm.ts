import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from '../model/json.ts'
import type { SandboxAccess } from '../model/sandbox-access.ts'
import { clipped } from '../model/text.ts'
import type { CallPart, ResultPart } from '../model/turn.ts'
import type { Access, Decision, Grant, GrantScope, Proposal } from '../policy/policy.ts'
import type { AskDetails, MarkdownDisplay } from '../tool/define.ts'
import type { Agent } from './agent.ts'
import type { Ask, Reply } from './call-state.ts'
import { contextOf } from './execute.ts'
import type { RunEvent } from './run-event.ts'
import type { ValidCall } from './schedule.ts'

/** A call may run, with the word that allowed it; or it has its result already. */
export type Approval =
  | {
      readonly valid: ValidCall
      readonly decision: string
      readonly access?: readonly Access[]
      readonly sandboxAccess?: SandboxAccess
      readonly isOffline?: true
      readonly modified?: true
      readonly proposed?: JsonObject
    }
  | { readonly result: ResultPart; readonly decision?: string }

interface Telling {
  readonly event: (event: RunEvent) => void
  /** A call that could run; it is waited for. */
  readonly valid: (valid: ValidCall) => Promise<void>
  readonly asking: (valid: ValidCall, ask: Ask) => void
}

/** Validates a call, and gets it allowed: by the policy, by a person, or not at all. */
export async function approve(agent: Agent, call: CallPart, signal: AbortSignal, tell: Telling): Promise<Approval> {
  const valid = validate(agent, call)
  if ('result' in valid) return valid
  await tell.valid(valid)
  const proposal = proposalOf(valid)
  const decided = await agent.policy.decide(proposal)
  const isOffline = (await agent.sandboxAccess?.isOffline(proposal)) ? { isOffline: true as const } : {}
  if (decided.verdict === 'allow') {
    const { gitHelpers, rule } = decided
    return {
      valid: { ...valid, ...(gitHelpers && { gitHelpers }) },
      decision: `allowed by ${rule}`,
      ...accessOf(decided),
      ...isOffline,
    }
  }
  if (decided.verdict === 'deny')
    return denied(call, `${decided.why} The policy forbids it.`, `denied by ${decided.rule}`)

  const grants = agent.ask ? await agent.policy.offers?.(proposal) : undefined
  const decision: Decision = { ...decided, ...(grants && grants.length > 0 && { grants }) }
  const shown = await preview(agent, call, valid, decision, signal)
  if ('problem' in shown) return failed(call, shown.problem, 'invalid-arguments')
  // Whoever is asked about what needs the network knows beforehand that it has none.
  const details: AskDetails = shown.kind === 'exec' && decision.needsNetwork ? { ...shown, ...isOffline } : shown
  const reply =
    replyInLog(agent, call, details) ?? (await question(agent, call, valid, { details, decision }, signal, tell))
  if (!reply && details.kind === 'plan') return handedOver(call, details.plan)
  if (!reply)
    return denied(
      call,
      `${decision.why} Nobody is there to be asked; try another way, or say what is needed.`,
      'denied: nobody to ask',
    )
  if (reply.outcome === 'cancel') {
    const words = reply.words === undefined || reply.words === '' ? '' : ` They say: ${reply.words}`
    const text = `The person refused this call.${words}`
    const document = details.kind === 'plan' ? { title: `Plan refused.${words}`, markdown: details.plan } : undefined
    return denied(call, text, 'denied by the person', document)
  }
  if (reply.outcome === 'modify' && reply.input) {
    const approval = await changedBy(agent, call, valid, reply.input)
    if ('valid' in approval) await tell.valid(approval.valid)
    if (details.kind === 'plan' && 'valid' in approval) agent.mode?.set('default')
    return approval
  }
  if (details.kind === 'plan') agent.mode?.set(reply.outcome === 'proceed-always' ? 'auto_edit' : 'default')
  const chosen = grantIn(reply, decision)
  if (chosen) {
    tell.event({ type: 'notice', text: agent.policy.remember(proposal, chosen.grant, chosen.scope) })
    await answerCovered(agent)
  }
  const by = reply.outcome === 'covered' ? 'an earlier answer of the person' : 'the person'
  const isOnline = details.kind === 'exec' && details.isOffline && reply.access === 'network'
  const sandbox = isOnline ? { sandboxAccess: 'network' as const } : isOffline
  return { valid, decision: `allowed by ${by}`, ...accessOf(decision), ...sandbox }
}

/** What the person made of a call is judged like any other: it may be about another file. */
async function changedBy(agent: Agent, call: CallPart, valid: ValidCall, input: JsonObject): Promise<Approval> {
  const changed = validate(agent, { ...call, input })
  if ('result' in changed) return changed
  const decision = await agent.policy.decide(proposalOf(changed))
  if (decision.verdict === 'deny')
    return denied(call, `${decision.why} The policy forbids it.`, `denied by ${decision.rule}`)
  const words = 'changed and allowed by the person'
  return { valid: changed, decision: words, ...accessOf(decision), modified: true, proposed: valid.input }
}

export function proposalOf({ tool, input, effects }: ValidCall): Proposal {
  return { tool: tool.spec.name, input, effects }
}

function accessOf({ access }: Decision): { readonly access?: readonly Access[] } {
  return access ? { access } : {}
}

/**
 * What a person answered in another process. It counts only if what was asked about is what would happen now, and only as
 * a yes or a no to this one call: what else stands in a log, like a rule for good or other arguments, is asked about again.
 */
function replyInLog(agent: Agent, call: CallPart, details: AskDetails): Reply | undefined {
  const found = agent.session.reply(call.id)
  const ask = found && agent.session.entries.find((entry) => entry.kind === 'ask' && entry.ask === found.ask)
  if (!found || ask?.kind !== 'ask') return undefined
  const { outcome, words } = found
  if (outcome !== 'cancel' && outcome !== 'proceed-once') return undefined
  if (outcome === 'proceed-once' && !isDeepStrictEqual(ask.details, asJson(details))) return undefined
  return { ask: found.ask, outcome, ...(words !== undefined && { words }) }
}

/** Which grant was chosen. Only what the decision offers counts, whatever an answer says. */
function grantIn(
  { outcome, grant, scope }: Reply,
  { grants = [] }: Decision,
): { readonly grant: Grant; readonly scope: GrantScope } | undefined {
  const chosen =
    outcome === 'proceed-always' && grant
      ? grants.find(({ breadth, rules }) => breadth === grant.breadth && isDeepStrictEqual(rules, grant.rules))
      : outcome === 'proceed-always-server'
        ? grants.find(({ breadth }) => breadth === 'server')
        : outcome === 'proceed-always' || outcome === 'proceed-always-saved'
          ? grants[0]
          : undefined
  const wanted = scope ?? (outcome === 'proceed-always-saved' ? 'user' : 'session')
  if (!chosen) return undefined
  return { grant: chosen, scope: chosen.scopes?.includes(wanted) ? wanted : 'session' }
}

/** Questions of a session that wait for an answer. */
const waiting = new WeakMap<Agent['session'], Set<Waiting>>()

interface Waiting {
  readonly proposal: Proposal
  readonly cover: () => void
}

/** What was just allowed may answer other questions, too: those that the policy would not ask any more. */
async function answerCovered(agent: Agent): Promise<void> {
  for (const { proposal, cover } of waiting.get(agent.session) ?? []) {
    if ((await agent.policy.decide(proposal)).verdict === 'allow') cover()
  }
}

function validate(agent: Agent, call: CallPart): ValidCall | { result: ResultPart } {
  const found = agent.toolbox.find(call.name)
  if ('problem' in found) return failed(call, found.problem, 'unknown-tool')
  const number = inexact(call.input)
  if (number !== undefined) return failed(call, tooLarge(number), 'invalid-arguments')
  const accepted = agent.toolbox.accept(found.tool, call.input ?? {}, call.name)
  if ('problem' in accepted) return failed(call, accepted.problem, 'invalid-arguments')
  const problem = found.tool.check?.(accepted.input, agent.folders)
  if (problem !== undefined) return failed(call, problem, 'invalid-arguments')
  return { tool: found.tool, input: accepted.input, effects: found.tool.effects(accepted.input, agent.folders) }
}

/** The first whole number that lost digits when it was read: as part of a path or an id it would mean another one. */
function inexact(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value) ? value : undefined
  if (typeof value !== 'object' || value === null) return undefined
  for (const inner of Object.values(value)) {
    const found = inexact(inner)
    if (found !== undefined) return found
  }
  return undefined
}

function tooLarge(number: number): string {
  return `The number ${number} is too large to be passed on exactly. Write it in quotes, if the tool takes text.`
}

/** Puts a question into the log, and to the person if there is one. */
export async function question(
  agent: Agent,
  call: CallPart,
  valid: ValidCall,
  { details, decision }: Pick<Ask, 'details' | 'decision'>,
  signal: AbortSignal,
  tell: Pick<Telling, 'event'> & Partial<Telling>,
): Promise<Reply | undefined> {
  const ask: Ask = { id: agent.mint(), call: call.id, tool: valid.tool.spec.name, details, decision }
  const entry = agent.session.append({ kind: 'ask', ask: ask.id, call: call.id, details: asJson(details) })
  tell.event({ type: 'entry', entry })
  tell.asking?.(valid, ask)
  if (!agent.ask) return undefined
  tell.event({ type: 'ask', ask })
  const reply = await answerTo(agent, ask, proposalOf(valid), signal)
  const { outcome, words, input, grant, scope, access } = reply
  const answer = agent.session.append({
    kind: 'reply',
    ask: ask.id,
    outcome,
    ...(words !== undefined && { words }),
    ...(input && { input }),
    ...(grant && { grant: asJson(grant) }),
    ...(scope !== undefined && { scope }),
    ...(access && { access }),
  })
  tell.event({ type: 'entry', entry: answer })
  tell.event({ type: 'reply', reply })
  return reply
}

/** The person's answer, or that another answer of theirs covers this question. */
async function answerTo(agent: Agent, ask: Ask, proposal: Proposal, signal: AbortSignal): Promise<Reply> {
  // What is asked about a command that has run already is no matter of the rules about commands.
  if (ask.details.kind === 'sandbox') return (await agent.ask?.(ask, signal)) ?? { ask: ask.id, outcome: 'cancel' }
  const covered = new AbortController()
  const all = waiting.get(agent.session) ?? new Set()
  const one = { proposal, cover: () => covered.abort() }
  waiting.set(agent.session, all.add(one))
  try {
    const reply = await agent.ask?.(ask, AbortSignal.any([signal, covered.signal]))
    if (reply && !covered.signal.aborted) return reply
    return { ask: ask.id, outcome: signal.aborted ? 'cancel' : 'covered' }
  } finally {
    all.delete(one)
  }
}

function asJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value))
}

/** What the person is shown: what the tool says it would do, or else the arguments that it would get. */
async function preview(
  agent: Agent,
  call: CallPart,
  valid: ValidCall,
  decision: Decision,
  signal: AbortSignal,
): Promise<AskDetails | { problem: string }> {
  try {
    const shown = await valid.tool.preview?.(
      valid.input,
      contextOf(agent, signal, () => undefined, accessOf(decision)),
    )
    return shown ?? itself(call, valid)
  } catch (error) {
    // What is wrong with an edit says what is in the file: of one outside the workspace nobody is told that unasked.
    if (decision.access?.some(({ isOutside }) => isOutside)) return itself(call, valid)
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

function itself({ name }: CallPart, { tool, input, effects }: ValidCall): AskDetails {
  const paths = new Set(effects.flatMap((effect) => ('path' in effect ? [effect.path] : [])))
  if (tool.verb === undefined || paths.size === 0)
    return { kind: 'info', title: `Call ${name}`, prompt: JSON.stringify(input, undefined, 2) }
  return { kind: 'info', title: `${tool.verb} ${[...paths].join(', ')}`, prompt: argumentLines(input) }
}

/** Arguments as a person reads them, a line each; what goes on in a next line is indented, so that it can pass for no other. */
function argumentLines(input: JsonObject): string {
  return Object.entries(input)
    .map(
      ([name, value]) =>
        `${name}: ${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('\n', '\n  ')}`,
    )
    .join('\n')
}

/** What is told of a call that did not run; a message may quote arguments of any length. */
const LONGEST_MESSAGE = 4000

function failed(call: CallPart, why: string, type: string): { result: ResultPart } {
  const message = clipped(why, LONGEST_MESSAGE)
  const content = [{ kind: 'text', text: message }] as const
  return {
    result: { kind: 'result', id: call.id, name: call.name, status: 'error', content, error: { message, type } },
  }
}

function denied(call: CallPart, text: string, decision: string, shown?: MarkdownDisplay): Approval {
  const content = [{ kind: 'text', text }] as const
  const display = shown && { display: { ...shown } }
  return { result: { kind: 'result', id: call.id, name: call.name, status: 'denied', content, ...display }, decision }
}

/** A plan that nobody is there to approve is what came of the run: it is printed, and plan mode stays on. */
function handedOver(call: CallPart, markdown: string): Approval {
  const text = 'The person has been given the plan. They have not approved it yet, and plan mode is still on.'
  const display = { title: 'The plan', markdown }
  const content = [{ kind: 'text', text }] as const
  return {
    result: { kind: 'result', id: call.id, name: call.name, status: 'ok', content, display },
    decision: 'handed over',
  }
}
