import type { Catalog } from '../../provider/catalog.ts'
import type { Model } from '../../provider/index.ts'
import type { Config } from '../config/schema.ts'
import { UserError } from '../user-error.ts'

/** The catalogue, with what the person's settings say; it is read when it is first needed. */
export function createLazyCatalog({ catalog: overrides }: Config): () => Promise<Catalog> {
  let opened: Promise<Catalog> | undefined
  return () => (opened ??= import('../../provider/catalog.ts').then(({ createCatalog }) => createCatalog(overrides)))
}

/** A limit in US dollars for all models together, set before each of them. A model whose price nobody knows is refused. */
export function createCostLimit(
  dollars: number | undefined,
  catalog: () => Promise<Catalog>,
): (port: Model) => Promise<Model> {
  if (dollars === undefined) return (port) => Promise.resolve(port)
  const started = Promise.all([catalog(), import('../../provider/optional-middleware.ts')]).then(
    ([prices, { withBudget, createBudgetLedger }]) => ({
      prices,
      budget: withBudget,
      ledger: createBudgetLedger({ money: dollars }, prices.cost),
    }),
  )
  return async (port) => {
    const { prices, budget, ledger } = await started
    const { provider, model } = port.origin
    if (prices.card(port.origin)?.price === undefined)
      throw new UserError(
        `the price of ${provider}/${model} is not known, so --max-cost cannot hold; name a model that has one (dragoman models ${provider}), leave it out, or put the price into “catalog” in your settings`,
      )
    return budget(port, ledger)
  }
}
