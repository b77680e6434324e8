import { type Entry, type EntryBody, LOG_ENTRY_TRAITS } from '../log/entry.ts'
import { externalizeMedia, findBlobHashes } from '../log/external-media.ts'
import type { createSummaryTracker } from '../session-summary.ts'
import { createWriteError } from './errors.ts'
import { putPostgresBlob } from './postgres-blobs.ts'
import { isTransientError, type PostgresDatabase, type PostgresRow, type PostgresValue } from './postgres-client.ts'
import { createNotifyPayload } from './postgres-followers.ts'
import { orAborted } from './or-aborted.ts'
import { LEASE_END, type PostgresLease } from './postgres-lease.ts'
import { sha256Hex } from './sha256.ts'
import { type SessionLog, StoreError } from './store.ts'

/** A session that this process holds. */
interface HeldSession {
  readonly id: string
  readonly lease: PostgresLease
  /** The number and the time of the last entry. */
  readonly seq: number
  readonly at: number
  readonly now: () => number
  /** Has got all entries up to now. */
  readonly summary: ReturnType<typeof createSummaryTracker>
  /** All entries up to this number are saved. */
  readonly onSaved: (seq: number) => void
  readonly onClose: () => void
}

interface QueuedEntry {
  readonly seq: number
  readonly at: number
  readonly text: string
  /** The blobs that it refers to, and the content of those that are not stored yet. */
  readonly hashes: readonly string[]
  readonly blobs: ReadonlyMap<string, Uint8Array>
}

/**
 * Appends to a session in a database. Entries are sent in order, many at once, one statement at a time; each of them
 * checks the fence in the transaction that inserts the entries, so that a process which lost the session while it was
 * paused or cut off cannot write.
 */
export function openPostgresLog(
  database: PostgresDatabase,
  held: HeldSession,
): Pick<SessionLog, 'lost' | 'append' | 'flush' | 'close'> {
  const { id, lease, now, summary } = held
  let { seq, at } = held
  let queue: QueuedEntry[] = []
  let sending = Promise.resolve()
  let sendTimer: NodeJS.Timeout | undefined
  let storeError: StoreError | undefined
  let closed: Promise<void> | undefined
  if (lease.lost.aborted) fail(lease.lost.reason)
  else lease.lost.addEventListener('abort', () => fail(lease.lost.reason), { once: true })

  function fail(error: unknown): StoreError {
    queue = []
    return (storeError ??= error instanceof StoreError ? error : createWriteError(id, error))
  }

  /** The same statement twice does the same as once, so it can be sent again when it is unknown whether it was received. */
  async function queryAgain(text: string, values: PostgresValue[]): Promise<readonly PostgresRow[]> {
    const until = performance.now() + lease.ms
    for (let pause = 20; ; pause = Math.min(pause * 2, 1000)) {
      try {
        return await database.query(text, values)
      } catch (error) {
        if (!isTransientError(error) || performance.now() + pause > until || lease.lost.aborted) throw error
        await new Promise((resolve) => setTimeout(resolve, pause))
      }
    }
  }

  async function sendBatch(batch: readonly QueuedEntry[]): Promise<void> {
    const retried = { ...database, query: queryAgain }
    // A blob is stored before the entry that refers to it.
    for (const { blobs } of batch) for (const [hash, bytes] of blobs) await putPostgresBlob(retried, bytes, hash)
    const last = batch.at(-1)
    const hashes = new Set(batch.flatMap((entry) => entry.hashes))
    const place = [id, lease.fence, lease.ms, last?.seq ?? null, last?.at ?? null]
    const values: PostgresValue[] = [...place, JSON.stringify(summary.get()), [...hashes].join()]
    values.push(createNotifyPayload(id, last?.seq))
    const rows = batch.map((entry) => `($${values.push(entry.seq)}::bigint, $${values.push(entry.text)}::text)`)
    const sentAt = performance.now()
    const found = await queryAgain(createAppendStatement(database, rows, hashes.size > 0), values)
    if (found.length === 0) return lease.markLost()
    lease.noteRenewal(sentAt)
    held.onSaved(last?.seq ?? 0)
  }

  async function send(): Promise<void> {
    while (queue.length > 0 && !storeError) {
      const batch = takeBatch(queue)
      try {
        await orAborted(sendBatch(batch), lease.lost)
        queue = queue.slice(batch.length)
      } catch (error) {
        fail(error)
      }
    }
    if (storeError) throw storeError
  }

  function flush(): Promise<void> {
    clearTimeout(sendTimer)
    sendTimer = undefined
    sending = sending.catch(() => undefined).then(send)
    return sending
  }

  async function close(): Promise<void> {
    // `flush` reports a failure to those who call it.
    await flush().catch(() => undefined)
    await lease.release()
    held.onClose()
  }

  return {
    lost: lease.lost,
    append(body: EntryBody): Entry {
      if (closed) throw new StoreError('closed', `the session ${id} is closed`)
      if (storeError) throw storeError
      const blobs = new Map<string, Uint8Array>()
      const stored = externalizeMedia(body, (bytes) => {
        const hash = sha256Hex(bytes)
        blobs.set(hash, bytes)
        return hash
      })
      const nextAt = Math.max(at, now())
      const entry: Entry = { seq: seq + 1, at: nextAt, ...stored }
      queue.push({ seq: entry.seq, at: nextAt, text: JSON.stringify(entry), hashes: findBlobHashes(stored), blobs })
      ;({ seq, at } = entry)
      summary.add(entry)
      // Entries should soon be saved even if nobody calls `flush`, which reports failures, as the next append does.
      const delay = LOG_ENTRY_TRAITS[body.kind].isDurable ? 0 : SEND_DELAY_MS
      sendTimer ??= setTimeout(() => void flush().catch(() => undefined), delay).unref()
      return { seq, at, ...body }
    },
    flush,
    close: () => (closed ??= close()),
  }
}

