import type { Warning } from '../../model/event.ts'
import type { DecodedRequest } from '../wire.ts'
import { isObject, type Json, filterObjects, nonBlankString, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { ModelRequest, ToolChoice, ToolSpec } from '../../model/request.ts'
import type { AssistantPart, MediaPart, ResultPart, TextPart, Turn } from '../../model/turn.ts'
import { parseCallArguments } from '../calls/parse-arguments.ts'
import { readOutputFormat } from '../output-format.ts'
import { readOtherFields } from '../provider-options.ts'
import {
  appendResults,
  createNativeDataFromRequest,
  parseMediaUrl,
  readOpenAiCacheTtl,
  readOpenAiEffort,
  readToolSchema,
} from '../read-parts.ts'
import { REASONING_FIELDS } from './decode-response.ts'
import { defined } from '../../model/defined.ts'

const WIRE_ID = 'openai-chat'
const READ_ORIGIN = { provider: WIRE_ID, wire: WIRE_ID, model: '' } as const

export function readChatRequest(body: unknown): DecodedRequest {
  const warnings: Warning[] = []
  const fields = objectOrEmpty(body)
  const turns: Turn[] = []
  const system: string[] = []
  let callCount = 0
  for (const message of filterObjects(fields['messages'])) {
    const role = message['role']
    if (role === 'system' || role === 'developer') system.push(toPlainText(message['content']))
    else if (role === 'assistant') {
      const parts = readAssistantParts(message, () => `call${callCount++}`)
      turns.push({ role: 'assistant', origin: READ_ORIGIN, parts, finish: { reason: 'stop' } })
    } else if (role === 'tool' || role === 'function') appendResults(turns, readToolResult(message, turns))
    else turns.push({ role: 'user', parts: readContentParts(message['content']) })
  }
  const options = readOtherFields(fields, KNOWN_FIELDS)
  const request: ModelRequest = {
    model: stringOrEmpty(fields['model']),
    ...(system.length > 0 && { system: system.join('\n') }),
    tools: filterObjects(fields['tools']).map(readTool),
    ...defined({ toolChoice: readToolChoice(fields['tool_choice']) }),
    turns,
    params: readParams(fields),
    ...readResponseFormat(objectOrEmpty(fields['response_format'])),
    ...(options && { providerOptions: { [WIRE_ID]: options } }),
  }
  return { request, warnings }
}

const KNOWN_FIELDS =
  'model messages stream stream_options max_tokens max_completion_tokens temperature top_p stop reasoning_effort response_format prompt_cache_key prompt_cache_retention prompt_cache_options tool_choice parallel_tool_calls tools'

function readResponseFormat(fields: Record<string, unknown>): Pick<ModelRequest, 'output'> {
  const { name, schema } = objectOrEmpty(fields['json_schema'])
  return readOutputFormat(name, schema)
}

function readAssistantParts(message: Record<string, unknown>, newId: () => string): AssistantPart[] {
  const parts: AssistantPart[] = []
  const field = REASONING_FIELDS.find((key) => stringOrEmpty(message[key]) !== '')
  const details = Array.isArray(message['reasoning_details']) ? (message['reasoning_details'] as Json) : undefined
  if (field !== undefined || details !== undefined) {
    const native = details && createNativeDataFromRequest(WIRE_ID, undefined, { ...(field && { field }), details })
    parts.push({ kind: 'reasoning', text: field ? String(message[field]) : '', ...(native && { native }) })
  }
  parts.push(...readContentParts(message['content']))
  for (const call of filterObjects(message['tool_calls'])) {
    const inner = getInnerObject(call) ?? call
    const args = inner['arguments'] ?? inner['input'] ?? inner['args']
    const raw = typeof args === 'string' ? args : JSON.stringify(args ?? {})
    const id = nonBlankString(call['id'])
    const isFreeform = call['type'] === 'custom'
    const reading = parseCallArguments(raw)
    const input = isFreeform ? { input: raw } : reading.ok ? reading.inputs[0] : undefined
    const extra = isObject(call['extra_content']) ? { extra_content: call['extra_content'] as Json } : undefined
    parts.push({
      kind: 'call',
      id: id ?? newId(),
      name: stringOrEmpty(inner['name']),
      raw,
      ...defined({ input }),
      ...(isFreeform && { freeform: true as const }),
      native: createNativeDataFromRequest(WIRE_ID, id, extra),
    })
  }
  return parts
}

/** A result without the id of a call belongs to the first call that has no result yet. */
function readToolResult(message: Record<string, unknown>, turns: readonly Turn[]): ResultPart {
  const id = stringOrEmpty(message['tool_call_id'])
  const last = turns.at(-1)
  const answered = last?.role === 'results' ? last.parts : []
  const calls = turns.findLast((turn) => turn.role === 'assistant')?.parts.filter((part) => part.kind === 'call') ?? []
  const open = calls.find((call) => !answered.some((result) => result.id === call.id))
  return {
    kind: 'result',
    id: id || (open?.id ?? ''),
    name: stringOrEmpty(message['name']),
    status: 'ok',
    content: readContentParts(message['content']),
    native: createNativeDataFromRequest(WIRE_ID, id || undefined),
  }
}

function readContentParts(content: unknown): (TextPart | MediaPart)[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  return filterObjects(content).flatMap((part): (TextPart | MediaPart)[] => {
    if (typeof part['text'] === 'string') return [{ kind: 'text', text: part['text'] }]
    const url = isObject(part['image_url']) ? part['image_url']['url'] : part['image_url']
    if (typeof url === 'string') return [parseMediaUrl(url, 'image/*')]
    if (!isObject(part['input_audio'])) return []
    const { format, data } = part['input_audio']
    return [{ kind: 'media', mime: `audio/${stringOrEmpty(format)}`, data: stringOrEmpty(data) }]
  })
}

function toPlainText(content: unknown): string {
  return readContentParts(content)
    .map((part) => (part.kind === 'text' ? part.text : ''))
    .join('\n')
}

function readTool(fields: Record<string, unknown>): ToolSpec {
  const inner = getInnerObject(fields) ?? fields
  return {
    name: stringOrEmpty(inner['name']),
    description: stringOrEmpty(inner['description']),
    schema: readToolSchema(inner['parameters']),
    ...(fields['type'] === 'custom' && { freeform: true }),
  }
}

function readToolChoice(value: unknown): ToolChoice | undefined {
  if (value === 'auto' || value === 'none' || value === 'required') return value
  if (value === 'any') return 'required'
  if (!isObject(value)) return undefined
  const allowed = value['allowed_tools']
  if (isObject(allowed) && Array.isArray(allowed['tools']))
    return { only: filterObjects(allowed['tools']).flatMap((one) => getChosenName(one) ?? []) }
  const name = getChosenName(value)
  return name === undefined ? undefined : { name }
}

function getChosenName(fields: Record<string, unknown>): string | undefined {
  const name = getInnerObject(fields)?.['name']
  return typeof name === 'string' ? name : undefined
}

/** A tool, a call and a choice have their fields under their type. */
function getInnerObject(fields: Record<string, unknown>): Record<string, unknown> | undefined {
  return [fields['function'], fields['custom']].find(isObject)
}

function readParams(body: Record<string, unknown>) {
  const maxTokens = body['max_completion_tokens'] ?? body['max_tokens']
  return {
    ...(typeof maxTokens === 'number' && { maxTokens }),
    ...(typeof body['temperature'] === 'number' && { temperature: body['temperature'] }),
    ...(typeof body['top_p'] === 'number' && { topP: body['top_p'] }),
    ...(Array.isArray(body['stop']) && { stop: body['stop'].map(String) }),
    ...(typeof body['parallel_tool_calls'] === 'boolean' && { parallelCalls: body['parallel_tool_calls'] }),
    ...defined({ effort: readOpenAiEffort(body['reasoning_effort']), cacheTtl: readOpenAiCacheTtl(body) }),
    ...(typeof body['stream'] === 'boolean' && { stream: body['stream'] }),
  }
}
