export const INTERRUPTED = Symbol('woken')

/** Waits for slow work, one at a time; can be interrupted to report progress, or because the work never ends. */
export function createInterruptibleWait() {
  let resume: ((value: typeof INTERRUPTED) => void) | undefined
  let isWoken = false
  return {
    /** Returns the result of the work, or `INTERRUPTED`; then the same work can be awaited again. */
    wait: <T>(work: Promise<T>): Promise<T | typeof INTERRUPTED> =>
      new Promise((resolve, reject) => {
        if (isWoken) resolve(INTERRUPTED)
        isWoken = false
        resume = resolve
        work.then(resolve, reject)
      }),
    interrupt(): void {
      if (!resume) isWoken = true
      resume?.(INTERRUPTED)
      resume = undefined
    },
  }
}