/** Long enough for several entries at once, and shorter than a person notices. */
const SEND_DELAY_MS = 10

const MAX_BATCH_ENTRIES = 500
const MAX_BATCH_CHARS = 2 ** 22

function takeBatch(queue: readonly QueuedEntry[]): QueuedEntry[] {
  let chars = 0
  const end = queue.findIndex(
    ({ text }, at) => at >= MAX_BATCH_ENTRIES || ((chars += text.length) > MAX_BATCH_CHARS && at > 0),
  )
  return queue.slice(0, end < 0 ? queue.length : end)
}

/**
 * Inserts entries if the session still has this fence, and returns a row if so. The update locks the row of the session, so
 * that nobody can open it before the entries are committed, and waits for an opening that is about to be committed. Followers
 * are notified when the entries are committed, not before.
 */
function createAppendStatement(
  { schema, channel }: PostgresDatabase,
  rows: readonly string[],
  hasBlobs: boolean,
): string {
  return `
    with held as (
      update ${schema}.sessions
      set last_seq = greatest(last_seq, $4::bigint), changed = $5::bigint, summary = $6::text, lease_until = ${LEASE_END('$3')}
      where id = $1 and fence = $2::bigint
      returning id
    ), added as (
      insert into ${schema}.entries (session, seq, entry)
      select held.id, new.seq, new.entry from held, (values ${rows.join(', ')}) as new (seq, entry)
      on conflict (session, seq) do nothing
    ), used as (
      ${
        hasBlobs
          ? `update ${schema}.blobs set kept_until = null from held where hash = any(string_to_array($7::text, ',')) returning hash`
          : `select null::text as hash where $7::text <> ''`
      }
    ), referred as (
      insert into ${schema}.blob_refs (session, hash) select held.id, used.hash from held, used on conflict do nothing
    )
    select id, pg_notify('${channel}', $8::text) from held`
}
