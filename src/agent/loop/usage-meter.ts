import type { ModelOrigin } from '../../model/turn.ts'
import { addUsage, NO_USAGE, type Usage } from '../../model/usage.ts'
import type { AgentContext } from '../agent-context.ts'
import { defined } from '../../model/defined.ts'

/** What a run has used so far. `cost` is in US dollars, if the prices are known. */
export interface RunTotals {
  readonly turns: number
  readonly usage: Usage
  readonly cost?: number
}

export interface UsageMeter {
  add(origin: ModelOrigin, usage: Usage | undefined): Promise<void>
  /** Adds the totals of an agent that ran as a tool. */
  addTotals(totals: Pick<RunTotals, 'usage' | 'cost'>): void
  readonly totals: Omit<RunTotals, 'turns'>
}

/** Adds up usage and cost. If one price is unknown, the total cost is unknown; it is never counted as zero. */
export function createUsageMeter(
  { catalog }: Pick<AgentContext, 'catalog'>,
  getRequested: () => ModelOrigin,
): UsageMeter {
  let usage: Usage = NO_USAGE
  let cost: number | undefined = catalog && 0
  return {
    async add(origin, turnUsage) {
      if (!turnUsage) return
      usage = addUsage(usage, turnUsage)
      const openedCatalog = await catalog?.()
      // A response may name another model than the request; either name may be the one in the catalogue.
      const requested = getRequested()
      const requestedOrigin = origin.provider === requested.provider ? requested : origin
      const turnCost =
        openedCatalog && (openedCatalog.cost(origin, turnUsage) ?? openedCatalog.cost(requestedOrigin, turnUsage))
      cost = cost === undefined || turnCost === undefined ? undefined : cost + turnCost
    },
    addTotals({ usage: more, cost: moreCost }) {
      usage = addUsage(usage, more)
      cost = cost === undefined || moreCost === undefined ? undefined : cost + moreCost
    },
    get totals() {
      return { usage, ...defined({ cost }) }
    },
  }
}
