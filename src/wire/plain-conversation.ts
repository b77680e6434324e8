import { isObject, type Json, type JsonObject, nonBlankString, objectOrEmpty, stringOrEmpty } from '../model/json.ts'
import type { HostedTool, ModelParams, ModelRequest, OutputFormat, ToolChoice, ToolSpec } from '../model/request.ts'
import { formatResultText } from '../model/text.ts'
import type { AssistantPart, CallPart, MediaPart, ResultPart, TextPart, Turn } from '../model/turn.ts'
import { collectDeclaredTools } from './late-tools.ts'
import { readOutputFormat } from './output-format.ts'
import { appendResults, readToolSchema } from './read-parts.ts'
import { defined } from '../model/defined.ts'

/** A request in one format for all wires: the input of `dragoman wire encode` and the output of `dragoman wire read`. */
export interface PlainConversation {
  readonly system: string | null
  readonly messages: readonly PlainMessage[]
  readonly tools?: readonly PlainTool[]
  /** Tools that only their own API can carry. */
  readonly hostedTools?: readonly HostedTool[]
  readonly toolChoice?: ToolChoice
  readonly params?: JsonObject
  readonly output?: OutputFormat
  /** The response that this continues, if the vendor stores the history. */
  readonly previous?: string
}

type PlainTool = Omit<ToolSpec, 'description' | 'native'> & { readonly description?: string }

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
  /** Something that only the vendor understands. */
  | { type: 'item'; kind: string }

/** Ids are those of the wire; vendor data is only shown as `opaque`. */
export function toPlainConversation(request: ModelRequest): PlainConversation {
  const messages: PlainMessage[] = []
  const ids = new Map<string, string | undefined>()
  for (const turn of request.turns) {
    switch (turn.role) {
      case 'user':
        messages.push({ role: 'user', parts: turn.parts.map(toPlainContent) })
        break
      case 'note':
        if (turn.text !== '') messages.push({ role: 'user', parts: [{ type: 'text', text: turn.text }] })
        break
      case 'assistant':
        for (const part of turn.parts) if (part.kind === 'call') ids.set(part.id, getWireId(part))
        messages.push({ role: 'assistant', parts: turn.parts.map(toPlainPart) })
        break
      case 'results':
        for (const part of turn.parts) messages.push({ role: 'tool', parts: [toPlainResult(part, ids)] })
        break
    }
  }
  const params = JSON.parse(JSON.stringify(request.params ?? {})) as JsonObject
  const tools = collectDeclaredTools(request).known
  return {
    system: request.system ?? null,
    messages,
    ...(tools.length > 0 && { tools: tools.map(toPlainTool) }),
    ...defined({ hostedTools: request.hostedTools }),
    ...defined({ toolChoice: request.toolChoice }),
    ...(Object.keys(params).length > 0 && { params }),
    ...defined({ output: request.output }),
    ...defined({ previous: request.previous }),
  }
}

/** Results without an id belong to the open calls, in order. Throws an error with a message for the user. */
export function fromPlainConversation(value: unknown, model: string): ModelRequest {
  if (!isObject(value) || !Array.isArray(value['messages'])) throw new Error('a conversation needs a list of messages')
  const turns: Turn[] = []
  let open: { id: string; name: string }[] = []
  let calls = 0
  for (const [at, message] of value['messages'].entries()) {
    const parts: unknown = isObject(message) ? message['parts'] : undefined
    if (!isObject(message) || !Array.isArray(parts)) throw new Error(`message ${at} needs a role and a list of parts`)
    if (message['role'] === 'user')
      turns.push({ role: 'user', parts: parts.map(readContentPart).filter((part) => part !== undefined) })
    else if (message['role'] === 'assistant') {
      const read = parts
        .map((part) => readAssistantPart(part, () => `call${calls++}`))
        .filter((part) => part !== undefined)
      open = read.filter((part) => part.kind === 'call').map((part) => ({ id: part.id, name: part.name }))
      turns.push({ role: 'assistant', origin: PLAIN_ORIGIN, parts: read, finish: { reason: 'stop' } })
    } else if (message['role'] === 'tool') {
      appendResults(turns, ...parts.map((part) => readResult(part, open)).filter((part) => part !== undefined))
    } else throw new Error(`message ${at} has the unknown role ${JSON.stringify(message['role'])}`)
  }
  return {
    model: typeof value['model'] === 'string' ? value['model'] : model,
    ...(typeof value['system'] === 'string' && { system: value['system'] }),
    tools: Array.isArray(value['tools']) ? value['tools'].map(readTool) : [],
    ...(Array.isArray(value['hostedTools']) && { hostedTools: value['hostedTools'] as HostedTool[] }),
    ...defined({ toolChoice: readToolChoice(value['toolChoice']) }),
    turns,
    params: readParams(objectOrEmpty(value['params'])),
    ...readOutputFormat(objectOrEmpty(value['output'])['name'], objectOrEmpty(value['output'])['schema']),
    ...(typeof value['previous'] === 'string' && { previous: value['previous'] }),
  }
}

const PLAIN_ORIGIN = { provider: 'conversation', wire: 'openai-chat', model: '' } as const

function toPlainTool({ description, native: _native, ...rest }: ToolSpec): PlainTool {
  return description === '' ? rest : { ...rest, description }
}

