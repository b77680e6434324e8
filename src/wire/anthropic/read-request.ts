import type { Warning } from '../../model/event.ts'
import type { DecodedRequest } from '../wire.ts'
import { isObject, type Json, type JsonObject, filterObjects, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { ModelParams, ModelRequest, ToolChoice, ToolSpec } from '../../model/request.ts'
import type { AssistantPart, MediaPart, NativeData, ResultPart, TextPart, Turn } from '../../model/turn.ts'
import { readOutputFormat } from '../output-format.ts'
import { readOtherFields } from '../provider-options.ts'
import { createNativeDataFromRequest, readToolSchema } from '../read-parts.ts'
import { defined } from '../../model/defined.ts'

const WIRE_ID = 'anthropic'

export function readAnthropicRequest(body: unknown): DecodedRequest {
  const warnings: Warning[] = []
  const fields = objectOrEmpty(body)
  const model = stringOrEmpty(fields['model'])
  const system = joinText(toBlocks(fields['system']))
  const options = readOtherFields(fields, KNOWN_FIELDS, { output_config: 'effort format' })
  const request: ModelRequest = {
    model,
    ...(system !== '' && { system }),
    tools: filterObjects(fields['tools']).flatMap(readTools),
    ...defined({ toolChoice: readToolChoice(fields['tool_choice']) }),
    turns: filterObjects(fields['messages']).flatMap((message) => readMessage(message, model)),
    params: readParams(fields),
    ...readOutputFormat('answer', objectOrEmpty(objectOrEmpty(fields['output_config'])['format'])['schema']),
    ...(options && { providerOptions: { [WIRE_ID]: options } }),
  }
  return { request, warnings }
}

const KNOWN_FIELDS =
  'model messages system max_tokens temperature top_p stop_sequences stream thinking tools tool_choice cache_control'

function joinText(blocks: readonly Record<string, unknown>[]): string {
  return blocks.map((block) => stringOrEmpty(block['text'])).join('\n')
}

function readMessage(message: Record<string, unknown>, model: string): Turn[] {
  const blocks = toBlocks(message['content'])
  if (message['role'] === 'system') return [{ role: 'note', text: joinText(blocks) }]
  if (message['role'] !== 'assistant') return readUserTurns(blocks)
  const parts = blocks.map(readAssistantPart)
  const reason = parts.some((part) => part.kind === 'call') ? 'calls' : 'stop'
  return [{ role: 'assistant', origin: { provider: WIRE_ID, wire: WIRE_ID, model }, parts, finish: { reason } }]
}

/** A user message contains both the user's content and results of calls; these become separate turns, in order. */
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
    const native =
      stringOrEmpty(block['signature']) === '' ? createNativeDataFromRequest(WIRE_ID, undefined) : keepBlock(block)
    return { kind: 'reasoning', text: stringOrEmpty(block['thinking']), native }
  }
  if (type === 'redacted_thinking') return { kind: 'reasoning', text: '', native: keepBlock(block) }
  if (type !== 'tool_use') return { kind: 'text', text: '', native: keepBlock(block) }
  const id = stringOrEmpty(block['id'])
  const input = block['input'] ?? {}
  const caller =
    isObject(block['caller']) && block['caller']['type'] !== 'direct' ? { caller: block['caller'] as Json } : undefined
  return {
    kind: 'call',
    id,
    name: stringOrEmpty(block['name']),
    raw: typeof input === 'string' ? input : JSON.stringify(input),
    ...(isObject(input) && { input: input as JsonObject }),
    native: createNativeDataFromRequest(WIRE_ID, id === '' ? undefined : id, caller),
  }
}

/** On this wire a result does not name its tool; its call does. */
function readToolResult(block: Record<string, unknown>): ResultPart {
  return {
    kind: 'result',
    id: stringOrEmpty(block['tool_use_id']),
    name: '',
    status: block['is_error'] === true ? 'error' : 'ok',
    content: toBlocks(block['content'])
      .map(readContentPart)
      .filter((part) => part.kind !== 'text' || part.text !== ''),
  }
}

