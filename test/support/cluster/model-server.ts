import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { wires } from '../cases.ts'
import { validateTranscript } from '../transcript-validator.ts'

/** The turns with calls of each session. */
export const TOOL_TURNS = 6

/** How the model answers, besides the calls of its turns. */
export interface ModelOptions {
  readonly delayMs: () => number
  /** Each session gets a rate limit first, and an empty response before its third turn. */
  readonly isDifficult?: boolean
  /** Are requests checked as a vendor would? */
  readonly isChecking: boolean
}

/** A model whose answer depends only on the history that it gets, so that any worker can go on. */
export interface ModelServer {
  readonly url: string
  /** When each session asked, by `performance.now`. */
  readonly requests: Map<string, number[]>
  /** What a vendor would refuse. */
  readonly problems: string[]
  close(): Promise<void>
}

interface RequestBody {
  readonly messages: readonly Message[]
  readonly tool_choice?: unknown
}

interface Message {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: readonly unknown[]
}

export async function startModelServer({
  delayMs,
  isDifficult = false,
  isChecking,
}: ModelOptions): Promise<ModelServer> {
  const requests = new Map<string, number[]>()
  const problems: string[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece: Buffer) => (text += piece.toString()))
    request.on('end', () => {
      const body = JSON.parse(text) as RequestBody
      const session = /This is session (?<name>[\w-]+)/.exec(JSON.stringify(body.messages))?.groups?.['name'] ?? '?'
      const isFailing = isDifficult && !requests.has(session)
      requests.set(session, [...(requests.get(session) ?? []), performance.now()])
      if (isChecking)
        problems.push(
          ...validateTranscript('openai-chat', body, wires['openai-chat'].profile).map((one) => `${session}: ${one}`),
        )
      setTimeout(() => {
        response.writeHead(isFailing ? 429 : 200, { 'content-type': 'application/json' })
        response.end(
          JSON.stringify(isFailing ? { error: { message: 'slow down' } } : createAnswer(body, session, isDifficult)),
        )
      }, delayMs())
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    problems,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => void server.close(() => resolve()))
    },
  }
}

function createAnswer({ messages, tool_choice }: RequestBody, session: string, isDifficult: boolean): object {
  const text = JSON.stringify(messages)
  const summarized = Number(/Turns so far: (?<count>\d+)/.exec(text)?.groups?.['count'] ?? 0)
  const turn = summarized + messages.filter(({ tool_calls }) => (tool_calls?.length ?? 0) > 0).length + 1
  const wasWarned = /last response was empty|Was warned/.test(text)
  if (tool_choice === 'none')
    return toResponse(`This is session ${session}. Turns so far: ${turn - 1}.${wasWarned ? ' Was warned.' : ''}`)
  if (isDifficult && turn === 3 && !wasWarned) return toResponse('')
  // Some turns have several calls, which run at the same time.
  const names = turn > TOOL_TURNS ? [] : turn % 3 === 2 ? ['a', 'b', 'c'] : ['a']
  const calls = names.map((name) => ({
    id: `call_${randomBytes(12).toString('hex')}`,
    type: 'function',
    function: { name: 'effect', arguments: JSON.stringify({ n: `${turn}${name}` }) },
  }))
  return calls.length > 0 ? toResponse(null, calls) : toResponse('All is done.')
}

function toResponse(content: string | null, calls: readonly object[] = []): object {
  const message = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }
  return { choices: [{ index: 0, message, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }] }
}