function toPlainContent(part: TextPart | MediaPart): PlainPart {
  if (part.kind === 'text' && part.text === '' && isObject(part.native?.data))
    return { type: 'item', kind: getNativeKind(part.native.data) }
  if (part.kind === 'text') return { type: 'text', text: part.text }
  return { type: 'media', mime: part.mime, ...defined({ data: part.data, uri: part.uri }) }
}

/** The vendor's type of an item or a part, which may be inside the data. */
function getNativeKind(data: Record<string, unknown>): string {
  const kinds = [data, objectOrEmpty(data['item']), objectOrEmpty(data['part'])].map(({ type }) => stringOrEmpty(type))
  return kinds.find((kind) => kind !== '') ?? 'native'
}

function toPlainPart(part: AssistantPart): PlainPart {
  const opaque = part.native?.data === undefined ? {} : ({ opaque: true } as const)
  switch (part.kind) {
    case 'reasoning':
      return { type: 'reasoning', ...(part.text !== '' && { text: part.text }), ...opaque }
    case 'call': {
      const id = getWireId(part)
      return { type: 'call', ...defined({ id }), name: part.name, args: toPlainArguments(part), ...opaque }
    }
    case 'text':
    case 'media':
      return toPlainContent(part)
    default:
      return part satisfies never
  }
}

function getWireId({ id, native }: CallPart): string | undefined {
  return native ? native.id : id
}

/** `null`, which some vendors send for "no arguments", is shown as it is. */
function toPlainArguments(call: CallPart): Json {
  return call.raw.trim() === 'null' ? null : (call.input ?? call.raw)
}

function toPlainResult(part: ResultPart, ids: Map<string, string | undefined>): PlainPart {
  const id = part.native ? part.native.id : ids.has(part.id) ? ids.get(part.id) : part.id
  return {
    type: 'result',
    ...defined({ id }),
    ...(part.name !== '' && { name: part.name }),
    output: part.data ?? (part.content.length === 0 ? '' : formatResultText(part)),
    ...(part.status !== 'ok' && { error: true as const }),
  }
}

function readContentPart(part: unknown): TextPart | MediaPart | undefined {
  if (!isObject(part)) return undefined
  if (part['type'] === 'media') {
    return {
      kind: 'media',
      mime: stringOrEmpty(part['mime']) || 'application/octet-stream',
      ...(typeof part['data'] === 'string' && { data: part['data'] }),
      ...(typeof part['uri'] === 'string' && { uri: part['uri'] }),
    }
  }
  return part['type'] === 'text' ? { kind: 'text', text: stringOrEmpty(part['text']) } : undefined
}

function readAssistantPart(part: unknown, newId: () => string): AssistantPart | undefined {
  if (!isObject(part)) return undefined
  if (part['type'] === 'reasoning') return { kind: 'reasoning', text: stringOrEmpty(part['text']) }
  if (part['type'] !== 'call') return readContentPart(part)
  const args = part['args']
  const raw = typeof args === 'string' ? args : JSON.stringify(args ?? {})
  return {
    kind: 'call',
    id: nonBlankString(part['id']) ?? newId(),
    name: stringOrEmpty(part['name']),
    raw,
    ...(typeof args !== 'string' && { input: objectOrEmpty(args) as JsonObject }),
  }
}

function readResult(part: unknown, open: { id: string; name: string }[]): ResultPart | undefined {
  if (!isObject(part) || part['type'] !== 'result') return undefined
  const id = nonBlankString(part['id'])
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

function readTool(value: unknown): ToolSpec {
  const { name, description, schema, freeform, grammar, namespace, deferred } = objectOrEmpty(value)
  return {
    name: stringOrEmpty(name),
    description: stringOrEmpty(description),
    schema: readToolSchema(schema),
    ...(freeform === true && { freeform }),
    ...(isObject(grammar) && { grammar: grammar as unknown as NonNullable<ToolSpec['grammar']> }),
    ...(isObject(namespace) && { namespace: namespace as unknown as NonNullable<ToolSpec['namespace']> }),
    ...(deferred === true && { deferred }),
  }
}

function readToolChoice(value: unknown): ToolChoice | undefined {
  if (value === 'auto' || value === 'none' || value === 'required') return value
  if (value === 'any') return 'required'
  if (isObject(value) && typeof value['name'] === 'string') return { name: value['name'] }
  if (isObject(value) && Array.isArray(value['only'])) return { only: value['only'].map(String) }
  return undefined
}

function readParams(fields: Record<string, unknown>): ModelParams {
  const number = (key: string) => (typeof fields[key] === 'number' ? { [key]: fields[key] } : {})
  const effort = fields['effort']
  return {
    ...number('maxTokens'),
    ...number('temperature'),
    ...number('topP'),
    ...(Array.isArray(fields['stop']) && { stop: fields['stop'].map(String) }),
    ...((typeof effort === 'string' || typeof effort === 'number') && {
      effort: effort as NonNullable<ModelParams['effort']>,
    }),
    ...(typeof fields['parallelCalls'] === 'boolean' && { parallelCalls: fields['parallelCalls'] }),
    ...(typeof fields['stream'] === 'boolean' && { stream: fields['stream'] }),
    ...(typeof fields['store'] === 'boolean' && { store: fields['store'] }),
    ...((fields['cacheTtl'] === '5m' || fields['cacheTtl'] === '1h') && { cacheTtl: fields['cacheTtl'] }),
  }
}
