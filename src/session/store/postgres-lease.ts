import type { PostgresDatabase } from './postgres-client.ts'
import { orAborted } from './or-aborted.ts'
import { createTakenOverError, StoreError } from './store.ts'

/** The right to write to a session. It is renewed until it is released or lost. */
export interface PostgresLease {
  /** Grows with each opening of the session: whoever has a lower number than the session may not write. */
  readonly fence: string
  readonly ms: number
  /** An append has renewed it, which was sent at this time of `performance.now`. */
  readonly noteRenewal: (sentAt: number) => void
  /**
   * Aborted when it was noticed that another process has the session, and shortly before the lease runs out, if it could not
   * be renewed. The reason is a `StoreError`.
   */
  readonly lost: AbortSignal
  /** The fence of the session is another one. */
  readonly markLost: () => void
  /** Lets others open the session. If the database cannot be reached, the lease expires by itself. */
  readonly release: () => Promise<void>
}

/** Takes a session that nobody has open, or whose lease has expired; with `takeOver`, any. */
export async function acquireLease(
  { query, schema }: PostgresDatabase,
  id: string,
  { holder, leaseMs, takeOver }: { holder: string; leaseMs: number; takeOver: boolean },
): Promise<string | undefined> {
  const [session] = await query(
    `update ${schema}.sessions set fence = fence + 1, holder = $2, lease_until = ${LEASE_END('$3')}
     where id = $1 and (holder is null or lease_until < now() or $4::boolean)
     returning fence::text as fence`,
    [id, holder, leaseMs, takeOver],
  )
  return session && String(session['fence'])
}

/** Renews a lease that was just acquired by a statement that was sent at this time of `performance.now`. */
export function keepLease(
  database: PostgresDatabase,
  id: string,
  { fence, ms, sentAt }: { fence: string; ms: number; sentAt: number },
): PostgresLease {
  const { query, schema } = database
  const lost = new AbortController()
  // The server counts from a later moment, so the lease lasts at least this long, whatever the clocks say.
  let renewedAt = sentAt
  const lastsMs = ms - Math.min(MAX_MARGIN_MS, ms / 5)
  const renewalTimer = setInterval(() => void renew(), ms / 4).unref()
  let expiryTimer = setTimeout(checkExpiry, lastsMs).unref()

  async function renew(): Promise<void> {
    // A busy session needs no renewals besides its appends.
    const startedAt = performance.now()
    if (startedAt - renewedAt < ms / 5) return
    const text = `update ${schema}.sessions set lease_until = ${LEASE_END('$3')} where id = $1 and fence = $2::bigint returning id`
    try {
      if ((await query(text, [id, fence, ms])).length === 0) markLost()
      else noteRenewal(startedAt)
    } catch {
      // The next renewal or append may succeed.
    }
  }

  function noteRenewal(at: number): void {
    renewedAt = Math.max(renewedAt, at)
  }

  function checkExpiry(): void {
    const leftMs = renewedAt + lastsMs - performance.now()
    if (leftMs > 0) expiryTimer = setTimeout(checkExpiry, leftMs).unref()
    else lose(createExpiredError(id))
  }

  function stopTimers(): void {
    clearInterval(renewalTimer)
    clearTimeout(expiryTimer)
  }

  function lose(error: StoreError): void {
    stopTimers()
    lost.abort(error)
  }

  const markLost = (): void => lose(createTakenOverError(id))

  return {
    fence,
    ms,
    noteRenewal,
    lost: lost.signal,
    markLost,
    async release() {
      clearInterval(renewalTimer)
      const text = `update ${schema}.sessions set holder = null, lease_until = null where id = $1 and fence = $2::bigint`
      if (!lost.signal.aborted) await orAborted(query(text, [id, fence]), lost.signal).catch(() => undefined)
      stopTimers()
    },
  }
}

/** Before the lease runs out, tools need time to stop. */
const MAX_MARGIN_MS = 1000

function createExpiredError(id: string): StoreError {
  return new StoreError(
    'taken-over',
    `the database could not be reached for so long that another process may have taken the session ${id} over, so the run was stopped`,
  )
}

/** The end of a lease that begins now, by the clock of the database; the parameter has its length in milliseconds. */
export const LEASE_END = (parameter: string): string => `now() + ${parameter}::float8 * interval '1 millisecond'`
