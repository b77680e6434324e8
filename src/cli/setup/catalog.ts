import { lazy } from '../../model/lazy.ts'
import type { Catalog } from '../../provider/catalog.ts'
import type { Model } from '../../provider/index.ts'
import type { Config } from '../config/schema.ts'
import { UserError } from '../user-error.ts'

/** The catalogue with the user's overrides, loaded on first use. */
export function createLazyCatalog({ catalog: overrides }: Config): () => Promise<Catalog> {
  return lazy(async () => (await import('../../provider/catalog.ts')).createCatalog(overrides))
}

/** A limit in US dollars for all models together. A model without a known price is refused. */
export function createCostLimitMiddleware(
  dollars: number | undefined,
  catalog: () => Promise<Catalog>,
): (model: Model) => Promise<Model> {
  if (dollars === undefined) return (model) => Promise.resolve(model)
  const start = lazy(async () => {
    const prices = await catalog()
    const { withBudget, createBudgetLedger } = await import('../../provider/optional-middleware.ts')
    return { prices, withBudget, ledger: createBudgetLedger({ money: dollars }, prices.cost) }
  })
  return async (inner) => {
    const { prices, withBudget, ledger } = await start()
    const { provider, model } = inner.origin
    if (prices.card(inner.origin)?.price === undefined)
      throw new UserError(
        `--max-cost needs a price, and that of ${provider}/${model} is unknown; use a model with a price (dragoman models ${provider}), or set the price under “catalog” in your settings`,
      )
    return withBudget(inner, ledger)
  }
}
