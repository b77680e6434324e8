import { hostname } from 'node:os'
import { defined } from '../../model/defined.ts'
import type { Entry, ForkPoint } from '../log/entry.ts'
import { restoreMedia } from '../log/external-media.ts'
import { createSummaryTracker } from '../session-summary.ts'
import {
  FOREIGN_KEY_VIOLATION,
  findReferencedBlobs,
  getPostgresBlob,
  putPostgresBlob,
  removeUnusedPostgresBlobs,
} from './postgres-blobs.ts'
import {
  createPostgresDatabase,
  getSqlState,
  type PostgresClient,
  type PostgresRow,
  type PostgresValue,
  withStoreErrors,
} from './postgres-client.ts'
import { followEntries } from './follow-entries.ts'
import { assertListLimit } from './list-page.ts'
import { readPostgresEntries } from './postgres-entries.ts'
import { createNotifyPayload, createPostgresFollowers } from './postgres-followers.ts'
import { acquireLease, keepLease, LEASE_END, type PostgresLease } from './postgres-lease.ts'
import { openPostgresLog } from './postgres-log.ts'
import { ensureSchema } from './postgres-schema.ts'
import {
  assertSessionId,
  LOG_VERSION,
  type ListOptions,
  type SessionContents,
  type SessionLog,
  type SessionSummary,
  type Store,
  StoreError,
} from './store.ts'

/** Only the client is required. */
export interface PostgresStoreOptions {
  /** A `Pool` of `pg`, or anything else with its `query`. The store does not close it. */
  readonly client: PostgresClient
  /** The schema with the tables, which are created when they are first used. The default is `dragoman`. */
  readonly schema?: string
  /**
   * How long a session stays locked after its process was killed or cut off, in milliseconds. It is renewed while the
   * session is open. Also, for how long a failed write is tried again. The default is 8000.
   */
  readonly leaseMs?: number
  /** The name of this process, for the error `in-use`. The default is the host name and the process id. */
  readonly holder?: string
  /** The clock for the times of entries. Leases use the clock of the database. */
  readonly now?: () => number
}

/**
 * Keeps sessions in Postgres, for processes on many machines. A session is open in one process at a time; one that was killed
 * loses it when its lease expires, and one that was only paused can write nothing after that. Entries are sent in the
 * background: they survive the process when `flush` resolves.
 */
