import type { Model } from '../model.ts'
import { fetchServerContextWindow } from '../fetch-server-context-window.ts'
import type { Endpoint } from '../endpoint.ts'
import type { HttpClient } from '../http/http-client.ts'
import { wrapModel } from './wrap-model.ts'

/** Reads the context window of a local server once, when the first response starts: so it delays no request. */
export function withServerContextWindow(inner: Model, endpoint: Endpoint, httpClient: () => HttpClient): Model {
  if (endpoint.provider.port === undefined && !isLoopbackUrl(endpoint.provider.url)) return inner
  let isAsked = false
  let found: number | undefined
  const model = wrapModel(inner, async function* (request, options) {
    for await (const event of inner.stream(request, options)) {
      if (!isAsked && event.type !== 'open' && event.type !== 'finish') {
        isAsked = true
        void fetchServerContextWindow(endpoint, httpClient()).then((window) => (found = window))
      }
      yield event
    }
  })
  return Object.defineProperty(model, 'window', { get: () => found ?? inner.window, enumerable: true })
}

function isLoopbackUrl(url: string): boolean {
  return /^https?:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::|\/|$)/.test(url)
}
