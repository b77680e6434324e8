import { request as httpRequest, Agent } from 'node:http'
import type { FoldedTurn } from '../../src/model/fold.ts'
import type { Fault } from '../../src/model/fault.ts'
import { fold } from '../../src/model/fold.ts'
import type { TurnEvent } from '../../src/model/event.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { ModelRequest, ToolSpec } from '../../src/model/request.ts'
import type { AssistantTurn, Turn, WireId } from '../../src/model/turn.ts'
import { type RehearsalServer, type RehearsalOptions, startRehearsalServer } from '../../src/rehearsal/server.ts'
import type { RehearsalScript, ScriptStep } from '../../src/rehearsal/script/script.ts'
import { createFramer } from '../../src/wire/framing/framer.ts'
import { loadWire } from '../../src/wire/wires.ts'

/** A response as it came over HTTP; `broke` where the connection did not end well. */
export interface Answered {
  readonly status: number
  readonly headers: Record<string, string>
  readonly chunks: Buffer[]
  readonly text: string
  readonly broke: boolean
}

/** Posts JSON with node:http, as bare as possible. `enough` hangs up once it says so. */
export function post(
  url: string,
  body: unknown,
  more: { headers?: Record<string, string>; agent?: Agent; enough?: (text: string) => boolean; patience?: number } = {},
): Promise<Answered> {
  return new Promise((done, fail) => {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    let begun = false
    const headers = { 'content-type': 'application/json', 'content-length': bytes.length, ...more.headers }
    const request = httpRequest(
      url,
      { method: 'POST', headers, ...(more.agent && { agent: more.agent }) },
      (response) => {
        const chunks: Buffer[] = []
        let broke = false
        begun = true
        const end = (): void => {
          clearTimeout(timer)
          const plain = Object.entries(response.headers).map(([name, value]) => [name, String(value)])
          done({
            status: response.statusCode ?? 0,
            headers: Object.fromEntries(plain) as Record<string, string>,
            chunks,
            text: Buffer.concat(chunks).toString('utf8'),
            broke,
          })
        }
        const timer = setTimeout(() => response.destroy(), more.patience ?? 10_000)
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          if (more.enough?.(Buffer.concat(chunks).toString('utf8'))) response.destroy()
        })
        response.on('error', () => undefined)
        response.on('aborted', () => (broke = true))
        response.on('close', end)
      },
    )
    // Once an answer has begun, what goes wrong is part of it.
    request.on('error', (error) => (begun ? undefined : fail(error)))
    request.end(bytes)
  })
}

/** The address of a wire's endpoint. */
export function pathOf(wire: WireId, model: string, stream: boolean, sse = true): string {
  const method = stream ? 'streamGenerateContent' : 'generateContent'
  const alt = stream && sse ? '?alt=sse' : ''
  return {
    'openai-chat': '/v1/chat/completions',
    'openai-responses': '/v1/responses',
    anthropic: '/v1/messages',
    interactions: '/v1beta/interactions',
    gemini: `/v1beta/models/${model}:${method}${alt}`,
    'code-assist': `/v1internal:${method}${alt}`,
  }[wire]
}

export interface Asking {
  readonly stream?: boolean
  readonly sse?: boolean
  readonly turns?: readonly Turn[]
  readonly tools?: readonly ToolSpec[]
  readonly model?: string
  readonly profile?: Partial<Profile>
  readonly enough?: (text: string) => boolean
  readonly patience?: number
}

