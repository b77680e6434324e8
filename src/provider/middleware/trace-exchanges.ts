import type { Redactor } from '../../model/security/redactor.ts'
import type { HttpClient, HttpResponse } from '../http/http-client.ts'
import { countBodyBytes } from '../http/request-body.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/** One phase of an exchange, without its content. */
export interface ExchangeTraceEvent {
  /** The exchange, counted from 1. */
  readonly n: number
  readonly phase: 'request' | 'head' | 'first-byte' | 'end' | 'stopped' | 'error'
  /** Milliseconds since the request. */
  readonly ms: number
  readonly method?: string
  readonly url?: string
  readonly status?: number
  readonly bytes?: number
  readonly chunks?: number
  readonly error?: string
}

export function traceExchanges(
  httpClient: HttpClient,
  secrets: Redactor,
  report: (phase: ExchangeTraceEvent) => void,
  now: () => number = () => performance.now(),
): HttpClient {
  let count = 0
  return async (request, signal) => {
    const n = ++count
    const start = now()
    const emit = (
      phase: ExchangeTraceEvent['phase'],
      more: Omit<ExchangeTraceEvent, 'n' | 'phase' | 'ms'> = {},
    ): void => report({ n, phase, ms: Math.round((now() - start) * 10) / 10, ...more })
    const emitError = (error: unknown): void =>
      emit('error', { error: secrets.redact(getErrorMessage(error)).slice(0, 300) })
    emit('request', {
      method: request.method ?? 'POST',
      url: secrets.redact(request.url.href),
      bytes: countBodyBytes(request.body),
    })
    try {
      const response = await httpClient(request, signal)
      emit('head', { status: response.status })
      return { ...response, body: traceBody(response.body, signal, emit, emitError) }
    } catch (error) {
      emitError(error)
      throw error
    }
  }
}

async function* traceBody(
  body: HttpResponse['body'],
  stopped: AbortSignal,
  emit: (phase: ExchangeTraceEvent['phase'], more?: Pick<ExchangeTraceEvent, 'bytes' | 'chunks'>) => void,
  emitError: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  let [bytes, chunks] = [0, 0]
  let open = true
  const end = (report: () => void): void => {
    if (open) report()
    open = false
  }
  // A reader that has enough aborts the connection and does not read on.
  stopped.addEventListener('abort', () => end(() => emit('stopped', { bytes, chunks })), { once: true })
  try {
    for await (const piece of body) {
      if (chunks === 0) emit('first-byte')
      chunks++
      bytes += piece.length
      yield piece
    }
    end(() => emit('end', { bytes, chunks }))
  } catch (error) {
    end(() => emitError(error))
    throw error
  }
}
