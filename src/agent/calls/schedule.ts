import type { CallDecision } from '../../model/call-decision.ts'
import { defined } from '../../model/defined.ts'
import type { JsonObject } from '../../model/json.ts'
import { createTextResult } from '../../model/result.ts'
import type { CallPart, ResultPart } from '../../model/turn.ts'
import { effectsConflict } from '../../policy/effect.ts'
import type { StopReason } from '../loop/run-deadline.ts'
import type { ApprovalRequest, ApprovalTerms, CallState, FinishedCall, ValidCall } from './call-state.ts'

/** The calls of one turn, in the order in which the model made them. */
export interface CallSchedule {
  readonly calls: readonly CallState[]
  /** The position of each call, by its id. */
  readonly positions: ReadonlyMap<string, number>
  /** How many calls are approved and wait to start. */
  readonly waiting: number
}

export type ScheduleAction =
  | { readonly type: 'allow'; readonly id: string; readonly valid: ValidCall; readonly terms: ApprovalTerms }
  | { readonly type: 'ask'; readonly id: string; readonly valid: ValidCall; readonly ask: ApprovalRequest }
  | { readonly type: 'start'; readonly id: string; readonly at: number }
  | {
      readonly type: 'settle'
      readonly id: string
      readonly result: ResultPart
      readonly ms: number
      readonly decision?: CallDecision
      readonly facts?: JsonObject
    }
  /** Cancels every call that has not finished. */
  | { readonly type: 'cancel'; readonly reason: StopReason }

export function createSchedule(calls: readonly CallPart[]): CallSchedule {
  return {
    calls: calls.map((call) => ({ status: 'validating', call })),
    positions: new Map(calls.map(({ id }, at) => [id, at])),
    waiting: 0,
  }
}

export function findScheduledCall({ calls, positions }: CallSchedule, id: string): CallState | undefined {
  return calls[positions.get(id) ?? -1]
}

/** The schedule after an action. A finished call never changes again (T165). */
export function reduceSchedule(state: CallSchedule, action: ScheduleAction): CallSchedule {
  const { calls, positions } = state
  if (action.type === 'cancel') {
    const cancelled = calls.map((call) => (isFinishedCall(call) ? call : cancelCall(call, action.reason)))
    return { calls: cancelled, positions, waiting: 0 }
  }
  const call = findScheduledCall(state, action.id)
  if (!call || isFinishedCall(call)) return state
  const next = nextCallState(call, action)
  const waiting = state.waiting + Number(next.status === 'scheduled') - Number(call.status === 'scheduled')
  return { calls: calls.with(positions.get(action.id) ?? 0, next), positions, waiting }
}

/**
 * The calls that may start now: approved, and without a conflict with an unfinished call before them. So independent calls
 * run in parallel, and conflicting ones in the order in which they were made (T166).
 */
export function findReadyCalls(state: CallSchedule, hasConflict: typeof effectsConflict = effectsConflict): string[] {
  const ready: string[] = []
  const unfinished: Extract<CallState, ValidCall>[] = []
  let { waiting } = state
  for (const call of state.calls) {
    if (waiting === 0) break
    // Its effects are unknown, so it blocks all after it.
    if (call.status === 'validating') break
    if (isFinishedCall(call)) continue
    if (call.status === 'scheduled') {
      waiting--
      if (!unfinished.some((one) => haveConflict(one, call, hasConflict))) ready.push(call.call.id)
    }
    unfinished.push(call)
  }
  return ready
}

export function isFinishedCall(call: CallState): call is FinishedCall {
  return IS_FINISHED[call.status]
}

const IS_FINISHED: Record<CallState['status'], boolean> = {
  validating: false,
  'awaiting-approval': false,
  scheduled: false,
  executing: false,
  success: true,
  error: true,
  cancelled: true,
}

function nextCallState(
  state: Exclude<CallState, FinishedCall>,
  action: Exclude<ScheduleAction, { type: 'cancel' }>,
): CallState {
  const { call } = state
  switch (action.type) {
    case 'allow':
      return { call, ...action.valid, ...action.terms, status: 'scheduled' }
    case 'ask':
      return { call, ...action.valid, status: 'awaiting-approval', ask: action.ask }
    case 'start':
      return state.status === 'scheduled' ? { ...state, status: 'executing', started: action.at } : state
    case 'settle': {
      const { result, ms, decision, facts } = action
      return { call, status: CALL_STATUS[result.status], result, ms, ...defined({ decision, facts }) }
    }
    default:
      return action satisfies never
  }
}

const CALL_STATUS: Record<ResultPart['status'], FinishedCall['status']> = {
  ok: 'success',
  error: 'error',
  denied: 'cancelled',
  cancelled: 'cancelled',
  interrupted: 'cancelled',
}

function haveConflict(earlier: ValidCall, later: ValidCall, hasConflict: typeof effectsConflict): boolean {
  return earlier.effects.some((one) => later.effects.some((other) => hasConflict(one, other)))
}

const STOP_TEXTS: Record<StopReason, string> = {
  cancelled: 'The user stopped the run.',
  'time-limit': 'The run reached its time limit.',
  'output-lost': 'The run was stopped, because its output was closed.',
  'taken-over': 'The run was stopped, because another process took the session over.',
}

function cancelCall({ status, call }: CallState, reason: StopReason): FinishedCall {
  const text = `${STOP_TEXTS[reason]} ${call.name} ${status === 'executing' ? 'had started and was stopped; it may have had an effect.' : 'did not run.'}`
  return { status: 'cancelled', call, result: createTextResult(call, 'cancelled', text), ms: 0 }
}
