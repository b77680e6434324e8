import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A browser that is to come back to this machine. */
export interface Redirect {
  readonly url: string
  /** What it brings. Rejects with a sentence if the person said no, or does not come. */
  readonly code: Promise<string>
  /** The same, with who says that they sent it, where servers tell. */
  readonly answer: Promise<{ readonly code: string; readonly issuer?: string }>
  close(): void
}

/** How long a person may take to agree. */
const PATIENCE = 5 * 60_000

const MAX_CONNECTIONS = 100

/** Who connects and says nothing must not keep the browser out. */
const TIME_LIMITS = { headersTimeout: 2000, requestTimeout: 4000, connectionsCheckingInterval: 500 }

/** Waits on loopback for a browser that comes back with `state`. Whoever comes without it gets nothing, and we wait on. */
export async function awaitRedirect(state: string, patience: number = PATIENCE): Promise<Redirect> {
  const { promise: answer, resolve, reject } = withResolvers<Awaited<Redirect['answer']>>()
  const code = answer.then((given) => given.code)
  // Who asks for the code hears of it; until then it is no matter.
  code.catch(() => {})
  // Anything on this machine can send anything here; nothing that comes may end the sign-in.
  const server = createServer(TIME_LIMITS, (request, response) => {
    request.on('error', () => undefined)
    response.on('error', () => undefined)
    reply(request, response)
  })
  server.maxConnections = MAX_CONNECTIONS
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(0, '127.0.0.1', done)
  })
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const timer = setTimeout(() => reject(new Error('nobody came back from the browser; try again.')), patience)

  function reply(request: IncomingMessage, response: ServerResponse): void {
    // Not every path that HTTP allows is one that can be read: `//` is none.
    const path = request.url ?? '/'
    if (!URL.canParse(path, origin)) return say(response, 400, 'This is not the way in.')
    const url = new URL(path, origin)
    // A page elsewhere can make a browser come here under another name; it is not answered.
    const ours =
      request.method === 'GET' &&
      url.origin === origin &&
      url.pathname === PATH &&
      request.headers.host === `127.0.0.1:${port}`
    if (!ours || url.searchParams.get('state') !== state) return say(response, 400, 'This is not the way in.')
    const given = url.searchParams.get('code')
    if (given !== null && given !== '') {
      say(response, 200, 'You are signed in. This window can be closed.')
      const issuer = url.searchParams.get('iss')
      resolve({ code: given, ...(issuer !== null && { issuer }) })
    } else {
      const why = (url.searchParams.get('error') ?? 'no reason given').replace(/[^\w -]/g, '').slice(0, 60)
      say(response, 200, 'You are not signed in. This window can be closed.')
      reject(new Error(`it was refused in the browser (${why}).`))
    }
  }

  return {
    url: `${origin}${PATH}`,
    code,
    answer,
    close() {
      clearTimeout(timer)
      server.close()
      server.closeAllConnections()
    },
  }
}

const PATH = '/oauth2callback'

function say(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
  response.end(`${sentence}\n`)
}

function withResolvers<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<T>((done, fail) => {
    resolve = done
    reject = fail
  })
  return { promise, resolve, reject }
}
