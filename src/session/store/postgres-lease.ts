import type { PostgresDatabase } from './postgres-client.ts'

/** The right to write to a session. It is renewed until it is released or lost. */
export interface PostgresLease {
  /** Grows with each opening of the session: whoever has a lower number than the session may not write. */
  readonly fence: string
  readonly ms: number
  /** An append has renewed it. */
  readonly noteRenewal: () => void
  /** Aborted when it was noticed that another process has the session. */
  readonly lost: AbortSignal
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

/** Renews a lease that was just acquired. */
export function keepLease(database: PostgresDatabase, id: string, fence: string, ms: number): PostgresLease {
  const { query, schema } = database
  const lost = new AbortController()
  let renewedAt = performance.now()
  const timer = setInterval(() => void renew(), ms / 4).unref()

  async function renew(): Promise<void> {
    // A busy session needs no renewals besides its appends.
    if (performance.now() - renewedAt < ms / 5) return
    const text = `update ${schema}.sessions set lease_until = ${LEASE_END('$3')} where id = $1 and fence = $2::bigint returning id`
    try {
      if ((await query(text, [id, fence, ms])).length === 0) markLost()
      else renewedAt = performance.now()
    } catch {
      // The next renewal or append may succeed. The lease may expire until then, but then the fence decides.
    }
  }

  function markLost(): void {
    clearInterval(timer)
    lost.abort()
  }

  return {
    fence,
    ms,
    noteRenewal: () => void (renewedAt = performance.now()),
    lost: lost.signal,
    markLost,
    async release() {
      clearInterval(timer)
      const text = `update ${schema}.sessions set holder = null, lease_until = null where id = $1 and fence = $2::bigint`
      await query(text, [id, fence]).catch(() => undefined)
    },
  }
}

/** The end of a lease that begins now, by the clock of the database; the parameter has its length in milliseconds. */
export const LEASE_END = (parameter: string): string => `now() + ${parameter}::float8 * interval '1 millisecond'`
