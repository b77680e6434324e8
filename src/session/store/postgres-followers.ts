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
  const fresh: Follower[] = []

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
      await check([...followers.values()].flatMap((some) => [...some]))
    } catch {
      if (followers.size > 0) startPolling()
    } finally {
      isChecking = false
    }
  }

  /** Calls back for the sessions that have something new: one query for very many. */
  async function check(all: readonly Follower[]): Promise<void> {
    for (let at = 0; at < all.length; at += MAX_CHECKED) {
      const some = all.slice(at, at + MAX_CHECKED)
      const rows = await query(
        `select id, last_seq from unnest(string_to_array($1, ',')) wanted (name) join ${schema}.sessions on id = name`,
        [[...new Set(some.map(({ id }) => id))].join()],
      )
      const lastSeqs = new Map(rows.map((row) => [String(row['id']), Number(row['last_seq'])]))
      // A session that was removed has something new, too.
      for (const { id, onChange, getLast } of some) if ((lastSeqs.get(id) ?? Infinity) > getLast()) onChange()
    }
  }

  /** Checks all that began at the same time together. */
  function checkSoon(follower: Follower): void {
    if (fresh.push(follower) > 1) return
    setImmediate(() => {
      const all = fresh.splice(0)
      // Each of them tries again until the database can be reached.
      check(all).catch(() => all.forEach(({ onChange }) => onChange()))
    })
  }

  /** Until the next check succeeds, or for as long as there are no notifications. */
  function startPolling(): void {
    pollTimer ??= setTimeout(() => void poll(), POLL_MS)
  }

  async function poll(): Promise<void> {
    pollTimer = undefined
    await checkAll()
    if (followers.size > 0 && typeof listening !== 'object') startPolling()
  }

  async function startListening(): Promise<void> {
    if (listening !== undefined || !client.listen) return
    listening = 'starting'
    try {
      listening = await client.listen(channel, onNotify)
      if (followers.size === 0) stopListening()
      else await checkAll()
    } catch {
      listening = undefined
      setTimeout(() => followers.size > 0 && void startListening(), POLL_MS).unref()
    }
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
    void startListening()
    if (typeof listening !== 'object') startPolling()
    checkSoon(follower)
    return {
      stop() {
        same.delete(follower)
        if (same.size === 0) followers.delete(key)
        if (followers.size === 0) stopListening()
      },
    }
  }

  const takeTurn = createTurnTaker(MAX_READS)

  return {
    openSource(id) {
      let readNew = async (after: number) => {
        const { entries } = await readPostgresEntries(database, id, { after })
        readNew = (last) => readOwn(database, id, last)
        return { entries, upTo: entries.at(-1)?.seq ?? after }
      }
      return {
        readAfter: (after, signal) => retryUntilAborted(() => takeTurn(() => readNew(after)), signal),
        watch: (onChange, getLast) => watch({ id, onChange, getLast }),
      }
    },
    notify: (id, seq) => onNotify(createNotifyPayload(id, seq)),
  }
}

const POLL_MS = 500
/** Many followers that begin at once must not keep appends and leases waiting for a connection. */
const MAX_READS = 2
const MAX_CHECKED = 5000

async function readOwn(database: PostgresDatabase, id: string, after: number) {
  const { entries, last } = await readOwnPostgresEntries(database, id, after)
  // Nothing new: perhaps it was removed.
  if (last === after) await readPostgresEntries(database, id, { after: Number.MAX_SAFE_INTEGER })
  return { entries, upTo: last }
}

/** Does so many at the same time, and the others in order. */
function createTurnTaker(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
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
