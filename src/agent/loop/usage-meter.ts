import type { ModelOrigin } from '../../model/turn.ts'
import { addUsage, NO_USAGE, type Usage } from '../../model/usage.ts'
import type { Agent } from '../agent.ts'
import type { RunEvent } from './run-event.ts'
import { defined } from '../../model/defined.ts'

/** What a run has used so far. */
export interface UsageMeter {
  add(origin: ModelOrigin, usage: Usage | undefined): Promise<void>
  toEvent(turns: number): RunEvent
}

/** Starts counting. Where one price is not known, the cost of the whole is not known; it is never taken for nothing. */
export function createUsageMeter({ model, catalog }: Pick<Agent, 'model' | 'catalog'>): UsageMeter {
  let usage: Usage = NO_USAGE
  let cost: number | undefined = catalog && 0
  return {
    async add(origin, turnUsage) {
      if (!turnUsage) return
      usage = addUsage(usage, turnUsage)
      const openedCatalog = await catalog?.()
      // Vendors answer under another name than they were asked by; either may be the one that is listed.
      const requestedOrigin = origin.provider === model.origin.provider ? model.origin : origin
      const turnCost =
        openedCatalog && (openedCatalog.cost(origin, turnUsage) ?? openedCatalog.cost(requestedOrigin, turnUsage))
      cost = cost === undefined || turnCost === undefined ? undefined : cost + turnCost
    },
    toEvent: (turns) => ({ type: 'budget', usage, turns, ...defined({ cost }) }),
  }
}
