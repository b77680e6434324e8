import type { JsonObject } from '../../model/json.ts'
import type { SandboxAccess } from '../../model/security/sandbox-access.ts'
import type { CallPart, ResultPart } from '../../model/turn.ts'
import { type Effect, effectsConflict } from '../../policy/effect.ts'
import type { FileAccess } from '../../policy/policy.ts'
import type { Tool } from '../../tool/tool.ts'
import type { ApprovalRequest, CallState, FinishedCall } from './call-state.ts'
import { defined } from '../../model/defined.ts'

/** The calls of one turn, in the order in which the model made them. */
export interface CallSchedule {
  readonly calls: readonly CallState[]
}

/** What can happen to a call. */
export type ScheduleAction =
  | {
      readonly type: 'allow'
      readonly id: string
      readonly valid: ValidCall
      readonly decision: string
      readonly access?: readonly FileAccess[]
      readonly sandboxAccess?: SandboxAccess
      readonly isOffline?: true
      readonly modified?: true
      readonly proposed?: JsonObject
    }
  | { readonly type: 'ask'; readonly id: string; readonly valid: ValidCall; readonly ask: ApprovalRequest }
  | { readonly type: 'start'; readonly id: string; readonly at: number }
  | {
      readonly type: 'settle'
      readonly id: string
      readonly result: ResultPart
      readonly ms: number
      readonly decision?: string
      readonly facts?: JsonObject
    }
  /** Everything that has not ended is cancelled. */
  | { readonly type: 'cancel'; readonly why: string }

/** What validation found out. */
export interface ValidCall {
  readonly tool: Tool
  readonly input: JsonObject
  readonly effects: readonly Effect[]
  /** As the decision says that allowed it. */
  readonly gitHelpers?: 'off'
}

/** A schedule of calls of which nothing is known yet. */
export function createSchedule(calls: readonly CallPart[]): CallSchedule {
  return { calls: calls.map((call) => ({ status: 'validating', call })) }
}

/** The schedule after something happened. A call that has ended stays as it ended, whatever comes later (T165). */
export function reduceSchedule(state: CallSchedule, action: ScheduleAction): CallSchedule {
  return {
    calls: state.calls.map((call) => {
      if (isFinishedCall(call)) return call
      if (action.type === 'cancel') return cancelCall(call, action.why)
      return call.call.id === action.id ? nextCallState(call, action) : call
    }),
  }
}

/**
 * The calls that may start now: approved, and in conflict with no call before them that has not ended. So calls that do
 * not touch each other run side by side, and those that do run in the order in which they were made (T166). `clash` tells.
 */
export function findReadyCalls(state: CallSchedule, hasConflict: typeof effectsConflict = effectsConflict): string[] {
  return state.calls.flatMap((call, at) => {
    if (call.status !== 'scheduled') return []
    const before = state.calls.slice(0, at)
    return before.every(
      (earlier) => isFinishedCall(earlier) || !conflictsWithEffects(earlier, call.effects, hasConflict),
    )
      ? [call.call.id]
      : []
  })
}

/** Have all calls ended? */
export function isScheduleFinished(state: CallSchedule): boolean {
  return state.calls.every(isFinishedCall)
}

/** Has this call ended? */
export function isFinishedCall(call: CallState): call is FinishedCall {
  return call.status === 'success' || call.status === 'error' || call.status === 'cancelled'
}

function nextCallState(call: CallState, action: Exclude<ScheduleAction, { type: 'cancel' }>): CallState {
  const base = { call: call.call }
  if (action.type === 'allow') {
    return {
      ...base,
      ...action.valid,
      status: 'scheduled',
      decision: action.decision,
      ...defined({ access: action.access }),
      ...(action.sandboxAccess && { sandboxAccess: action.sandboxAccess }),
      ...(action.isOffline && { isOffline: true }),
      ...(action.modified && { modified: true }),
      ...defined({ proposed: action.proposed }),
    }
  }
  if (action.type === 'ask') return { ...base, ...action.valid, status: 'awaiting-approval', ask: action.ask }
  if (action.type === 'start')
    return call.status === 'scheduled' ? { ...call, status: 'executing', started: action.at } : call
  return {
    ...base,
    status: CALL_STATUS[action.result.status],
    result: action.result,
    ms: action.ms,
    ...defined({ decision: action.decision, facts: action.facts }),
  }
}

const CALL_STATUS: Record<ResultPart['status'], FinishedCall['status']> = {
  ok: 'success',
  error: 'error',
  denied: 'cancelled',
  cancelled: 'cancelled',
  interrupted: 'cancelled',
}

/** Nothing is known of a call that is still being validated, so it blocks those after it. */
function conflictsWithEffects(
  earlier: CallState,
  effects: readonly Effect[],
  hasConflict: typeof effectsConflict,
): boolean {
  if (isFinishedCall(earlier)) return false
  if (earlier.status === 'validating') return true
  return earlier.effects.some((one) => effects.some((other) => hasConflict(one, other)))
}

function cancelCall(call: CallState, why: string): FinishedCall {
  const hasStarted = call.status === 'executing'
  const text = hasStarted
    ? `${why} ${call.call.name} had begun and was stopped.`
    : `${why} ${call.call.name} did not run.`
  const result: ResultPart = {
    kind: 'result',
    id: call.call.id,
    name: call.call.name,
    status: 'cancelled',
    content: [{ kind: 'text', text }],
  }
  return { status: 'cancelled', call: call.call, result, ms: 0 }
}
