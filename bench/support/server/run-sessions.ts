import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { getTenantSchema } from '../../../src/server/durable/names.ts'
import { type Cluster, type ClusterWorker, waitUntil } from '../../../test/support/cluster/cluster.ts'
import { TENANT } from '../../../test/support/cluster/worker-process.ts'
import { readProcessorSeconds, readTreeSeconds } from '../processor-time.ts'
import { resetStatements, type StatementCounts } from './statements.ts'

/** What it took to run some sessions at the same time. */
export interface SessionRun {
  readonly sessionCount: number
  readonly seconds: number
  readonly entries: number
  readonly sessionsPerSecond: number
  readonly entriesPerSecond: number
  readonly statements: StatementCounts
  /** Processor time, also of the process that submits the sessions and is their model. */
  readonly workerSeconds: number
  readonly postgresSeconds: number
  readonly clientSeconds: number
}

export async function runSessions(
  cluster: Cluster,
  workers: readonly ClusterWorker[],
  { prefix, sessionCount }: { readonly prefix: string; readonly sessionCount: number },
): Promise<SessionRun> {
  const pool = cluster.server.pool()
  const sessions = Array.from({ length: sessionCount }, (_, at) => `${prefix}-${at}`)
  const readStatements = await resetStatements(cluster)
  const [before, start] = [readUsage(cluster, workers), performance.now()]
  await Promise.all(sessions.map((session) => cluster.submit(session)))
  await waitUntil('all end', async () => !(await isBusy(pool)), { ms: 600_000 })
  const seconds = (performance.now() - start) / 1000
  const after = readUsage(cluster, workers)
  const statements = await readStatements()
  const { rows } = await pool.query<{ n: number }>(
    `select count(*)::int as n from "${getTenantSchema('cluster', TENANT)}".entries where session like $1`,
    [`${prefix}-%`],
  )
  const entries = rows[0]?.n ?? 0
  return {
    sessionCount,
    seconds,
    entries,
    sessionsPerSecond: sessionCount / seconds,
    entriesPerSecond: entries / seconds,
    statements,
    workerSeconds: after.workers - before.workers,
    postgresSeconds: after.postgres - before.postgres,
    clientSeconds: after.client - before.client,
  }
}

/** By an index, so that it costs nothing. */
async function isBusy(pool: Pool): Promise<boolean> {
  const isThere = (state: string) => `exists (select from queue.jobs where state = '${state}')`
  const { rows } = await pool.query<{ busy: boolean }>(`select ${isThere('queued')} or ${isThere('running')} as busy`)
  return rows[0]?.busy === true
}

function readUsage({ server }: Cluster, workers: readonly ClusterWorker[]) {
  const { user, system } = process.cpuUsage()
  // The first line of this file is the number of the process.
  const postmaster = Number(readFileSync(join(server.host, 'data/postmaster.pid'), 'utf8').split('\n')[0])
  return {
    workers: workers.reduce((sum, { child }) => sum + readProcessorSeconds(child.pid ?? 0), 0),
    postgres: readTreeSeconds(postmaster),
    client: (user + system) / 1e6,
  }
}
