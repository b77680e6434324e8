import { createTextResult } from '../model/result.ts'
import type { CallPart, ResultPart } from '../model/turn.ts'
import type { Entry } from './log/entry.ts'
import type { SessionContents } from './store/store.ts'

/** A call without a result. `unknown`: the entry that would show whether its tool started may be missing. */
export interface OpenCall {
  readonly call: CallPart
  readonly hasStarted: boolean | 'unknown'
}

/** The calls of the last assistant turn without a result. Calls of earlier turns can no longer get one. */
export function findOpenCalls(contents: Pick<SessionContents, 'entries' | 'uncertainUpTo'>): OpenCall[] {
  const { entries, uncertainUpTo = 0 } = contents
  const last = entries.findLast((entry) => entry.kind === 'turn')
  if (!last) return []
  const after = entries.slice(entries.lastIndexOf(last) + 1)
  const answeredIds = new Set(after.flatMap((entry) => (entry.kind === 'result' ? [entry.result.id] : [])))
  const startedIds = new Set(after.flatMap((entry) => (entry.kind === 'intent' ? [entry.call] : [])))
  return last.turn.parts
    .filter((part) => part.kind === 'call')
    .filter((call) => !answeredIds.has(call.id))
    .map((call) => ({ call, hasStarted: startedIds.has(call.id) || (last.seq <= uncertainUpTo && 'unknown') }))
}

export type LoggedApprovalRequest = Extract<Entry, { kind: 'ask' }>

/** The requests for approval that wait for an answer, oldest first. */
export function findOpenApprovals(
  log: Pick<SessionContents, 'entries' | 'uncertainUpTo'>,
): readonly LoggedApprovalRequest[] {
  const open = new Set(findOpenCalls(log).flatMap(({ call, hasStarted }) => (hasStarted ? [] : [call.id])))
  const answered = new Set(log.entries.flatMap((entry) => (entry.kind === 'reply' ? [entry.ask] : [])))
  return log.entries.filter(
    (entry): entry is LoggedApprovalRequest => entry.kind === 'ask' && open.has(entry.call) && !answered.has(entry.ask),
  )
}

/** The result of an open call when its session is resumed: a tool that started never runs a second time. */
export function createInterruptedResult({ call, hasStarted }: OpenCall): ResultPart {
  const caution = 'It may have had an effect; check before you call it again.'
  const text =
    hasStarted === 'unknown'
      ? `The program was interrupted, and the session log does not show whether ${call.name} ran. ${caution}`
      : hasStarted
        ? `The program was interrupted while ${call.name} ran. ${caution}`
        : `The program was interrupted before ${call.name} ran. It had no effect.`
  return createTextResult(call, 'interrupted', text)
}
