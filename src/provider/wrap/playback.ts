import type { Redactor } from '../../model/secret.ts'
import type { Post } from '../transport.ts'
import { type Difference, firstDifference } from './difference.ts'
import { bytesOf, type Cassette, type Refused, requestOf } from './record.ts'

/** Hears where a request differs from the one that was recorded. */
export type Differs = (number: number, difference: Difference) => void

/** A client that sends nothing: it gives the recorded answers, in their order, and compares the requests. */
export function playback(exchanges: readonly (Cassette | Refused)[], secrets: Redactor, differs: Differs): Post {
  let count = 0
  return async (letter, signal) => {
    const exchange = exchanges[count++]
    if (!exchange) {
      differs(count, { place: 'end', recorded: 'no further request', now: 'a request' })
      throw broken({ message: 'The recording ends here.', code: OVER })
    }
    if ('refused' in exchange) throw broken({ message: `This was not recorded: ${exchange.refused}.`, code: OVER })
    const difference = firstDifference(exchange.request, requestOf(letter, secrets))
    if (difference) differs(exchange.number, difference)
    const { response, error } = exchange
    if (!response) throw broken(error ?? { message: 'Nothing was recorded of the answer.', code: OVER })
    await Promise.resolve()
    if (signal.aborted) throw broken({ message: 'stopped' })
    return {
      status: response.status,
      headers: response.headers,
      body: (async function* () {
        for (const chunk of response.chunks) yield bytesOf(chunk)
        if (error) throw broken(error)
      })(),
    }
  }
}

/** The code of the error that stands for an answer which nobody has. */
export const OVER = 'ERR_INVALID_RECORDING'

function broken({ message, code }: NonNullable<Cassette['error']>): Error {
  return Object.assign(new Error(message), code !== undefined && { code })
}
