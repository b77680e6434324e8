import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { wires } from '../cases.ts'
import { validateTranscript } from '../transcript-validator.ts'

/** The turns with calls of each session. */
export const TOOL_TURNS = 6

/** A model whose answer depends only on the history that it gets, so that any worker can go on. */
export interface ModelServer {
  readonly url: string
  /** When each session asked, by `performance.now`. */
  readonly requests: Map<string, number[]>
  /** What a vendor would refuse. */
  readonly problems: string[]
  /** Answers the next request of a session with an error. */
  failOnce(session: string): void
  close(): Promise<void>
}

interface Message {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: readonly unknown[]
}

export async function startModelServer(delayMs: () => number): Promise<ModelServer> {
  const requests = new Map<string, number[]>()
  const problems: string[] = []
  const failing = new Set<string>()
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece: Buffer) => (text += piece.toString()))
    request.on('end', () => {
      const body = JSON.parse(text) as { readonly messages: readonly Message[] }
      const session = /session (?<name>[\w-]+)/.exec(JSON.stringify(body.messages))?.groups?.['name'] ?? '?'
      requests.set(session, [...(requests.get(session) ?? []), performance.now()])
      problems.push(
        ...validateTranscript('openai-chat', body, wires['openai-chat'].profile).map((one) => `${session}: ${one}`),
      )
      const isFailing = failing.delete(session)
      setTimeout(() => {
        response.writeHead(isFailing ? 429 : 200, { 'content-type': 'application/json' })
        response.end(JSON.stringify(isFailing ? { error: { message: 'slow down' } } : createAnswer(body.messages)))
      }, delayMs())
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    problems,
    failOnce: (session) => void failing.add(session),
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => void server.close(() => resolve()))
    },
  }
}

function createAnswer(messages: readonly Message[]): object {
  const turn = messages.filter(({ tool_calls }) => (tool_calls?.length ?? 0) > 0).length + 1
  // Some turns have several calls, which run at the same time.
  const names = turn > TOOL_TURNS ? [] : turn % 3 === 2 ? ['a', 'b', 'c'] : ['a']
  const calls = names.map((name) => ({
    id: `call_${randomBytes(12).toString('hex')}`,
    type: 'function',
    function: { name: 'effect', arguments: JSON.stringify({ n: `${turn}${name}` }) },
  }))
  const message =
    calls.length > 0
      ? { role: 'assistant', content: null, tool_calls: calls }
      : { role: 'assistant', content: 'All is done.' }
  return { choices: [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }] }
}
