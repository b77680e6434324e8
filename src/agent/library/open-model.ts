import { defined } from '../../model/defined.ts'
import { lazy } from '../../model/lazy.ts'
import type { Catalog } from '../../provider/catalog.ts'
import { type Model, openEndpoint, resolveModel, wrapInsideRetry } from '../../provider/index.ts'
import { findUserCredentials } from '../user-files/credential-file.ts'
import { createBudgetLedger, withBudget, withFallback } from '../../provider/optional-middleware.ts'

interface ModelOpener {
  /** Throws if a name is unknown, or a key is missing. */
  open(model: string | Model): Model
  readonly catalog: () => Promise<Catalog>
  /** Applies the cost limit to a model that was opened elsewhere. */
  readonly limit: (model: Model) => Model
}

/** Opens models that share a cost limit in US dollars; `limitOfParent` is that of an agent that has this one as a tool. */
export function createModelOpener(
  maxCost: number | undefined,
  limitOfParent: (model: Model) => Model = (model) => model,
): ModelOpener {
  const catalog = lazy(() => import('../../provider/catalog.ts').then(({ createCatalog }) => createCatalog()))
  const ledger = lazy(async () => createBudgetLedger(defined({ money: maxCost }), (await catalog()).cost))
  const limit = (model: Model) => limitOfParent(maxCost === undefined ? model : withBudget(model, ledger))

  function openByName(name: string): Model {
    const endpoint = resolveModel(name, process.env, undefined, findUserCredentials())
    if ('problem' in endpoint) throw new Error(endpoint.problem)
    return wrapInsideRetry(openEndpoint(endpoint), limit)
  }

  /** A model keeps what it has learnt of its server, and what it has encoded of a history. */
  const opened = new Map<string, Model>()

  return {
    catalog,
    limit,
    open(model) {
      if (typeof model !== 'string') return wrapInsideRetry(model, limit)
      const [first = '', ...others] = model.split(',').map((name) => name.trim())
      const found =
        opened.get(model) ??
        (others.length === 0 ? openByName(first) : withFallback([openByName(first), ...others.map(openByName)]))
      opened.set(model, found)
      return found
    },
  }
}