function readContentPart(block: Record<string, unknown>): TextPart | MediaPart {
  if (block['type'] === 'text') return readTextPart(block)
  const source = objectOrEmpty(block['source'])
  const isImage = block['type'] === 'image'
  const isDocument = block['type'] === 'document'
  const fallback = isImage ? 'image/*' : 'application/octet-stream'
  const mime = typeof source['media_type'] === 'string' ? source['media_type'] : fallback
  if ((isImage || isDocument) && source['type'] === 'base64')
    return { kind: 'media', mime, data: stringOrEmpty(source['data']) }
  if ((isImage || isDocument) && source['type'] === 'url')
    return { kind: 'media', mime: isDocument ? 'application/pdf' : mime, uri: stringOrEmpty(source['url']) }
  // A file at the vendor, a search result, plain text as a document: only the vendor can read it.
  return { kind: 'media', mime, native: keepBlock(block) }
}

function readTextPart(block: Record<string, unknown>): TextPart {
  const { citations } = block
  const hasCitations = Array.isArray(citations) && citations.length > 0
  const data = { type: 'text', citations: citations as Json }
  const native = hasCitations ? createNativeDataFromRequest(WIRE_ID, undefined, data) : undefined
  return { kind: 'text', text: stringOrEmpty(block['text']), ...defined({ native }) }
}

/** The whole block, without the cache mark, which belongs to the request. */
function keepBlock(block: Record<string, unknown>): NativeData {
  const fields = Object.entries(block as JsonObject).filter(([key]) => key !== 'cache_control')
  return createNativeDataFromRequest(WIRE_ID, undefined, Object.fromEntries(fields))
}

/** Only tools that the client runs. */
function readTools(fields: Record<string, unknown>): ToolSpec[] {
  if (!isObject(fields['input_schema']) && typeof fields['type'] === 'string' && fields['type'] !== 'custom') return []
  return [
    {
      name: stringOrEmpty(fields['name']),
      description: stringOrEmpty(fields['description']),
      schema: readToolSchema(fields['input_schema']),
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
  const isSerial = objectOrEmpty(body['tool_choice'])['disable_parallel_tool_use'] === true
  return {
    ...(typeof body['max_tokens'] === 'number' && { maxTokens: body['max_tokens'] }),
    ...(typeof body['temperature'] === 'number' && { temperature: body['temperature'] }),
    ...(typeof body['top_p'] === 'number' && { topP: body['top_p'] }),
    ...(Array.isArray(body['stop_sequences']) && { stop: body['stop_sequences'].map(String) }),
    ...defined({ effort: readEffort(body), cacheTtl: readCacheTtl(body) }),
    ...(isSerial && { parallelCalls: false }),
    ...(typeof body['stream'] === 'boolean' && { stream: body['stream'] }),
  }
}

function readCacheTtl(body: Record<string, unknown>): ModelParams['cacheTtl'] {
  const marked = [body, ...filterObjects(body['tools']), ...filterObjects(body['system'])]
  const lifetimes = marked.map((fields) => objectOrEmpty(fields['cache_control'])['ttl'])
  return (['1h', '5m'] as const).find((ttl) => lifetimes.includes(ttl))
}

function readEffort(body: Record<string, unknown>): ModelParams['effort'] | undefined {
  const thinking = objectOrEmpty(body['thinking'])
  const config = objectOrEmpty(body['output_config'])
  if (thinking['type'] === 'disabled') return 'off'
  if (thinking['type'] === 'enabled' && typeof thinking['budget_tokens'] === 'number') return thinking['budget_tokens']
  if (config['effort'] === 'max') return 'xhigh'
  return EFFORTS.find((effort) => effort === config['effort'])
}

const EFFORTS = ['low', 'medium', 'high', 'xhigh'] as const

function toBlocks(content: unknown): Record<string, unknown>[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return filterObjects(content)
}
