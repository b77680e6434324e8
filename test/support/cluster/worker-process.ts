import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { applyUndoPlan } from '../../../src/agent/apply-undo.ts'
import { defined } from '../../../src/model/defined.ts'
import type { Backend, JobHandler, SessionKey } from '../../../src/server/backend.ts'
import { connectDatabase, type Database } from '../../../src/server/durable/database.ts'
import { createBackendOn } from '../../../src/server/durable/index.ts'
import { getTenantSchema } from '../../../src/server/durable/names.ts'
import { createSessionService, type SessionService } from '../../../src/server/session-service.ts'
import { createSessionWorker } from '../../../src/server/worker/session-worker.ts'
import { resumeSession } from '../../../src/session/session.ts'
import type { PostgresClient } from '../../../src/session/store/postgres-client.ts'
import type { SessionLog, Store } from '../../../src/session/store/store.ts'
import { createUndoPlan } from '../../../src/session/undo-plan.ts'
import { modelOn } from '../stage.ts'
import { createEffectTool, openRecordedFiles } from './effect-tool.ts'
import { type Death, observeStore } from './observed-store.ts'

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
  /** Of the delays of tools; without it, they are random. */
  readonly seed?: number
  readonly concurrency: number
  readonly labels?: readonly string[]
  readonly deadAfterMs?: number
  readonly leaseMs?: number
  readonly death?: Death
  /** A session that it creates when it has started. */
  readonly creates?: string
  /** Tools change files in this folder, in folders named after sessions, and the context window is small. */
  readonly filesFolder?: string
  /** Acknowledgements are not noted. */
  readonly isMeasured?: boolean
  /** A version without fencing, which must fail. */
  readonly isUnfenced?: boolean
  /** Nothing needs approval. */
  readonly isFree?: boolean
}

export const TENANT = 'acme'

/** Works on sessions until it is killed, or its standard input ends. */
export async function runWorkerProcess(config: ProcessConfig): Promise<void> {
  const { backend } = await openBackend(config)
  const logs = new Map<string, SessionLog>()
  const stores = new Map<string, Store>()
  const observed: Backend = {
    ...backend,
    getStore(tenant) {
      if (config.isMeasured) return backend.getStore(tenant)
      const store = stores.get(tenant) ?? observeStore(backend.getStore(tenant), config, logs)
      stores.set(tenant, store)
      return store
    },
  }
  const policy = {
    decide: ({ input }: { input: { readonly n?: unknown } }) => ({
      verdict: input.n === '4a' && !config.isFree ? ('ask' as const) : ('allow' as const),
      rule: 'test',
      why: '',
    }),
    remember: () => '',
  }
  const endpoint = modelOn('openai-chat', { url: config.modelUrl })
  const model = config.filesFolder === undefined ? endpoint : { ...endpoint, window: SMALL_WINDOW }
  const work = createSessionWorker({
    backend: observed,
    retry: { rateMs: 50 },
    openAgent: ({ session }) =>
      Promise.resolve({
        options: {
          model,
          tools: [createEffectTool(session, { ...config, ...defined({ changeFile: openChange(session) }) })],
          policy,
        },
      }),
  })

  function openChange(session: string): ((name: string) => Promise<void>) | undefined {
    const [log, folder] = [logs.get(session), config.filesFolder]
    if (folder === undefined || !log) return undefined
    const files = openRecordedFiles(log, { store: observed.getStore(TENANT), folder })
    return (name) => files.write(join(folder, session, name), Buffer.from(`content of ${name}`))
  }

  const handler: JobHandler = async (job, signal) => {
    const outcome = await work(job, signal)
    if (config.death?.kind === 'undo' && outcome.kind === 'done') await undoChanges(observed, job.session, config)
    return outcome
  }

  const { concurrency, labels = [] } = config
  await backend.queue.work(handler, { id: `worker ${process.pid}`, labels, concurrency })
  process.stdout.write('ready\n')
  // A line on its standard input is a label that it has from then on.
  process.stdin.on('data', (line) => {
    void backend.queue.work(handler, { id: `more of ${process.pid}`, labels: [String(line).trim()], concurrency })
  })
  const ended = new Promise<void>((resolve) => void process.stdin.on('end', resolve))
  if (config.creates !== undefined)
    await createService(observed).create(toKey(config.creates), { label: labels[0] ?? '' })
  await ended
  process.exit(0)
}

const SMALL_WINDOW = 1200

/** Restores the files of a session after its prompt, as a user can. */
async function undoChanges(backend: Backend, session: string, { filesFolder = '' }: ProcessConfig): Promise<void> {
  const store = backend.getStore(TENANT)
  const opened = resumeSession(await store.open(session))
  const plan = createUndoPlan(opened.entries)
  if (!plan) throw new Error('nothing was changed')
  await applyUndoPlan(plan, openRecordedFiles(opened, { store, folder: filesFolder }), { session: opened, store })
}

export const toKey = (session: string): SessionKey => ({ tenant: TENANT, session })

export function createService(backend: Backend): SessionService {
  return createSessionService({ backend, getProvider: () => 'p' })
}

/** Answers what the sessions ask, from a process that runs none of them. */
export async function runApproverProcess(config: ProcessConfig): Promise<void> {
  const { backend, client } = await openBackend(config)
  const service = createService(backend)
  const schema = getTenantSchema(config.tenantPrefix, TENANT)
  const answered = new Set<string>()
  process.stdout.write('ready\n')
  void process.stdin.resume().on('end', () => process.exit(0))
  for (;;) {
    try {
      const { rows } = await client.query(
        `select session, entry from "${schema}".entries where entry like '%"kind":"ask"%'`,
      )
      for (const row of rows) {
        const { ask } = JSON.parse(String(row['entry'])) as { readonly ask: string }
        if (answered.has(ask)) continue
        await service.reply(toKey(String(row['session'])), ask, { approved: true })
        answered.add(ask)
      }
    } catch {
      // There is no session yet, or the database is being restarted; the next round tries it again.
    }
    await pause(500)
  }
}

/** The database may be away when a process starts. */
async function openBackend(config: ProcessConfig): Promise<{ backend: Backend; client: PostgresClient }> {
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
      return { backend: await createBackendOn({ ...database, client } satisfies Database, settings), client }
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
