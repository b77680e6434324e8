import type { RequestLimits } from './connect.ts'

/** How long a list may take to come. */
const USUAL = 60_000
/** A server that tells of its progress may take so many times as long. */
export const MOST_TIMES = 6
/** The SDK has the same limit, and tells the server; ours comes after it. */
const GRACE = 500

/**
 * Waits for a server no longer than the limits say, whatever it does. What the SDK takes for the end of a request is not
 * always one.
 */
export async function withDeadline<T>(
  { timeout = USUAL, signal, progress }: RequestLimits,
  work: (limits: { readonly timeout: number; readonly signal: AbortSignal; readonly moved: () => void }) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const end = Date.now() + timeout * MOST_TIMES + GRACE
  let timer: ReturnType<typeof setTimeout> | undefined
  const moved = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => over.abort(new Error('Request timed out')), Math.min(timeout + GRACE, end - Date.now()))
  }
  moved()
  const stop = signal ? AbortSignal.any([signal, over.signal]) : over.signal
  try {
    const stopped = new Promise<never>((_done, fail) => {
      const reject = (): void => fail(stop.reason instanceof Error ? stop.reason : new Error('it was stopped'))
      if (stop.aborted) reject()
      else stop.addEventListener('abort', reject, { once: true })
    })
    return await Promise.race([work({ timeout, signal: stop, moved: progress ? moved : () => undefined }), stopped])
  } finally {
    clearTimeout(timer)
  }
}
