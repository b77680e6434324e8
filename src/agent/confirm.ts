import type { Json, JsonObject } from '../model/json.ts'
import { clipped } from '../model/text.ts'
import type { CallPart, ResultPart } from '../model/turn.ts'
import type { Decision } from '../policy/policy.ts'
import type { AskDetails } from '../tool/define.ts'
import type { Agent } from './agent.ts'
import type { Ask, Reply } from './call-state.ts'
import { contextOf } from './execute.ts'
import type { RunEvent } from './run-event.ts'
import type { ValidCall } from './schedule.ts'

/** A call may run, with the word that allowed it; or it has its result already. */
export type Approval =
  | { readonly valid: ValidCall; readonly decision: string; readonly modified?: true; readonly proposed?: JsonObject }
  | { readonly result: ResultPart; readonly decision?: string }

interface Telling {
  readonly event: (event: RunEvent) => void
  readonly asking: (valid: ValidCall, ask: Ask) => void
}

/** Validates a call, and gets it allowed: by the policy, by a person, or not at all. */
export async function approve(agent: Agent, call: CallPart, signal: AbortSignal, tell: Telling): Promise<Approval> {
  const valid = validate(agent, call)
  if ('result' in valid) return valid
  const proposal = { tool: valid.tool.spec.name, input: valid.input, effects: valid.effects }
  const decision = await agent.policy.decide(proposal)
  if (decision.verdict === 'allow') return { valid, decision: `allowed by ${decision.rule}` }
  if (decision.verdict === 'deny')
    return denied(call, `${decision.why} The policy forbids it.`, `denied by ${decision.rule}`)

  const answered = agent.session.reply(call.id)
  const reply = answered
    ? ({
        ask: answered.ask,
        outcome: answered.outcome,
        ...(answered.words !== undefined && { words: answered.words }),
        ...(answered.input && { input: answered.input }),
      } as Reply)
    : await question(agent, call, valid, decision, signal, tell)
  if (!reply)
    return denied(
      call,
      `${decision.why} Nobody is there to be asked; try another way, or say what is needed.`,
      'denied: nobody to ask',
    )
  if ('problem' in reply) return failed(call, reply.problem, 'invalid-arguments')
  if (reply.outcome === 'cancel') {
    const words = reply.words === undefined || reply.words === '' ? '' : ` They say: ${reply.words}`
    return denied(call, `The person refused this call.${words}`, 'denied by the person')
  }
  if (reply.outcome === 'modify' && reply.input) {
    const changed = validate(agent, { ...call, input: reply.input })
    return 'result' in changed
      ? changed
      : { valid: changed, decision: 'changed and allowed by the person', modified: true, proposed: valid.input }
  }
  const scope = SCOPES[reply.outcome]
  if (scope) tell.event({ type: 'notice', text: agent.policy.remember(proposal, scope) })
  return { valid, decision: 'allowed by the person' }
}

const SCOPES: Partial<Record<Reply['outcome'], 'tool' | 'server' | 'saved'>> = {
  'proceed-always': 'tool',
  'proceed-always-server': 'server',
  'proceed-always-saved': 'saved',
}

function validate(agent: Agent, call: CallPart): ValidCall | { result: ResultPart } {
  const found = agent.toolbox.find(call.name)
  if ('problem' in found) return failed(call, found.problem, 'unknown-tool')
  const number = inexact(call.input)
  if (number !== undefined) return failed(call, tooLarge(number), 'invalid-arguments')
  const accepted = agent.toolbox.accept(found.tool, call.input ?? {})
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

/** Puts the question into the log, and to the person if there is one. */
async function question(
  agent: Agent,
  call: CallPart,
  valid: ValidCall,
  decision: Decision,
  signal: AbortSignal,
  tell: Telling,
): Promise<Reply | { problem: string } | undefined> {
  const details = await preview(agent, call, valid, signal)
  if ('problem' in details) return details
  const ask: Ask = { id: agent.mint(), call: call.id, tool: valid.tool.spec.name, details, decision }
  const entry = agent.session.append({
    kind: 'ask',
    ask: ask.id,
    call: call.id,
    details: JSON.parse(JSON.stringify(details)),
  })
  tell.event({ type: 'entry', entry })
  tell.asking(valid, ask)
  if (!agent.ask) return undefined
  tell.event({ type: 'ask', ask })
  const reply = await agent.ask(ask, signal)
  const { outcome, words, input } = reply
  const answer = agent.session.append({
    kind: 'reply',
    ask: ask.id,
    outcome,
    ...(words !== undefined && { words }),
    ...(input && { input }),
  })
  tell.event({ type: 'entry', entry: answer })
  tell.event({ type: 'reply', reply })
  return reply
}

async function preview(
  agent: Agent,
  call: CallPart,
  valid: ValidCall,
  signal: AbortSignal,
): Promise<AskDetails | { problem: string }> {
  try {
    const shown = await valid.tool.preview?.(
      valid.input,
      contextOf(agent, signal, () => undefined),
    )
    return shown ?? { kind: 'info', title: valid.tool.spec.name, prompt: call.raw }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
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

function denied(call: CallPart, text: string, decision: string): Approval {
  return {
    result: { kind: 'result', id: call.id, name: call.name, status: 'denied', content: [{ kind: 'text', text }] },
    decision,
  }
}
