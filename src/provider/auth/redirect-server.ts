import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface OAuthRedirect {
  readonly url: string
  /** The authorization code. Rejects with a message if the user declined, or did not answer in time. */
  readonly code: Promise<string>
  /** The code, with the issuer if the server names it. */
  readonly result: Promise<{ readonly code: string; readonly issuer?: string }>
  close(): void
}

const SIGN_IN_TIMEOUT_MS = 5 * 60_000

const MAX_CONNECTIONS = 100

/** A client that connects and sends nothing must not block the browser. */
const SERVER_TIMEOUTS = { headersTimeout: 2000, requestTimeout: 4000, connectionsCheckingInterval: 500 }

/** Waits on loopback for a redirect with this `state`. Other requests are rejected, and do not end the wait. */
export async function startRedirectServer(
  state: string,
  timeoutMs: number = SIGN_IN_TIMEOUT_MS,
): Promise<OAuthRedirect> {
  const { promise: answer, resolve, reject } = createDeferred<Awaited<OAuthRedirect['result']>>()
  const code = answer.then((given) => given.code)
  // Whoever awaits the code gets the error; before that it must not count as unhandled.
  code.catch(() => {})
  // Any program on this machine can send requests here; none may end the sign-in.
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
  const timer = setTimeout(() => reject(new Error('the browser did not return in time; try again.')), timeoutMs)

  function handleRequest(request: IncomingMessage, response: ServerResponse): void {
    // HTTP allows paths that no URL can have, such as `//`.
    const path = request.url ?? '/'
    if (!URL.canParse(path, origin)) return sendText(response, 400, 'This is not a valid sign-in redirect.')
    const url = new URL(path, origin)
    // A web page can make a browser send requests here under another host name.
    const isCallback =
      request.method === 'GET' &&
      url.origin === origin &&
      url.pathname === CALLBACK_PATH &&
      request.headers.host === `127.0.0.1:${port}`
    if (!isCallback || url.searchParams.get('state') !== state)
      return sendText(response, 400, 'This is not a valid sign-in redirect.')
    const given = url.searchParams.get('code')
    if (given !== null && given !== '') {
      sendText(response, 200, 'You are signed in. This window can be closed.')
      const issuer = url.searchParams.get('iss')
      resolve({ code: given, ...(issuer !== null && { issuer }) })
    } else {
      const why = (url.searchParams.get('error') ?? 'no reason given').replace(/[^\w -]/g, '').slice(0, 60)
      sendText(response, 200, 'You are not signed in. This window can be closed.')
      reject(new Error(`the sign-in was declined in the browser (${why}).`))
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
