import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { ModelParams, ModelRequest, ToolChoice, ToolSpec } from '../../model/request.ts'
import type { AssistantPart, MediaPart, NativeData, ResultPart, TextPart, Turn } from '../../model/turn.ts'
import { parseArguments } from '../calls/parse-arguments.ts'
import { RESPONSES_WIRE_ID } from './encode-input.ts'
import { type JsonFields, toObjects, getTextsByChannel, nonEmptyString } from './output-item.ts'
import { defined } from '../../model/defined.ts'

const READ_ORIGIN = { provider: RESPONSES_WIRE_ID, wire: RESPONSES_WIRE_ID, model: '' } as const

/** Reads a Responses request back into a request. */
export function readResponsesRequest(body: unknown): ModelRequest {
  const fields = isObject(body) ? body : {}
  const system = nonEmptyString(fields['instructions']) === undefined ? [] : [String(fields['instructions'])]
  const turns: Turn[] = []
  const input =
    typeof fields['input'] === 'string' ? [{ role: 'user', content: fields['input'] }] : toObjects(fields['input'])
  for (const item of input) readItem(item, turns, system)
  const choice = readToolChoice(fields['tool_choice'])
  const session = nonEmptyString(fields['prompt_cache_key'])
  const previous = nonEmptyString(fields['previous_response_id'])
  return {
    model: nonEmptyString(fields['model']) ?? '',
    ...(system.length > 0 && { system: system.join('\n') }),
    tools: toObjects(fields['tools']).flatMap(readTools),
    ...defined({ toolChoice: choice }),
    turns,
    params: readParams(fields),
    ...defined({ session, previous }),
  }
}

/** Instructions at the start are the system's; later ones are notes, so that the order is kept (T101). */
function readItem(item: JsonFields, turns: Turn[], system: string[]): void {
  const type = nonEmptyString(item['type']) ?? 'message'
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
  const result: ResultPart = {
    kind: 'result',
    id: nonEmptyString(item['call_id']) ?? '',
    name: nonEmptyString(item['name']) ?? '',
    status: 'ok',
    content: readContentParts(item['output']),
  }
  const last = turns.at(-1)
  if (last?.role === 'results') turns[turns.length - 1] = { role: 'results', parts: [...last.parts, result] }
  else turns.push({ role: 'results', parts: [result] })
}

function readAssistantParts(item: JsonFields, type: string): AssistantPart[] {
  const texts = getTextsByChannel({ ...item, type })
  if (type === 'message') {
    const native =
      typeof item['phase'] === 'string' ? { native: createNative(undefined, { phase: item['phase'] }) } : {}
    const refusals = (texts.refusal ?? []).map((text) => ({ kind: 'text', text, refusal: true, ...native }) as const)
    return [...(texts.text ?? []).map((text) => ({ kind: 'text', text, ...native }) as const), ...refusals]
  }
  if (type === 'reasoning') {
    const text = texts.summary?.join('\n\n') ?? texts.thought?.join('') ?? ''
    const encrypted = nonEmptyString(item['encrypted_content']) !== undefined
    return [{ kind: 'reasoning', text, ...(encrypted && { native: createNative(undefined, item as JsonObject) }) }]
  }
  if (type !== 'function_call' && type !== 'custom_tool_call')
    return [{ kind: 'text', text: '', native: createNative(nonEmptyString(item['id']), item as JsonObject) }]
  return [readCall(item, type === 'custom_tool_call')]
}

function readCall(item: JsonFields, freeform: boolean): AssistantPart {
  const fields = freeform ? item['input'] : item['arguments']
  const raw = typeof fields === 'string' ? fields : JSON.stringify(fields ?? {})
  const id = nonEmptyString(item['call_id']) ?? nonEmptyString(item['id']) ?? ''
  const input = freeform ? { input: raw } : parseFirstInput(raw)
  const replayed = Object.entries(item).filter(
    ([key, value]) => (key === 'caller' || key === 'namespace') && value !== null,
  )
  return {
    kind: 'call',
    id,
    name: typeof item['name'] === 'string' ? item['name'] : '',
    raw,
    ...defined({ input }),
    ...(freeform && { freeform: true as const }),
    native: createNative(id, replayed.length > 0 ? (Object.fromEntries(replayed) as JsonObject) : undefined),
  }
}

function parseFirstInput(raw: string): JsonObject | undefined {
  const reading = parseArguments(raw)
  return reading.ok ? reading.inputs[0] : undefined
}

function readContentParts(content: unknown): (TextPart | MediaPart)[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  return toObjects(content).flatMap((part): (TextPart | MediaPart)[] => {
    if (typeof part['text'] === 'string') return [{ kind: 'text', text: part['text'] }]
    if (typeof part['image_url'] === 'string') return [toMediaPart(part['image_url'], 'image/*')]
    const file = nonEmptyString(part['file_data']) ?? nonEmptyString(part['file_url'])
    if (file === undefined) return []
    return [
      {
        ...toMediaPart(file, 'application/octet-stream'),
        ...(typeof part['filename'] === 'string' && { name: part['filename'] }),
      },
    ]
  })
}

function toMediaPart(url: string, mime: string): MediaPart {
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url)
  return inline ? { kind: 'media', mime: inline[1] ?? mime, data: inline[2] ?? '' } : { kind: 'media', mime, uri: url }
}

/** Tools that the vendor runs itself are not ours to declare. */
function readTools(fields: JsonFields): ToolSpec[] {
  if (fields['type'] !== 'function' && fields['type'] !== 'custom') return []
  const schema = isObject(fields['parameters'])
    ? (fields['parameters'] as JsonObject)
    : { type: 'object', properties: {} }
  return [
    {
      name: typeof fields['name'] === 'string' ? fields['name'] : '',
      description: typeof fields['description'] === 'string' ? fields['description'] : '',
      schema,
      ...(fields['type'] === 'custom' && { freeform: true }),
    },
  ]
}

function readToolChoice(value: unknown): ToolChoice | undefined {
  if (value === 'auto' || value === 'none' || value === 'required') return value
  if (!isObject(value)) return undefined
  if (value['type'] === 'allowed_tools')
    return { only: toObjects(value['tools']).flatMap((one) => nonEmptyString(one['name']) ?? []) }
  return typeof value['name'] === 'string' ? { name: value['name'] } : undefined
}

/** Several calls at once are the default here, so that only their refusal says something. */
function readParams(body: JsonFields): ModelParams {
  const effort = isObject(body['reasoning']) ? nonEmptyString(body['reasoning']['effort']) : undefined
  return {
    ...(typeof body['max_output_tokens'] === 'number' && { maxTokens: body['max_output_tokens'] }),
    ...(typeof body['temperature'] === 'number' && { temperature: body['temperature'] }),
    ...(typeof body['top_p'] === 'number' && { topP: body['top_p'] }),
    ...(effort !== undefined && { effort: (effort === 'none' ? 'off' : effort) as NonNullable<ModelParams['effort']> }),
    ...(body['parallel_tool_calls'] === false && { parallelCalls: false }),
    ...(typeof body['stream'] === 'boolean' && { stream: body['stream'] }),
    ...(typeof body['store'] === 'boolean' && { store: body['store'] }),
  }
}

function createNative(id: string | undefined, data?: Json): NativeData {
  return {
    wire: RESPONSES_WIRE_ID,
    signer: RESPONSES_WIRE_ID,
    ...defined({ id, data }),
  }
}