export function postgresStore(options: PostgresStoreOptions): Store {
  const { leaseMs = 8000, holder = `${hostname()} ${process.pid}`, now = Date.now } = options
  const plainDatabase = createPostgresDatabase(options.client, options.schema)
  const database = withStoreErrors(plainDatabase)
  const { schema } = database
  const openLogs = new Map<string, SessionLog>()
  let ready: Promise<void> | undefined

  async function query(text: string, values: PostgresValue[]): Promise<readonly PostgresRow[]> {
    // After a failure, the next query tries it again.
    await (ready ??= ensureSchema(database).catch((error: unknown) => {
      ready = undefined
      throw error
    }))
    return database.query(text, values)
  }
  const tables = { ...database, query }
  const followers = createPostgresFollowers(options.client, tables)
  const getBlob = (hash: string) => getPostgresBlob(tables, hash)

  /** What this store has appended to a session is part of it, though nobody has waited for it. */
  const flushOwn = async (id: string) =>
    openLogs
      .get(id)
      ?.flush()
      .catch(() => undefined)

  async function read(id: string, range?: { after?: number; upTo?: number }): Promise<SessionContents> {
    assertSessionId(id)
    await flushOwn(id)
    return readPostgresEntries(tables, id, range)
  }

  async function openLog(id: string, lease: PostgresLease, contents: SessionContents): Promise<SessionLog> {
    const summary = createSummaryTracker(id)
    for (const entry of contents.entries) summary.add(entry)
    const [open, last] = [contents.entries.findLast(({ kind }) => kind === 'open'), contents.entries.at(-1)]
    const position = { seq: last?.seq ?? 0, at: last?.at ?? 0 }
    const entries = await restoreMedia(contents.entries, getBlob)
    const onSaved = (seq: number) => followers.notify(id, seq)
    const onClose = () => void (openLogs.get(id) === log && openLogs.delete(id))
    const log: SessionLog = {
      ...contents,
      entries,
      id,
      folder: open?.kind === 'open' ? open.folder : '',
      ...openPostgresLog(plainDatabase, { id, lease, ...position, now, summary, onSaved, onClose }),
    }
    openLogs.set(id, log)
    return log
  }

  /** Opens a session that was just acquired. Its lease is renewed while it is read, which may take long. */
  async function hold(
    id: string,
    { fence, sentAt }: { fence: string; sentAt: number },
    readContents: () => SessionContents | Promise<SessionContents>,
  ): Promise<SessionLog> {
    const lease = keepLease(plainDatabase, id, { fence, ms: leaseMs, sentAt })
    try {
      return await openLog(id, lease, await readContents())
    } catch (error) {
      await lease.release()
      throw error
    }
  }

  /** Why nothing was done with a session: it is missing, or somebody has it open. */
  async function createRefusal(id: string): Promise<StoreError> {
    const text = `select holder, extract(epoch from lease_until - now()) as seconds from ${schema}.sessions where id = $1`
    const [row] = await query(text, [id])
    if (!row) return new StoreError('not-found', `there is no session ${id}`)
    const other = typeof row['holder'] === 'string' ? row['holder'] : 'another process'
    const seconds = Math.max(1, Math.ceil(Number(row['seconds'] ?? 0)))
    return new StoreError(
      'in-use',
      `the session ${id} is in use by ${other}; end that process, or take the session over; a process that was killed frees it in ${seconds} s`,
    )
  }

  return {
    async create({ id, folder, parent, subagent }) {
      assertSessionId(id)
      const inherited = parent ? await readParent(read, parent) : { entries: [], damages: [] }
      const open: Entry = {
        seq: (parent?.seq ?? 0) + 1,
        at: Math.max(now(), inherited.entries.at(-1)?.at ?? 0),
        kind: 'open',
        version: LOG_VERSION,
        session: id,
        folder,
        ...defined({ parent, subagent }),
      }
      const contents = { ...inherited, entries: [...inherited.entries, open] }
      const summary = createSummaryTracker(id)
      for (const entry of contents.entries) summary.add(entry)
      const place = [id, parent?.session ?? null, parent?.seq ?? null, open.seq, open.at]
      const values = [...place, JSON.stringify(summary.get()), holder, leaseMs, JSON.stringify(open)]
      const sentAt = performance.now()
      const rows = await query(
        `with made as (
           insert into ${schema}.sessions (id, parent, parent_seq, last_seq, changed, created, summary, holder, lease_until)
           values ($1, $2, $3, $4::bigint, $5, $5, $6, $7, ${LEASE_END('$8')})
           on conflict (id) do nothing
           returning id, fence
         ), opened as (
           insert into ${schema}.entries (session, seq, entry) select id, $4::bigint, $9 from made
         )
         select fence::text as fence from made`,
        values,
      )
      const [made] = rows
      if (!made) throw new StoreError('exists', `there is already a session ${id}`)
      return hold(id, { fence: String(made['fence']), sentAt }, () => contents)
    },
    async open(id, { takeOver = false } = {}) {
      assertSessionId(id)
      const sentAt = performance.now()
      const fence = await acquireLease(tables, id, { holder, leaseMs, takeOver })
      if (fence === undefined) throw await createRefusal(id)
      return hold(id, { fence, sentAt }, () => readPostgresEntries(tables, id))
    },
    async read(id, { after } = {}) {
      const { entries, ...rest } = await read(id, defined({ after }))
      return { ...rest, entries: await restoreMedia(entries, getBlob) }
    },
    follow(id, followOptions) {
      return followEntries(() => {
        assertSessionId(id)
        const { readAfter, watch } = followers.openSource(id)
        return {
          async readAfter(after, signal) {
            const { entries, upTo } = await readAfter(after, signal)
            return { entries: await restoreMedia(entries, getBlob), upTo }
          },
          watch,
        }
      }, followOptions)
    },
    async list(page = {}) {
      const rows = await query(...createListQuery(schema, page))
      return rows.map(({ summary }) => JSON.parse(String(summary)) as SessionSummary)
    },
    async remove(id) {
      assertSessionId(id)
      const hashes = await findReferencedBlobs(tables, id)
      const text = `
        with removed as (
          delete from ${schema}.sessions where id = $1 and (holder is null or lease_until < now()) returning id
        )
        select id, pg_notify('${database.channel}', $2::text) from removed`
      const removed = await query(text, [id, createNotifyPayload(id)]).catch(async (error: unknown) => {
        if (getSqlState(error) !== FOREIGN_KEY_VIOLATION) throw error
        const [child] = await query(`select id from ${schema}.sessions where parent = $1 limit 1`, [id])
        const name = String(child?.['id'])
        throw new StoreError('has-forks', `the session ${name} was forked from ${id}; remove that session first`)
      })
      if (removed.length === 0) throw await createRefusal(id)
      await removeUnusedPostgresBlobs(tables, hashes)
    },
    putBlob: (bytes) => putPostgresBlob(tables, bytes),
    getBlob,
  }
}

function createListQuery(schema: string, { limit, before }: ListOptions): [string, PostgresValue[]] {
  if (limit === undefined && before === undefined)
    return [`select summary from ${schema}.sessions order by changed desc, id`, []]
  assertListLimit(limit)
  const values: PostgresValue[] = [limit ?? null, ...(before ? [before.created, before.id] : [])]
  const text = `
    select summary from ${schema}.sessions ${before ? 'where (created, id) < ($2::bigint, $3::text)' : ''}
    order by created desc, id desc limit $1::bigint`
  return [text, values]
}

/** What a fork inherits. */
async function readParent(
  read: (id: string, range: { upTo: number }) => Promise<SessionContents>,
  { session, seq }: ForkPoint,
): Promise<SessionContents> {
  const { entries } = await read(session, { upTo: seq })
  return { entries, damages: [], uncertainUpTo: seq }
}
