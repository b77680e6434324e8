import type { McpRequestOptions } from './connect.ts'
import { McpRequestError } from './request-error.ts'

const DEFAULT_REQUEST_TIMEOUT_MS = 60_000
/** A server that reports progress may take this many times as long. */
export const MAX_TIMEOUT_FACTOR = 6
/** The SDK has the same limit, and tells the server; ours is the fallback. */
const GRACE_MS = 500

/** Limits the time of a request, whatever the server does: the SDK's own limit does not always end a request. */
export async function withRequestDeadline<T>(
  { timeout = DEFAULT_REQUEST_TIMEOUT_MS, signal, progress }: McpRequestOptions,
  work: (limits: {
    readonly timeout: number
    readonly signal: AbortSignal
    readonly resetTimer: () => void
  }) => Promise<T>,
): Promise<T> {
  const timeoutController = new AbortController()
  const end = Date.now() + timeout * MAX_TIMEOUT_FACTOR + GRACE_MS
  let timer: ReturnType<typeof setTimeout> | undefined
  const resetTimer = (): void => {
    clearTimeout(timer)
    timer = setTimeout(
      () => timeoutController.abort(new McpRequestError('timeout', 'the request timed out')),
      Math.min(timeout + GRACE_MS, end - Date.now()),
    )
  }
  resetTimer()
  const combinedSignal = signal ? AbortSignal.any([signal, timeoutController.signal]) : timeoutController.signal
  try {
    const stopped = new Promise<never>((_done, fail) => {
      const reject = (): void =>
        fail(combinedSignal.reason instanceof Error ? combinedSignal.reason : new Error('the request was cancelled'))
      if (combinedSignal.aborted) reject()
      else combinedSignal.addEventListener('abort', reject, { once: true })
    })
    return await Promise.race([
      work({ timeout, signal: combinedSignal, resetTimer: progress ? resetTimer : () => undefined }),
      stopped,
    ])
  } catch (error) {
    throw signal?.aborted ? error : await toRequestError(error)
  } finally {
    clearTimeout(timer)
  }
}

async function toRequestError(error: unknown): Promise<unknown> {
  const { SdkError, SdkErrorCode } = await import('./sdk.ts')
  if (!(error instanceof SdkError)) return error
  if (error.code === SdkErrorCode.RequestTimeout) return new McpRequestError('timeout', error.message)
  return error.code === SdkErrorCode.ConnectionClosed ? new McpRequestError('disconnected', error.message) : error
}
