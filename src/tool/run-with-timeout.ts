import { type Clock, systemClock } from '../provider/clock.ts'

/** Returned instead of a value when the time limit was reached, or when the caller stopped waiting. */
export const TIMED_OUT = Symbol('timed out')

export interface TimeoutOptions {
  /** In milliseconds; no limit if it is absent or infinite. */
  readonly ms?: number | undefined
  /** Ends the wait early. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
}

/** Runs work within a time limit. When the limit is reached, its signal is aborted and its outcome is ignored. */
export async function runWithTimeout<T>(
  work: (signal: AbortSignal) => T | Promise<T>,
  { ms = Infinity, signal, clock = systemClock }: TimeoutOptions,
): Promise<T | typeof TIMED_OUT> {
  const stop = new AbortController()
  const onAbort = (): void => stop.abort(signal?.reason)
  if (signal?.aborted) onAbort()
  signal?.addEventListener('abort', onAbort, { once: true })
  let cancelTimer = (): void => undefined
  try {
    const running = work(stop.signal)
    if (ms === Infinity) return await running
    const limit = new Promise<typeof TIMED_OUT>((resolve) => {
      const end = (): void => resolve(TIMED_OUT)
      cancelTimer = clock.schedule(ms, end)
      stop.signal.addEventListener('abort', end, { once: true })
    })
    const first = await Promise.race([running, limit])
    if (first === TIMED_OUT) stop.abort()
    return first
  } finally {
    // A timer that is left behind would keep the process alive.
    cancelTimer()
    signal?.removeEventListener('abort', onAbort)
  }
}
