import { setMaxListeners } from 'node:events'
import { getAbortReason } from '../../model/abort-reason.ts'
import type { CallDecision } from '../../model/call-decision.ts'
import type { JsonObject } from '../../model/json.ts'
import { createErrorResult } from '../../model/result.ts'
import { clipText } from '../../model/text.ts'
import type { CallPart, ResultPart } from '../../model/turn.ts'
import type { RejectedCall } from '../../model/fold.ts'
import type { Effect } from '../../policy/effect.ts'
import type { AgentContext } from '../agent-context.ts'
import type { FinishedCall } from './call-state.ts'
import { approveCall } from './approve-call.ts'
import { addHookNotes } from '../hooks/post-tool-use.ts'
import { getStopReason } from '../loop/run-deadline.ts'
import { createConflictDetector } from './conflict-detector.ts'
import { createAsyncQueue } from './async-queue.ts'
import type { RunEvent } from '../loop/run-event.ts'
import { executeWithSandboxRetry } from './sandbox-retry.ts'
import {
  type ScheduleAction,
  type CallSchedule,
  isFinishedCall,
  findReadyCalls,
  findScheduledCall,
  reduceSchedule,
  createSchedule,
} from './schedule.ts'
import { defined } from '../../model/defined.ts'

/** How a call ended; `stable` is the part of the output that is the same each time, if that is not all of it. */
export interface CallOutcome {
  readonly result: ResultPart
  readonly stable?: string
}

/**
 * Executes the calls of one turn: each is validated, approved and run. At the end, every call has exactly one result in the
 * log, except for those that wait for an approval that comes later, and those that must not run before them. The intent to run a tool is in the log before the tool starts, so no crash can make it run twice.
 */
