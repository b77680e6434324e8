import { isObject, type Json, type JsonObject, stringOf } from '../model/json.ts'
import type { Params, Request, ToolChoice, ToolSpec } from '../model/request.ts'
import { resultText } from '../model/text.ts'
import type { AssistantPart, CallPart, MediaPart, ResultPart, TextPart, Turn } from '../model/turn.ts'

/** A request in one plain form for all wires, as `dragoman wire encode` takes it and `dragoman wire read` gives it. */
export interface Conversation {
  readonly system: string | null
  readonly messages: readonly PlainMessage[]
  readonly tools?: readonly PlainTool[]
  readonly toolChoice?: ToolChoice
  readonly params?: JsonObject
  /** The answer that this goes on from, where the vendor keeps the history. */
  readonly previous?: string
}

type PlainTool = Omit<ToolSpec, 'description'> & { readonly description?: string }

interface PlainMessage {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly parts: readonly PlainPart[]
}

type PlainPart =
  | { type: 'text'; text: string }
  | { type: 'media'; mime: string; data?: string; uri?: string }
  | { type: 'reasoning'; text?: string; opaque?: true }
  | { type: 'call'; id?: string; name: string; args: Json; opaque?: true }
  | { type: 'result'; id?: string; name?: string; output: Json; error?: true }
  /** Something that only its own vendor understands. */
  | { type: 'item'; kind: string }

/** Writes a request in the plain form. Ids are those of the wire; vendor data shows only as `opaque`. */
export function toConversation(request: Request): Conversation {
  const messages: PlainMessage[] = []
  const ids = new Map<string, string | undefined>()
  for (const turn of request.turns) {
    if (turn.role === 'user') messages.push({ role: 'user', parts: turn.parts.map(plainSaid) })
    else if (turn.role === 'note') messages.push({ role: 'user', parts: [{ type: 'text', text: turn.text }] })
    else if (turn.role === 'assistant') {
      for (const part of turn.parts) if (part.kind === 'call') ids.set(part.id, part.native ? part.native.id : part.id)
      messages.push({ role: 'assistant', parts: turn.parts.map(plainPart) })
    } else for (const part of turn.parts) messages.push({ role: 'tool', parts: [plainResult(part, ids)] })
  }
  const params = plainParams(request.params ?? {})
  return {
    system: request.system ?? null,
    messages,
    ...(request.tools.length > 0 && { tools: request.tools.map(plainTool) }),
    ...(request.toolChoice !== undefined && { toolChoice: request.toolChoice }),
    ...(Object.keys(params).length > 0 && { params }),
    ...(request.previous !== undefined && { previous: request.previous }),
  }
}

/** Reads the plain form. Results without an id answer the open calls in their order. Throws a sentence where the form is broken. */
export function fromConversation(value: unknown, model: string): Request {
  if (!isObject(value) || !Array.isArray(value['messages'])) throw new Error('a conversation needs a list of messages')
  const turns: Turn[] = []
  let open: { id: string; name: string }[] = []
  let calls = 0
  for (const [at, message] of value['messages'].entries()) {
    const parts: unknown = isObject(message) ? message['parts'] : undefined
    if (!isObject(message) || !Array.isArray(parts)) throw new Error(`message ${at} needs a role and a list of parts`)
    if (message['role'] === 'user')
      turns.push({ role: 'user', parts: parts.map(said).filter((part) => part !== undefined) })
    else if (message['role'] === 'assistant') {
      const read = parts.map((part) => assistantPart(part, () => `call${calls++}`)).filter((part) => part !== undefined)
      open = read.filter((part) => part.kind === 'call').map((part) => ({ id: part.id, name: part.name }))
      turns.push({ role: 'assistant', origin: PLAIN, parts: read, finish: { reason: 'stop' } })
    } else if (message['role'] === 'tool') {
      const read = parts.map((part) => readResult(part, open)).filter((part) => part !== undefined)
      const last = turns.at(-1)
      if (last?.role === 'results') turns[turns.length - 1] = { role: 'results', parts: [...last.parts, ...read] }
      else turns.push({ role: 'results', parts: read })
    } else throw new Error(`message ${at} has the unknown role ${JSON.stringify(message['role'])}`)
  }
  const choice = toolChoice(value['toolChoice'])
  return {
    model: typeof value['model'] === 'string' ? value['model'] : model,
    ...(typeof value['system'] === 'string' && { system: value['system'] }),
    tools: Array.isArray(value['tools']) ? value['tools'].map(tool) : [],
    ...(choice !== undefined && { toolChoice: choice }),
    turns,
    params: readParams(value['params']),
    ...(typeof value['previous'] === 'string' && { previous: value['previous'] }),
  }
}

const PLAIN = { provider: 'conversation', wire: 'openai-chat', model: '' } as const

function plainTool({ description, ...rest }: ToolSpec): PlainTool {
  return description === '' ? rest : { ...rest, description }
}

