import { createTextResult } from '../model/result.ts'
import type { CallPart, ResultPart } from '../model/turn.ts'
import type { SessionContents } from './store/store.ts'

/** A call that has no result, and whether its tool had begun. It is `unknown` if the log may have lost what says so. */
export interface OpenCall {
  readonly call: CallPart
  readonly hasStarted: boolean | 'unknown'
}

/**
 * The calls of the last assistant turn that have no result yet. Calls of earlier turns can no longer be answered. Only
 * what the log proves counts: behind entries that may be lost, no call is known not to have begun.
 */
export function findOpenCalls({
  entries,
  uncertainUpTo = 0,
}: Pick<SessionContents, 'entries' | 'uncertainUpTo'>): OpenCall[] {
  const at = entries.findLastIndex((entry) => entry.kind === 'turn')
  const last = entries[at]
  if (last?.kind !== 'turn') return []
  const after = entries.slice(at + 1)
  const answeredIds = new Set(after.flatMap((entry) => (entry.kind === 'result' ? [entry.result.id] : [])))
  const startedIds = new Set(after.flatMap((entry) => (entry.kind === 'intent' ? [entry.call] : [])))
  return last.turn.parts
    .filter((part) => part.kind === 'call')
    .filter((call) => !answeredIds.has(call.id))
    .map((call) => ({ call, hasStarted: startedIds.has(call.id) || (last.seq <= uncertainUpTo && 'unknown') }))
}

/** What an open call gets as its result when a session is taken up again: it never runs a second time. */
export function createInterruptedResult({ call, hasStarted }: OpenCall): ResultPart {
  const text = hasStarted
    ? hasStarted === 'unknown'
      ? `The program was interrupted, and the log of this session does not show whether ${call.name} ran. It may have had an effect; look before you call it again.`
      : `The program was interrupted while ${call.name} ran. It may have had an effect; look before you call it again.`
    : `The program was interrupted before ${call.name} ran. It had no effect.`
  return createTextResult(call, 'interrupted', text)
}
