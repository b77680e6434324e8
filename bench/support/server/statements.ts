import type { Cluster } from '../../../test/support/cluster/cluster.ts'

/** How often the database has executed statements of each kind. */
export type StatementCounts = ReadonlyMap<string, number>

/**
 * Begins to count. Statements are counted when they end, and without those of the benchmark itself. The counter of transactions is
 * no use here: an idle connection reports its own long after the work has ended, and each listener adds one for a notification.
 */
export async function resetStatements({ server }: Cluster): Promise<() => Promise<StatementCounts>> {
  const pool = server.pool()
  await pool.query('select pg_stat_statements_reset()')
  return async () => {
    const { rows } = await pool.query<{ query: string; calls: number }>(
      'select query, calls::int as calls from pg_stat_statements where toplevel',
    )
    const counts = new Map<string, number>()
    for (const { query, calls } of rows) {
      const kind = KINDS.find(([, pattern]) => pattern.test(query))?.[0] ?? 'other'
      if (kind !== 'benchmark') counts.set(kind, (counts.get(kind) ?? 0) + calls)
    }
    return counts
  }
}

export function sumStatements(counts: StatementCounts): number {
  return [...counts.values()].reduce((sum, one) => sum + one, 0)
}

/** The first that matches. */
const KINDS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['benchmark', /pg_stat_statements|as busy|^analyze|^create|count\(/],
  ['heartbeat', /\.beat\(/],
  ['claim', /claim_jobs/],
  ['schedules', /\.schedules/],
  ['append', /pg_notify.*from held|with held as/s],
  ['inbox', /\.inbox/],
  ['end of job', /with ended as/],
  ['submit', /\.jobs \(id/],
  ['create session', /with made as/],
  ['lease', /lease_until/],
  ['read log', /\.entries|select parent/],
  ['listen', /^(?:un)?listen|^select$/i],
  ['live events', /json_array_elements/],
]
