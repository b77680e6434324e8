import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from 'pg'
import { defined } from '../../../src/model/defined.ts'
import type { Backend } from '../../../src/server/backend.ts'
import { createDurableBackend } from '../../../src/server/durable/index.ts'
import { getTenantSchema } from '../../../src/server/durable/names.ts'
import type { Entry } from '../../../src/session/log/entry.ts'
import { StoreError } from '../../../src/session/store/store.ts'
import { clearAway } from '../clear.ts'
import { type PostgresServer, startPostgres } from '../postgres.ts'
import { type ModelServer, startModelServer } from './model-server.ts'
import { type Proxy, startProxy } from './proxy.ts'
import { createService, type ProcessConfig, TENANT, toKey } from './worker-process.ts'

/** A worker process, and its way to the database. */
export interface ClusterWorker {
  readonly child: ChildProcess
  readonly proxy: Proxy
  readonly ready: Promise<void>
  readonly ended: Promise<void>
}

/** A database, a model, and processes that work on sessions. */
export interface Cluster {
  readonly server: PostgresServer
  readonly model: ModelServer
  readonly backend: Backend
  startWorker(more?: Partial<ProcessConfig>): Promise<ClusterWorker>
  startApprover(): ChildProcess
  /** Creates a session with a prompt. What is sent again, because it failed or the answer was lost, is not added again. */
  submit(session: string, label?: string): Promise<void>
  /** Sends another prompt. */
  sendPrompt(session: string, key: string): Promise<void>
  readEntries(session: string): Promise<readonly Entry[]>
  countClosed(): Promise<number>
  listEffects(): readonly string[]
  /** The files that the tools of a session have made, and nobody has removed. */
  listFiles(session: string): readonly string[]
  /** Everything that must not be: effects done twice, entries lost, sessions that did not end as they should. */
  findProblems(sessions: readonly string[]): Promise<string[]>
  close(): Promise<void>
}

/** How the processes of a cluster are started: the program that calls `runWorkerProcess` if it gets these words. */
export interface ClusterOptions {
  readonly program: string
  readonly config?: Partial<ProcessConfig>
  readonly modelMs?: () => number
  /** Tools change files, the context window is small, and the model fails now and then: logs get all kinds of entries. */
  readonly isDifficult?: boolean
  /** Settings of the database. */
  readonly postgres?: readonly string[]
  /** To be measured: workers reach the database without a proxy in this process, and nothing is checked or noted meanwhile. */
  readonly isMeasured?: boolean
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { program, config = {}, modelMs = () => 20, isDifficult = false, postgres = [], isMeasured = false } = options
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-cluster-'))
  const server = await startPostgres(postgres)
  const model = await startModelServer({ delayMs: modelMs, isDifficult, isChecking: !isMeasured })
  const pool: Pool = server.pool()
  const getUrl = (port?: number) =>
    port === undefined
      ? `postgres://test@/postgres?host=${encodeURIComponent(server.host)}`
      : `postgres://test@127.0.0.1:${port}/postgres`
  const names = { schema: 'queue', tenantPrefix: 'cluster' }
  const shared: ProcessConfig = {
    ...names,
    url: getUrl(),
    modelUrl: model.url,
    toolMs: 20,
    concurrency: 30,
    effectsFile: join(folder, 'effects'),
    acksFile: join(folder, 'acks'),
    isMeasured,
    ...(isDifficult && { filesFolder: join(folder, 'files') }),
    ...config,
  }
  const backend = await createDurableBackend({ url: getUrl(), ...names })
  const service = createService(backend)
  const tenantSchema = getTenantSchema(names.tenantPrefix, TENANT)
  const children = new Set<ChildProcess>()

  function spawnProcess(role: string, more: Partial<ProcessConfig>): ChildProcess {
    const args = [program, role, JSON.stringify({ ...shared, ...more })]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    // It may be killed while it is told to end.
    child.stdin.on('error', () => undefined)
    children.add(child)
    return child
  }

  async function sendPrompt(session: string, key: string): Promise<void> {
    const parts = [{ kind: 'text', text: `This is session ${session}.` }]
    await service.prompt(toKey(session), { parts, steer: false, key })
  }

  async function readEntries(session: string): Promise<readonly Entry[]> {
    return (await backend.getStore(TENANT).read(session)).entries
  }

