import type { CallDecision } from '../../model/call-decision.ts'
import type { JsonObject } from '../../model/json.ts'
import type { SandboxAccess } from '../../model/security/sandbox-access.ts'
import type { CallPart, ResultPart } from '../../model/turn.ts'
import type { Effect } from '../../policy/effect.ts'
import type { ApprovedFile } from '../../model/security/approved-file.ts'
import type { Decision, Grant, GrantScope } from '../../policy/policy.ts'
import type { ApprovalDetails, Tool } from '../../tool/tool.ts'

/** A call on its way to its result. Each state has exactly the fields that are known by then. */
export type CallState = ValidatingCall | CallAwaitingApproval | ScheduledCall | ExecutingCall | FinishedCall

interface CallBase {
  readonly call: CallPart
}

/** The result of validation: the tool exists, and the arguments fit. */
export interface ValidCall {
  readonly tool: Tool
  readonly input: JsonObject
  readonly effects: readonly Effect[]
  /** What hooks add to its result. */
  readonly notes?: readonly string[]
  /** Git must not start programs that its settings name; the decision that allowed the call requires it. */
  readonly gitHelpers?: 'off'
  /** Its command is proved to change nothing. */
  readonly isHarmless?: true
}

/** The terms on which a call may run. */
export interface ApprovalTerms {
  readonly decision: CallDecision
  /** What the user lets its command do beyond the sandbox. */
  readonly sandboxAccess?: SandboxAccess
  /** Its command runs in the sandbox without network access. */
  readonly isOffline?: true
  /** The files that it writes, and those outside the workspace that it reads. */
  readonly access?: readonly ApprovedFile[]
  /** The user changed the arguments; `proposed` are those of the model. */
  readonly modified?: true
  readonly proposed?: JsonObject
}

interface ValidatingCall extends CallBase {
  readonly status: 'validating'
}

interface CallAwaitingApproval extends CallBase, ValidCall {
  readonly status: 'awaiting-approval'
  readonly ask: ApprovalRequest
}

interface ScheduledCall extends CallBase, ValidCall, ApprovalTerms {
  readonly status: 'scheduled'
}

export interface ExecutingCall extends CallBase, ValidCall, ApprovalTerms {
  readonly status: 'executing'
  readonly started: number
}

export interface FinishedCall extends CallBase {
  readonly status: 'success' | 'error' | 'cancelled'
  readonly result: ResultPart
  readonly decision?: CallDecision
  readonly ms: number
  readonly facts?: JsonObject
}

/** A question to the user. It is plain data in the log, so any process can answer it at any time. */
export interface ApprovalRequest {
  readonly id: string
  readonly call: string
  readonly tool: string
  readonly details: ApprovalDetails
  readonly decision: Decision
  /** The subagent that asks; absent if it is the agent of the session. */
  readonly asker?: string
}

export interface ApprovalReply {
  readonly ask: string
  readonly outcome: ApprovalOutcome
  /** For `proceed-always`: one of the grants of the question and its scope. The default is the first one, for the session. */
  readonly grant?: Grant
  readonly scope?: GrantScope
  /** For a command: what it may do beyond the sandbox, now or when it runs again. */
  readonly access?: SandboxAccess
  /** For `cancel`: a message to the model. For a question of the model: the answer. */
  readonly words?: string
  /** For `modify`: the arguments as the user changed them. */
  readonly input?: JsonObject
}

/**
 * How a question was answered. `covered`: the answer to another question covers it. Older logs also have the outcomes
 * `proceed-always-server` and `proceed-always-saved`.
 */
export type ApprovalOutcome = 'proceed-once' | 'proceed-always' | 'modify' | 'cancel' | 'covered'

/** Did a command run and fail? The tool succeeded, but the user should see the failure. */
export function isNonZeroExit(facts: JsonObject | undefined): boolean {
  return facts !== undefined && 'exitCode' in facts && facts['exitCode'] !== 0
}
