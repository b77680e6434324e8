import { fileURLToPath } from 'node:url'
import { getTenantSchema } from '../src/server/durable/names.ts'
import { CALLS_PER_SESSION, type Cluster, startCluster, waitUntil } from '../test/support/cluster/cluster.ts'
import { TOOL_TURNS } from '../test/support/cluster/model-server.ts'
import { type ProcessConfig, runWorkerProcess, TENANT } from '../test/support/cluster/worker-process.ts'
import { findPostgres } from '../test/support/postgres.ts'
import { median } from './support/measure.ts'
import { type BenchmarkRow, reportTable } from './support/report.ts'

const SESSIONS = 30
const IDLE_SESSIONS = 10_000

/** This file is also the workers. */
const [, , role, config = '{}'] = process.argv
if (role === '--worker') await runWorkerProcess(JSON.parse(config) as ProcessConfig)
else if (findPostgres() === undefined)
  process.stdout.write('no PostgreSQL server is installed: the server is not measured\n')
else await measureServer()

async function measureServer(): Promise<void> {
  const rows: BenchmarkRow[] = []
  const program = fileURLToPath(import.meta.url)
  const cluster = await startCluster({ program, config: { toolMs: 0, isFree: true }, modelMs: () => 0 })
  const pool = cluster.server.pool()
  try {
    await pool.query('create table bare (session text, seq bigint, entry text, primary key (session, seq))')
    const bareStart = performance.now()
    const entry = 'x'.repeat(300)
    for (let at = 0; at < 1000; at++) await pool.query('insert into bare values ($1, $2, $3)', ['s', at, entry])
    const barePerSecond = 1000 / ((performance.now() - bareStart) / 1000)

    for (const count of [1, 2, 4]) {
      const workers = await Promise.all(Array.from({ length: count }, () => cluster.startWorker()))
      await Promise.all(workers.map(({ ready }) => ready))
      const { seconds, events, commits } = await runSessions(cluster, `w${count}`)
      if (count === 1) {
        const perTurn = commits / (SESSIONS * (TOOL_TURNS + 1))
        rows.push({
          label: 'transactions of the database for a turn, against one for each entry',
          figures: `${perTurn.toFixed(1)} against ${(events / (SESSIONS * (TOOL_TURNS + 1))).toFixed(1)}`,
          ratio: commits / events,
          maxRatio: 2,
        })
      }
      rows.push({
        label: `${count} worker${count > 1 ? 's' : ''}: sessions and entries a second, against inserts in a loop`,
        figures: `${(SESSIONS / seconds).toFixed(1)} and ${(events / seconds).toFixed(0)} against ${barePerSecond.toFixed(0)}`,
        ratio: barePerSecond / (events / seconds),
        maxRatio: 30,
      })
      if (count === 4) {
        rows.push(await measureIdle(cluster))
        await addIdleSessions(cluster)
        const { seconds: among } = await runSessions(cluster, 'many')
        rows.push({
          label: `the same with 4 workers among ${IDLE_SESSIONS} idle and parked sessions, against before`,
          figures: `${(SESSIONS / among).toFixed(1)} against ${(SESSIONS / seconds).toFixed(1)} sessions a second`,
          ratio: among / seconds,
          maxRatio: 2,
        })
      }
      for (const { child } of workers) child.stdin?.end()
      await Promise.all(workers.map(({ ended }) => ended))
    }
    rows.push(await measureTakeOver(cluster))
  } finally {
    await cluster.close()
  }
  reportTable(
    'server',
    `Sessions of ${TOOL_TURNS} turns with ${CALLS_PER_SESSION} calls, each with an effect on the disk. Node ${process.version}; workers, model and Postgres (without fsync) on one machine.`,
    rows,
  )
}

interface Measurement {
  readonly seconds: number
  readonly events: number
  readonly commits: number
}

async function runSessions(cluster: Cluster, prefix: string): Promise<Measurement> {
  const pool = cluster.server.pool()
  const sessions = Array.from({ length: SESSIONS }, (_, at) => `${prefix}-${at}`)
  const closed = await cluster.countClosed()
  const commits = await countCommits(cluster)
  const start = performance.now()
  await Promise.all(sessions.map((session) => cluster.submit(session)))
  let polls = 0
  const hasEnded = async () => {
    polls++
    return (await cluster.countClosed()) === closed + SESSIONS
  }
  await waitUntil('all end', hasEnded, 600_000)
  const seconds = (performance.now() - start) / 1000
  const { rows } = await pool.query<{ n: number }>(
    `select count(*)::int as n from "${getTenantSchema('cluster', TENANT)}".entries where session like $1`,
    [`${prefix}-%`],
  )
  return { seconds, events: rows[0]?.n ?? 0, commits: (await countCommits(cluster)) - commits - polls }
}

