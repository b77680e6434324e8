import type { ModelOrigin } from '../../model/turn.ts'
import { addUsage, NO_USAGE, type Usage } from '../../model/usage.ts'
import type { Agent } from '../agent.ts'
import type { RunEvent } from './run-event.ts'
import { defined } from '../../model/defined.ts'

export interface UsageMeter {
  add(origin: ModelOrigin, usage: Usage | undefined): Promise<void>
  toEvent(turns: number): RunEvent
}

/** Adds up usage and cost. If one price is unknown, the total cost is unknown; it is never counted as zero. */
export function createUsageMeter({ model, catalog }: Pick<Agent, 'model' | 'catalog'>): UsageMeter {
  let usage: Usage = NO_USAGE
  let cost: number | undefined = catalog && 0
  return {
    async add(origin, turnUsage) {
      if (!turnUsage) return
      usage = addUsage(usage, turnUsage)
      const openedCatalog = await catalog?.()
      // A response may name another model than the request; either name may be the one in the catalogue.
      const requestedOrigin = origin.provider === model.origin.provider ? model.origin : origin
      const turnCost =
        openedCatalog && (openedCatalog.cost(origin, turnUsage) ?? openedCatalog.cost(requestedOrigin, turnUsage))
      cost = cost === undefined || turnCost === undefined ? undefined : cost + turnCost
    },
    toEvent: (turns) => ({ type: 'budget', usage, turns, ...defined({ cost }) }),
  }
}
