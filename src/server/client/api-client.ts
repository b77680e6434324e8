import { isObject, nonBlankString, tryParseJson } from '../../model/json.ts'
import { readServerEvents, type ServerEvent } from './event-source.ts'

/** The options of `connect`. */
export interface ConnectOptions {
  readonly url: string
  readonly token: string
  /** Another `fetch`, such as one with a proxy. */
  readonly fetch?: typeof fetch
}

/** A request that the server refused. */
export class ServerError extends Error {
  override readonly name = 'ServerError'
  readonly status: number
  /** Such as `not-found` or `limit-exceeded`. */
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export interface ApiClient {
  request<T>(method: string, path: string, body?: object, headers?: Readonly<Record<string, string>>): Promise<T>
  /** The events after an entry. The connection is made again when it breaks; no entry is lost or comes twice. */
  follow(session: string, after: number, signal: AbortSignal): AsyncGenerator<ServerEvent>
}

export function createApiClient({ url, token, fetch: send = fetch }: ConnectOptions): ApiClient {
  const authorization = `Bearer ${token}`
  const base = url.replace(/\/+$/, '')

  async function request<T>(
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    const response = await retryWhenUnreachable(() =>
      send(`${base}${path}`, {
        method,
        headers: { authorization, ...(body && { 'content-type': 'application/json' }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
    const text = await response.text()
    if (!response.ok) throw toServerError(response.status, text)
    return tryParseJson(text) as T
  }

  async function* follow(session: string, after: number, signal: AbortSignal): AsyncGenerator<ServerEvent> {
    let last = after
    for (let failures = 0; !signal.aborted;) {
      try {
        const path = `${base}/v1/sessions/${encodeURIComponent(session)}/events?after=${last}`
        const response = await send(path, { headers: { authorization }, signal })
        if (!response.ok) throw toServerError(response.status, await response.text())
        for await (const event of readServerEvents(response.body as unknown as AsyncIterable<Uint8Array>)) {
          failures = 0
          if (event.id !== undefined) last = Number(event.id)
          yield event
        }
      } catch (error) {
        if (signal.aborted) return
        const isFinal = error instanceof ServerError && error.status < 500 && error.status !== 429
        if (isFinal || failures > MAX_FAILURES) throw error
      }
      await sleep(Math.min(100 * 2 ** failures++, MAX_PAUSE_MS), signal)
    }
  }

  return { request, follow }
}

/** A server that restarts is away for a moment. Only what is safe to repeat is sent without an answer. */
async function retryWhenUnreachable(send: () => Promise<Response>): Promise<Response> {
  for (let failures = 0; ; failures++) {
    try {
      return await send()
    } catch (error) {
      if (failures >= MAX_FAILURES) throw error
      await sleep(Math.min(100 * 2 ** failures, MAX_PAUSE_MS))
    }
  }
}

const MAX_FAILURES = 10
const MAX_PAUSE_MS = 3000

function toServerError(status: number, text: string): ServerError {
  const body = tryParseJson(text)
  const error = isObject(body) && isObject(body['error']) ? body['error'] : {}
  const message = nonBlankString(error['message']) ?? `The server answered with ${status}.`
  return new ServerError(status, nonBlankString(error['code']) ?? 'unknown', message)
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
