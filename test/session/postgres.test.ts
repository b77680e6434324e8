import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { Pool } from 'pg'
import { agent, tool } from '../../src/index.ts'
import { storeConformance, type StoreSetup } from '../../src/session/store/conformance.ts'
import type { PostgresClient } from '../../src/session/store/postgres-client.ts'
import { listeningClient } from '../../src/session/store/postgres-listener.ts'
import { migratePostgresStore } from '../../src/session/store/postgres-schema.ts'
import { postgresStore } from '../../src/session/store/postgres-store.ts'
import { type Store, StoreError } from '../../src/session/store/store.ts'
import { until } from '../support/alive.ts'
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts'
import { modelOn, rehearse } from '../support/stage.ts'

/** The lease of the sessions of this test: short, but not so short that a busy machine cannot renew it. */
const LEASE_MS = 3000

/** This file is also the other processes: started with these words, it is one that holds a session. */
const [, , role, host = '', schema = '', name = ''] = process.argv
if (role === '--writer') await writeUntilRefused()
else if (role === '--member') await addNote()
else describe('sessions in Postgres', { skip: skipWithoutPostgres }, postgres)

function openStore(client: PostgresClient, inSchema: string): Store {
  return postgresStore({ client, schema: inSchema, leaseMs: LEASE_MS })
}

function connect(): { store: Store; pool: Pool } {
  const pool = new Pool({ host, user: 'test', database: 'postgres', max: 2 })
  return { store: openStore(pool, schema), pool }
}

/** Appends a note every few milliseconds, and says the number of each that is saved, until it is refused. */
async function writeUntilRefused(): Promise<void> {
  const { store, pool } = connect()
  const log = await store.open('one')
  for (;;) {
    try {
      const { seq } = log.append({ kind: 'note', text: `${name} ${Date.now()}` })
      await log.flush()
      process.stdout.write(`saved ${seq}\n`)
    } catch (error) {
      process.stdout.write(`refused ${error instanceof StoreError ? error.code : String(error)}\n`)
      break
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await log.close()
  await pool.end()
}

/** Adds a note as soon as it gets in. */
async function addNote(): Promise<void> {
  const { store, pool } = connect()
  for (;;) {
    try {
      const log = await store.open('one')
      log.append({ kind: 'note', text: name })
      await log.close()
      return await pool.end()
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'in-use') throw error
      await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20))
    }
  }
}