  return {
    server,
    model,
    backend,
    async startWorker(more = {}) {
      const proxy = await startProxy(join(server.host, '.s.PGSQL.5432'))
      const child = spawnProcess('--worker', { url: getUrl(isMeasured ? undefined : proxy.port), ...more })
      const ready = new Promise<void>((resolve) => child.stdout?.once('data', () => resolve()))
      const ended = new Promise<void>((resolve) => {
        child.once('close', () => {
          children.delete(child)
          proxy.close()
          resolve()
        })
      })
      return { child, proxy, ready, ended }
    },
    startApprover: () => spawnProcess('--approver', {}),
    async submit(session, label) {
      try {
        await service.create(toKey(session), defined({ label }))
      } catch (error) {
        // The answer to the first attempt was lost.
        if (!(error instanceof StoreError) || error.code !== 'exists') throw error
      }
      await sendPrompt(session, '1')
    },
    sendPrompt,
    readEntries,
    async countClosed() {
      const text = `select count(distinct session)::int as n from "${tenantSchema}".entries where entry like '%"kind":"close"%'`
      const { rows } = await pool.query<{ n: number }>(text).catch(() => ({ rows: [] }))
      return rows[0]?.n ?? 0
    },
    listEffects: () => readLines(shared.effectsFile),
    listFiles(session) {
      const files = join(folder, 'files', session)
      return existsSync(files) ? readdirSync(files) : []
    },
    async findProblems(sessions) {
      const problems = [...model.problems, ...findRepeats(readLines(shared.effectsFile))]
      const logs = new Map<string, readonly Entry[]>()
      for (const session of sessions) {
        const entries = await readEntries(session)
        logs.set(session, entries)
        problems.push(...findLogProblems(entries).map((one) => `${session}: ${one}`))
      }
      for (const line of readLines(shared.acksFile)) {
        const [session, entry] = JSON.parse(line) as [string, Entry]
        const saved = logs.get(session)?.find(({ seq }) => seq === entry.seq)
        if (JSON.stringify(saved) !== JSON.stringify(entry))
          problems.push(`${session}: the ${entry.kind} ${entry.seq} was acknowledged, and is lost`)
      }
      for (const line of readLines(shared.effectsFile)) {
        const [session = '', n] = line.split(' ')
        const hasIntent = logs.get(session)?.some((entry) => entry.kind === 'intent' && entry.input['n'] === n)
        if (!hasIntent) problems.push(`${session}: the effect ${n} is not in the log`)
      }
      return problems
    },
    async close() {
      for (const child of children) {
        child.kill('SIGKILL')
        // A process that is stopped ends when it is continued.
        child.kill('SIGCONT')
      }
      await backend.close()
      await model.close()
      await server.close()
      clearAway(folder)
    },
  }
}

function readLines(file: string): string[] {
  if (!existsSync(file)) return []
  // A process may have been killed in the middle of its last line.
  return readFileSync(file, 'utf8').split('\n').slice(0, -1)
}

function findRepeats(effects: readonly string[]): string[] {
  const seen = new Map<string, string>()
  return effects.flatMap((line) => {
    const [session, n, pid] = line.split(' ')
    const earlier = seen.get(`${session} ${n}`)
    seen.set(`${session} ${n}`, pid ?? '')
    return earlier === undefined ? [] : [`${session}: the effect ${n} was done by ${earlier} and by ${pid}`]
  })
}

/** Every call must have been begun at most once, and have one result; every prompt must have ended. */
function findLogProblems(entries: readonly Entry[]): string[] {
  const problems: string[] = []
  const count = (kind: Entry['kind'], call: string) =>
    entries.filter(
      (entry) =>
        (entry.kind === 'intent' && kind === 'intent' && entry.call === call) ||
        (entry.kind === 'result' && kind === 'result' && entry.result.id === call),
    ).length
  for (const [at, { seq }] of entries.entries()) if (seq !== at + 1) problems.push(`the number ${at + 1} is missing`)
  const calls = entries.flatMap((entry) =>
    entry.kind === 'turn' ? entry.turn.parts.flatMap((part) => (part.kind === 'call' ? [part.id] : [])) : [],
  )
  for (const call of calls) {
    if (count('intent', call) > 1) problems.push(`the call ${call} was begun twice`)
    if (count('result', call) !== 1) problems.push(`the call ${call} has ${count('result', call)} results`)
  }
  const closes = entries.filter((entry) => entry.kind === 'close').map(({ reason }) => reason)
  const prompts = entries.filter(({ kind }) => kind === 'user').map(() => 'done')
  if (closes.join() !== prompts.join() || entries.at(-1)?.kind !== 'close')
    problems.push(`it ended with “${closes.join()}”`)
  if (calls.length !== CALLS_PER_SESSION) problems.push(`it has ${calls.length} calls`)
  return problems
}

/** Two of the six turns have three calls. */
export const CALLS_PER_SESSION = 10

/** Waits for something to be so, and says what did not come. */
export async function waitUntil(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  { ms = 180_000, everyMs = 50 } = {},
): Promise<void> {
  for (const end = Date.now() + ms; !(await isTrue()); await pause(everyMs)) assert.ok(Date.now() < end, what)
}
