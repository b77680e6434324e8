import { getTenantSchema } from '../../../src/server/durable/names.ts'
import type { Cluster } from '../../../test/support/cluster/cluster.ts'
import { TENANT } from '../../../test/support/cluster/worker-process.ts'

/** Adds sessions with all that they leave in the database. Half of them have ended, and half wait for an approval. */
export async function addIdleSessions({ server }: Cluster, count: number): Promise<void> {
  const schema = getTenantSchema('cluster', TENANT)
  const pool = server.pool()
  const numbers = `generate_series(1, ${count}) n`
  const statements = [
    `insert into "${schema}".sessions (id, last_seq, changed, created, summary)
     select 'idle-' || n, 4, n, n, '{"id":"idle-' || n || '","folder":"","created":' || n || ',"changed":' || n || ',"title":"idle"}' from ${numbers}`,
    `insert into "${schema}".entries (session, seq, entry)
     select 'idle-' || n, seq, '{"seq":' || seq || ',"at":0,"kind":"' || case
       when seq < 4 then 'note","text":"${'x'.repeat(300)}"}'
       when n % 2 = 0 then 'ask","ask":"a","call":"c","details":{}}'
       else 'close","prompt":"p","reason":"done"}' end
     from ${numbers}, generate_series(1, 4) seq`,
    `insert into queue.jobs (id, tenant, session, provider, run_at, state)
     select 'idle-' || n, '${TENANT}', 'idle-' || n, 'p', now(), 'done' from ${numbers}`,
    `insert into queue.inbox (tenant, session, id) select '${TENANT}', 'idle-' || n, 'idle-' || n from ${numbers}`,
  ]
  for (const statement of statements) await pool.query(statement)
  await pool.query('analyze')
}
