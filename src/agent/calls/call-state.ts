import type { JsonObject } from '../../model/json.ts'
import type { SandboxAccess } from '../../model/security/sandbox-access.ts'
import type { CallPart, ResultPart } from '../../model/turn.ts'
import type { Effect } from '../../policy/effect.ts'
import type { FileAccess, Decision, Grant, GrantScope } from '../../policy/policy.ts'
import type { ApprovalDetails, Tool } from '../../tool/tool.ts'

/** A call on its way from the model's words to a result. Each state has its own shape, so that nothing can be asked of a state that has it not. */
export type CallState = ValidatingCall | CallAwaitingApproval | ScheduledCall | ExecutingCall | FinishedCall

interface CallBase {
  readonly call: CallPart
}

/** A call whose tool is known and whose arguments are valid. */
interface ValidatedCall extends CallBase {
  readonly tool: Tool
  readonly input: JsonObject
  readonly effects: readonly Effect[]
  readonly gitHelpers?: 'off'
}

export interface ValidatingCall extends CallBase {
  readonly status: 'validating'
}

export interface CallAwaitingApproval extends ValidatedCall {
  readonly status: 'awaiting-approval'
  readonly ask: ApprovalRequest
}

/** A call that may run. */
interface ApprovedCall extends ValidatedCall {
  readonly decision: string
  /** What the person lets its command do beyond the sandbox. */
  readonly sandboxAccess?: SandboxAccess
  /** Its command runs in the sandbox without the network. */
  readonly isOffline?: true
  /** The files that it writes, and those outside the workspace that it reads. */
  readonly access?: readonly FileAccess[]
  /** The person changed the arguments; `proposed` are those that the model had written. */
  readonly modified?: true
  readonly proposed?: JsonObject
}

export interface ScheduledCall extends ApprovedCall {
  readonly status: 'scheduled'
}

export interface ExecutingCall extends ApprovedCall {
  readonly status: 'executing'
  readonly started: number
}

export interface FinishedCall extends CallBase {
  readonly status: 'success' | 'error' | 'cancelled'
  readonly result: ResultPart
  readonly decision?: string
  readonly ms: number
  readonly facts?: JsonObject
}

/** A question to the person. It is data: it stands in the log, and any process may answer it, at any time. */
export interface ApprovalRequest {
  readonly id: string
  readonly call: string
  readonly tool: string
  readonly details: ApprovalDetails
  readonly decision: Decision
}

/** What the person said. */
export interface ApprovalReply {
  readonly ask: string
  readonly outcome: ApprovalOutcome
  /** For `proceed-always`: which of the grants of the question, and where it holds; the first, for the session, without it. */
  readonly grant?: Grant
  readonly scope?: GrantScope
  /** For a command: what it may do beyond the sandbox, now or when it runs again. */
  readonly access?: SandboxAccess
  /** For a refusal: words that go to the model. */
  readonly words?: string
  /** For `modify`: the arguments as the person changed them. */
  readonly input?: JsonObject
}

/**
 * The answers that a person can give. The longer names of `proceed-always` are from before grants could be chosen; they
 * stand in older logs. `covered` is no answer of its own: what was allowed at another question covers this one.
 */
export type ApprovalOutcome =
  | 'proceed-once'
  | 'proceed-always'
  | 'proceed-always-server'
  | 'proceed-always-saved'
  | 'modify'
  | 'cancel'
  | 'covered'

/** A command that ran and failed: the tool did its work, but a person should see the failure. */
export function isNonZeroExit(facts: JsonObject | undefined): boolean {
  return facts !== undefined && 'exitCode' in facts && facts['exitCode'] !== 0
}
