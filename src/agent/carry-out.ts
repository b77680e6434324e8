import type { JsonObject } from '../model/json.ts'
import { clipped } from '../model/text.ts'
import type { CallPart, ResultPart } from '../model/turn.ts'
import type { Rejected } from '../model/fold.ts'
import type { Effect } from '../policy/effect.ts'
import type { Agent } from './agent.ts'
import type { Settled } from './call-state.ts'
import { type Approval, approve } from './confirm.ts'
import { stoppedBy } from './deadline.ts'
import { placesOn } from './places.ts'
import { queue } from './queue.ts'
import type { RunEvent } from './run-event.ts'
import { executeWithAccess } from './sandbox-retry.ts'
import { type Action, type Schedule, isDone, isSettled, ready, reduce, schedule } from './schedule.ts'

/** How a call ended; `stable` is what of it does not differ each time, where that is not all of it. */
export interface Outcome {
  readonly result: ResultPart
  readonly stable?: string
}

/**
 * Carries out the calls of one turn: each is validated, allowed or asked about, run, and answered. When this ends, every
 * call has exactly one result in the log. Before a tool runs its intent is in the log; so no crash can make it run twice.
 */
export async function* carryOut(
  agent: Agent,
  order: readonly CallPart[],
  rejected: readonly Rejected[],
  signal: AbortSignal,
): AsyncGenerator<RunEvent, readonly Outcome[]> {
  const events = queue<RunEvent>()
  const refused = refusals(order, rejected)
  let state: Schedule = schedule(order.filter(({ id }) => !refused.has(id)))
  const running = new Set<Promise<void>>()
  const stables = new Map<string, string>()
  // One of its own for each turn: what hangs on the signal of a whole run is kept as long as the run.
  const stop = new AbortController()
  let broken: { error: unknown } | undefined
  const places = placesOn(agent.host)

  function dispatch(action: Action): void {
    if (broken) return
    const before = state
    state = reduce(state, action)
    for (const [at, call] of state.calls.entries()) {
      if (call === before.calls[at]) continue
      if (isSettled(call)) keep(record(call))
      else events.push({ type: 'call', call })
    }
    for (const id of ready(state, places.conflict)) keep(begin(id))
  }

  /** What is shown as finished is in the log. */
  async function record(call: Settled): Promise<void> {
    const decision = call.decision === undefined ? {} : { decision: call.decision }
    const facts = call.facts ? { facts: call.facts } : {}
    const entry = agent.session.append({ kind: 'result', result: call.result, ms: call.ms, ...decision, ...facts })
    events.push({ type: 'call', call })
    events.push({ type: 'entry', entry })
  }

  /** What had begun must be known to have begun, whatever happens: only then the tool runs. */
  async function begin(id: string): Promise<void> {
    const call = find(id)
    if (call?.status !== 'scheduled') return
    const access = call.sandboxAccess && { access: call.sandboxAccess }
    const intent = { kind: 'intent', call: id, name: call.tool.spec.name, input: call.input, ...access } as const
    events.push({ type: 'entry', entry: agent.session.append(intent) })
    dispatch({ type: 'start', id, at: agent.clock.now() })
    // Who only looks may look again: if the power fails now, nothing has happened that the disk should know of.
    if (!onlyLooks(call.effects)) await agent.session.saved()
    const executing = find(id)
    if (broken || executing?.status !== 'executing') return
    const onProgress = (text: string) => events.push({ type: 'progress', call: id, text })
    const { result, stable, facts } = await executeWithAccess(agent, executing, stop.signal, onProgress, (event) =>
      events.push(event),
    )
    if (stable !== undefined) stables.set(id, stable)
    if (call.effects.some(({ kind }) => kind === 'exec' || kind === 'unknown')) places.forget()
    settle(id, result, agent.clock.now() - executing.started, call.decision, facts)
  }

  function settle(id: string, result: ResultPart, ms: number, decision?: string, facts?: JsonObject): void {
    dispatch({ type: 'settle', id, result, ms, ...(decision !== undefined && { decision }), ...(facts && { facts }) })
  }

  async function decide(call: CallPart): Promise<void> {
    const approval: Approval = await approve(agent, call, stop.signal, {
      event: (event) => events.push(event),
      // A call that is alone waits for none.
      valid: async ({ effects }) => (order.length > 1 ? places.learn(effects) : undefined),
      asking: (valid, ask) => dispatch({ type: 'ask', id: call.id, valid, ask }),
    })
    if ('result' in approval) settle(call.id, approval.result, 0, approval.decision)
    else dispatch({ type: 'allow', id: call.id, ...approval })
  }

  /** Waits for a piece of work; when there is none left, all is done. If one cannot be written down, nothing more is begun. */
  function keep(work: Promise<void>): void {
    const kept = work
      .catch((error: unknown) => {
        broken ??= { error }
        stop.abort()
      })
      .finally(() => {
        running.delete(kept)
        if (running.size === 0 && (broken || isDone(state))) events.end()
      })
    running.add(kept)
  }

  const find = (id: string) => state.calls.find((call) => call.call.id === id)
  const cancel = () => {
    const late = stoppedBy(signal) === 'time-limit'
    dispatch({ type: 'cancel', why: late ? 'The time of the run is over.' : 'The person stopped the run.' })
    stop.abort(signal.reason)
  }

  if (order.length === 0) return []
  try {
    // Each is over before the next is named: of many, few are open.
    for (const call of order) {
      const result = refused.get(call.id)
      events.push({ type: 'call', call: { status: 'validating', call } })
      if (result) keep(record({ status: 'error', call, result, ms: 0 }))
    }
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel, { once: true })
    for (const { call } of state.calls) keep(decide(call))
    yield* events
  } finally {
    // Whoever stops listening stops the tools.
    stop.abort()
    signal.removeEventListener('abort', cancel)
  }
  if (broken) throw broken.error
  const settled = new Map(state.calls.flatMap((call) => (isSettled(call) ? [[call.call.id, call.result]] : [])))
  return order.flatMap(({ id }) => {
    const result = refused.get(id) ?? settled.get(id)
    const stable = stables.get(id)
    return result ? [{ result, ...(stable !== undefined && { stable }) }] : []
  })
}

