import type { ModelOrigin } from '../model/turn.ts'
import type { Usage } from '../model/usage.ts'
import { type BudgetLedger, createBudgetLedger, type SpendingRecord } from '../provider/optional-middleware.ts'

/** In US dollars; undefined if the price is unknown. */
export type PriceCalculator = (origin: ModelOrigin, usage: Usage) => number | undefined

export type Limits = ReturnType<typeof createLimits>

/** Keeps what was spent on a day (such as 2026-11-17), so that it survives a restart. */
export type DailySpending = (day: string, key: string) => SpendingRecord

/** The budgets of each day, and the requests that run at the same time. */
export function createLimits(price: PriceCalculator, spending?: DailySpending, now: () => number = Date.now) {
  const ledgers = new Map<string, { readonly day: string; readonly ledger: BudgetLedger }>()
  const queues = new Map<string, RequestQueue>()
  return {
    /** The budget of today; the days are those of UTC. */
    getLedger(key: string, dollars: number): BudgetLedger {
      const day = new Date(now()).toISOString().slice(0, 10)
      const known = ledgers.get(key)
      if (known?.day === day) return known.ledger
      const ledger = createBudgetLedger({ money: dollars }, price, spending?.(day, key))
      ledgers.set(key, { day, ledger })
      return ledger
    },
    /** Waits for its turn; the result must be called at the end. Undefined if the client went away before. */
    async enter(key: string, max: number | undefined, signal: AbortSignal): Promise<(() => void) | undefined> {
      if (max === undefined) return () => undefined
      const queue = queues.get(key) ?? { running: 0, waiting: [] }
      queues.set(key, queue)
      // Who waited takes over the place of the request that ended.
      if (queue.running < max) queue.running++
      else if (!(await waitForTurn(queue, signal))) return undefined
      let isOpen = true
      return () => {
        if (!isOpen) return
        isOpen = false
        const next = queue.waiting.shift()
        if (next) next()
        else queue.running--
      }
    },
  }
}

interface RequestQueue {
  running: number
  readonly waiting: (() => void)[]
}

/** False if the client went away. */
function waitForTurn(queue: RequestQueue, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const start = (): void => {
      signal.removeEventListener('abort', leave)
      resolve(true)
    }
    const leave = (): void => {
      const at = queue.waiting.indexOf(start)
      if (at >= 0) queue.waiting.splice(at, 1)
      resolve(false)
    }
    queue.waiting.push(start)
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
  })
}
