import { joinBodyPieces } from '../../wire/history/encoded-messages.ts'
import type { HttpClient } from './http-client.ts'

/** A function like the global `fetch`. */
export type FetchFunction = typeof globalThis.fetch

/** An HTTP client that uses a `fetch` function. */
export function createFetchClient(fetch: FetchFunction): HttpClient {
  return async ({ url, method = 'POST', headers, body, onSent }, signal) => {
    const hasBody = method === 'POST'
    const response = fetch(url.href, {
      method,
      headers: { ...headers },
      signal,
      // A redirect would send the key to another server.
      redirect: 'manual',
      ...(hasBody && { body: joinBodyPieces(body) }),
    })
    onSent?.()
    const answer = await response
    return {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      body: (answer.body ?? []) as AsyncIterable<Uint8Array>,
    }
  }
}
