import { lazy } from '../model/lazy.ts'
import type { Catalog } from '../provider/catalog.ts'
import type { Model } from '../provider/index.ts'
import { type BudgetLedger, createBudgetLedger, withBudget } from '../provider/optional-middleware.ts'
import type { Spending } from './backend.ts'

interface QuotaOptions {
  /** In US dollars for each month; undefined for no limit. */
  readonly getQuota: (tenant: string) => number | undefined
  /** What all processes have spent. */
  readonly spending?: Spending
  readonly catalog?: () => Promise<Catalog>
  readonly now?: () => number
}

/**
 * Applies the monthly quota of a tenant to the models that it uses: a request that may exceed it is not sent. Other processes
 * are counted with what they have spent, but not with the requests that they are waiting for.
 */
export function createTenantQuotas({ getQuota, spending, catalog, now = Date.now }: QuotaOptions) {
  const loadCatalog = catalog ?? lazy(async () => (await import('../provider/catalog.ts')).createCatalog())
  const accounts = new Map<string, Promise<Account>>()

  async function openAccount(tenant: string, period: string, quota: number): Promise<Account> {
    let spentElsewhere = 0
    const cap = {
      get money() {
        return quota - spentElsewhere
      },
    }
    const { cost } = await loadCatalog()
    const ledger = createBudgetLedger(cap, cost)
    let reported = 0

    async function report(): Promise<void> {
      const dollars = ledger.spent.money - reported
      if (dollars <= 0) return
      reported += dollars
      await spending?.add(tenant, period, dollars)
    }

    return {
      async refresh() {
        if (spending) spentElsewhere = (await spending.get(tenant, period)) - reported
      },
      ledger: {
        get spent() {
          return ledger.spent
        },
        reserve(origin, estimate) {
          const reservation = ledger.reserve(origin, estimate)
          if ('problem' in reservation) return reservation
          return {
            ...reservation,
            spend(answeringOrigin, usage) {
              reservation.spend(answeringOrigin, usage)
              // What cannot be stored now is stored with the next request.
              report().catch(() => undefined)
            },
          }
        },
      },
    }
  }

  return (tenant: string, model: Model): Model => {
    const quota = getQuota(tenant)
    if (quota === undefined) return model
    return withBudget(model, async () => {
      const period = new Date(now()).toISOString().slice(0, 7)
      const key = `${tenant}/${period}/${quota}`
      const opening = accounts.get(key) ?? openAccount(tenant, period, quota)
      accounts.set(key, opening)
      const account = await opening
      await account.refresh()
      return account.ledger
    })
  }
}

interface Account {
  readonly ledger: BudgetLedger
  refresh(): Promise<void>
}
