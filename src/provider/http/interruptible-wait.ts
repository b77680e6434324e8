/** Waits for slow work, and can be interrupted: to report progress, or to end although the work never does. */
export interface InterruptibleWait {
  /** Returns the result of the work, or `INTERRUPTED`; then the same work can be awaited again. */
  wait<T>(work: Promise<T>): Promise<T | typeof INTERRUPTED>
  interrupt(): void
}

export const INTERRUPTED = Symbol('woken')

/** For one wait at a time. */
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
