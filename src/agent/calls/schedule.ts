import type { CallDecision } from '../../model/call-decision.ts'
import { defined } from '../../model/defined.ts'
import type { JsonObject } from '../../model/json.ts'
import { createTextResult } from '../../model/result.ts'
import type { CallPart, ResultPart } from '../../model/turn.ts'
import { type Effect, effectsConflict } from '../../policy/effect.ts'
import type { StopReason } from '../loop/run-deadline.ts'
import type { ApprovalRequest, ApprovalTerms, CallState, FinishedCall, ValidCall } from './call-state.ts'

/** The calls of one turn, in the order in which the model made them. */
export interface CallSchedule {
  readonly calls: readonly CallState[]
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
  return { calls: calls.map((call) => ({ status: 'validating', call })) }
}

/** The schedule after an action. A finished call never changes again (T165). */
export function reduceSchedule(state: CallSchedule, action: ScheduleAction): CallSchedule {
  return {
    calls: state.calls.map((call) => {
      if (isFinishedCall(call)) return call
      if (action.type === 'cancel') return cancelCall(call, action.reason)
      return call.call.id === action.id ? nextCallState(call, action) : call
    }),
  }
}

/**
 * The calls that may start now: approved, and without a conflict with an unfinished call before them. So independent calls
 * run in parallel, and conflicting ones in the order in which they were made (T166).
 */
export function findReadyCalls(state: CallSchedule, hasConflict: typeof effectsConflict = effectsConflict): string[] {
  return state.calls.flatMap((call, at) => {
    if (call.status !== 'scheduled') return []
    const isBlocked = state.calls.slice(0, at).some((earlier) => conflictsWith(earlier, call.effects, hasConflict))
    return isBlocked ? [] : [call.call.id]
  })
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

/** The effects of a call that is still being validated are unknown, so it blocks those after it. */
function conflictsWith(earlier: CallState, effects: readonly Effect[], hasConflict: typeof effectsConflict): boolean {
  if (isFinishedCall(earlier)) return false
  if (earlier.status === 'validating') return true
  return earlier.effects.some((one) => effects.some((other) => hasConflict(one, other)))
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
