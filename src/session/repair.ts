import type { CallPart, ResultPart, Turn } from '../model/turn.ts'
import type { Entry } from './entry.ts'

/** A call that has no result, and whether its tool had begun. */
export interface OpenCall {
  readonly call: CallPart
  readonly begun: boolean
}

/** The calls of the last assistant turn that have no result yet. Calls of earlier turns can no longer be answered. */
export function openCalls(entries: readonly Entry[]): OpenCall[] {
  const at = entries.findLastIndex((entry) => entry.kind === 'turn')
  const last = entries[at]
  if (last?.kind !== 'turn') return []
  const after = entries.slice(at + 1)
  const answered = new Set(after.flatMap((entry) => (entry.kind === 'result' ? [entry.result.id] : [])))
  const begun = new Set(after.flatMap((entry) => (entry.kind === 'intent' ? [entry.call] : [])))
  return last.turn.parts
    .filter((part) => part.kind === 'call')
    .filter((call) => !answered.has(call.id))
    .map((call) => ({ call, begun: begun.has(call.id) }))
}

/** What an open call gets as its result when a session is taken up again: it never runs a second time. */
export function interrupted({ call, begun }: OpenCall): ResultPart {
  const text = begun
    ? `The program was interrupted while ${call.name} ran. It may have had an effect; look before you call it again.`
    : `The program was interrupted before ${call.name} ran. It had no effect.`
  return { kind: 'result', id: call.id, name: call.name, status: 'interrupted', content: [{ kind: 'text', text }] }
}

/** Makes any history satisfy the invariant: every call has exactly one result, right after its turn and in the order of the calls. */
export function repair(turns: readonly Turn[]): Turn[] {
  const repaired: Turn[] = []
  for (let at = 0; at < turns.length; at++) {
    const turn = turns[at]
    if (!turn || turn.role === 'results') continue
    repaired.push(turn)
    if (turn.role !== 'assistant') continue
    const calls = turn.parts.filter((part) => part.kind === 'call')
    if (calls.length === 0) continue
    const next = turns.findIndex((other, index) => index > at && other.role === 'assistant')
    const window = turns.slice(at + 1, next < 0 ? turns.length : next)
    const results = window.flatMap((other) => (other.role === 'results' ? other.parts : []))
    repaired.push({
      role: 'results',
      parts: calls.map(
        (call) => results.findLast((result) => result.id === call.id) ?? interrupted({ call, begun: true }),
      ),
    })
  }
  return repaired
}
