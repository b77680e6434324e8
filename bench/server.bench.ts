import { availableParallelism } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { CALLS_PER_SESSION, type Cluster, startCluster } from '../test/support/cluster/cluster.ts'
import { measureTakeOver } from '../test/support/cluster/measure-take-over.ts'
import { TOOL_TURNS } from '../test/support/cluster/model-server.ts'
import { type ProcessConfig, runWorkerProcess, TENANT } from '../test/support/cluster/worker-process.ts'
import { findPostgres } from '../test/support/postgres.ts'
import { median } from './support/measure.ts'
import { type BenchmarkRow, reportTable } from './support/report.ts'
import { addIdleSessions } from './support/server/idle-sessions.ts'
import { runSessions, type SessionRun } from './support/server/run-sessions.ts'
import { resetStatements, sumStatements } from './support/server/statements.ts'

/** The default of a worker. */
const CONCURRENCY = 16
/** Each worker gets so many at once, so that all of them have work until near the end. */
const SESSIONS_PER_WORKER = 48
/** How long the model takes for a turn. A real one takes longer. */
const MODEL_MS = 400
const TURNS = TOOL_TURNS + 1
const IDLE_SESSIONS = 10_000

/** This file is also the workers. */
const [, , role, config = '{}'] = process.argv
if (role === '--worker') await runWorkerProcess(JSON.parse(config) as ProcessConfig)
else if (findPostgres() === undefined)
  process.stdout.write('no PostgreSQL server is installed: the server is not measured\n')
else await measureServer()

async function measureServer(): Promise<void> {
  const program = fileURLToPath(import.meta.url)
  const cluster = await startCluster({
    program,
    config: { toolMs: 0, isFree: true, concurrency: CONCURRENCY },
    modelMs: () => MODEL_MS,
    postgres: ['shared_preload_libraries=pg_stat_statements'],
    isMeasured: true,
  })
  const rows: BenchmarkRow[] = []
  try {
    await cluster.server.pool().query('create extension pg_stat_statements')
    const { insertMs, row } = await measureAppends(cluster)
    rows.push(row, ...(await measureWorkers(cluster, 1000 / insertMs)))
  } finally {
    await cluster.close()
  }
  rows.push(await measureDeaths(program))
  reportTable(
    'server',
    `Sessions of ${TURNS} turns with ${CALLS_PER_SESSION} calls; the model takes ${MODEL_MS} ms for a turn, and a worker has ${CONCURRENCY} sessions at the same time. Node ${process.version}; workers, model and Postgres (without fsync) share the ${availableParallelism()} processors of one machine.`,
    rows,
  )
}

