import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** A request as a server heard it. */
export interface Heard {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: Record<string, unknown>
  /** The connection that it came on, counted from 1. */
  readonly connection: number
}

/** What a server does with the n-th request, counted from 0. */
export type Script = (response: ServerResponse, heard: Heard, turn: number) => void | Promise<void>

/** A server on loopback that follows a script, and is gone when the test is over. */
export async function serve(t: TestContext, script: Script): Promise<{ url: string; heard: Heard[] }> {
  const heard: Heard[] = []
  const sockets: Socket[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const one: Heard = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        body: parsed(Buffer.concat(pieces).toString()),
        connection: sockets.indexOf(request.socket) + 1,
      }
      heard.push(one)
      response.on('error', () => {})
      void script(response, one, heard.length - 1)
    })
    request.on('error', () => {})
  })
  server.on('connection', (socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard }
}

/** Answers with a body in one go. */
export function reply(
  response: ServerResponse,
  body: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(text)
}

/** Answers with a stream of events, all of it or only its beginning. */
export function stream(response: ServerResponse, events: readonly string[], end = true): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) response.write(event)
  if (end) response.end()
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return { unreadable: text }
  }
}
