import type { Spending } from '../backend.ts'
import { type Database, queryAgain } from './database.ts'

export function createSpending({ client }: Database, schema: string): Spending {
  const table = `"${schema}".spending`
  return {
    async get(tenant, period) {
      const text = `select dollars from ${table} where tenant = $1 and period = $2`
      const [row] = await queryAgain(client, text, [tenant, period])
      return Number(row?.['dollars'] ?? 0)
    },
    async add(tenant, period, dollars) {
      // Not sent again when it is unknown whether it was received: it would count twice.
      await client.query(
        `insert into ${table} as known values ($1, $2, $3)
         on conflict (tenant, period) do update set dollars = known.dollars + excluded.dollars`,
        [tenant, period, dollars],
      )
    },
  }
}
