import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { Params, Request, ToolChoice, ToolSpec } from '../../model/request.ts'
import type { AssistantPart, MediaPart, Native, ResultPart, TextPart, Turn } from '../../model/turn.ts'

const WIRE = 'anthropic'

/** Reads a messages request back into a request. */
export function read(body: unknown): Request {
  const given = isObject(body) ? body : {}
  const model = words(given['model'])
  const system = blocksOf(given['system'])
    .map((block) => words(block['text']))
    .join('\n')
  const choice = toolChoice(given['tool_choice'])
  return {
    model,
    ...(system !== '' && { system }),
    tools: listOf(given['tools']).flatMap(tool),
    ...(choice !== undefined && { toolChoice: choice }),
    turns: listOf(given['messages']).flatMap((message) => turnsOf(message, model)),
    params: params(given),
  }
}

function turnsOf(message: Record<string, unknown>, model: string): Turn[] {
  const blocks = blocksOf(message['content'])
  if (message['role'] === 'system')
    return [{ role: 'note', text: blocks.map((block) => words(block['text'])).join('\n') }]
  if (message['role'] !== 'assistant') return userTurns(blocks)
  const parts = blocks.map(assistantPart)
  const reason = parts.some((part) => part.kind === 'call') ? 'calls' : 'stop'
  return [{ role: 'assistant', origin: { provider: WIRE, wire: WIRE, model }, parts, finish: { reason } }]
}

/** A user's message holds what the user said and the results of calls; here they are turns of their own, in their order. */
function userTurns(blocks: readonly Record<string, unknown>[]): Turn[] {
  const turns: Turn[] = []
  for (const block of blocks) {
    const last = turns.at(-1)
    if (block['type'] === 'tool_result') {
      const parts = last?.role === 'results' ? [...last.parts, toolResult(block)] : [toolResult(block)]
      turns.splice(last?.role === 'results' ? -1 : turns.length, 1, { role: 'results', parts })
    } else {
      const parts = last?.role === 'user' ? [...last.parts, saidPart(block)] : [saidPart(block)]
      turns.splice(last?.role === 'user' ? -1 : turns.length, 1, { role: 'user', parts })
    }
  }
  return turns
}

function assistantPart(block: Record<string, unknown>): AssistantPart {
  const type = block['type']
  if (type === 'text') return textPart(block)
  if (type === 'thinking') {
    const signed = typeof block['signature'] === 'string' && block['signature'] !== ''
    return {
      kind: 'reasoning',
      text: words(block['thinking']),
      native: native(undefined, signed ? bare(block) : undefined),
    }
  }
  if (type === 'redacted_thinking') return { kind: 'reasoning', text: '', native: native(undefined, bare(block)) }
  if (type !== 'tool_use') return { kind: 'text', text: '', native: native(undefined, bare(block)) }
  const id = words(block['id'])
  const input = block['input'] ?? {}
  const caller =
    isObject(block['caller']) && block['caller']['type'] !== 'direct' ? { caller: block['caller'] as Json } : undefined
  return {
    kind: 'call',
    id,
    name: words(block['name']),
    raw: typeof input === 'string' ? input : JSON.stringify(input),
    ...(isObject(input) && { input: input as JsonObject }),
    native: native(id, caller),
  }
}

/** The wire does not name the tool of a result; the call does. */
function toolResult(block: Record<string, unknown>): ResultPart {
  return {
    kind: 'result',
    id: words(block['tool_use_id']),
    name: '',
    status: block['is_error'] === true ? 'error' : 'ok',
    content: blocksOf(block['content'])
      .map(saidPart)
      .filter((part) => part.kind !== 'text' || part.text !== ''),
  }
}

function saidPart(block: Record<string, unknown>): TextPart | MediaPart {
  if (block['type'] === 'text') return textPart(block)
  const source = isObject(block['source']) ? block['source'] : {}
  const mime =
    typeof source['media_type'] === 'string'
      ? source['media_type']
      : block['type'] === 'image'
        ? 'image/*'
        : 'application/octet-stream'
  const known = block['type'] === 'image' || block['type'] === 'document'
  if (known && source['type'] === 'base64') return { kind: 'media', mime, data: words(source['data']) }
  if (known && source['type'] === 'url') {
    return { kind: 'media', mime: block['type'] === 'document' ? 'application/pdf' : mime, uri: words(source['url']) }
  }
  // A file on the vendor's side, a search result, plain text as a document: only the vendor can show it.
  return { kind: 'media', mime, native: native(undefined, bare(block)) }
}

function textPart(block: Record<string, unknown>): TextPart {
  const citations =
    Array.isArray(block['citations']) && block['citations'].length > 0 ? (block['citations'] as Json) : undefined
  const sealed = citations === undefined ? {} : { native: native(undefined, { type: 'text', citations }) }
  return { kind: 'text', text: words(block['text']), ...sealed }
}

/** A block without the mark that belongs to the request rather than to the block. */
function bare(block: Record<string, unknown>): JsonObject {
  return Object.fromEntries(Object.entries(block as JsonObject).filter(([key]) => key !== 'cache_control'))
}

/** Tools that the client runs; those of the server are not ours to declare. */
function tool(given: Record<string, unknown>): ToolSpec[] {
  if (!isObject(given['input_schema']) && typeof given['type'] === 'string' && given['type'] !== 'custom') return []
  return [
    {
      name: words(given['name']),
      description: words(given['description']),
      schema: (isObject(given['input_schema'])
        ? given['input_schema']
        : { type: 'object', properties: {} }) as JsonObject,
    },
  ]
}

function toolChoice(value: unknown): ToolChoice | undefined {
  if (!isObject(value)) return undefined
  if (value['type'] === 'auto' || value['type'] === 'none') return value['type']
  if (value['type'] === 'any') return 'required'
  return value['type'] === 'tool' && typeof value['name'] === 'string' ? { name: value['name'] } : undefined
}

function params(body: Record<string, unknown>): Params {
  const effort = effortOf(body)
  const serial = isObject(body['tool_choice']) && body['tool_choice']['disable_parallel_tool_use'] === true
  return {
    ...(typeof body['max_tokens'] === 'number' && { maxTokens: body['max_tokens'] }),
    ...(typeof body['temperature'] === 'number' && { temperature: body['temperature'] }),
    ...(typeof body['top_p'] === 'number' && { topP: body['top_p'] }),
    ...(Array.isArray(body['stop_sequences']) && { stop: body['stop_sequences'].map(String) }),
    ...(effort !== undefined && { effort }),
    ...(serial && { parallelCalls: false }),
    ...(typeof body['stream'] === 'boolean' && { stream: body['stream'] }),
  }
}

function effortOf(body: Record<string, unknown>): Params['effort'] | undefined {
  const thinking = isObject(body['thinking']) ? body['thinking'] : {}
  const config = isObject(body['output_config']) ? body['output_config'] : {}
  if (thinking['type'] === 'disabled') return 'off'
  if (thinking['type'] === 'enabled' && typeof thinking['budget_tokens'] === 'number') return thinking['budget_tokens']
  if (config['effort'] === 'max') return 'xhigh'
  return EFFORTS.find((effort) => effort === config['effort'])
}

const EFFORTS = ['low', 'medium', 'high', 'xhigh'] as const

/** Content is a list of blocks, or plain text. */
function blocksOf(content: unknown): Record<string, unknown>[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return listOf(content)
}

function words(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function native(id: string | undefined, data?: Json): Native {
  return { wire: WIRE, signer: WIRE, ...(id !== undefined && id !== '' && { id }), ...(data !== undefined && { data }) }
}
