import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A browser that is to come back to this machine. */
export interface OAuthRedirect {
  readonly url: string
  /** What it brings. Rejects with a sentence if the person said no, or does not come. */
  readonly code: Promise<string>
  /** The same, with who says that they sent it, where servers tell. */
  readonly result: Promise<{ readonly code: string; readonly issuer?: string }>
  close(): void
}

/** How long a person may take to agree. */
const SIGN_IN_TIMEOUT_MS = 5 * 60_000

const MAX_CONNECTIONS = 100

/** Who connects and says nothing must not keep the browser out. */
const SERVER_TIMEOUTS = { headersTimeout: 2000, requestTimeout: 4000, connectionsCheckingInterval: 500 }

/** Waits on loopback for a browser that comes back with `state`. Whoever comes without it gets nothing, and we wait on. */
export async function startRedirectServer(
  state: string,
  timeoutMs: number = SIGN_IN_TIMEOUT_MS,
): Promise<OAuthRedirect> {
  const { promise: answer, resolve, reject } = createDeferred<Awaited<OAuthRedirect['result']>>()
  const code = answer.then((given) => given.code)
  // Who asks for the code hears of it; until then it is no matter.
  code.catch(() => {})
  // Anything on this machine can send anything here; nothing that comes may end the sign-in.
  const server = createServer(SERVER_TIMEOUTS, (request, response) => {
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    handleRequest(request, response)
  })
  server.maxConnections = MAX_CONNECTIONS
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(0, '127.0.0.1', done)
  })
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const timer = setTimeout(() => reject(new Error('nobody came back from the browser; try again.')), timeoutMs)

  function handleRequest(request: IncomingMessage, response: ServerResponse): void {
    // Not every path that HTTP allows is one that can be read: `//` is none.
    const path = request.url ?? '/'
    if (!URL.canParse(path, origin)) return sendText(response, 400, 'This is not the way in.')
    const url = new URL(path, origin)
    // A page elsewhere can make a browser come here under another name; it is not answered.
    const isCallback =
      request.method === 'GET' &&
      url.origin === origin &&
      url.pathname === CALLBACK_PATH &&
      request.headers.host === `127.0.0.1:${port}`
    if (!isCallback || url.searchParams.get('state') !== state)
      return sendText(response, 400, 'This is not the way in.')
    const given = url.searchParams.get('code')
    if (given !== null && given !== '') {
      sendText(response, 200, 'You are signed in. This window can be closed.')
      const issuer = url.searchParams.get('iss')
      resolve({ code: given, ...(issuer !== null && { issuer }) })
    } else {
      const why = (url.searchParams.get('error') ?? 'no reason given').replace(/[^\w -]/g, '').slice(0, 60)
      sendText(response, 200, 'You are not signed in. This window can be closed.')
      reject(new Error(`it was refused in the browser (${why}).`))
    }
  }

  return {
    url: `${origin}${CALLBACK_PATH}`,
    code,
    result: answer,
    close() {
      clearTimeout(timer)
      server.close()
      server.closeAllConnections()
    },
  }
}

const CALLBACK_PATH = '/oauth2callback'

function sendText(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
  response.end(`${sentence}\n`)
}

function createDeferred<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<T>((done, fail) => {
    resolve = done
    reject = fail
  })
  return { promise, resolve, reject }
}
