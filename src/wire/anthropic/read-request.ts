import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { ModelParams, ModelRequest, ToolChoice, ToolSpec } from '../../model/request.ts'
import type { AssistantPart, MediaPart, NativeData, ResultPart, TextPart, Turn } from '../../model/turn.ts'
import { defined } from '../../model/defined.ts'

const WIRE_ID = 'anthropic'

/** Reads a messages request back into a request. */
export function readAnthropicRequest(body: unknown): ModelRequest {
  const fields = isObject(body) ? body : {}
  const model = toText(fields['model'])
  const system = toBlocks(fields['system'])
    .map((block) => toText(block['text']))
    .join('\n')
  const choice = readToolChoice(fields['tool_choice'])
  return {
    model,
    ...(system !== '' && { system }),
    tools: toObjects(fields['tools']).flatMap(readTools),
    ...defined({ toolChoice: choice }),
    turns: toObjects(fields['messages']).flatMap((message) => readMessage(message, model)),
    params: readParams(fields),
  }
}

function readMessage(message: Record<string, unknown>, model: string): Turn[] {
  const blocks = toBlocks(message['content'])
  if (message['role'] === 'system')
    return [{ role: 'note', text: blocks.map((block) => toText(block['text'])).join('\n') }]
  if (message['role'] !== 'assistant') return readUserTurns(blocks)
  const parts = blocks.map(readAssistantPart)
  const reason = parts.some((part) => part.kind === 'call') ? 'calls' : 'stop'
  return [{ role: 'assistant', origin: { provider: WIRE_ID, wire: WIRE_ID, model }, parts, finish: { reason } }]
}

/** A user's message holds what the user said and the results of calls; here they are turns of their own, in their order. */
function readUserTurns(blocks: readonly Record<string, unknown>[]): Turn[] {
  const turns: Turn[] = []
  for (const block of blocks) {
    const last = turns.at(-1)
    if (block['type'] === 'tool_result') {
      const parts = last?.role === 'results' ? [...last.parts, readToolResult(block)] : [readToolResult(block)]
      turns.splice(last?.role === 'results' ? -1 : turns.length, 1, { role: 'results', parts })
    } else {
      const parts = last?.role === 'user' ? [...last.parts, readContentPart(block)] : [readContentPart(block)]
      turns.splice(last?.role === 'user' ? -1 : turns.length, 1, { role: 'user', parts })
    }
  }
  return turns
}

function readAssistantPart(block: Record<string, unknown>): AssistantPart {
  const type = block['type']
  if (type === 'text') return readTextPart(block)
  if (type === 'thinking') {
    const signed = typeof block['signature'] === 'string' && block['signature'] !== ''
    return {
      kind: 'reasoning',
      text: toText(block['thinking']),
      native: createNative(undefined, signed ? withoutCacheControl(block) : undefined),
    }
  }
  if (type === 'redacted_thinking')
    return { kind: 'reasoning', text: '', native: createNative(undefined, withoutCacheControl(block)) }
  if (type !== 'tool_use')
    return { kind: 'text', text: '', native: createNative(undefined, withoutCacheControl(block)) }
  const id = toText(block['id'])
  const input = block['input'] ?? {}
  const caller =
    isObject(block['caller']) && block['caller']['type'] !== 'direct' ? { caller: block['caller'] as Json } : undefined
  return {
    kind: 'call',
    id,
    name: toText(block['name']),
    raw: typeof input === 'string' ? input : JSON.stringify(input),
    ...(isObject(input) && { input: input as JsonObject }),
    native: createNative(id, caller),
  }
}

/** The wire does not name the tool of a result; the call does. */
function readToolResult(block: Record<string, unknown>): ResultPart {
  return {
    kind: 'result',
    id: toText(block['tool_use_id']),
    name: '',
    status: block['is_error'] === true ? 'error' : 'ok',
    content: toBlocks(block['content'])
      .map(readContentPart)
      .filter((part) => part.kind !== 'text' || part.text !== ''),
  }
}