/** Asks the rehearsal as Dragoman does: encodes on the wire, sends, and decodes what comes. */
export async function ask(
  rehearsal: RehearsalServer,
  wire: WireId,
  asking: Asking = {},
): Promise<FoldedTurn & { answered: Answered }> {
  const { stream = true, sse = true, turns = [said('Go.')], tools = TOOLS, model = 'script' } = asking
  const codec = await loadWire(wire)
  const profile = { ...codec.profile, encryptedReasoning: true, ...asking.profile }
  const request: ModelRequest = { model, system: 'Be brief.', tools, turns, params: { stream, maxTokens: 1000 } }
  const { body } = codec.encodeRequest(request, profile)
  const answered = await post(rehearsal.url + pathOf(wire, model, stream, sse), body, {
    ...(asking.enough && { enough: asking.enough }),
    ...(asking.patience !== undefined && { patience: asking.patience }),
  })
  const { status, headers } = answered
  const state = codec.startDecoding({ turnKey: keyOf(turns), profile, tools, status, headers })
  const frames = createFramer(headers['content-type'])
  const events: TurnEvent[] = []
  for (const chunk of answered.chunks)
    for (const frame of frames.push(chunk)) events.push(...codec.decodeFrame(state, frame))
  for (const frame of frames.end()) events.push(...codec.decodeFrame(state, frame))
  events.push(...codec.finishDecoding(state, answered.broke ? BROKE : undefined))
  return { ...fold(events, { provider: profile.signer, wire, model }), answered }
}

const BROKE: Fault = { kind: 'transport', message: 'The connection broke.' }

/** Starts a rehearsal of these steps, under the name `script`; it is closed by the caller. */
export function rehearse(
  steps: RehearsalScript['steps'],
  more: Partial<RehearsalScript> & Partial<RehearsalOptions> = {},
): Promise<RehearsalServer> {
  const { end, start, requires, ...options } = more
  const script = { steps, ...(end && { end }), ...(start && { start }), ...(requires && { requires }) }
  return startRehearsalServer({ scripts: { script }, ...options })
}

/** Starts a rehearsal of one step, uses it, and closes it. */
export async function withStep<T>(step: ScriptStep, use: (rehearsal: RehearsalServer) => Promise<T>): Promise<T> {
  const rehearsal = await rehearse([step])
  try {
    return await use(rehearsal)
  } finally {
    await rehearsal.close()
  }
}

export function said(text: string): Turn {
  return { role: 'user', parts: [{ kind: 'text', text }] }
}

/** A result for each call of a turn. */
export function answers(turn: AssistantTurn, text = 'done'): Turn {
  const parts = turn.parts.flatMap((part) =>
    part.kind === 'call'
      ? [
          {
            kind: 'result' as const,
            id: part.id,
            name: part.name,
            status: 'ok' as const,
            content: [{ kind: 'text' as const, text }],
          },
        ]
      : [],
  )
  return { role: 'results', parts }
}

/** What a turn says and does, without ids and vendor data. */
export function meaning(turn: AssistantTurn): JsonObject[] {
  return turn.parts.map((part): JsonObject => {
    if (part.kind === 'call') return { call: part.name, input: part.input ?? null }
    return part.kind === 'media' ? { media: part.mime } : { [part.kind]: part.text }
  })
}

/** The smallest request on each wire. */
export const BODIES: Readonly<Record<WireId, JsonObject & { model: string }>> = {
  'openai-chat': { model: 'script', messages: [{ role: 'user', content: 'Go.' }] },
  'openai-responses': { model: 'script', input: 'Go.' },
  anthropic: { model: 'script', max_tokens: 100, messages: [{ role: 'user', content: 'Go.' }] },
  interactions: { model: 'script', input: 'Go.' },
  gemini: { model: 'script', contents: [{ role: 'user', parts: [{ text: 'Go.' }] }] },
  'code-assist': { model: 'script', request: { contents: [{ role: 'user', parts: [{ text: 'Go.' }] }] } },
}

function keyOf(turns: readonly Turn[]): string {
  return `k${String(turns.length).padStart(15, '0')}`
}

export const TOOLS: readonly ToolSpec[] = [
  tool('read_file', { path: { type: 'string' } }),
  tool('write_file', { path: { type: 'string' }, content: { type: 'string' } }),
]

function tool(name: string, properties: JsonObject): ToolSpec {
  return {
    name,
    description: `${name}.`,
    schema: { type: 'object', properties, required: Object.keys(properties) },
  }
}
