import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Backend } from '../../src/server/backend.ts'
import { backendConformance, type BackendSetup } from '../../src/server/conformance.ts'
import { connectDatabase, type Database } from '../../src/server/durable/database.ts'
import { createBackendOn, createDurableBackend } from '../../src/server/durable/index.ts'
import { getTenantSchema } from '../../src/server/durable/names.ts'
import { StoreError } from '../../src/session/store/store.ts'
import { until } from '../support/alive.ts'
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts'

describe('a backend in Postgres', { skip: skipWithoutPostgres }, () => {
  let server: PostgresServer
  let count = 0

  before(async () => {
    server = await startPostgres()
  })
  after(() => server.close())

  const getUrl = () => `postgres://test@/postgres?host=${encodeURIComponent(server.host)}`

  /** What a test knows of its backends, besides their interface. */
  interface TestBackend {
    readonly database: Database
    readonly names: { readonly schema: string; readonly tenantPrefix: string }
    isKilled: boolean
    /** How much later the schedules think it is. */
    offsetMs: number
  }
  const known = new WeakMap<Backend, TestBackend>()

  async function open(names: TestBackend['names']): Promise<Backend> {
    const database = await connectDatabase(getUrl(), 4)
    const state: TestBackend = { database, names, isKilled: false, offsetMs: 0 }
    const client: Database['client'] = {
      ...database.client,
      query: (text, values) => {
        if (state.isKilled) return Promise.reject(new Error('this process was killed'))
        const isClock = text.startsWith('select schedule,') || text.startsWith('select (extract(epoch from now())')
        const moved = `(now() + ${state.offsetMs} * interval '1 millisecond')`
        return database.client.query(isClock ? text.replaceAll('now()', moved) : text, values)
      },
    }
    const backend = await createBackendOn({ ...database, client }, { ...names, deadAfterMs: 1500 })
    known.set(backend, state)
    return backend
  }

  function getState(backend: Backend): TestBackend {
    const state = known.get(backend)
    assert.ok(state)
    return state
  }

  const createBackend = () => open({ schema: `q${++count}`, tenantPrefix: `p${count}` })
  const connect = (backend: Backend) => open(getState(backend).names)
  const setup: BackendSetup = {
    createBackend,
    connect,
    reopenAfterKill(backend) {
      getState(backend).isKilled = true
      after(() => backend.close())
      return connect(backend)
    },
    advanceSchedules(backend, ms) {
      getState(backend).offsetMs += ms
      return Promise.resolve()
    },
  }

  for (const { name, run } of backendConformance) test(name, () => run(setup))

  test('a schedule is submitted once for each time by several processes', async () => {
    const first = await createBackend()
    const backends = [first, await connect(first), await connect(first)]
    const ran: string[] = []
    for (const backend of backends)
      await backend.queue.work(
        ({ id }) => {
          ran.push(id)
          return Promise.resolve({ kind: 'done' })
        },
        { id: 'w', labels: [], concurrency: 4 },
      )
    const key = { tenant: 'acme', session: 's' }
    const message = { kind: 'user', id: 'm', parts: [{ kind: 'text', text: 'hello' }] } as const
    await first.queue.setSchedule({ id: 'each', ...key, cron: '* * * * *', provider: 'p', message })
    for (let minute = 1; minute <= 5; minute++) {
      for (const backend of backends) getState(backend).offsetMs = minute * 60_000
      await until(() => ran.length >= minute)
    }
    await new Promise((resolve) => setTimeout(resolve, 1500))
    assert.equal(new Set(ran).size, ran.length)
    assert.deepEqual((await first.inbox.list(key)).map(({ id }) => id).sort(), ran.sort())
    for (const backend of backends) await backend.close()
  })

  test('a worker whose id was declared dead stops its jobs, and goes on under another one', async () => {
    const backend = await createBackend()
    const { database, names } = getState(backend)
    const log: string[] = []
    let runs = 0
    await backend.queue.work(
      async (_job, signal) => {
        if (++runs > 1) return { kind: 'done' }
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        log.push('aborted')
        // What it says now must not count.
        return { kind: 'done' }
      },
      { id: 'w', labels: [], concurrency: 1 },
    )
    await backend.queue.submit({ id: 'j', tenant: 'acme', session: 's', provider: 'p' })
    await until(() => runs === 1)
    await database.client.query(`update "${names.schema}".workers set dead = true`)
    await until(() => runs === 2)
    assert.deepEqual(log, ['aborted'])
    const workers = await database.client.query(`select dead from "${names.schema}".workers order by dead`)
    assert.deepEqual(
      workers.rows.map(({ dead }) => dead),
      [false, true],
    )
    await backend.close()
  })

  test('a job whose claim was not received is queued again', async () => {
    const backend = await createBackend()
    const { database, names } = getState(backend)
    let runs = 0
    await backend.queue.work(
      () => {
        runs++
        return Promise.resolve({ kind: 'done' })
      },
      { id: 'w', labels: [], concurrency: 1 },
    )
    // As if the process had asked for it, and the connection had been lost before the answer.
    await database.client.query(
      `insert into "${names.schema}".jobs (id, tenant, session, provider, run_at, state, worker)
       select 'lost', 'acme', 's', 'p', now(), 'running', id from "${names.schema}".workers`,
    )
    await until(() => runs === 1)
    await backend.close()
  })

  test('a job whose workers die again and again fails', async () => {
    const backend = await createBackend()
    const { database, names } = getState(backend)
    await database.client.query(`insert into "${names.schema}".workers (id, dead) values ('gone', true)`)
    await database.client.query(
      `insert into "${names.schema}".jobs (id, tenant, session, provider, run_at, state, worker, takeovers)
       values ('deadly', 'acme', 's', 'p', now(), 'running', 'gone', 29)`,
    )
    await backend.queue.work(() => Promise.resolve({ kind: 'done' }), { id: 'w', labels: [], concurrency: 1 })
    for (let status; status !== 'failed'; status = await backend.queue.getStatus('deadly'))
      await new Promise((resolve) => setTimeout(resolve, 50))
    await backend.close()
  })

  test('a session of a dead process is opened at once, and the dead can write nothing more', async () => {
    const backend = await createBackend()
    const other = await connect(backend)
    const { database, names } = getState(backend)
    await backend.queue.work(() => Promise.resolve({ kind: 'done' }), { id: 'w', labels: [], concurrency: 1 })
    const log = await backend.getStore('acme').create({ id: 's', folder: '/' })
    await assert.rejects(other.getStore('acme').open('s'), (error) => {
      return error instanceof StoreError && error.code === 'in-use'
    })
    await database.client.query(`update "${names.schema}".workers set dead = true`)
    const next = await other.getStore('acme').open('s')
    log.append({ kind: 'note', text: 'from the dead' })
    await assert.rejects(log.flush(), (error) => error instanceof StoreError && error.code === 'taken-over')
    next.append({ kind: 'note', text: 'goes on' })
    await next.flush()
    await next.close()
    const { entries } = await other.getStore('acme').read('s')
    assert.deepEqual(
      entries.map(({ kind }) => kind),
      ['open', 'note'],
    )
    await other.close()
    await backend.close()
  })

  test('after a restart of the database, nobody is declared dead, and work goes on', async () => {
    const first = await createBackend()
    const second = await connect(first)
    const { database, names } = getState(first)
    let ended = 0
    for (const backend of [first, second])
      await backend.queue.work(
        () => {
          ended++
          return Promise.resolve({ kind: 'done' })
        },
        { id: 'w', labels: [], concurrency: 2 },
      )
    try {
      await server.stop()
      await server.start()
      for (let at = 0; at < 10; at++)
        await first.queue.submit({ id: `r${at}`, tenant: 'acme', session: `s${at}`, provider: 'p' })
      await until(() => ended === 10)
      const { rows } = await database.client.query(
        `select count(*)::int as n from "${names.schema}".workers where not dead`,
      )
      assert.equal(rows[0]?.['n'], 2)
    } finally {
      // Otherwise a failure would keep the process alive.
      await second.close()
      await first.close()
    }
  })

  test('tenants have schemas of their own, whatever their names', () => {
    const tenants = ['acme', 'Acme', 'ACME', 'a-b', 'a_b', 'h_x', 'x'.repeat(64), 'x'.repeat(63)]
    const schemas = tenants.map((tenant) => getTenantSchema('dragoman', tenant))
    assert.equal(new Set(schemas).size, tenants.length)
    for (const schema of schemas) assert.match(schema, /^[a-z_][a-z0-9_]{0,62}$/)
  })

  test('the tables are made by many processes at the same time, and of a newer version they are refused', async () => {
    const schema = `q${++count}`
    const openOwn = () => createDurableBackend({ url: getUrl(), schema })
    const all = await Promise.all(Array.from({ length: 6 }, openOwn))
    for (const backend of all) await backend.close()
    await server.pool().query(`insert into "${schema}".versions (version) values (99)`)
    await assert.rejects(openOwn(), /newer version/)
  })
})
