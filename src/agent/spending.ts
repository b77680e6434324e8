import type { Origin } from '../model/turn.ts'
import { addUsage, NO_USAGE, type Usage } from '../model/usage.ts'
import type { Agent } from './agent.ts'
import type { RunEvent } from './run-event.ts'

/** What a run has used so far. */
export interface Spending {
  add(maker: Origin, usage: Usage | undefined): Promise<void>
  event(turns: number): RunEvent
}

/** Starts counting. Where one price is not known, the cost of the whole is not known; it is never taken for nothing. */
export function startSpending({ model, catalog }: Pick<Agent, 'model' | 'catalog'>): Spending {
  let usage: Usage = NO_USAGE
  let cost: number | undefined = catalog && 0
  return {
    async add(maker, used) {
      if (!used) return
      usage = addUsage(usage, used)
      const known = await catalog?.()
      // Vendors answer under another name than they were asked by; either may be the one that is listed.
      const asked = maker.provider === model.origin.provider ? model.origin : maker
      const more = known && (known.cost(maker, used) ?? known.cost(asked, used))
      cost = cost === undefined || more === undefined ? undefined : cost + more
    },
    event: (turns) => ({ type: 'budget', usage, turns, ...(cost !== undefined && { cost }) }),
  }
}
