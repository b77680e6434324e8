import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Pool } from 'pg'
import { storeConformance, type StoreSetup } from '../../src/session/store/conformance.ts'
import type { PostgresClient } from '../../src/session/store/postgres-client.ts'
import { listeningClient } from '../../src/session/store/postgres-listener.ts'
import { postgresStore } from '../../src/session/store/postgres-store.ts'
import type { Store } from '../../src/session/store/store.ts'
import { until } from '../support/alive.ts'
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts'

describe('followers and stale writers in Postgres', { skip: skipWithoutPostgres }, () => {
  let server: PostgresServer
  let pool: Pool
  let schemas = 0
  const freshSchema = () => `f${++schemas}`

  before(async () => {
    server = await startPostgres()
    pool = server.pool()
  })
  after(() => server.close())

  function follow(store: Store, id: string, from = 0) {
    const stop = new AbortController()
    const seqs: number[] = []
    const ended = (async () => {
      for await (const { seq } of store.follow(id, { after: from, signal: stop.signal })) seqs.push(seq)
    })()
    return {
      seqs,
      stop() {
        stop.abort()
        return ended
      },
    }
  }

  for (const [label, wrap] of [
    ['with notifications', listeningClient],
    ['by polling', (inner: Pool): PostgresClient => ({ query: (text, values) => inner.query(text, values) })],
  ] as const)
    test(`a follower outlives restarts of the server and lost connections (${label})`, async () => {
      const client = wrap(pool)
      const schema = freshSchema()
      const writer = postgresStore({ client: pool, schema, leaseMs: 60_000 })
      const log = await writer.create({ id: 'one', folder: '/' })
      const follower = follow(postgresStore({ client, schema }), 'one')
      for (let round = 1; round <= 3; round++) {
        log.append({ kind: 'note', text: `${round}` })
        await log.flush()
        await until(() => follower.seqs.at(-1) === round * 2, 60_000)
        if (round === 2) {
          await server.stop()
          await server.start()
        } else
          await pool.query('select pg_terminate_backend(pid) from pg_stat_activity where query ilike $1', ['listen%'])
        log.append({ kind: 'note', text: `${round}, at once` })
        await log.flush()
        await until(() => follower.seqs.at(-1) === round * 2 + 1, 60_000)
      }
      await follower.stop()
      await log.close()
      assert.deepEqual(follower.seqs, [1, 2, 3, 4, 5, 6, 7])
    })

  test('ten thousand followers of idle sessions share a connection, and ask nothing', async () => {
    let queries = 0
    const inner = listeningClient(pool)
    const client: PostgresClient = {
      query(text, values) {
        queries++
        return inner.query(text, values)
      },
      listen: (channel, onNotify) => inner.listen?.(channel, onNotify) ?? Promise.reject(new Error('cannot listen')),
    }
    const schema = freshSchema()
    // On a busy machine, so many take a while to begin.
    const store = postgresStore({ client, schema, leaseMs: 120_000 })
    const log = await store.create({ id: 'busy', folder: '/' })
    await pool.query(`
      insert into ${schema}.sessions (id, last_seq, changed, created, summary)
      select 's' || n, 1, n, n, '{}' from generate_series(1, 10000) n`)
    const followers = Array.from({ length: 10_000 }, (_, at) => follow(store, `s${at + 1}`, 1))
    const busy = follow(postgresStore({ client: pool, schema }), 'busy')
    await until(() => queries > 1, 60_000)
    const writer = follow(store, 'busy')
    // All that was asked at the beginning has been answered when this one has its entry.
    await until(() => writer.seqs.length === 1, 60_000)
    for (let previous = -1; previous !== queries;) {
      previous = queries
      await new Promise((resolve) => setTimeout(resolve, 1500))
    }
    const asked = queries
    assert.ok(asked < 50, `${asked} queries for all of them`)
    log.append({ kind: 'note', text: 'hello' })
    await log.flush()
    await until(() => writer.seqs.length === 2 && busy.seqs.length === 2, 60_000)
    assert.ok(queries - asked < 10, `${queries - asked} queries for one entry`)
    const listening = await pool.query(`select from pg_stat_activity where query ilike 'listen%'`)
    assert.ok(listening.rows.length <= 1)
    await log.close()
    await Promise.all([busy, writer, ...followers].map((one) => one.stop()))
    assert.ok(followers.every(({ seqs }) => seqs.length === 0))
  })

  describe('the requirements about stale writers', () => {
    /** Stores whose statements are changed on their way, and can be held up. */
    function createSetup(change: (text: string) => string): StoreSetup {
      const places = new Map<Store, { schema: string; pause: () => () => void }>()
      const open = (schema: string): Store => {
        let paused: Promise<void> | undefined
        const client: PostgresClient = {
          async query(text, values) {
            await paused
            return pool.query(change(text), values)
          },
        }
        const store = postgresStore({ client, schema, leaseMs: 3000 })
        const pause = () => {
          let resume = (): void => undefined
          paused = new Promise((resolve) => (resume = resolve))
          return () => resume()
        }
        places.set(store, { schema, pause })
        return store
      }
      return {
        createStore: () => open(freshSchema()),
        reopen: (store) => open(places.get(store)?.schema ?? ''),
        pause: (store) => places.get(store)?.pause() ?? (() => undefined),
        leaseMs: 3000,
      }
    }

    const cases = storeConformance.filter(({ name }) => /^a writer that (?:was paused|comes back)/.test(name))
    const withoutFence = (text: string): string => text.replaceAll('and fence = $2::bigint', 'and $2::bigint > 0')

    for (const { name, run } of cases) {
      test(`are met: ${name}`, () => run(createSetup((text) => text)))
      test(`are not met without the fencing check: ${name}`, async () => {
        await assert.rejects(run(createSetup(withoutFence)), /expected/)
      })
    }

    test('are there, and the check is in every statement that writes for a holder', async () => {
      assert.equal(cases.length, 2)
      const texts: string[] = []
      const client: PostgresClient = {
        query(text, values) {
          texts.push(text)
          return pool.query(text, values)
        },
      }
      const log = await postgresStore({ client, schema: freshSchema() }).create({ id: 'one', folder: '/' })
      texts.length = 0
      log.append({ kind: 'note', text: 'hello' })
      await log.close()
      assert.deepEqual(
        texts.map((text) => text.includes('and fence = $2::bigint')),
        [true, true],
      )
    })
  })
})
