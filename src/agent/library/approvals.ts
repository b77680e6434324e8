import { findOpenApprovals, findOpenCalls } from '../../session/open-calls.ts'
import type { SessionContents } from '../../session/store/store.ts'
import type { ApprovalDetails } from '../../tool/tool.ts'
import type { JsonObject } from '../../model/json.ts'
import type { ApprovalReply, ApprovalRequest } from '../calls/call-state.ts'
import type { AgentContext } from '../agent-context.ts'
import type { ApprovalAnswer, OnApproval } from './agent-options.ts'
import { defined } from '../../model/defined.ts'

/** A call that waits for approval, as it is in the log. */
export interface PendingApproval {
  /** For `agent.reply`. */
  readonly id: string
  readonly call: string
  readonly tool: string
  readonly input: JsonObject
  /** What the user is shown. */
  readonly details: ApprovalDetails
}

export function findPendingApprovals(
  log: Pick<SessionContents, 'entries' | 'uncertainUpTo'>,
): readonly PendingApproval[] {
  const calls = new Map(findOpenCalls(log).map(({ call }) => [call.id, call]))
  return findOpenApprovals(log).map(({ ask: id, call, details }) => ({
    id,
    call,
    tool: calls.get(call)?.name ?? '',
    input: calls.get(call)?.input ?? {},
    details: details as unknown as ApprovalDetails,
  }))
}

/** Asks the application. */
export function toRequestApproval(onApproval: OnApproval | undefined): NonNullable<AgentContext['requestApproval']> {
  return async (request, signal) => {
    const answer = await onApproval?.(request, { signal })
    return answer === undefined || answer === null ? undefined : toApprovalReply(request, answer)
  }
}

/** Whatever is not clearly a yes is a no: a program without types may return anything. */
export function toApprovalReply({ id, decision }: ApprovalRequest, answer: ApprovalAnswer): ApprovalReply {
  if (typeof answer === 'boolean') return { ask: id, outcome: answer ? 'proceed-once' : 'cancel' }
  if (!isApproved(answer)) return { ask: id, outcome: 'cancel', ...defined({ words: answer.message }) }
  const { input, always } = answer
  if (input !== undefined) return { ask: id, outcome: 'modify', input }
  if (always === undefined) return { ask: id, outcome: 'proceed-once' }
  const { grant = decision.grants?.[0], scope } = always === true ? {} : always
  return { ask: id, outcome: 'proceed-always', ...defined({ grant, scope }) }
}

/** A program without types may pass anything; only `true` is a yes. */
export function isApproved<T extends { readonly approved: boolean }>(
  answer: T,
): answer is T & { readonly approved: true } {
  return (answer.approved as unknown) === true
}
