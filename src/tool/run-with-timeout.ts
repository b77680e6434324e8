import { getAbortReason } from '../model/abort-reason.ts'
import { type Clock, sleep, systemClock } from '../provider/clock.ts'

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
  const timeout = new AbortController()
  const workSignal = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal
  const running = work(workSignal)
  if (ms === Infinity) return running
  const stop = new AbortController()
  const stopTimer = (): void => stop.abort(getAbortReason())
  signal?.addEventListener('abort', stopTimer, { once: true })
  const expiry = sleep(clock, ms, stop.signal).then((): typeof TIMED_OUT => TIMED_OUT)
  // A timer that is left behind would keep the process alive.
  const first = await Promise.race([running, expiry]).finally(() => {
    stopTimer()
    signal?.removeEventListener('abort', stopTimer)
  })
  if (first === TIMED_OUT) timeout.abort()
  return first
}
