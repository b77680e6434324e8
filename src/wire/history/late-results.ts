import type { AssistantTurn, ResultPart, Turn } from '../../model/turn.ts'

/** Results that stand after a later response than the one that made their call, as other clients write them (T169). */
export interface LateResults {
  isLate(result: ResultPart): boolean
  ofTurn(turn: AssistantTurn): readonly ResultPart[]
}

/** A result belongs to the last response; if that has no such call, to the nearest call before with its id and no result. */
export function findLateResults(turns: readonly Turn[]): LateResults {
  const unanswered = new Map<string, AssistantTurn[]>()
  const byTurn = new Map<AssistantTurn, ResultPart[]>()
  const late = new Set<ResultPart>()
  let current: AssistantTurn | undefined
  let currentIds = new Set<string>()
  for (const turn of turns) {
    if (turn.role === 'assistant') {
      current = turn
      currentIds = getCallIds(turn)
      for (const id of currentIds) {
        const list = unanswered.get(id)
        if (list) list.push(turn)
        else unanswered.set(id, [turn])
      }
    } else if (turn.role === 'results')
      for (const result of turn.parts) {
        const owners = unanswered.get(result.id) ?? []
        // A second result of a call of the last response is not one of an older call.
        if (currentIds.has(result.id) && owners.at(-1) !== current) continue
        const owner = owners.pop()
        if (owner === undefined || owner === current) continue
        late.add(result)
        byTurn.set(owner, [...(byTurn.get(owner) ?? []), result])
      }
  }
  return { isLate: (result) => late.has(result), ofTurn: (turn) => byTurn.get(turn) ?? [] }
}

/** Does a results turn answer a call of an earlier response than the last one? */
export function hasLateResults(turns: readonly Turn[]): boolean {
  let currentIds: ReadonlySet<string> | undefined
  return turns.some((turn) => {
    if (turn.role === 'assistant') currentIds = getCallIds(turn)
    return turn.role === 'results' && turn.parts.some(({ id }) => currentIds && !currentIds.has(id))
  })
}

function getCallIds({ parts }: AssistantTurn): Set<string> {
  return new Set(parts.flatMap((part) => (part.kind === 'call' ? [part.id] : [])))
}
