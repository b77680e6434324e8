import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { handleInspectorRequest } from './handle-inspector-request.ts'
import type { InspectorSource } from './inspector-source.ts'

export interface Inspector {
  readonly url: string
  readonly token: string
  /** The page, with the token in its fragment. */
  readonly inspector: string
  close(): Promise<void>
}

interface InspectorOptions {
  /** 0 means any free port. */
  readonly port?: number
}

/** Serves the page by itself, on this machine only. */
export async function startInspector(source: InspectorSource, { port = 0 }: InspectorOptions = {}): Promise<Inspector> {
  const token = randomBytes(24).toString('base64url')
  const host = '127.0.0.1'
  const server = createServer((request, response) => {
    response.on('error', () => undefined)
    if ((request.url ?? '/').split('?', 1)[0] === '/') {
      response.writeHead(302, { location: '/inspector/' }).end()
      return
    }
    handleInspectorRequest({ source, token, host }, request, response).catch(() => response.destroy())
  })
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(port, host, done)
  })
  const url = `http://${host}:${(server.address() as AddressInfo).port}`
  return {
    url,
    token,
    inspector: createInspectorUrl(url, token),
    close: () =>
      new Promise((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

/** Browsers send no fragment to servers, so that the token is in no log. */
export function createInspectorUrl(url: string, token: string): string {
  return `${url}/inspector/#${encodeURIComponent(token)}`
}
