import type { Behaviour } from './behaviour.ts'
import { BASIC } from './probe/basic.ts'
import { DECLARATIONS } from './probe/declarations.ts'
import { DRILLS } from './probe/drills.ts'
import { REASONING } from './probe/reasoning.ts'
import { RESULTS } from './probe/results.ts'

/** The thirty behaviours of an endpoint that an agent can rely on, in their order. */
export const BEHAVIOURS: readonly Behaviour[] = [...BASIC, ...RESULTS, ...REASONING, ...DECLARATIONS, ...DRILLS].sort(
  (one, other) => one.id - other.id,
)

/** The two that all others go on from: an answer, and a call. */
export const FIRST: readonly [Behaviour, Behaviour] = [byId(1), byId(3)]

function byId(id: number): Behaviour {
  const found = BEHAVIOURS.find((one) => one.id === id)
  if (!found) throw new Error(`there is no behaviour ${id}`)
  return found
}
