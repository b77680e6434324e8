import { appendFileSync, closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { defined } from '../../../src/model/defined.ts'
import { tool } from '../../../src/index.ts'
import { connectDatabase, type Database } from '../../../src/server/durable/database.ts'
import { createBackendOn } from '../../../src/server/durable/index.ts'
import type { Backend } from '../../../src/server/backend.ts'
import { createSessionWorker } from '../../../src/server/worker/session-worker.ts'
import type { Entry } from '../../../src/session/log/entry.ts'
import { findOpenApprovals } from '../../../src/session/open-calls.ts'
import type { PostgresClient } from '../../../src/session/store/postgres-client.ts'
import type { SessionLog, Store } from '../../../src/session/store/store.ts'
import { modelOn } from '../stage.ts'

/** What a process of a cluster is told. */
export interface ProcessConfig {
  readonly url: string
  readonly schema: string
  readonly tenantPrefix: string
  readonly modelUrl: string
  /** One line for each effect of a tool, and for each entry that was acknowledged. */
  readonly effectsFile: string
  readonly acksFile: string
  readonly toolMs: number
  readonly concurrency: number
  /** Of a worker. The approver submits the jobs of a session with the one that its name ends with. */
  readonly labels?: readonly string[]
  readonly deadAfterMs?: number
  readonly leaseMs?: number
  /** The process kills itself as soon as an entry of this kind is saved. */
  readonly dieAfter?: Entry['kind']
  /** A version without fencing, which must fail. */
  readonly isUnfenced?: boolean
  /** Nothing needs approval. */
  readonly isFree?: boolean
  readonly sessions?: readonly string[]
}

export const TENANT = 'acme'

/** Works on sessions until it is killed. */
export async function runWorkerProcess(config: ProcessConfig): Promise<void> {
  const backend = await openBackend(config)
  const observed: Backend = { ...backend, getStore: (tenant) => observeStore(backend.getStore(tenant), config) }
  const policy = {
    decide: ({ input }: { input: { readonly n?: unknown } }) => ({
      verdict: input.n === '4a' && !config.isFree ? ('ask' as const) : ('allow' as const),
      rule: 'test',
      why: '',
    }),
    remember: () => '',
  }
  const handler = createSessionWorker({
    backend: observed,
    retry: { rateMs: 50 },
    openAgent: ({ session }) =>
      Promise.resolve({
        options: {
          model: modelOn('openai-chat', { url: config.modelUrl }),
          tools: [createEffectTool(session, config)],
          policy,
        },
      }),
  })
  const { concurrency, labels = [] } = config
  await backend.queue.work(handler, { id: `worker ${process.pid}`, labels, concurrency })
  process.stdout.write('ready\n')
  await new Promise<void>((resolve) => void process.stdin.resume().on('end', resolve))
  process.exit(0)
}

/** Answers what the sessions ask, from a process that runs none of them. */
export async function runApproverProcess(config: ProcessConfig): Promise<void> {
  const backend = await openBackend(config)
  const store = backend.getStore(TENANT)
  process.stdout.write('ready\n')
  void process.stdin.resume().on('end', () => process.exit(0))
  for (const open = new Set(config.sessions); open.size > 0;) {
    for (const session of open) {
      try {
        const contents = await store.read(session)
        if (contents.entries.some(({ kind }) => kind === 'close')) open.delete(session)
        for (const { ask } of findOpenApprovals(contents)) {
          const key = { tenant: TENANT, session }
          await backend.inbox.put(key, { kind: 'reply', id: `reply-${ask}`, ask, answer: { approved: true } })
          const label = config.labels?.find((one) => session.endsWith(`-${one}`))
          await backend.queue.submit({ id: `${session}-${ask}`, ...key, provider: 'p', ...defined({ label }) })
        }
      } catch {
        // The database is being restarted; the next round tries it again.
      }
    }
    await pause(100)
  }
  await backend.close()
}

/** The database may be away when a process starts. */
async function openBackend(config: ProcessConfig): Promise<Backend> {
  for (;;) {
    const database = await connectDatabase(config.url, 8)
    const client = config.isUnfenced ? withoutFencing(database.client) : database.client
    const settings = {
      schema: config.schema,
      tenantPrefix: config.tenantPrefix,
      ...(config.deadAfterMs !== undefined && { deadAfterMs: config.deadAfterMs }),
      ...(config.leaseMs !== undefined && { leaseMs: config.leaseMs }),
      onError: (message: string) => void process.stderr.write(`${process.pid}: ${message}\n`),
    }
    try {
      return await createBackendOn({ ...database, client } satisfies Database, settings)
    } catch {
      await database.close()
      await pause(100)
    }
  }
}

/** What the statements would be if nobody had thought of processes that come back. */
function withoutFencing(client: PostgresClient): PostgresClient {
  return {
    ...client,
    async query(text, values) {
      const stripped = text.replaceAll(/\band fence = (?<parameter>\$\d+::bigint)/g, 'and $1 is not null')
      const { rows } = await client.query(stripped, values)
      return { rows: text.includes('.beat(') ? [{ alive: true }] : rows }
    },
  }
}

/** A tool whose effects are counted from outside: one line for each, on the disk before the tool goes on. */
function createEffectTool(session: string, { effectsFile, toolMs }: ProcessConfig) {
  return tool({
    name: 'effect',
    description: 'Does something that must not be done twice.',
    parameters: { type: 'object', properties: { n: { type: 'string' } }, required: ['n'] },
    effects: ({ n }) => [{ kind: 'write', path: `/effects/${session}/${n}` }],
    async execute({ n }, { signal }) {
      await pause(Math.random() * toolMs)
      // A tool that was told to stop begins nothing new.
      signal.throwIfAborted()
      const file = openSync(effectsFile, 'a')
      writeSync(file, `${session} ${n} ${process.pid}\n`)
      fsyncSync(file)
      closeSync(file)
      await pause(Math.random() * toolMs)
      return `did ${n}`
    },
  })
}

/** Notes which entries were acknowledged. */
function observeStore(store: Store, config: ProcessConfig): Store {
  return { ...store, open: async (id, how) => observeLog(await store.open(id, how), config) }
}

function observeLog(log: SessionLog, { acksFile, dieAfter }: ProcessConfig): SessionLog {
  let appended: Entry[] = []

  async function flush(): Promise<void> {
    const saved = [...appended]
    await log.flush()
    appended = appended.filter((entry) => !saved.includes(entry))
    if (saved.length > 0)
      appendFileSync(acksFile, saved.map((entry) => `${JSON.stringify([log.id, entry])}\n`).join(''))
  }

  return {
    ...log,
    flush,
    append(body) {
      const entry = log.append(body)
      appended.push(entry)
      if (body.kind === dieAfter) void flush().then(() => process.kill(process.pid, 'SIGKILL'))
      return entry
    },
  }
}
