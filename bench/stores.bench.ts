import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { EntryBody } from '../src/session/log/entry.ts'
import { resumeSession } from '../src/session/session.ts'
import { jsonlStore } from '../src/session/store/jsonl-store.ts'
import { listeningClient } from '../src/session/store/postgres-listener.ts'
import { postgresStore } from '../src/session/store/postgres-store.ts'
import type { SessionLog, Store } from '../src/session/store/store.ts'
import { findPostgres, startPostgres } from '../test/support/postgres.ts'
import { median } from './support/measure.ts'
import { type BenchmarkRow, reportTable } from './support/report.ts'

const BYTES = 14e6
const ROUNDS = 5

const rows: BenchmarkRow[] = []
const folder = mkdtempSync(join(tmpdir(), 'dragoman-stores-'))
const files = jsonlStore(folder)
await writeSession(files, () => statSync(join(folder, 'big.jsonl')).size < BYTES)
rows.push(await measureOpening('files', files))
rmSync(folder, { recursive: true, force: true })

if (findPostgres() === undefined) process.stdout.write('no PostgreSQL server is installed: its rows are left out\n')
else {
  const server = await startPostgres()
  const pool = server.pool()
  const store = postgresStore({ client: pool })
  let written = 0
  await writeSession(store, (body) => (written += JSON.stringify(body).length + 40) < BYTES)
  rows.push(await measureOpening('Postgres', store))

  // A durable append against the least that a program of one's own would do: one row, one commit.
  const log = await store.create({ id: 'appends', folder: '/' })
  await pool.query('create table bare (session text, seq bigint, entry text, primary key (session, seq))')
  const [saves, inserts]: [number[], number[]] = [[], []]
  for (let at = 0; at < 1000; at++) {
    const text = `entry ${at} ${'x'.repeat(500)}`
    saves.push(
      await time(() => {
        log.append({ kind: 'note', text })
        return log.flush()
      }),
    )
    inserts.push(await time(() => pool.query('insert into bare values ($1, $2, $3)', ['appends', at, text])))
  }
  rows.push({
    label: 'Postgres: append and flush one entry, against a bare insert',
    figures: `${median(saves).toFixed(2)} ms against ${median(inserts).toFixed(2)} ms`,
    ratio: median(saves) / median(inserts),
    maxRatio: 4,
  })
  const batch = await time(async () => {
    for (let at = 0; at < 1000; at++) log.append({ kind: 'note', text: `entry ${at} ${'x'.repeat(500)}` })
    await log.flush()
  })
  const bare = inserts.reduce((sum, one) => sum + one, 0)
  rows.push({
    label: 'Postgres: append 1000 entries and flush once, against 1000 bare inserts',
    figures: `${batch.toFixed(0)} ms against ${bare.toFixed(0)} ms`,
    ratio: batch / bare,
    maxRatio: 0.5,
  })
  rows.push(await measureFollowing(log, postgresStore({ client: listeningClient(pool) }), median(saves)))
  await log.close()
  await server.close()
}
reportTable('stores', `Stores of sessions. Node ${process.version}; Postgres on the same machine, without fsync.`, rows)

/** A session of turns with a call and its result each. */
async function writeSession(store: Store, more: (body: EntryBody) => boolean): Promise<void> {
  const log = await store.create({ id: 'big', folder: '/' })
  for (let at = 0, goesOn = true; goesOn; at++) {
    const [call, prompt] = [`c${at}`, `big#${at}`]
    const input = { path: 'x' }
    const bodies: EntryBody[] = [
      { kind: 'user', parts: [{ kind: 'text', text: `do ${at}` }], prompt },
      {
        kind: 'turn',
        prompt,
        ms: 1,
        turn: {
          role: 'assistant',
          origin: { provider: 'p', wire: 'gemini', model: 'm' },
          parts: [{ kind: 'call', id: call, name: 'read', raw: '{"path":"x"}', input }],
          finish: { reason: 'calls' },
        },
      },
      { kind: 'intent', call, name: 'read', input },
      {
        kind: 'result',
        ms: 1,
        result: {
          kind: 'result',
          id: call,
          name: 'read',
          status: 'ok',
          content: [{ kind: 'text', text: 'a line of a file\n'.repeat(100) }],
        },
      },
    ]
    for (const body of bodies) {
      log.append(body)
      goesOn = more(body)
    }
  }
  await log.close()
}

/** How long the event loop was blocked while a session of 14 MB was opened and resumed, against the time that it took. */
async function measureOpening(label: string, store: Store): Promise<BenchmarkRow> {
  const [blocked, whole]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    await new Promise((resolve) => setTimeout(resolve, 20))
    whole.push(await time(async () => resumeSession(await store.open('big')).close()))
    await new Promise((resolve) => setTimeout(resolve, 20))
    delay.disable()
    blocked.push(delay.max / 1e6)
  }
  return {
    label: `${label}: longest block of the event loop while a session of 14 MB is opened, against the time for it`,
    figures: `${median(blocked).toFixed(0)} ms against ${median(whole).toFixed(0)} ms`,
    ratio: median(blocked) / median(whole),
    maxRatio: 0.3,
  }
}

/** How long after the start of `append` and `flush` a follower in another store has the entry, against the time that these take. */
async function measureFollowing(log: SessionLog, store: Store, saveMs: number): Promise<BenchmarkRow> {
  const stop = new AbortController()
  const last = log.append({ kind: 'note', text: 'first' }).seq
  await log.flush()
  let onEntry = (_seq: number): void => undefined
  const following = (async () => {
    for await (const { seq } of store.follow(log.id, { after: last - 1, signal: stop.signal })) onEntry(seq)
  })()
  await new Promise<void>((resolve) => (onEntry = () => resolve()))
  // The follower may not be listening yet.
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const delays: number[] = []
  for (let at = 0; at < 500; at++)
    delays.push(
      await time(async () => {
        const { seq } = log.append({ kind: 'note', text: `entry ${at} ${'x'.repeat(500)}` })
        const seen = new Promise<void>((resolve) => (onEntry = (one) => one === seq && resolve()))
        await log.flush()
        await seen
      }),
    )
  stop.abort()
  await following
  return {
    label: 'Postgres: from append to the callback of a follower elsewhere, against append and flush',
    figures: `${median(delays).toFixed(2)} ms against ${saveMs.toFixed(2)} ms`,
    ratio: median(delays) / saveMs,
    maxRatio: 8,
  }
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}
