/** The time; tests pass their own. */
export interface Clock {
  now(): number
  /** Returns a function that cancels the call. */
  schedule(ms: number, call: () => void): () => void
}

export const systemClock: Clock = {
  // Not `performance.now`, which loads another module.
  now: () => process.uptime() * 1000,
  schedule(ms, call) {
    // A longer delay would overflow and fire at once (T157).
    const timer = setTimeout(call, Math.min(ms, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  },
}

/** Resolves after `ms`, or when the signal is aborted. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const done = (): void => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.schedule(ms, done)
    signal?.addEventListener('abort', done)
  })
}
