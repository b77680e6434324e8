import type { Warning } from '../../model/event.ts'
import type { DecodedRequest } from '../wire.ts'
import { type JsonObject, filterObjects, nonBlankString, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { ModelParams, ModelRequest, ToolChoice, ToolSpec } from '../../model/request.ts'
import type { AssistantPart, MediaPart, TextPart, Turn } from '../../model/turn.ts'
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
import { type JsonFields, getReplayedFields, getTextsByChannel } from './output-item.ts'
import { defined } from '../../model/defined.ts'

const WIRE_ID = 'openai-responses'
const READ_ORIGIN = { provider: WIRE_ID, wire: WIRE_ID, model: '' } as const

export function readResponsesRequest(body: unknown): DecodedRequest {
  const warnings: Warning[] = []
  const fields = objectOrEmpty(body)
  const system = [nonBlankString(fields['instructions'])].filter((text) => text !== undefined)
  const turns: Turn[] = []
  const input =
    typeof fields['input'] === 'string' ? [{ role: 'user', content: fields['input'] }] : filterObjects(fields['input'])
  for (const item of input) readItem(item, turns, system)
  const session = nonBlankString(fields['prompt_cache_key'])
  const format = objectOrEmpty(objectOrEmpty(fields['text'])['format'])
  const options = readOtherFields(fields, KNOWN_FIELDS, { text: 'format' })
  const previous = nonBlankString(fields['previous_response_id'])
  const request: ModelRequest = {
    model: nonBlankString(fields['model']) ?? '',
    ...(system.length > 0 && { system: system.join('\n') }),
    tools: filterObjects(fields['tools']).flatMap(readTools),
    ...defined({ toolChoice: readToolChoice(fields['tool_choice']) }),
    turns,
    params: readParams(fields),
    ...readOutputFormat(format['name'], format['schema']),
    ...defined({ session, previous }),
    ...(options && { providerOptions: { [WIRE_ID]: options } }),
  }
  return { request, warnings }
}

const KNOWN_FIELDS =
  'model input instructions stream store include max_output_tokens temperature top_p reasoning prompt_cache_key prompt_cache_retention prompt_cache_options previous_response_id tool_choice parallel_tool_calls tools'

/** System messages at the start are the system prompt; later ones are notes, so that the order is kept (T101). */
function readItem(item: JsonFields, turns: Turn[], system: string[]): void {
  const type = nonBlankString(item['type']) ?? 'message'
  const { role } = item
  if (type === 'message' && (role === 'system' || role === 'developer')) {
    const text = readContentParts(item['content'])
      .map((part) => (part.kind === 'text' ? part.text : ''))
      .join('\n')
    if (turns.length === 0) system.push(text)
    else turns.push({ role: 'note', text })
  } else if (type === 'message' && role !== 'assistant')
    turns.push({ role: 'user', parts: readContentParts(item['content']) })
  else if (type === 'function_call_output' || type === 'custom_tool_call_output') addResult(item, turns)
  else {
    const last = turns.at(-1)
    const parts = readAssistantParts(item, type)
    if (last?.role === 'assistant') turns[turns.length - 1] = { ...last, parts: [...last.parts, ...parts] }
    else turns.push({ role: 'assistant', origin: READ_ORIGIN, parts, finish: { reason: 'stop' } })
  }
}

function addResult(item: JsonFields, turns: Turn[]): void {
  appendResults(turns, {
    kind: 'result',
    id: nonBlankString(item['call_id']) ?? '',
    name: nonBlankString(item['name']) ?? '',
    status: 'ok',
    content: readContentParts(item['output']),
  })
}

function readAssistantParts(item: JsonFields, type: string): AssistantPart[] {
  const texts = getTextsByChannel({ ...item, type })
  if (type === 'message') {
    const { phase } = item
    const native =
      typeof phase === 'string' ? { native: createNativeDataFromRequest(WIRE_ID, undefined, { phase }) } : {}
    const refusals = (texts.refusal ?? []).map((text) => ({ kind: 'text', text, refusal: true, ...native }) as const)
    return [...(texts.text ?? []).map((text) => ({ kind: 'text', text, ...native }) as const), ...refusals]
  }
  if (type === 'reasoning') {
    const text = texts.summary?.join('\n\n') ?? texts.thought?.join('') ?? ''
    if (nonBlankString(item['encrypted_content']) === undefined) return [{ kind: 'reasoning', text }]
    return [{ kind: 'reasoning', text, native: createNativeDataFromRequest(WIRE_ID, undefined, item as JsonObject) }]
  }
  if (type !== 'function_call' && type !== 'custom_tool_call')
    return [
      {
        kind: 'text',
        text: '',
        native: createNativeDataFromRequest(WIRE_ID, nonBlankString(item['id']), item as JsonObject),
      },
    ]
  return [readCall(item, type === 'custom_tool_call')]
}

function readCall(item: JsonFields, freeform: boolean): AssistantPart {
  const fields = freeform ? item['input'] : item['arguments']
  const raw = typeof fields === 'string' ? fields : JSON.stringify(fields ?? {})
  const id = nonBlankString(item['call_id']) ?? nonBlankString(item['id']) ?? ''
  const reading = parseCallArguments(raw)
  const input = freeform ? { input: raw } : reading.ok ? reading.inputs[0] : undefined
  return {
    kind: 'call',
    id,
    name: stringOrEmpty(item['name']),
    raw,
    ...defined({ input }),
    ...(freeform && { freeform: true as const }),
    native: createNativeDataFromRequest(WIRE_ID, id, getReplayedFields(item)),
  }
}

function readContentParts(content: unknown): (TextPart | MediaPart)[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  return filterObjects(content).flatMap((part): (TextPart | MediaPart)[] => {
    if (typeof part['text'] === 'string') return [{ kind: 'text', text: part['text'] }]
    if (typeof part['image_url'] === 'string') return [parseMediaUrl(part['image_url'], 'image/*')]
    const file = nonBlankString(part['file_data']) ?? nonBlankString(part['file_url'])
    if (file === undefined) return []
    const media = parseMediaUrl(file, 'application/octet-stream')
    return [typeof part['filename'] === 'string' ? { ...media, name: part['filename'] } : media]
  })
}

/** Only tools that the client runs. */
function readTools(fields: JsonFields): ToolSpec[] {
  if (fields['type'] !== 'function' && fields['type'] !== 'custom') return []
  return [
    {
      name: stringOrEmpty(fields['name']),
      description: stringOrEmpty(fields['description']),
      schema: readToolSchema(fields['parameters']),
      ...(fields['type'] === 'custom' && { freeform: true }),
    },
  ]
}

function readToolChoice(value: unknown): ToolChoice | undefined {
  if (value === 'auto' || value === 'none' || value === 'required') return value
  const { type, tools, name } = objectOrEmpty(value)
  if (type === 'allowed_tools')
    return { only: filterObjects(tools).flatMap((one) => nonBlankString(one['name']) ?? []) }
  return typeof name === 'string' ? { name } : undefined
}

/** Parallel calls are the default on this wire, so only `false` has a meaning. */
function readParams(body: JsonFields): ModelParams {
  const effort = readOpenAiEffort(objectOrEmpty(body['reasoning'])['effort'])
  return {
    ...(typeof body['max_output_tokens'] === 'number' && { maxTokens: body['max_output_tokens'] }),
    ...(typeof body['temperature'] === 'number' && { temperature: body['temperature'] }),
    ...(typeof body['top_p'] === 'number' && { topP: body['top_p'] }),
    ...defined({ effort, cacheTtl: readOpenAiCacheTtl(body) }),
    ...(body['parallel_tool_calls'] === false && { parallelCalls: false }),
    ...(typeof body['stream'] === 'boolean' && { stream: body['stream'] }),
    ...(typeof body['store'] === 'boolean' && { store: body['store'] }),
  }
}