/** The most calls of one answer that are carried out. No model makes so many on purpose; they come of going round in circles. */
const MOST_CALLS = 512

/** The results of the calls that must not run: those that were rejected, and those that are too many. */
function refusals(order: readonly CallPart[], rejected: readonly Rejected[]): ReadonlyMap<string, ResultPart> {
  const results = new Map(rejected.map(({ call, reason }) => [call.id, refusal(call, reason)]))
  for (const call of order.filter(({ id }) => !results.has(id)).slice(MOST_CALLS))
    results.set(call.id, refusal(call, TOO_MANY))
  return results
}

const TOO_MANY = `The first ${MOST_CALLS} calls of an answer are carried out, and this one came after them. Make fewer calls at a time; make this one again if it is still needed.`

/** A tool that says of itself what it touches, and that it changes none of it. One that says nothing may do anything. */
function onlyLooks(effects: readonly Effect[]): boolean {
  return effects.length > 0 && effects.every(({ kind }) => kind === 'read')
}

/** What the model is told of a call that must not run, with what it wrote (T41). */
function refusal(call: CallPart, reason: string): ResultPart {
  const wrote = call.input === undefined && call.raw !== '' ? ` You wrote: ${clipped(call.raw, 2000)}` : ''
  const text = `The call did not run. ${reason}${wrote}`
  return {
    kind: 'result',
    id: call.id,
    name: call.name,
    status: 'error',
    content: [{ kind: 'text', text }],
    error: { message: reason, type: 'not-run' },
  }
}
