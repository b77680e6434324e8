import type { IncomingHttpHeaders } from 'node:http'
import type { Duplex, Readable } from 'node:stream'
import type { WebRequest } from '../host.ts'

export interface WebResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Readable
  /** Closes the connection without reading the body. */
  discard(): void
}

export async function sendWebRequest(
  socket: Duplex,
  url: URL,
  request: WebRequest,
  signal: AbortSignal,
): Promise<WebResponse> {
  const { request: send } = await import('node:http')
  return await new Promise((resolve, reject) => {
    const body = request.body === undefined ? undefined : Buffer.from(request.body)
    const outgoing = send({
      createConnection: () => socket,
      method: body ? 'POST' : 'GET',
      path: `${url.pathname}${url.search}`,
      headers: {
        ...DEFAULT_HEADERS,
        ...request.headers,
        ...(body && { 'content-length': String(body.length) }),
        host: url.host,
        connection: 'close',
      },
      signal,
    })
    outgoing.once('error', reject)
    outgoing.once('response', (response) => {
      const discard = (): void => {
        response.on('error', () => undefined)
        response.destroy()
        socket.destroy()
      }
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: response, discard })
    })
    outgoing.end(body)
  })
}

const DEFAULT_HEADERS = {
  'user-agent': 'dragoman (a coding agent; it fetches what a person asks for)',
  accept: 'text/markdown, text/html;q=0.9, application/json;q=0.9, text/plain;q=0.8, */*;q=0.5',
  'accept-encoding': 'gzip, br, deflate',
}
