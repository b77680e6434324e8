import type { McpServerConfig } from './config.ts'
import type { Surroundings } from './connect.ts'
import { limitedFetch } from './limits.ts'
import type { Transport } from './sdk.ts'

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
  { authProvider }: Surroundings,
  fail: (why: string) => void,
): Promise<Attempt> {
  const { StreamableHTTPClientTransport } = await import('./sdk.ts')
  const transport = new StreamableHTTPClientTransport(url, {
    fetch: limitedFetch(fail),
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
  { authProvider }: Surroundings,
  fail: (why: string) => void,
): Promise<Attempt> {
  const { SSEClientTransport } = await import('./sdk.ts')
  const transport = new SSEClientTransport(url, {
    fetch: limitedFetch(fail),
    ...(config.headers && { requestInit: { headers: config.headers } }),
    ...(authProvider && { authProvider }),
  })
  return { transport, why: () => 'the connection was closed' }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => void setTimeout(done, ms).unref())
}
