/**
 * Waits for work that may be slow, and can be woken meanwhile: to say what is waited for, and to end although the work
 * never does.
 */
export interface InterruptibleWait {
  /** Gives what the work gives, or `WOKEN`; then the same work can be waited for again. */
  wait<T>(work: Promise<T>): Promise<T | typeof INTERRUPTED>
  interrupt(): void
}

export const INTERRUPTED = Symbol('woken')

/** Starts it, for one who waits for one thing at a time. */
export function createInterruptibleWait(): InterruptibleWait {
  let resume: ((value: typeof INTERRUPTED) => void) | undefined
  let isWoken = false
  return {
    wait: (work) =>
      new Promise((resolve, reject) => {
        if (isWoken) resolve(INTERRUPTED)
        isWoken = false
        resume = resolve
        work.then(resolve, reject)
      }),
    interrupt() {
      if (!resume) isWoken = true
      resume?.(INTERRUPTED)
      resume = undefined
    },
  }
}
