/** The time, and being called back; tests bring their own. */
export interface Clock {
  now(): number
  /** Calls back after so many milliseconds; gives the function that calls it off. */
  schedule(ms: number, call: () => void): () => void
}

/** The clock of this machine. */
export const systemClock: Clock = {
  // Not `performance.now`, which loads a module of its own.
  now: () => process.uptime() * 1000,
  schedule(ms, call) {
    // A longer wait would overflow, and end at once (T157).
    const timer = setTimeout(call, Math.min(ms, 2 ** 31 - 1))
    return () => clearTimeout(timer)
  },
}

/** Resolves after so many milliseconds, or at once when the signal is aborted. */
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
