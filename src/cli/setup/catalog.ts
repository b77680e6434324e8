import { lazy } from '../../model/lazy.ts'
import type { ModelOrigin } from '../../model/turn.ts'
import type { Catalog } from '../../provider/catalog.ts'
import type { Model } from '../../provider/index.ts'
import type { Config } from '../config/schema.ts'
import { UserError } from '../user-error.ts'

/** The catalogue with the user's overrides, loaded on first use. */
export function createLazyCatalog({ catalog: overrides }: Config): () => Promise<Catalog> {
  return lazy(async () => (await import('../../provider/catalog.ts')).createCatalog(overrides))
}

/** A limit in US dollars for all models together. A model without a known price is refused. */
export function createCostLimit(
  dollars: number | undefined,
  catalog: () => Promise<Catalog>,
): (origin: ModelOrigin) => Promise<(model: Model) => Model> {
  if (dollars === undefined) return () => Promise.resolve((model) => model)
  const start = lazy(async () => {
    const prices = await catalog()
    const { withBudget, createBudgetLedger } = await import('../../provider/optional-middleware.ts')
    return { prices, withBudget, ledger: createBudgetLedger({ money: dollars }, prices.cost) }
  })
  return async (origin) => {
    const { prices, withBudget, ledger } = await start()
    const { provider, model } = origin
    if (prices.card(origin)?.price === undefined)
      throw new UserError(
        `--max-cost needs a price, and that of ${provider}/${model} is unknown; use a model with a price (dragoman models ${provider}), or set the price under “catalog” in your settings`,
      )
    return (inner) => withBudget(inner, ledger)
  }
}