/** Appends and bare inserts take turns, so that a busy moment of the machine hits both. */
async function measureAppends({ server, backend }: Cluster): Promise<{ insertMs: number; row: BenchmarkRow }> {
  const pool = server.pool()
  await pool.query('create table bare (session text, seq bigint, entry text, primary key (session, seq))')
  const log = await backend.getStore(TENANT).create({ id: 'appends', folder: '/' })
  const [appends, inserts]: [number[], number[]] = [[], []]
  const text = 'x'.repeat(500)
  for (let at = 0; at < 1000; at++) {
    appends.push(
      await time(() => {
        log.append({ kind: 'note', text })
        return log.flush()
      }),
    )
    inserts.push(await time(() => pool.query('insert into bare values ($1, $2, $3)', ['s', at, text])))
  }
  await log.close()
  const [appendMs, insertMs] = [median(appends), median(inserts)]
  const row = {
    label: 'an append that is waited for, against a bare insert',
    figures: `${appendMs.toFixed(2)} ms against ${insertMs.toFixed(2)} ms`,
    ratio: appendMs / insertMs,
    maxRatio: 4,
  }
  return { insertMs, row }
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

async function measureWorkers(cluster: Cluster, insertsPerSecond: number): Promise<BenchmarkRow[]> {
  const rows: BenchmarkRow[] = []
  const workers: Awaited<ReturnType<Cluster['startWorker']>>[] = []
  let last: SessionRun | undefined
  for (const count of [1, 2, 4]) {
    while (workers.length < count) workers.push(await cluster.startWorker())
    await Promise.all(workers.map(({ ready }) => ready))
    // What starting costs is not measured.
    await pause(1000)
    const sessionCount = count * SESSIONS_PER_WORKER
    last = await runSessions(cluster, workers, { prefix: `w${count}`, sessionCount })
    rows.push(...describeRun(last, count, insertsPerSecond))
    if (count === 1) rows.push(describeStatements(last))
  }
  rows.push(await measureIdle(cluster, workers.length))
  await addIdleSessions(cluster, IDLE_SESSIONS)
  const among = await runSessions(cluster, workers, { prefix: 'among', sessionCount: 4 * SESSIONS_PER_WORKER })
  if (last)
    rows.push({
      label: `4 workers among ${IDLE_SESSIONS} idle and parked sessions: processor time of Postgres for a session, against without them`,
      figures: `${toMs(among.postgresSeconds, among)} against ${toMs(last.postgresSeconds, last)} (${among.sessionsPerSecond.toFixed(1)} against ${last.sessionsPerSecond.toFixed(1)} sessions a second)`,
      ratio: among.postgresSeconds / among.sessionCount / (last.postgresSeconds / last.sessionCount),
      maxRatio: 1.5,
    })
  return rows
}

function describeRun(run: SessionRun, workers: number, insertsPerSecond: number): BenchmarkRow[] {
  const { sessionsPerSecond, entriesPerSecond, seconds } = run
  // All slots are taken all the time, and nothing but the model takes time.
  const ideal = (workers * CONCURRENCY) / ((TURNS * MODEL_MS) / 1000)
  const used = run.workerSeconds + run.postgresSeconds + run.clientSeconds
  const name = `${workers} worker${workers > 1 ? 's' : ''}`
  return [
    {
      label: `${name}: sessions a second, against as many as the model allows`,
      figures: `${sessionsPerSecond.toFixed(1)} against ${ideal.toFixed(1)}`,
      ratio: ideal / sessionsPerSecond,
      // What the processors of the machine cannot do is not the fault of the program.
      maxRatio: Math.max(2.5, (1.5 * ideal * used) / run.sessionCount / availableParallelism()),
    },
    {
      label: `${name}: entries a second, against bare inserts in a loop`,
      figures: `${entriesPerSecond.toFixed(0)} against ${insertsPerSecond.toFixed(0)}`,
      ratio: insertsPerSecond / entriesPerSecond,
      maxRatio: 30,
    },
    {
      label: `${name}: processor time of workers, of Postgres, and of model and client, against what the machine has`,
      figures: `${toMs(run.workerSeconds, run)}, ${toMs(run.postgresSeconds, run)} and ${toMs(run.clientSeconds, run)} for a session; ${used.toFixed(1)} s of ${(seconds * availableParallelism()).toFixed(1)} s`,
      ratio: used / (seconds * availableParallelism()),
      maxRatio: 1,
    },
  ]
}

function toMs(seconds: number, { sessionCount }: SessionRun): string {
  return `${((1000 * seconds) / sessionCount).toFixed(0)} ms`
}

function describeStatements({ statements, sessionCount, entries }: SessionRun): BenchmarkRow {
  const turns = sessionCount * TURNS
  const total = sumStatements(statements)
  const shares = [...statements]
    .sort((a, b) => b[1] - a[1])
    .map(([kind, count]) => `${kind} ${(count / turns).toFixed(2)}`)
  return {
    label: 'statements of the database for a turn of the model, against entries',
    figures: `${(total / turns).toFixed(1)} against ${(entries / turns).toFixed(1)} (${shares.join(', ')})`,
    ratio: total / entries,
    maxRatio: 2,
  }
}

/** What workers without work cost. */
async function measureIdle(cluster: Cluster, workers: number): Promise<BenchmarkRow> {
  const readStatements = await resetStatements(cluster)
  const start = performance.now()
  await pause(10_000)
  const perSecond = sumStatements(await readStatements()) / ((performance.now() - start) / 1000)
  return {
    label: `${workers} workers without work: statements a second, against 3 for each worker`,
    figures: `${perSecond.toFixed(1)} against ${workers * 3}`,
    ratio: perSecond / (workers * 3),
    maxRatio: 1.3,
  }
}

/** From the death of a worker with many sessions to the next request of each to the model, with the default settings. */
async function measureDeaths(program: string): Promise<BenchmarkRow> {
  const slow = { toolMs: 4000, isFree: true, concurrency: 30 }
  const cluster = await startCluster({ program, config: slow, isMeasured: true })
  try {
    const { times } = await measureTakeOver(cluster, { rounds: 4, sessionCount: 30 })
    const p99 = times[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN
    return {
      label: `after kill -9, until the next request to the model (${times.length} sessions): median and p99, against 10 s`,
      figures: `${(median(times) / 1000).toFixed(2)} s and ${(p99 / 1000).toFixed(2)} s against 10 s`,
      ratio: p99 / 10_000,
      maxRatio: 1,
    }
  } finally {
    await cluster.close()
  }
}
