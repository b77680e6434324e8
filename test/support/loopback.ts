import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a server answers with, whatever it is asked. */
export interface Canned {
  readonly bytes: Uint8Array
  readonly contentType: string
  readonly status: number
}

/** A server on this machine that answers every request under `/<name>/` with the bytes of that name. */
export interface Loopback {
  /** The address under which a name is served. */
  base(name: string): string
  close(): Promise<void>
}

/** Starts one on a free port of 127.0.0.1. */
export async function startLoopback(answers: ReadonlyMap<string, Canned>): Promise<Loopback> {
  const server = createServer((request, response) => {
    const name = decodeURIComponent(request.url?.split('/')[1] ?? '')
    const answer = answers.get(name)
    request.resume()
    response.writeHead(answer?.status ?? 404, { 'content-type': answer?.contentType ?? 'text/plain' })
    response.end(answer?.bytes)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    base: (name) => `http://127.0.0.1:${port}/${encodeURIComponent(name)}`,
    close: () => closed(server),
  }
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()))
  })
}
