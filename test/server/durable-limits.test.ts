import assert from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import type { Pool } from 'pg'
import { provider } from '../../src/agent/library/provider.ts'
import type { ScriptInput } from '../../src/rehearsal/testing/assert-done.ts'
import { scriptedServer } from '../../src/rehearsal/testing/scripted-server.ts'
import type { Backend } from '../../src/server/backend.ts'
import { createDurableBackend } from '../../src/server/durable/index.ts'
import type { TenantConfig } from '../../src/server/http/tenants.ts'
import { startSessionServer } from '../../src/server/session-server.ts'
import { createAgentSource } from '../../src/server/worker/named-agents.ts'
import type { Entry } from '../../src/session/log/entry.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { type PostgresServer, skipWithoutPostgres, startPostgres } from '../support/postgres.ts'
import { callApi, tenant, until } from './support.ts'

/** What a test can do with a server that shares its database with others. */
interface SharedServer {
  readonly backend: Backend
  api(method: string, path: string, body?: unknown, who?: string): ReturnType<typeof callApi>
  /** Creates a session, and sends it a prompt. */
  prompt(session: string, who?: string): Promise<void>
  listEntries(session: string, who?: string): Promise<readonly Entry[]>
  close(): Promise<void>
}

describe('servers that share a database', { skip: skipWithoutPostgres }, () => {
  let database: PostgresServer
  let pool: Pool
  let count = 0
  before(async () => {
    database = await startPostgres()
    pool = database.pool()
  })
  after(() => database.close())

  /** The most calls of a tenant that ran at the same time, on all servers. */
  const running = new Map<string, number>()
  const most = new Map<string, number>()
  const createTool = (owner: string) =>
    tool({
      name: 'work',
      description: 'Works.',
      parameters: { type: 'object', properties: {} },
      effects: () => [],
      async execute() {
        running.set(owner, (running.get(owner) ?? 0) + 1)
        most.set(owner, Math.max(most.get(owner) ?? 0, running.get(owner) ?? 0))
        await until('others run at the same time', () => (most.get(owner) ?? 0) >= (owner === 'acme' ? 2 : 3))
        // One too many would have time to begin.
        await new Promise((resolve) => setTimeout(resolve, 50))
        running.set(owner, (running.get(owner) ?? 0) - 1)
        return 'worked'
      },
    })

  async function startServer(
    t: TestContext,
    { url, schema, tenants, concurrency = 8 }: ServerOptions,
  ): Promise<SharedServer> {
    const address = `postgres://test@/postgres?host=${encodeURIComponent(database.host)}`
    const backend = await createDurableBackend({ url: address, schema, tenantPrefix: schema })
    const model = provider('openai', { apiKey: 'k', baseUrl: `${url}/v1` })('gpt-5')
    const openAgent = createAgentSource({ main: ({ tenant: owner }) => ({ model, tools: [createTool(owner)] }) })
    const options = { backend, agents: ['main'], model: 'openai/gpt-5', tenants }
    const server = await startSessionServer({ ...options, worker: { openAgent, concurrency } })
    let closed: Promise<void> | undefined
    const close = () => (closed ??= server.close().then(() => backend.close()))
    t.after(close)
    const api: SharedServer['api'] = (method, path, body, who = 'acme') =>
      callApi(server.url, method, path, body, { authorization: `Bearer ${who}-token` })
    return {
      backend,
      api,
      async prompt(session, who) {
        assert.equal((await api('POST', '/v1/sessions', { id: session }, who)).status, 201)
        assert.equal((await api('POST', `/v1/sessions/${session}/prompts`, { input: 'Work.' }, who)).status, 202)
      },
      listEntries: async (session, who = 'acme') => (await backend.getStore(who).read(session)).entries,
      close,
    }
  }

  interface ServerOptions {
    readonly url: string
    readonly schema: string
    readonly tenants: Readonly<Record<string, TenantConfig>>
    readonly concurrency?: number
  }

  async function startModel(t: TestContext, script: ScriptInput): Promise<string> {
    const model = await scriptedServer(script)
    t.after(() => model.close())
    return model.url
  }

  const createSchema = () => `limits${++count}`
  const countKind = (entries: readonly Entry[], wanted: Entry['kind']) =>
    entries.filter(({ kind }) => kind === wanted).length

  test('run as many prompts of a tenant and provider at the same time as its limit says, all of them together', async (t) => {
    const url = await startModel(t, {
      start: 'prompt',
      steps: [{ call: [{ name: 'work', args: {} }] }, { say: 'Done.' }],
    })
    const tenants = { ...tenant('acme', { limits: { concurrency: 2 } }), ...tenant('other') }
    const schema = createSchema()
    const first = await startServer(t, { url, schema, tenants })
    const second = await startServer(t, { url, schema, tenants })
    const sessions = Array.from({ length: 8 }, (_, at) => `s${at}`)
    for (const [at, session] of sessions.entries()) {
      await (at % 2 === 0 ? first : second).prompt(session)
      await first.prompt(session, 'other')
    }
    for (const who of ['acme', 'other'])
      for (const session of sessions)
        await until('it ends', async () => countKind(await first.listEntries(session, who), 'close') === 1)
    assert.equal(most.get('acme'), 2)
    assert.ok((most.get('other') ?? 0) >= 3)
  })

  test('start as many prompts of a tenant and provider in a minute as its limit says, until it is lifted', async (t) => {
    const url = await startModel(t, { start: 'prompt', steps: [{ say: 'Done.' }] })
    const tenants = { ...tenant('acme', { limits: { startsPerMinute: 3 } }), ...tenant('other') }
    const schema = createSchema()
    const first = await startServer(t, { url, schema, tenants })
    const second = await startServer(t, { url, schema, tenants })
    const sessions = Array.from({ length: 6 }, (_, at) => `s${at}`)
    for (const [at, session] of sessions.entries()) await (at % 2 === 0 ? first : second).prompt(session)
    const countEnded = async () => {
      const logs = await Promise.all(sessions.map((session) => first.listEntries(session)))
      return logs.filter((entries) => countKind(entries, 'close') === 1).length
    }
    await until('three end', async () => (await countEnded()) === 3)
    // Each server has asked for jobs again.
    await first.prompt('after', 'other')
    await until(
      'that of the other tenant ends',
      async () => countKind(await first.listEntries('after', 'other'), 'close') === 1,
    )
    assert.equal(await countEnded(), 3)
    const lifted = await startServer(t, { url, schema, tenants: { ...tenant('acme'), ...tenant('other') } })
    await until('all end', async () => (await countEnded()) === 6)
    await lifted.close()
  })

  test('put a prompt back into the queue after a rate limit, for as long as the vendor asks, and run it once', async (t) => {
    const limited = { kind: 'status', status: 429, wait: 120_000, times: 1 } as const
    const url = await startModel(t, { start: 'prompt', steps: [{ say: 'Done.', misbehave: [limited] }] })
    const schema = createSchema()
    // One slot, which a prompt that waits must not keep.
    const first = await startServer(t, { url, schema, tenants: tenant('acme'), concurrency: 1 })
    await first.prompt('late')
    const waitMs = await until('it is in the queue again', async () => {
      const { rows } = await pool.query<{ ms: number }>(
        `select extract(epoch from run_at - now())::float8 * 1000 as ms from "${schema}".jobs
         where session = 'late' and state = 'queued' and reason is not null`,
      )
      return rows[0]?.ms
    })
    assert.ok(waitMs > 60_000 && waitMs <= 121_000, `${waitMs} ms`)
    await first.prompt('soon')
    await until('another one ends meanwhile', async () => countKind(await first.listEntries('soon'), 'close') === 1)
    assert.equal(countKind(await first.listEntries('late'), 'close'), 0)
    // The time has come, and two servers want the job.
    await startServer(t, { url, schema, tenants: tenant('acme') })
    await pool.query(`update "${schema}".jobs set run_at = now() where session = 'late'`)
    await until('it ends', async () => countKind(await first.listEntries('late'), 'close') === 1)
    const entries = await first.listEntries('late')
    const kinds = ['user', 'fault', 'turn', 'close'] as const
    assert.deepEqual(
      kinds.map((kind) => countKind(entries, kind)),
      [1, 1, 1, 1],
    )
    assert.equal(countKind(entries, 'request'), 2)
  })

  test('run a scheduled prompt once for each of its times, and no more when the schedule is removed', async (t) => {
    const url = await startModel(t, { start: 'prompt', steps: [{ say: 'Good morning.' }] })
    const schema = createSchema()
    const servers = [
      await startServer(t, { url, schema, tenants: tenant('acme') }),
      await startServer(t, { url, schema, tenants: tenant('acme') }),
    ] as const
    const [first] = servers
    assert.equal((await first.api('POST', '/v1/sessions', { id: 's' })).status, 201)
    /** As if nobody had worked for two days: the times that passed count as one. */
    const passTime = () =>
      pool.query(`update "${schema}".schedules set next_at = date_trunc('minute', now()) - interval '2 days'`)
    for (const [at, cron] of ['0 6 * * *', '30 5 * * *'].entries()) {
      const schedule = { session: 's', cron, input: 'Greet the team.' }
      assert.equal((await first.api('PUT', '/v1/schedules/greeting', schedule)).status, 200)
      await passTime()
      await until('the prompt ends', async () => countKind(await first.listEntries('s'), 'close') === at + 1)
    }
    const entries = await first.listEntries('s')
    const messages = entries.flatMap((entry) => (entry.kind === 'user' ? [entry.message ?? ''] : []))
    assert.equal(messages.length, 2)
    for (const id of messages) assert.match(id, /^acme\/greeting@\d+$/)
    assert.equal(new Set(messages).size, 2)
    assert.equal((await first.api('DELETE', '/v1/schedules/greeting')).status, 204)
    await passTime()
    await first.prompt('after')
    await until('a later prompt ends', async () => countKind(await first.listEntries('after'), 'close') === 1)
    assert.equal(countKind(await first.listEntries('s'), 'user'), 2)
  })
})