function readContentPart(block: Record<string, unknown>): TextPart | MediaPart {
  if (block['type'] === 'text') return readTextPart(block)
  const source = isObject(block['source']) ? block['source'] : {}
  const mime =
    typeof source['media_type'] === 'string'
      ? source['media_type']
      : block['type'] === 'image'
        ? 'image/*'
        : 'application/octet-stream'
  const isMedia = block['type'] === 'image' || block['type'] === 'document'
  if (isMedia && source['type'] === 'base64') return { kind: 'media', mime, data: toText(source['data']) }
  if (isMedia && source['type'] === 'url') {
    return { kind: 'media', mime: block['type'] === 'document' ? 'application/pdf' : mime, uri: toText(source['url']) }
  }
  // A file on the vendor's side, a search result, plain text as a document: only the vendor can show it.
  return { kind: 'media', mime, native: createNative(undefined, withoutCacheControl(block)) }
}

function readTextPart(block: Record<string, unknown>): TextPart {
  const citations =
    Array.isArray(block['citations']) && block['citations'].length > 0 ? (block['citations'] as Json) : undefined
  const nativeField = citations === undefined ? {} : { native: createNative(undefined, { type: 'text', citations }) }
  return { kind: 'text', text: toText(block['text']), ...nativeField }
}

/** A block without the mark that belongs to the request rather than to the block. */
function withoutCacheControl(block: Record<string, unknown>): JsonObject {
  return Object.fromEntries(Object.entries(block as JsonObject).filter(([key]) => key !== 'cache_control'))
}

/** Tools that the client runs; those of the server are not ours to declare. */
function readTools(fields: Record<string, unknown>): ToolSpec[] {
  if (!isObject(fields['input_schema']) && typeof fields['type'] === 'string' && fields['type'] !== 'custom') return []
  return [
    {
      name: toText(fields['name']),
      description: toText(fields['description']),
      schema: (isObject(fields['input_schema'])
        ? fields['input_schema']
        : { type: 'object', properties: {} }) as JsonObject,
    },
  ]
}

function readToolChoice(value: unknown): ToolChoice | undefined {
  if (!isObject(value)) return undefined
  if (value['type'] === 'auto' || value['type'] === 'none') return value['type']
  if (value['type'] === 'any') return 'required'
  return value['type'] === 'tool' && typeof value['name'] === 'string' ? { name: value['name'] } : undefined
}

function readParams(body: Record<string, unknown>): ModelParams {
  const effort = readEffort(body)
  const isSerial = isObject(body['tool_choice']) && body['tool_choice']['disable_parallel_tool_use'] === true
  return {
    ...(typeof body['max_tokens'] === 'number' && { maxTokens: body['max_tokens'] }),
    ...(typeof body['temperature'] === 'number' && { temperature: body['temperature'] }),
    ...(typeof body['top_p'] === 'number' && { topP: body['top_p'] }),
    ...(Array.isArray(body['stop_sequences']) && { stop: body['stop_sequences'].map(String) }),
    ...defined({ effort }),
    ...(isSerial && { parallelCalls: false }),
    ...(typeof body['stream'] === 'boolean' && { stream: body['stream'] }),
  }
}

function readEffort(body: Record<string, unknown>): ModelParams['effort'] | undefined {
  const thinking = isObject(body['thinking']) ? body['thinking'] : {}
  const config = isObject(body['output_config']) ? body['output_config'] : {}
  if (thinking['type'] === 'disabled') return 'off'
  if (thinking['type'] === 'enabled' && typeof thinking['budget_tokens'] === 'number') return thinking['budget_tokens']
  if (config['effort'] === 'max') return 'xhigh'
  return EFFORTS.find((effort) => effort === config['effort'])
}

const EFFORTS = ['low', 'medium', 'high', 'xhigh'] as const

/** Content is a list of blocks, or plain text. */
function toBlocks(content: unknown): Record<string, unknown>[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return toObjects(content)
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function toObjects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function createNative(id: string | undefined, data?: Json): NativeData {
  return {
    wire: WIRE_ID,
    signer: WIRE_ID,
    ...(id !== undefined && id !== '' && { id }),
    ...defined({ data }),
  }
}
