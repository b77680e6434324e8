import type { Model } from '../model.ts'
import { fetchServerContextWindow } from '../fetch-server-context-window.ts'
import { systemClock } from '../clock.ts'
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
        void fetchSharedWindow(endpoint, httpClient()).then((window) => (found = window))
      }
      yield event
    }
  })
  return Object.defineProperty(model, 'window', { get: () => found ?? inner.window, enumerable: true })
}

/** Many sessions of one process use the same server: it is asked once a minute, and not by each of them. */
function fetchSharedWindow(endpoint: Endpoint, httpClient: HttpClient): Promise<number | undefined> {
  const windows = sharedWindows.get(httpClient) ?? new Map<string, SharedWindow>()
  sharedWindows.set(httpClient, windows)
  const key = `${endpoint.baseUrl} ${endpoint.model}`
  const known = windows.get(key)
  if (known && systemClock.now() - known.askedAt < MAX_AGE_MS) return known.window
  const window = fetchServerContextWindow(endpoint, httpClient)
  windows.set(key, { askedAt: systemClock.now(), window })
  return window
}

interface SharedWindow {
  readonly askedAt: number
  readonly window: Promise<number | undefined>
}

const sharedWindows = new WeakMap<HttpClient, Map<string, SharedWindow>>()
const MAX_AGE_MS = 60_000

function isLoopbackUrl(url: string): boolean {
  return /^https?:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::|\/|$)/.test(url)
}
