import type { JsonObject } from '../../model/json.ts'
import { clipText } from '../../model/text.ts'
import type { CallPart, ResultPart } from '../../model/turn.ts'
import type { RejectedCall } from '../../model/fold.ts'
import type { Effect } from '../../policy/effect.ts'
import type { Agent } from '../agent.ts'
import type { FinishedCall } from './call-state.ts'
import { type CallApproval, approveCall } from './approve-call.ts'
import { getStopReason } from '../loop/run-deadline.ts'
import { createConflictDetector } from './conflict-detector.ts'
import { createAsyncQueue } from './async-queue.ts'
import type { RunEvent } from '../loop/run-event.ts'
import { executeWithSandboxRetry } from './sandbox-retry.ts'
import {
  type ScheduleAction,
  type CallSchedule,
  isScheduleFinished,
  isFinishedCall,
  findReadyCalls,
  reduceSchedule,
  createSchedule,
} from './schedule.ts'
import { defined } from '../../model/defined.ts'

/** How a call ended; `stable` is what of it does not differ each time, where that is not all of it. */
export interface CallOutcome {
  readonly result: ResultPart
  readonly stable?: string
}

/**
 * Carries out the calls of one turn: each is validated, allowed or asked about, run, and answered. When this ends, every
 * call has exactly one result in the log. Before a tool runs its intent is in the log; so no crash can make it run twice.
 */
export async function* executeCalls(
  agent: Agent,
  orderedCalls: readonly CallPart[],
  rejected: readonly RejectedCall[],
  signal: AbortSignal,
): AsyncGenerator<RunEvent, readonly CallOutcome[]> {
  const events = createAsyncQueue<RunEvent>()
  const rejections = createRejectionResults(orderedCalls, rejected)
  let state: CallSchedule = createSchedule(orderedCalls.filter(({ id }) => !rejections.has(id)))
  const running = new Set<Promise<void>>()
  const stableContents = new Map<string, string>()
  // One of its own for each turn: what hangs on the signal of a whole run is kept as long as the run.
  const stop = new AbortController()
  let failure: { error: unknown } | undefined
  const conflicts = createConflictDetector(agent.host)

  function dispatch(action: ScheduleAction): void {
    if (failure) return
    const before = state
    state = reduceSchedule(state, action)
    for (const [at, call] of state.calls.entries()) {
      if (call === before.calls[at]) continue
      if (isFinishedCall(call)) trackTask(recordResult(call))
      else events.push({ type: 'call', call })
    }
    for (const id of findReadyCalls(state, conflicts.hasConflict)) trackTask(startCall(id))
  }

  /** What is shown as finished is in the log. */
  async function recordResult(call: FinishedCall): Promise<void> {
    const decision = call.decision === undefined ? {} : { decision: call.decision }
    const facts = call.facts ? { facts: call.facts } : {}
    const entry = agent.session.append({ kind: 'result', result: call.result, ms: call.ms, ...decision, ...facts })
    events.push({ type: 'call', call })
    events.push({ type: 'entry', entry })
  }

  /** What had begun must be known to have begun, whatever happens: only then the tool runs. */
  async function startCall(id: string): Promise<void> {
    const call = findCall(id)
    if (call?.status !== 'scheduled') return
    const access = call.sandboxAccess && { access: call.sandboxAccess }
    const intent = { kind: 'intent', call: id, name: call.tool.spec.name, input: call.input, ...access } as const
    events.push({ type: 'entry', entry: agent.session.append(intent) })
    dispatch({ type: 'start', id, at: agent.clock.now() })
    // Who only looks may look again: if the power fails now, nothing has happened that the disk should know of.
    if (!isReadOnly(call.effects)) await agent.session.flush()
    const executing = findCall(id)
    if (failure || executing?.status !== 'executing') return
    const onProgress = (text: string) => events.push({ type: 'progress', call: id, text })
    const { result, stable, facts } = await executeWithSandboxRetry(
      agent,
      executing,
      stop.signal,
      onProgress,
      (event) => events.push(event),
    )
    if (stable !== undefined) stableContents.set(id, stable)
    if (call.effects.some(({ kind }) => kind === 'exec' || kind === 'unknown')) conflicts.invalidate()
    finishCall(id, result, agent.clock.now() - executing.started, call.decision, facts)
  }

  function finishCall(id: string, result: ResultPart, ms: number, decision?: string, facts?: JsonObject): void {
    dispatch({ type: 'settle', id, result, ms, ...defined({ decision, facts }) })
  }

  async function approveOrReject(call: CallPart): Promise<void> {
    const approval: CallApproval = await approveCall(agent, call, stop.signal, {
      onEvent: (event) => events.push(event),
      // A call that is alone waits for none.
      onValidated: async ({ effects }) => (orderedCalls.length > 1 ? conflicts.resolvePaths(effects) : undefined),
      onApprovalRequested: (valid, ask) => dispatch({ type: 'ask', id: call.id, valid, ask }),
    })
    if ('result' in approval) finishCall(call.id, approval.result, 0, approval.decision)
    else dispatch({ type: 'allow', id: call.id, ...approval })
  }

  /** Waits for a piece of work; when there is none left, all is done. If one cannot be written down, nothing more is begun. */
  function trackTask(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => {
        failure ??= { error }
        stop.abort()
      })
      .finally(() => {
        running.delete(tracked)
        if (running.size === 0 && (failure || isScheduleFinished(state))) events.end()
      })
    running.add(tracked)
  }

  const findCall = (id: string) => state.calls.find((call) => call.call.id === id)
  const cancel = () => {
    const isTimeLimit = getStopReason(signal) === 'time-limit'
    dispatch({ type: 'cancel', why: isTimeLimit ? 'The time of the run is over.' : 'The person stopped the run.' })
    stop.abort(signal.reason)
  }

  if (orderedCalls.length === 0) return []
  try {
    // Each is over before the next is named: of many, few are open.
    for (const call of orderedCalls) {
      const result = rejections.get(call.id)
      events.push({ type: 'call', call: { status: 'validating', call } })
      if (result) trackTask(recordResult({ status: 'error', call, result, ms: 0 }))
    }
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel, { once: true })
    for (const { call } of state.calls) trackTask(approveOrReject(call))
    yield* events
  } finally {
    // Whoever stops listening stops the tools.
    stop.abort()
    signal.removeEventListener('abort', cancel)
  }
  if (failure) throw failure.error
  const settled = new Map(state.calls.flatMap((call) => (isFinishedCall(call) ? [[call.call.id, call.result]] : [])))
  return orderedCalls.flatMap(({ id }) => {
    const result = rejections.get(id) ?? settled.get(id)
    const stable = stableContents.get(id)
    return result ? [{ result, ...defined({ stable }) }] : []
  })
}

