import { setTimeout as delay } from 'node:timers/promises'
import type { McpServerConfig } from '../client/server-config.ts'
import type { ConnectOptions } from './connect.ts'
import { createServerFetch } from './server-fetch.ts'
import { createLimitedFetch } from './message-limits.ts'
import { createErrorResponse, parseMessages, getRequestId } from './json-rpc.ts'
import type { FetchLike, Transport } from './sdk.ts'
import { defined } from '../../../model/defined.ts'
import { tryParseJson } from '../../../model/json.ts'

export interface TransportAttempt {
  readonly transport: Transport
  readonly getCloseReason: () => string
}

export async function createHttpTransport(
  url: URL,
  config: McpServerConfig,
  { authProvider, fetch = createServerFetch({ url }) }: ConnectOptions,
  fail: (why: string) => void,
): Promise<TransportAttempt> {
  const { StreamableHTTPClientTransport } = await import('./sdk.ts')
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: createAnswerCheckingFetch(createLimitedFetch(fetch, fail)),
    ...(config.headers && { requestInit: { headers: config.headers } }),
    ...defined({ authProvider }),
  })
  const send = transport.send.bind(transport)
  const close = transport.close.bind(transport)
  return {
    getCloseReason: () => 'the connection was closed',
    transport: Object.assign(transport, {
      send: (message: Parameters<typeof send>[0], options: Parameters<typeof send>[1]) => {
        const id = 'id' in message && 'method' in message ? message.id : undefined
        if (id === undefined) return send(message, options)
        // A response whose stream broke never comes: without this, the request would wait for ever.
        const error = { code: -32_000, message: 'the connection was lost before the response came' }
        const onRequestStreamEnd = () => transport.onmessage?.({ jsonrpc: '2.0', id, error })
        return send(message, { onRequestStreamEnd, ...options })
      },
      async close() {
        await Promise.race([transport.terminateSession().catch(() => undefined), delay(500, undefined, { ref: false })])
        await close()
      },
    }),
  }
}

/** The old transport: one stream for all responses. */
export async function createSseTransport(
  url: URL,
  config: McpServerConfig,
  { authProvider, fetch = createServerFetch({ url }) }: ConnectOptions,
  fail: (why: string) => void,
): Promise<TransportAttempt> {
  const { SSEClientTransport } = await import('./sdk.ts')
  const transport = new SSEClientTransport(url, {
    fetch: createLimitedFetch(fetch, fail),
    ...(config.headers && { requestInit: { headers: config.headers } }),
    ...defined({ authProvider }),
  })
  return { transport, getCloseReason: () => 'the connection was closed' }
}

/** Adds an error to a JSON response that does not answer the request, so that nobody waits for ever. */
function createAnswerCheckingFetch(send: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await send(url, init)
    const id = typeof init?.body === 'string' ? getRequestId(tryParseJson(init.body)) : undefined
    const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json')
    if (id === undefined || !response.ok || !isJson) return response
    const messages = parseMessages(tryParseJson(await response.text()))
    const isAnswered = messages.some((message) => 'id' in message && message.id === id && !('method' in message))
    const { status, headers } = response
    const all = isAnswered
      ? messages
      : [...messages, createErrorResponse(id, 'the response contains no answer to the request')]
    return new Response(JSON.stringify(all.length === 1 ? all[0] : all), { status, headers })
  }
}
