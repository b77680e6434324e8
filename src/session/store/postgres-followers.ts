import type { EntrySource } from './follow-entries.ts'
import { isTransientError, type PostgresClient, type PostgresDatabase } from './postgres-client.ts'
import { readOwnPostgresEntries, readPostgresEntries } from './postgres-entries.ts'
import { sha256Hex } from './sha256.ts'
import { StoreError } from './store.ts'

/** The followers of the sessions of a store. */
export interface PostgresFollowers {
  readonly openSource: (id: string) => EntrySource
  /** This process saved entries up to this number. */
  readonly notify: (id: string, seq: number) => void
}

interface Follower {
  readonly id: string
  readonly onChange: () => void
  readonly getLast: () => number
}

/**
 * All followers share one channel, and cost nothing while nothing is saved. When notifications may have been missed, one query
 * finds the sessions that have something new; without notifications, it is repeated for as long as there are followers.
 */
export function createPostgresFollowers(client: PostgresClient, database: PostgresDatabase): PostgresFollowers {
  const { query, schema, channel } = database
  const followers = new Map<string, Set<Follower>>()
  let listening: { close(): Promise<void> } | 'starting' | undefined
  let pollTimer: NodeJS.Timeout | undefined
  let isChecking = false

  function onNotify(payload: string): void {
    if (payload === '') return void checkAll()
    const [key = '', seq] = payload.split(' ')
    for (const { onChange, getLast } of followers.get(key) ?? [])
      if (seq === undefined || Number(seq) > getLast()) onChange()
  }

  async function checkAll(): Promise<void> {
    if (isChecking) return
    isChecking = true
    try {
      const all = [...followers.values()].flatMap((some) => [...some])
      for (let at = 0; at < all.length; at += MAX_CHECKED) {
        const some = all.slice(at, at + MAX_CHECKED)
        const rows = await query(
          `select id, last_seq from ${schema}.sessions where id = any(string_to_array($1, ','))`,
          [[...new Set(some.map(({ id }) => id))].join()],
        )
        const lastSeqs = new Map(rows.map((row) => [String(row['id']), Number(row['last_seq'])]))
        // A session that was removed has something new, too.
        for (const { id, onChange, getLast } of some) if ((lastSeqs.get(id) ?? Infinity) > getLast()) onChange()
      }
    } catch {
      if (followers.size > 0) startPolling()
    } finally {
      isChecking = false
    }
  }

  /** Until the next check succeeds, or for as long as there are no notifications. */
  function startPolling(): void {
    pollTimer ??= setTimeout(() => {
      pollTimer = undefined
      void checkAll().then(() => {
        if (followers.size > 0 && typeof listening !== 'object') startPolling()
      })
    }, POLL_MS)
  }

  function startListening(): void {
    if (listening !== undefined || !client.listen) return
    listening = 'starting'
    client.listen(channel, onNotify).then(
      (started) => {
        listening = started
        if (followers.size === 0) stopListening()
        else void checkAll()
      },
      () => {
        listening = undefined
        setTimeout(() => followers.size > 0 && startListening(), POLL_MS).unref()
      },
    )
  }

  function stopListening(): void {
    clearTimeout(pollTimer)
    pollTimer = undefined
    if (typeof listening !== 'object') return
    void listening.close().catch(() => undefined)
    listening = undefined
  }

  function watch(follower: Follower): { stop: () => void } {
    const key = createSessionKey(follower.id)
    const same = followers.get(key) ?? new Set()
    followers.set(key, same.add(follower))
    startListening()
    if (typeof listening !== 'object') startPolling()
    return {
      stop() {
        same.delete(follower)
        if (same.size === 0) followers.delete(key)
        if (followers.size === 0) stopListening()
      },
    }
  }

  return {
    openSource(id) {
      let readNew = async (after: number) => {
        const { entries } = await readPostgresEntries(database, id, { after })
        readNew = (last) => readOwn(database, id, last)
        return { entries, upTo: entries.at(-1)?.seq ?? after }
      }
      return {
        readAfter: (after, signal) => retryUntilAborted(() => readNew(after), signal),
        watch: (onChange, getLast) => watch({ id, onChange, getLast }),
      }
    },
    notify: (id, seq) => onNotify(createNotifyPayload(id, seq)),
  }
}

const POLL_MS = 500
const MAX_CHECKED = 5000

async function readOwn(database: PostgresDatabase, id: string, after: number) {
  const { entries, last } = await readOwnPostgresEntries(database, id, after)
  // Nothing new: perhaps it was removed.
  if (last === after) await readPostgresEntries(database, id, { after: Number.MAX_SAFE_INTEGER })
  return { entries, upTo: last }
}

/** A follower outlives any failure of the database that may end. */
async function retryUntilAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let pause = 50; ; pause = Math.min(pause * 2, 2000)) {
    try {
      return await work()
    } catch (error) {
      const isUnavailable = error instanceof StoreError && error.code === 'unavailable'
      if (!isUnavailable || !isTransientError(error) || signal.aborted) throw error
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}

/**
 * What is sent to the followers of a session after an append; without a number, whatever they have. Every role of a database
 * can listen to all channels, so the name of the session is not in it.
 */
export function createNotifyPayload(id: string, seq?: number): string {
  return seq === undefined ? createSessionKey(id) : `${createSessionKey(id)} ${seq}`
}

function createSessionKey(id: string): string {
  return sha256Hex(id).slice(0, 24)
}