export async function* executeCalls(
  agent: AgentContext,
  orderedCalls: readonly CallPart[],
  rejected: readonly RejectedCall[],
  signal: AbortSignal,
): AsyncGenerator<RunEvent, readonly CallOutcome[]> {
  const events = createAsyncQueue<RunEvent>()
  const rejections = createRejectionResults(orderedCalls, rejected)
  let state: CallSchedule = createSchedule(orderedCalls.filter(({ id }) => !rejections.has(id)))
  const running = new Set<Promise<void>>()
  const stableContents = new Map<string, string>()
  // A controller per turn, because listeners on the signal of the run would stay until the run ends.
  const stop = new AbortController()
  // Each call that runs listens to it; by default, Node warns of more than ten.
  setMaxListeners(0, stop.signal)
  let failure: { error: unknown } | undefined
  const conflicts = createConflictDetector(agent.host)

  function dispatch(action: ScheduleAction): void {
    if (failure) return
    const before = state
    state = reduceSchedule(state, action)
    const affected = action.type === 'cancel' ? [...state.positions.keys()] : [action.id]
    for (const id of affected) {
      const call = findScheduledCall(state, id)
      if (!call || call === findScheduledCall(before, id)) continue
      if (isFinishedCall(call)) trackTask(recordResult(call))
      else events.push({ type: 'call', call })
    }
    // A call that starts blocks the same calls as before.
    if (action.type === 'start') return
    for (const id of findReadyCalls(state, conflicts.hasConflict)) trackTask(startCall(id))
  }

  /** A call that is shown as finished is in the log. */
  async function recordResult(call: FinishedCall): Promise<void> {
    const { result, ms, decision: decided, facts } = call
    const entry = agent.session.append({ kind: 'result', result, ms, ...defined({ decided, facts }) })
    events.push({ type: 'call', call })
    events.push({ type: 'entry', entry })
  }

  /** The tool runs only after its intent is in the log. */
  async function startCall(id: string): Promise<void> {
    const call = findScheduledCall(state, id)
    if (call?.status !== 'scheduled') return
    const { tool, input, sandboxAccess: access } = call
    const intent = { kind: 'intent', call: id, name: tool.spec.name, input, ...defined({ access }) } as const
    events.push({ type: 'entry', entry: agent.session.append(intent) })
    dispatch({ type: 'start', id, at: agent.clock.now() })
    // A tool that only reads may run again after a power failure, so it need not wait for the disk.
    if (!call.isHarmless && !isReadOnly(call.effects)) await agent.session.flush()
    const executing = findScheduledCall(state, id)
    if (failure || executing?.status !== 'executing') return
    const onProgress = (text: string) => events.push({ type: 'progress', call: id, text })
    const onEvent = (event: RunEvent) => events.push(event)
    const executed = await executeWithSandboxRetry(agent, executing, stop.signal, onProgress, onEvent)
    const { stable, facts } = executed
    const result = await addHookNotes(agent, executing, executed.result, stop.signal, onEvent)
    if (stable !== undefined) stableContents.set(id, stable)
    if (call.effects.some(({ kind }) => kind === 'exec' || kind === 'unknown')) conflicts.invalidate()
    finishCall(id, result, agent.clock.now() - executing.started, call.decision, facts)
  }

  function finishCall(id: string, result: ResultPart, ms: number, decision?: CallDecision, facts?: JsonObject): void {
    dispatch({ type: 'settle', id, result, ms, ...defined({ decision, facts }) })
  }

  async function approveOrReject(call: CallPart): Promise<void> {
    const approval = await approveCall(agent, call, stop.signal, {
      onEvent: (event) => events.push(event),
      // A single call conflicts with none.
      onValidated: async ({ effects }) => (orderedCalls.length > 1 ? conflicts.resolvePaths(effects) : undefined),
      onApprovalRequested: (valid, ask) => dispatch({ type: 'ask', id: call.id, valid, ask }),
    })
    if ('isPending' in approval) return
    if ('result' in approval) finishCall(call.id, approval.result, 0, approval.decision)
    else dispatch({ type: 'allow', id: call.id, ...approval })
  }

  /** The events end when no task is left. After a failure, such as a log that cannot be written, nothing more starts. */
  function trackTask(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => {
        failure ??= { error }
        stop.abort()
      })
      .finally(() => {
        running.delete(tracked)
        if (running.size === 0) events.end()
      })
    running.add(tracked)
  }

  const cancel = () => {
    dispatch({ type: 'cancel', reason: getStopReason(signal) })
    stop.abort(signal.reason)
  }

  if (orderedCalls.length === 0) return []
  try {
    // A rejected call is finished before the next one is reported, so that few of many calls are open.
    for (const call of orderedCalls) {
      const result = rejections.get(call.id)
      events.push({ type: 'call', call: { status: 'validating', call } })
      if (result) trackTask(recordResult({ status: 'error', call, result, ms: 0 }))
    }
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel, { once: true })
    for (const { call } of state.calls) trackTask(approveOrReject(call))
    for (let batch = await events.takeAll(); batch.length > 0; batch = await events.takeAll())
      for (const event of batch) yield event
  } finally {
    // A consumer that stops iterating stops the tools.
    stop.abort(getAbortReason())
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

/** No model makes so many calls in one response on purpose; it is stuck in a loop. */
const MAX_CALLS_PER_TURN = 512

function createRejectionResults(
  orderedCalls: readonly CallPart[],
  rejected: readonly RejectedCall[],
): ReadonlyMap<string, ResultPart> {
  const results = new Map(rejected.map(({ call, reason }) => [call.id, createRejectionResult(call, reason)]))
  for (const call of orderedCalls.filter(({ id }) => !results.has(id)).slice(MAX_CALLS_PER_TURN))
    results.set(call.id, createRejectionResult(call, TOO_MANY_CALLS_REASON))
  return results
}

const TOO_MANY_CALLS_REASON = `Only the first ${MAX_CALLS_PER_TURN} calls of a response are executed. Make fewer calls at a time, and make this one again if it is still needed.`

/** A tool that declares no effects may do anything. */
function isReadOnly(effects: readonly Effect[]): boolean {
  return effects.length > 0 && effects.every(({ kind }) => kind === 'read')
}

/** Tells the model why its call did not run, and quotes its arguments (T41). */
function createRejectionResult(call: CallPart, reason: string): ResultPart {
  const rawNote = call.input === undefined && call.raw !== '' ? ` You wrote: ${clipText(call.raw, 2000)}` : ''
  return createErrorResult(call, 'not-run', reason, `The call did not run. ${reason}${rawNote}`)
}
