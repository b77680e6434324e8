import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { mkdtempSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { clearAway } from './clear.ts'

/** The wires that a row of the command's own speaks, with the model that reaches it. */
export const RAW_WIRES = {
  'openai-chat': 'openai-chat/m',
  'openai-responses': 'openai/m',
  anthropic: 'anthropic/m',
  gemini: 'gemini/m',
}
export type RawWire = keyof typeof RAW_WIRES

/** A request as it came; `n` counts from 0. */
export interface RawRequest {
  readonly n: number
  readonly body: string
  readonly response: ServerResponse
  readonly request: IncomingMessage
}

/**
 * A folder, a home, and a server on this machine that answers each request by a function, byte for byte. Unlike the
 * rehearsal it may do anything that a broken server does.
 */
export async function rawStage(wire: RawWire, answer: (asked: RawRequest) => unknown) {
  const place = mkdtempSync(join(tmpdir(), 'dragoman-raw-'))
  const [work, home] = [mkdtempSync(join(place, 'work-')), mkdtempSync(join(place, 'home-'))]
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece: Buffer) => (body += piece.toString()))
    request.on('end', () => {
      bodies.push(body)
      const given = answer({ n: bodies.length - 1, body, response, request })
      if (typeof given === 'string' || given instanceof Uint8Array)
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(given)
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
    clearAway(place)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    OPENAI_API_KEY: 'k',
    ANTHROPIC_API_KEY: 'k',
    GEMINI_API_KEY: 'k',
    DRAGOMAN_OPENAI_CHAT_BASE_URL: `${url}/v1`,
    DRAGOMAN_OPENAI_BASE_URL: `${url}/v1`,
    DRAGOMAN_ANTHROPIC_BASE_URL: `${url}/v1`,
    DRAGOMAN_GEMINI_BASE_URL: `${url}/v1beta`,
    DRAGOMAN_MODEL: RAW_WIRES[wire],
  }
  return { work, home, env, url, bodies }
}

/** What an answer holds. */
export interface RawAnswer {
  readonly text?: string
  readonly calls?: readonly { readonly name: string; readonly args: object }[]
  /** The vendor's word for the end, in place of the usual one. */
  readonly finish?: string
}

/** The bytes of an answer on a wire, in as few events as it takes. */
export function rawAnswer(wire: RawWire, { text = '', calls = [], finish }: RawAnswer): string {
  return SPEAK[wire](text, calls, finish)
}

type Speak = (text: string, calls: NonNullable<RawAnswer['calls']>, finish: string | undefined) => string

const sse = (value: object, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(value)}\n\n`

const typed = (type: string, more: object): string => sse({ type, ...more }, type)

let made = 0

const SPEAK: Record<RawWire, Speak> = {
  'openai-chat'(text, calls, finish) {
    const tool_calls = calls.map(({ name, args }, index) => ({
      index,
      id: `call_${++made}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }))
    const delta = { role: 'assistant', content: text, ...(calls.length > 0 && { tool_calls }) }
    const end = finish ?? (calls.length > 0 ? 'tool_calls' : 'stop')
    return `${sse({ id: 'c', choices: [{ index: 0, delta, finish_reason: null }] })}${sse({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: end }] })}data: [DONE]\n\n`
  },
  'openai-responses'(text, calls, finish) {
    const message = { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text }] }
    const items = [
      ...(text === '' ? [] : [message]),
      ...calls.map(({ name, args }) => {
        const id = ++made
        return { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, name, arguments: JSON.stringify(args) }
      }),
    ]
    const done = items.map((item, output_index) => typed('response.output_item.done', { output_index, item }))
    const status = finish === undefined ? 'completed' : 'incomplete'
    const response = { id: 'r', status, ...(finish !== undefined && { incomplete_details: { reason: finish } }) }
    return `${done.join('')}${typed(`response.${status}`, { response })}`
  },
  anthropic(text, calls, finish) {
    const blocks = [
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map(({ name, args }) => ({ type: 'tool_use', id: `toolu_${++made}`, name, input: args })),
    ]
    const events = blocks.flatMap((content_block, index) => [
      typed('content_block_start', { index, content_block }),
      typed('content_block_stop', { index }),
    ])
    const start = typed('message_start', { message: { id: 'm', content: [] } })
    const stop_reason = finish ?? (calls.length > 0 ? 'tool_use' : 'end_turn')
    return `${start}${events.join('')}${typed('message_delta', { delta: { stop_reason } })}${typed('message_stop', {})}`
  },
  gemini(text, calls, finish) {
    const parts = [...(text === '' ? [] : [{ text }]), ...calls.map((functionCall) => ({ functionCall }))]
    return sse({ candidates: [{ content: { role: 'model', parts }, finishReason: finish ?? 'STOP' }] })
  },
}
