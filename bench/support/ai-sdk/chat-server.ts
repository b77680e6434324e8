import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

const WORDS = 60

/** A model on the API of OpenAI's chat completions: to each prompt it makes a call, and answers in pieces after its result. */
export async function startChatServer(): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => void respond(request, response))
  // A process that is busy must not find its connections closed.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', 1024, resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => void server.close() }
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (!request.url?.endsWith('/chat/completions')) {
    response.writeHead(404).end()
    return
  }
  const { messages } = (await json(request)) as { messages: { role: string; content: unknown }[] }
  const last = messages.at(-1)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const deltas = last?.role === 'tool' ? createAnswer() : [createCall(messages.length)]
  for (const delta of deltas) response.write(toFrame(delta, null))
  response.write(toFrame({}, last?.role === 'tool' ? 'stop' : 'tool_calls'))
  response.end('data: [DONE]\n\n')
}

function createCall(number: number): object {
  const call = { name: 'look_up', arguments: JSON.stringify({ query: `number ${number}` }) }
  return { tool_calls: [{ index: 0, id: `call_${number}`, type: 'function', function: call }] }
}

function createAnswer(): object[] {
  return [...Array.from({ length: WORDS }, (_, word) => ({ content: `word ${word} ` })), { content: 'the end.' }]
}

function toFrame(delta: object, reason: string | null): string {
  const usage = reason === null ? {} : { usage: { prompt_tokens: 100, completion_tokens: 60, total_tokens: 160 } }
  const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'script', ...usage }
  return `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`
}
