import { AsyncLocalStorage } from 'node:async_hooks'
import { getErrorMessage } from '../model/error-message.ts'
import type { HttpClient } from '../provider/index.ts'
import type { ExchangeRecorder } from './exchange-log.ts'

/** The exchange that the running code works for: models are shared by all exchanges. */
const currentExchange = new AsyncLocalStorage<ExchangeRecorder>()

/** All requests that `work` sends to models are recorded as part of this exchange. */
export function captureFor<T>(recorder: ExchangeRecorder, work: () => Promise<T>): Promise<T> {
  return currentExchange.run(recorder, work)
}

/** Records requests and responses beside the stream; nothing waits for it. */
export function captureUpstream(httpClient: HttpClient): HttpClient {
  return async (request, signal) => {
    const attempt = currentExchange.getStore()?.beginAttempt(request.url.href, request.headers, request.body)
    if (!attempt) return httpClient(request, signal)
    try {
      const response = await httpClient(request, signal)
      attempt.respond(response.status, response.headers)
      return { ...response, body: watch(response.body, attempt) }
    } catch (error) {
      attempt.fail(getErrorMessage(error))
      throw error
    }
  }
}

/** Costs less for each chunk than a generator. */
function watch(
  body: AsyncIterable<Uint8Array>,
  attempt: ReturnType<ExchangeRecorder['beginAttempt']>,
): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]() {
      const reader = body[Symbol.asyncIterator]()
      return {
        async next() {
          try {
            const read = await reader.next()
            if (!read.done) attempt.push(read.value)
            return read
          } catch (error) {
            attempt.fail(getErrorMessage(error))
            throw error
          }
        },
        return: async () => (await reader.return?.()) ?? { done: true, value: undefined },
      }
    },
  }
}