/** The most calls of one answer that are carried out. No model makes so many on purpose; they come of going round in circles. */
const MAX_CALLS_PER_TURN = 512

/** The results of the calls that must not run: those that were rejected, and those that are too many. */
function createRejectionResults(
  orderedCalls: readonly CallPart[],
  rejected: readonly RejectedCall[],
): ReadonlyMap<string, ResultPart> {
  const results = new Map(rejected.map(({ call, reason }) => [call.id, createRejectionResult(call, reason)]))
  for (const call of orderedCalls.filter(({ id }) => !results.has(id)).slice(MAX_CALLS_PER_TURN))
    results.set(call.id, createRejectionResult(call, TOO_MANY_CALLS_REASON))
  return results
}

const TOO_MANY_CALLS_REASON = `The first ${MAX_CALLS_PER_TURN} calls of an answer are carried out, and this one came after them. Make fewer calls at a time; make this one again if it is still needed.`

/** A tool that says of itself what it touches, and that it changes none of it. One that says nothing may do anything. */
function isReadOnly(effects: readonly Effect[]): boolean {
  return effects.length > 0 && effects.every(({ kind }) => kind === 'read')
}

/** What the model is told of a call that must not run, with what it wrote (T41). */
function createRejectionResult(call: CallPart, reason: string): ResultPart {
  const rawNote = call.input === undefined && call.raw !== '' ? ` You wrote: ${clipText(call.raw, 2000)}` : ''
  const text = `The call did not run. ${reason}${rawNote}`
  return {
    kind: 'result',
    id: call.id,
    name: call.name,
    status: 'error',
    content: [{ kind: 'text', text }],
    error: { message: reason, type: 'not-run' },
  }
}
