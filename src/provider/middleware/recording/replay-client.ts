import type { Redactor } from '../../../model/security/redactor.ts'
import type { HttpClient } from '../../http/http-client.ts'
import { type RequestDifference, findFirstDifference } from './request-difference.ts'
import { toChunkBytes, type RecordedExchange, type OmittedExchange, toRecordedRequest } from './record-exchanges.ts'

/** Sends nothing: returns the recorded responses in their order, and compares the requests. */
export function createReplayClient(
  exchanges: readonly (RecordedExchange | OmittedExchange)[],
  secrets: Redactor,
  differs: (number: number, difference: RequestDifference) => void,
): HttpClient {
  let count = 0
  const code = 'ERR_INVALID_RECORDING'
  return async (request, signal) => {
    const exchange = exchanges[count++]
    if (!exchange) {
      differs(count, { place: 'end', recorded: 'no further request', now: 'a request' })
      throw createRecordingError({ message: 'The recording ends here.', code })
    }
    if ('refused' in exchange)
      throw createRecordingError({ message: `This was not recorded: ${exchange.refused}.`, code })
    const difference = findFirstDifference(exchange.request, toRecordedRequest(request, secrets))
    if (difference) differs(exchange.number, difference)
    const { response, error } = exchange
    if (!response) throw createRecordingError(error ?? { message: 'The response was not recorded.', code })
    await Promise.resolve()
    if (signal.aborted) throw createRecordingError({ message: 'stopped' })
    return {
      status: response.status,
      headers: response.headers,
      body: (async function* () {
        for (const chunk of response.chunks) yield toChunkBytes(chunk)
        if (error) throw createRecordingError(error)
      })(),
    }
  }
}

function createRecordingError({ message, code }: NonNullable<RecordedExchange['error']>): Error {
  return Object.assign(new Error(message), code !== undefined && { code })
}