function plainSaid(part: TextPart | MediaPart): PlainPart {
  if (part.kind === 'text' && part.text === '' && isObject(part.native?.data)) {
    return { type: 'item', kind: stringOf(part.native.data['type']) || 'native' }
  }
  if (part.kind === 'text') return { type: 'text', text: part.text }
  return {
    type: 'media',
    mime: part.mime,
    ...(part.data !== undefined && { data: part.data }),
    ...(part.uri !== undefined && { uri: part.uri }),
  }
}

function plainPart(part: AssistantPart): PlainPart {
  const opaque = part.native?.data === undefined ? {} : ({ opaque: true } as const)
  if (part.kind === 'reasoning') return { type: 'reasoning', ...(part.text !== '' && { text: part.text }), ...opaque }
  if (part.kind === 'call') {
    const id = part.native ? part.native.id : part.id
    return { type: 'call', ...(id !== undefined && { id }), name: part.name, args: plainArguments(part), ...opaque }
  }
  return plainSaid(part)
}

/** The arguments; the word null, which some send for none, is shown as it is. */
function plainArguments(call: CallPart): Json {
  return call.raw.trim() === 'null' ? null : (call.input ?? call.raw)
}

function plainResult(part: ResultPart, ids: Map<string, string | undefined>): PlainPart {
  const id = part.native ? part.native.id : ids.has(part.id) ? ids.get(part.id) : part.id
  return {
    type: 'result',
    ...(id !== undefined && { id }),
    ...(part.name !== '' && { name: part.name }),
    output: part.data ?? (part.content.length === 0 ? '' : resultText(part)),
    ...(part.status !== 'ok' && { error: true as const }),
  }
}

function plainParams(given: Params): JsonObject {
  return JSON.parse(JSON.stringify(given)) as JsonObject
}

function said(part: unknown): TextPart | MediaPart | undefined {
  if (!isObject(part)) return undefined
  if (part['type'] === 'media') {
    return {
      kind: 'media',
      mime: stringOf(part['mime']) || 'application/octet-stream',
      ...(typeof part['data'] === 'string' && { data: part['data'] }),
      ...(typeof part['uri'] === 'string' && { uri: part['uri'] }),
    }
  }
  return part['type'] === 'text' ? { kind: 'text', text: stringOf(part['text']) } : undefined
}

function assistantPart(part: unknown, mint: () => string): AssistantPart | undefined {
  if (!isObject(part)) return undefined
  if (part['type'] === 'reasoning') return { kind: 'reasoning', text: stringOf(part['text']) }
  if (part['type'] !== 'call') return said(part)
  const args = part['args']
  const raw = typeof args === 'string' ? args : JSON.stringify(args ?? {})
  return {
    kind: 'call',
    id: typeof part['id'] === 'string' && part['id'] !== '' ? part['id'] : mint(),
    name: stringOf(part['name']),
    raw,
    ...(typeof args !== 'string' && { input: (isObject(args) ? args : {}) as JsonObject }),
  }
}

function readResult(part: unknown, open: { id: string; name: string }[]): ResultPart | undefined {
  if (!isObject(part) || part['type'] !== 'result') return undefined
  const id = typeof part['id'] === 'string' && part['id'] !== '' ? part['id'] : undefined
  const name = typeof part['name'] === 'string' ? part['name'] : undefined
  const found = open.findIndex((call) => (id !== undefined ? call.id === id : name === undefined || call.name === name))
  const call = found < 0 ? undefined : open.splice(found, 1)[0]
  const output = part['output'] as Json | undefined
  const text = typeof output === 'string' ? output : undefined
  return {
    kind: 'result',
    id: call?.id ?? id ?? '',
    name: call?.name ?? name ?? '',
    status: part['error'] === true ? 'error' : 'ok',
    content: text === undefined ? [] : [{ kind: 'text', text }],
    ...(text === undefined && output !== undefined && { data: output }),
  }
}

function tool(value: unknown): ToolSpec {
  const given = isObject(value) ? value : {}
  return {
    name: stringOf(given['name']),
    description: stringOf(given['description']),
    schema: isObject(given['schema']) ? (given['schema'] as JsonObject) : { type: 'object', properties: {} },
  }
}

function toolChoice(value: unknown): ToolChoice | undefined {
  if (value === 'auto' || value === 'none' || value === 'required') return value
  if (value === 'any') return 'required'
  if (isObject(value) && typeof value['name'] === 'string') return { name: value['name'] }
  if (isObject(value) && Array.isArray(value['only'])) return { only: value['only'].map(String) }
  return undefined
}

function readParams(value: unknown): Params {
  const given = isObject(value) ? value : {}
  const number = (key: string) => (typeof given[key] === 'number' ? { [key]: given[key] } : {})
  const effort = given['effort']
  return {
    ...number('maxTokens'),
    ...number('temperature'),
    ...number('topP'),
    ...(Array.isArray(given['stop']) && { stop: given['stop'].map(String) }),
    ...((typeof effort === 'string' || typeof effort === 'number') && {
      effort: effort as NonNullable<Params['effort']>,
    }),
    ...(typeof given['parallelCalls'] === 'boolean' && { parallelCalls: given['parallelCalls'] }),
    ...(typeof given['stream'] === 'boolean' && { stream: given['stream'] }),
    ...(typeof given['store'] === 'boolean' && { store: given['store'] }),
  }
}