async function countCommits(cluster: Cluster): Promise<number> {
  // A connection that is idle reports its counters only after ten seconds.
  await new Promise((resolve) => setTimeout(resolve, 12_000))
  const text = 'select sum(xact_commit)::int as n from pg_stat_database where datname = current_database()'
  const { rows } = await cluster.server.pool().query<{ n: number }>(text)
  return rows[0]?.n ?? 0
}

/** What workers without work cost. */
async function measureIdle(cluster: Cluster): Promise<BenchmarkRow> {
  const [before, start] = [await countCommits(cluster), performance.now()]
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const perSecond = ((await countCommits(cluster)) - before) / ((performance.now() - start) / 1000)
  return {
    label: '4 workers without work: transactions a second, against 4 for each worker',
    figures: `${perSecond.toFixed(1)} against 16`,
    ratio: perSecond / 16,
    maxRatio: 1.5,
  }
}

/** Half of them have ended, and half wait for an approval. */
async function addIdleSessions(cluster: Cluster): Promise<void> {
  const schema = getTenantSchema('cluster', TENANT)
  const pool = cluster.server.pool()
  await pool.query(
    `insert into "${schema}".sessions (id, last_seq, changed, summary)
     select 'idle-' || n, 4, 0, '{"id":"idle-' || n || '","folder":"/","created":0,"changed":0,"title":"idle"}'
     from generate_series(1, ${IDLE_SESSIONS}) n`,
  )
  await pool.query(
    `insert into "${schema}".entries (session, seq, entry)
     select 'idle-' || n, seq, '{"seq":' || seq || ',"at":0,"kind":"' || case when seq < 4 then 'note' when n % 2 = 0 then 'closed' else 'ask' end || '"}'
     from generate_series(1, ${IDLE_SESSIONS}) n, generate_series(1, 4) seq`,
  )
  await pool.query(
    `insert into queue.jobs (id, tenant, session, provider, run_at, state)
     select 'idle-' || n, '${TENANT}', 'idle-' || n, 'p', now(), 'done' from generate_series(1, ${IDLE_SESSIONS}) n`,
  )
}

/** From the death of a worker with many sessions to the next request of each to the model, with the default settings. */
async function measureTakeOver(cluster: Cluster): Promise<BenchmarkRow> {
  const slow = { toolMs: 1500 }
  const rescuer = await cluster.startWorker({ ...slow, concurrency: SESSIONS })
  await rescuer.ready
  // Who has just started declares nobody dead.
  await new Promise((resolve) => setTimeout(resolve, 7000))
  const times: number[] = []
  for (let round = 0; round < 3; round++) {
    const victim = await cluster.startWorker({ ...slow, labels: [`victim-${round}`] })
    await victim.ready
    const sessions = Array.from({ length: SESSIONS }, (_, at) => `kill-${round}-${at}`)
    const closed = await cluster.countClosed()
    const before = cluster.listEffects().length
    await Promise.all(sessions.map((session) => cluster.submit(session)))
    const own = () =>
      cluster
        .listEffects()
        .slice(before)
        .filter((line) => line.endsWith(` ${victim.child.pid}`))
    await waitUntil('the victim works', () => own().length >= 5, 600_000)
    victim.child.kill('SIGKILL')
    const killedAt = performance.now()
    const orphans = new Set(own().map((line) => line.split(' ')[0] ?? ''))
    await waitUntil('all end', async () => (await cluster.countClosed()) === closed + SESSIONS, 600_000)
    for (const session of orphans) {
      const next = cluster.model.requests.get(session)?.find((at) => at > killedAt + 500)
      if (next !== undefined) times.push(next - killedAt)
    }
  }
  const sorted = times.sort((a, b) => a - b)
  const p99 = sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN
  return {
    label: `after kill -9, until the next request to the model (${sorted.length} sessions): median and p99, against 10 s`,
    figures: `${(median(sorted) / 1000).toFixed(2)} s and ${(p99 / 1000).toFixed(2)} s against 10 s`,
    ratio: p99 / 10_000,
    maxRatio: 1,
  }
}