function postgres(): void {
  let server: PostgresServer
  let pool: Pool
  let schemas = 0
  const freshSchema = () => `s${++schemas}`
  const children = new Set<ChildProcess>()

  before(async () => {
    server = await startPostgres()
    pool = server.pool()
  })
  after(async () => {
    for (const child of children) child.kill('SIGKILL')
    await server.close()
  })

  function start(...words: string[]): { child: ChildProcess; lines: string[]; ended: Promise<number | null> } {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), ...words], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {},
    })
    children.add(child)
    const lines: string[] = []
    // The test runner prints lines of its own.
    createInterface({ input: child.stdout }).on('line', (line) => /^(?:saved|refused) /.test(line) && lines.push(line))
    return { child, lines, ended: new Promise((resolve) => child.on('close', resolve)) }
  }

  /** A session that another process writes to. */
  async function writtenElsewhere() {
    const inSchema = freshSchema()
    const store = openStore(pool, inSchema)
    await (await store.create({ id: 'one', folder: '/' })).close()
    const writer = start('--writer', server.host, inSchema, 'writer')
    await until(() => writer.lines.length >= 3, 60_000)
    return { store, ...writer }
  }

  const saved = (lines: readonly string[]): number[] =>
    lines.flatMap((line) => (line.startsWith('saved ') ? [Number(line.slice(6))] : []))

  async function openWhenFree(store: Store) {
    for (;;) {
      try {
        return await store.open('one')
      } catch (error) {
        if (!(error instanceof StoreError) || error.code !== 'in-use') throw error
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }

  /** Stores whose connections can be broken or held up. */
  function createSetup(change: (text: string) => string = (text) => text): StoreSetup {
    const places = new Map<Store, { inSchema: string; fail: () => void; pause: () => () => void }>()
    const open = (inSchema: string): Store => {
      const inner = listeningClient(pool)
      let isBroken = false
      let paused: Promise<void> | undefined
      const client: PostgresClient = {
        async query(text, values) {
          if (isBroken) throw new Error('cut off')
          await paused
          return inner.query(change(text), values)
        },
        listen: (channel, onNotify) => inner.listen?.(channel, onNotify) ?? Promise.reject(new Error('cannot listen')),
      }
      const store = openStore(client, inSchema)
      places.set(store, {
        inSchema,
        fail: () => void (isBroken = true),
        pause() {
          let resume = (): void => undefined
          paused = new Promise((resolve) => (resume = resolve))
          return () => resume()
        },
      })
      return store
    }
    return {
      createStore: () => open(freshSchema()),
      reopen: (store) => open(places.get(store)?.inSchema ?? ''),
      failWrites: (store) => places.get(store)?.fail(),
      pause: (store) => places.get(store)?.pause() ?? (() => undefined),
      leaseMs: LEASE_MS,
    }
  }

  describe('the requirements of every store', () => {
    for (const { name: title, run } of storeConformance)
      test(title, async () => {
        await run(createSetup())
      })
  })

  test('a process that was killed keeps a session for the rest of its lease, and loses nothing that was saved', async () => {
    const { store, child, lines, ended } = await writtenElsewhere()
    await assert.rejects(store.open('one'), { code: 'in-use', message: /is in use by .* \d+; .*frees it in [123] s/ })
    child.kill('SIGKILL')
    await ended
    const killed = performance.now()
    const log = await openWhenFree(store)
    const waited = performance.now() - killed
    assert.ok(waited < LEASE_MS + 3000, `free after ${waited} ms`)
    const seqs = new Set(log.entries.map(({ seq }) => seq))
    for (const seq of saved(lines)) assert.ok(seqs.has(seq), `entry ${seq} was saved and is lost`)
    assert.equal(log.append({ kind: 'note', text: 'after it' }).seq, log.entries.length + 1)
    await log.close()
    assert.deepEqual((await store.read('one')).damages, [])
  })

  test('a process that was paused beyond its lease writes nothing when it goes on', async () => {
    const { store, child, lines, ended } = await writtenElsewhere()
    child.kill('SIGSTOP')
    const log = await openWhenFree(store)
    const mine = [log.append({ kind: 'note', text: 'mine' }).seq]
    await log.flush()
    const savedBefore = saved(lines)
    child.kill('SIGCONT')
    await until(() => lines.at(-1) === 'refused taken-over', 30_000)
    await ended
    assert.deepEqual(
      saved(lines).filter((seq) => !savedBefore.includes(seq) && seq >= (mine[0] ?? 0)),
      [],
    )
    mine.push(log.append({ kind: 'note', text: 'mine' }).seq)
    await log.close()
    const { entries, uncertainUpTo } = await store.read('one')
    const others = entries.filter((entry) => entry.kind === 'note' && entry.text.startsWith('writer '))
    assert.ok(others.every(({ seq }) => seq < (mine[0] ?? 0)))
    assert.deepEqual(
      entries.map(({ seq }) => seq),
      entries.map((_, at) => at + 1),
    )
    assert.deepEqual(
      entries.slice(-2).map(({ seq }) => seq),
      mine,
    )
    assert.equal(uncertainUpTo, 0)
  })

  test('a session that is taken from a living process is refused to it at its next entry', async () => {
    const { store, lines, ended } = await writtenElsewhere()
    const log = await store.open('one', { takeOver: true })
    await until(() => lines.at(-1) === 'refused taken-over', 30_000)
    await ended
    const last = log.entries.at(-1)?.seq ?? 0
    assert.ok(saved(lines).every((seq) => seq <= last))
    await log.close()
    assert.equal((await store.read('one')).entries.length, last)
  })

  test('a lease is renewed while a session is open and nothing is written', async () => {
    const store = openStore(pool, freshSchema())
    const log = await store.create({ id: 'one', folder: '/' })
    const from = performance.now()
    while (performance.now() - from < LEASE_MS * 2) {
      await assert.rejects(store.open('one'), { code: 'in-use' })
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await log.close()
    await (await store.open('one')).close()
  })

  test('12 processes and one session: one at a time, and nothing is lost', async () => {
    const inSchema = freshSchema()
    const store = openStore(pool, inSchema)
    await (await store.create({ id: 'one', folder: '/' })).close()
    const members = Array.from({ length: 12 }, (_, at) => start('--member', server.host, inSchema, `n${at}`).ended)
    assert.deepEqual(new Set(await Promise.all(members)), new Set([0]))
    const { entries } = await store.read('one')
    assert.deepEqual(
      entries.map(({ seq }) => seq),
      Array.from({ length: 13 }, (_, at) => at + 1),
    )
    assert.equal(new Set(entries.map((entry) => (entry.kind === 'note' ? entry.text : ''))).size, 13)
  })

  test('a server that restarts meanwhile costs no entry and doubles none', async () => {
    const inSchema = freshSchema()
    // Writing is tried again for as long as a lease.
    const store = postgresStore({ client: pool, schema: inSchema, leaseMs: 60_000 })
    const log = await store.create({ id: 'one', folder: '/' })
    const restarts = { left: 2 }
    const restart = (async () => {
      for (; restarts.left > 0; restarts.left--) {
        await new Promise((resolve) => setTimeout(resolve, 100))
        await server.stop()
        await server.start()
      }
    })()
    let count = 1
    try {
      while (restarts.left > 0) {
        log.append({ kind: 'note', text: String(count++) })
        await log.flush()
      }
    } finally {
      await restart
    }
    await log.close()
    const texts = (await store.read('one')).entries.map((entry) => (entry.kind === 'note' ? entry.text : 'open'))
    assert.deepEqual(texts, ['open', ...Array.from({ length: count - 1 }, (_, at) => String(at + 1))])
  })

  test('many entries are one statement', async () => {
    let statements = 0
    const client: PostgresClient = {
      query(text, values) {
        statements++
        return pool.query(text, values)
      },
    }
    const store = postgresStore({ client, schema: freshSchema() })
    const log = await store.create({ id: 'one', folder: '/' })
    statements = 0
    for (let at = 0; at < 400; at++) log.append({ kind: 'note', text: String(at) })
    await log.flush()
    assert.equal(statements, 1)
    await log.close()
  })

  test('processes that create the tables at the same time, and a role that may not', async () => {
    for (let round = 0; round < 10; round++) {
      const shared = freshSchema()
      await Promise.all(Array.from({ length: 4 }, () => openStore(pool, shared).list()))
    }
    const inSchema = freshSchema()
    await migratePostgresStore(pool, { schema: inSchema })
    await pool.query(`create role app login; grant usage on schema ${inSchema} to app`)
    await pool.query(`grant select, insert, update, delete on all tables in schema ${inSchema} to app`)
    const limited = new Pool({ host: server.host, user: 'app', database: 'postgres', max: 2 })
    try {
      const store = openStore(limited, inSchema)
      await (await store.create({ id: 'one', folder: '/' })).close()
      assert.equal((await store.list()).length, 1)
      await store.remove('one')
      await assert.rejects(openStore(limited, freshSchema()).list(), {
        code: 'unavailable',
        message: /permission denied/,
      })
    } finally {
      await limited.end()
    }
    await pool.query(`insert into ${inSchema}.versions (version) values (99)`)
    await assert.rejects(openStore(pool, inSchema).list(), { code: 'newer-version' })
    assert.throws(() => openStore(pool, 'x"; drop'), /not a valid name of a schema/)
  })

  test('an agent goes on with its session in another process', async () => {
    const scripted = await rehearse([{ call: [{ name: 'count', args: {} }] }, { say: 'One.' }, { say: 'Two.' }])
    const model = modelOn('openai-chat', scripted)
    const count = tool({
      name: 'count',
      description: 'Counts.',
      parameters: { type: 'object', properties: {} },
      effects: () => [],
      execute: () => 'counted 1',
    })
    const inSchema = freshSchema()
    const first = agent({ model, tools: [count], store: openStore(pool, inSchema) })
    assert.equal((await first.run('go')).text, 'One.')
    await first.close()
    const second = agent({ model, tools: [count], store: openStore(server.pool(), inSchema), session: first.session })
    assert.equal((await second.run('and now?')).text, 'Two.')
    await second.close()
    assert.match(JSON.stringify(scripted.requests[2]?.conversation.messages), /counted 1[^]*One\.[^]*and now/)
    assert.deepEqual(scripted.failures, [])
    await scripted.close()
  })
}
