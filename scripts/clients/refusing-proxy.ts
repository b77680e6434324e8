import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface RefusingProxy {
  readonly url: string
  /** Hosts that a client tried to reach. None is reached. */
  readonly refusedHosts: ReadonlySet<string>
  close(): void
}

/** A proxy for everything but loopback that refuses all connections. */
export async function startRefusingProxy(): Promise<RefusingProxy> {
  const refusedHosts = new Set<string>()
  const server = createServer((request, response) => {
    refusedHosts.add(/^https?:\/\/([^/]+)/.exec(request.url ?? '')?.[1] ?? '')
    response.writeHead(403).end()
  })
  server.on('connect', (request, socket) => {
    refusedHosts.add(request.url ?? '')
    // A client that is ended resets its connections.
    socket.on('error', () => undefined)
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}`, refusedHosts, close }
}
