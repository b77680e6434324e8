/**
 * Waits for work that may be slow, and can be woken meanwhile: to say what is waited for, and to end although the work
 * never does.
 */
export interface Waiting {
  /** Gives what the work gives, or `WOKEN`; then the same work can be waited for again. */
  wait<T>(work: Promise<T>): Promise<T | typeof WOKEN>
  wake(): void
}

export const WOKEN = Symbol('woken')

/** Starts it, for one who waits for one thing at a time. */
export function startWaiting(): Waiting {
  let resume: ((value: typeof WOKEN) => void) | undefined
  let isWoken = false
  return {
    wait: (work) =>
      new Promise((resolve, reject) => {
        if (isWoken) resolve(WOKEN)
        isWoken = false
        resume = resolve
        work.then(resolve, reject)
      }),
    wake() {
      if (!resume) isWoken = true
      resume?.(WOKEN)
      resume = undefined
    },
  }
}
