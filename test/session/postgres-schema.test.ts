import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Pool } from 'pg'
import { listeningClient } from '../../src/session/store/postgres-listener.ts'
import { migratePostgresStore } from '../../src/session/store/postgres-schema.ts'
import { postgresStore } from '../../src/session/store/postgres-store.ts'
import { until } from '../support/alive.ts'
import { root } from '../support/paths.ts'
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts'

describe('the tables of the Postgres store', { skip: skipWithoutPostgres }, () => {
  let server: PostgresServer
  let admin: Pool
  const pools: Pool[] = []

  before(async () => {
    server = await startPostgres()
    admin = server.pool()
  })
  after(async () => {
    await Promise.all(pools.map((pool) => pool.end()))
    await server.close()
  })

  function connectAs(user: string): Pool {
    const pool = new Pool({ host: server.host, user, database: 'postgres', max: 3 })
    // A connection that the server ends must not end the test.
    pool.on('error', () => undefined)
    pools.push(pool)
    return pool
  }

  /** What the documentation says. */
  async function grantUse(schema: string, role: string): Promise<void> {
    await admin.query(`create role ${role} login nosuperuser nocreatedb nocreaterole`)
    await admin.query(`grant usage on schema ${schema} to ${role}`)
    await admin.query(`grant select, insert, update, delete on all tables in schema ${schema} to ${role}`)
    await admin.query(`revoke insert, update, delete on ${schema}.versions from ${role}`)
  }

  test('those of the last release are brought up to date, by many processes at once, and again', async () => {
    await admin.query(readFileSync(join(root, 'test/session/fixtures/postgres/version-1.sql'), 'utf8'))
    const stores = Array.from({ length: 3 }, () => postgresStore({ client: admin, schema: 'old' }))
    const lists = await Promise.all(stores.map((store) => store.list({ limit: 5 })))
    for (const list of lists)
      assert.deepEqual(
        list.map(({ id, created }) => `${id} ${created}`),
        ['second 1700000000500', 'first 1700000000100'],
      )
    await Promise.all([1, 2, 3].map(() => migratePostgresStore(admin, { schema: 'old' })))
    const [store] = stores
    assert.ok(store)
    assert.deepEqual(
      (await store.list()).map(({ id }) => id),
      ['first', 'second'],
    )
    assert.deepEqual(
      (await store.read('second')).entries.map(({ seq, kind }) => `${seq} ${kind}`),
      ['1 open', '2 user', '3 open'],
    )
    const log = await store.open('second')
    assert.equal(log.append({ kind: 'note', text: 'goes on' }).seq, 4)
    await log.close()
    const { rows } = await admin.query<{ version: number }>('select version from old.versions order by version')
    assert.deepEqual(
      rows.map(({ version }) => version),
      rows.map((_, at) => at + 1),
    )
  })

  test('a role without the right to create anything can do all that the store does', async () => {
    await migratePostgresStore(admin, { schema: 'shared' })
    await grantUse('shared', 'app')
    const pool = connectAs('app')
    await assert.rejects(pool.query('create table shared.other (x int)'), /permission denied/)
    await assert.rejects(pool.query('delete from shared.versions'), /permission denied/)
    const store = postgresStore({ client: listeningClient(pool), schema: 'shared' })
    const log = await store.create({ id: 'one', folder: '/' })
    const seen: number[] = []
    const stop = new AbortController()
    const following = (async () => {
      for await (const { seq } of store.follow('one', { signal: stop.signal })) seen.push(seq)
    })()
    log.append({ kind: 'user', parts: [{ kind: 'media', mime: 'image/png', data: 'A'.repeat(4000) }], prompt: 'one#1' })
    await log.flush()
    await until(() => seen.length === 2, 60_000)
    await log.close()
    const fork = await store.create({ id: 'fork', folder: '/', parent: { session: 'one', seq: 2 } })
    await fork.close()
    const opened = await store.open('one', { takeOver: true })
    assert.equal(opened.entries.length, 2)
    await opened.close()
    assert.equal(await store.getBlob(await store.putBlob(Buffer.from('blob'))).then(String), 'blob')
    assert.equal((await store.list({ limit: 1 })).length, 1)
    await store.remove('fork')
    stop.abort()
    await following
  })

  test('the role of one tenant cannot read or change what another has', async () => {
    for (const tenant of ['acme', 'globex']) {
      await migratePostgresStore(admin, { schema: tenant })
      await grantUse(tenant, `${tenant}_app`)
    }
    const own = postgresStore({ client: connectAs('acme_app'), schema: 'acme' })
    const log = await own.create({ id: 'secret', folder: '/' })
    log.append({ kind: 'note', text: 'of acme' })
    await log.close()
    const pool = connectAs('globex_app')
    const foreign = postgresStore({ client: pool, schema: 'acme' })
    const denied = { code: 'unavailable', message: /permission denied/ }
    await assert.rejects(foreign.list(), denied)
    await assert.rejects(foreign.read('secret'), denied)
    await assert.rejects(foreign.open('secret', { takeOver: true }), denied)
    await assert.rejects(foreign.create({ id: 'mine', folder: '/' }), denied)
    await assert.rejects(foreign.remove('secret'), denied)
    for (const table of ['sessions', 'entries', 'blobs', 'blob_refs', 'versions'])
      for (const text of [`select * from acme.${table}`, `delete from acme.${table}`])
        await assert.rejects(pool.query(text), /permission denied/, text)
    // The same name is another session, and a fork cannot lead to that of another tenant.
    const mine = postgresStore({ client: pool, schema: 'globex' })
    await assert.rejects(mine.read('secret'), { code: 'not-found' })
    await assert.rejects(mine.create({ id: 'fork', folder: '/', parent: { session: 'secret', seq: 1 } }), {
      code: 'not-found',
    })
    await (await mine.create({ id: 'secret', folder: '/' })).close()
    assert.equal((await mine.read('secret')).entries.length, 1)
    assert.equal((await own.read('secret')).entries.length, 2)
  })

  test('what is announced on the channel of a tenant does not tell the names of its sessions', async () => {
    const connection = await admin.connect()
    const payloads: (string | undefined)[] = []
    connection.on('notification', ({ payload }) => payloads.push(payload))
    await connection.query('listen acme')
    const log = await postgresStore({ client: admin, schema: 'acme' }).open('secret')
    log.append({ kind: 'note', text: 'more' })
    await log.close()
    await until(() => payloads.length > 0, 60_000)
    connection.release(true)
    assert.match(payloads.join(), /^[0-9a-f]{24} 3$/)
  })

  test('a page of the list reads only its own rows, however many sessions there are', async () => {
    const store = postgresStore({ client: admin, schema: 'many' })
    await store.list()
    await admin.query(`
      insert into many.sessions (id, last_seq, changed, created, summary)
      select 's' || n, 1, n, n, '{"id":"s' || n || '","created":' || n || '}' from generate_series(1, 20000) n`)
    await admin.query('analyze many.sessions')
    assert.deepEqual(
      (await store.list({ limit: 3, before: { id: 's9000', created: 9000 } })).map(({ id }) => id),
      ['s8999', 's8998', 's8997'],
    )
    const { rows } = await admin.query<{ 'QUERY PLAN': string }>(`
      explain (analyze, timing off, costs off) select summary from many.sessions
      where (created, id) < (9000::bigint, 's9000'::text) order by created desc, id desc limit 3::bigint`)
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
    assert.match(plan, /Index Scan Backward using sessions_created .*rows=3 /)
  })
})
