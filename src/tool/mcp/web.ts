import type { McpServerConfig } from './config.ts'
import type { Surroundings } from './connect.ts'
import { serverFetch } from './fetch.ts'
import { limitedFetch } from './limits.ts'
import { failure, messagesIn, requestIdOf } from './message.ts'
import type { FetchLike, Transport } from './sdk.ts'

/** A way to a server that is to be tried. */
export interface Attempt {
  readonly transport: Transport
  /** Why it went away. */
  readonly why: () => string
}

/** A server that speaks Streamable HTTP. */
export async function http(
  url: URL,
  config: McpServerConfig,
  { authProvider, fetch = serverFetch({ url }) }: Surroundings,
  fail: (why: string) => void,
): Promise<Attempt> {
  const { StreamableHTTPClientTransport } = await import('./sdk.ts')
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: answeredFetch(limitedFetch(fetch, fail)),
    ...(config.headers && { requestInit: { headers: config.headers } }),
    ...(authProvider && { authProvider }),
  })
  const send = transport.send.bind(transport)
  const close = transport.close.bind(transport)
  return {
    why: () => 'the connection was closed',
    transport: Object.assign(transport, {
      send: (message: Parameters<typeof send>[0], options: Parameters<typeof send>[1]) => {
        const id = 'id' in message && 'method' in message ? message.id : undefined
        if (id === undefined) return send(message, options)
        // An answer whose stream broke off never comes: without this, whoever waits for it waits for ever.
        const error = { code: -32_000, message: 'the connection broke before the answer came' }
        const onRequestStreamEnd = () => transport.onmessage?.({ jsonrpc: '2.0', id, error })
        return send(message, { onRequestStreamEnd, ...options })
      },
      async close() {
        await Promise.race([transport.terminateSession().catch(() => undefined), pause(500)])
        await close()
      },
    }),
  }
}

/** A server of the first kind that had an address: one stream for all answers. */
export async function sse(
  url: URL,
  config: McpServerConfig,
  { authProvider, fetch = serverFetch({ url }) }: Surroundings,
  fail: (why: string) => void,
): Promise<Attempt> {
  const { SSEClientTransport } = await import('./sdk.ts')
  const transport = new SSEClientTransport(url, {
    fetch: limitedFetch(fetch, fail),
    ...(config.headers && { requestInit: { headers: config.headers } }),
    ...(authProvider && { authProvider }),
  })
  return { transport, why: () => 'the connection was closed' }
}

/** A whole answer to a request always holds an answer to it: what is wrong with one is said, and nobody waits. */
function answeredFetch(send: FetchLike): FetchLike {
  return async (url, init) => {
    const response = await send(url, init)
    const id = typeof init?.body === 'string' ? requestIdOf(jsonIn(init.body)) : undefined
    const isJson = (response.headers.get('content-type') ?? '').startsWith('application/json')
    if (id === undefined || !response.ok || !isJson) return response
    const messages = messagesIn(jsonIn(await response.text()))
    const isAnswered = messages.some((message) => 'id' in message && message.id === id && !('method' in message))
    const { status, headers } = response
    const all = isAnswered ? messages : [...messages, failure(id, 'it answered with something that is no answer')]
    return new Response(JSON.stringify(all.length === 1 ? all[0] : all), { status, headers })
  }
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, ms).unref())
}
