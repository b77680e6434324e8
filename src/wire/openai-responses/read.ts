import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { Params, Request, ToolChoice, ToolSpec } from '../../model/request.ts'
import type { AssistantPart, MediaPart, Native, ResultPart, TextPart, Turn } from '../../model/turn.ts'
import { readArguments } from '../arguments.ts'
import { WIRE } from './input.ts'
import { type Fields, list, textsOf, word } from './items.ts'

const ORIGIN = { provider: WIRE, wire: WIRE, model: '' } as const

/** Reads a Responses request back into a request. */
export function read(body: unknown): Request {
  const given = isObject(body) ? body : {}
  const system = word(given['instructions']) === undefined ? [] : [String(given['instructions'])]
  const turns: Turn[] = []
  const input = typeof given['input'] === 'string' ? [{ role: 'user', content: given['input'] }] : list(given['input'])
  for (const item of input) readItem(item, turns, system)
  const choice = toolChoice(given['tool_choice'])
  const session = word(given['prompt_cache_key'])
  const previous = word(given['previous_response_id'])
  return {
    model: word(given['model']) ?? '',
    ...(system.length > 0 && { system: system.join('\n') }),
    tools: list(given['tools']).flatMap(tool),
    ...(choice !== undefined && { toolChoice: choice }),
    turns,
    params: params(given),
    ...(session !== undefined && { session }),
    ...(previous !== undefined && { previous }),
  }
}

/** Instructions at the start are the system's; later ones are notes, so that the order is kept (T101). */
function readItem(item: Fields, turns: Turn[], system: string[]): void {
  const type = word(item['type']) ?? 'message'
  const { role } = item
  if (type === 'message' && (role === 'system' || role === 'developer')) {
    const text = saidParts(item['content'])
      .map((part) => (part.kind === 'text' ? part.text : ''))
      .join('\n')
    if (turns.length === 0) system.push(text)
    else turns.push({ role: 'note', text })
  } else if (type === 'message' && role !== 'assistant') turns.push({ role: 'user', parts: saidParts(item['content']) })
  else if (type === 'function_call_output' || type === 'custom_tool_call_output') answer(item, turns)
  else {
    const last = turns.at(-1)
    const parts = assistantParts(item, type)
    if (last?.role === 'assistant') turns[turns.length - 1] = { ...last, parts: [...last.parts, ...parts] }
    else turns.push({ role: 'assistant', origin: ORIGIN, parts, finish: { reason: 'stop' } })
  }
}

function answer(item: Fields, turns: Turn[]): void {
  const result: ResultPart = {
    kind: 'result',
    id: word(item['call_id']) ?? '',
    name: word(item['name']) ?? '',
    status: 'ok',
    content: saidParts(item['output']),
  }
  const last = turns.at(-1)
  if (last?.role === 'results') turns[turns.length - 1] = { role: 'results', parts: [...last.parts, result] }
  else turns.push({ role: 'results', parts: [result] })
}

function assistantParts(item: Fields, type: string): AssistantPart[] {
  const texts = textsOf({ ...item, type })
  if (type === 'message') {
    const native = typeof item['phase'] === 'string' ? { native: sealed(undefined, { phase: item['phase'] }) } : {}
    const refusals = (texts.refusal ?? []).map((text) => ({ kind: 'text', text, refusal: true, ...native }) as const)
    return [...(texts.text ?? []).map((text) => ({ kind: 'text', text, ...native }) as const), ...refusals]
  }
  if (type === 'reasoning') {
    const text = texts.summary?.join('\n\n') ?? texts.thought?.join('') ?? ''
    const encrypted = word(item['encrypted_content']) !== undefined
    return [{ kind: 'reasoning', text, ...(encrypted && { native: sealed(undefined, item as JsonObject) }) }]
  }
  if (type !== 'function_call' && type !== 'custom_tool_call')
    return [{ kind: 'text', text: '', native: sealed(word(item['id']), item as JsonObject) }]
  return [call(item, type === 'custom_tool_call')]
}

function call(item: Fields, freeform: boolean): AssistantPart {
  const given = freeform ? item['input'] : item['arguments']
  const raw = typeof given === 'string' ? given : JSON.stringify(given ?? {})
  const id = word(item['call_id']) ?? word(item['id']) ?? ''
  const input = freeform ? { input: raw } : firstInput(raw)
  const kept = Object.entries(item).filter(
    ([key, value]) => (key === 'caller' || key === 'namespace') && value !== null,
  )
  return {
    kind: 'call',
    id,
    name: typeof item['name'] === 'string' ? item['name'] : '',
    raw,
    ...(input && { input }),
    ...(freeform && { freeform: true as const }),
    native: sealed(id, kept.length > 0 ? (Object.fromEntries(kept) as JsonObject) : undefined),
  }
}

function firstInput(raw: string): JsonObject | undefined {
  const reading = readArguments(raw)
  return reading.ok ? reading.inputs[0] : undefined
}

function saidParts(content: unknown): (TextPart | MediaPart)[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  return list(content).flatMap((part): (TextPart | MediaPart)[] => {
    if (typeof part['text'] === 'string') return [{ kind: 'text', text: part['text'] }]
    if (typeof part['image_url'] === 'string') return [media(part['image_url'], 'image/*')]
    const file = word(part['file_data']) ?? word(part['file_url'])
    if (file === undefined) return []
    return [
      {
        ...media(file, 'application/octet-stream'),
        ...(typeof part['filename'] === 'string' && { name: part['filename'] }),
      },
    ]
  })
}

function media(url: string, mime: string): MediaPart {
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url)
  return inline ? { kind: 'media', mime: inline[1] ?? mime, data: inline[2] ?? '' } : { kind: 'media', mime, uri: url }
}

/** Tools that the vendor runs itself are not ours to declare. */
function tool(given: Fields): ToolSpec[] {
  if (given['type'] !== 'function' && given['type'] !== 'custom') return []
  const schema = isObject(given['parameters'])
    ? (given['parameters'] as JsonObject)
    : { type: 'object', properties: {} }
  return [
    {
      name: typeof given['name'] === 'string' ? given['name'] : '',
      description: typeof given['description'] === 'string' ? given['description'] : '',
      schema,
      ...(given['type'] === 'custom' && { freeform: true }),
    },
  ]
}

function toolChoice(value: unknown): ToolChoice | undefined {
  if (value === 'auto' || value === 'none' || value === 'required') return value
  if (!isObject(value)) return undefined
  if (value['type'] === 'allowed_tools') return { only: list(value['tools']).flatMap((one) => word(one['name']) ?? []) }
  return typeof value['name'] === 'string' ? { name: value['name'] } : undefined
}

/** Several calls at once are the default here, so that only their refusal says something. */
function params(body: Fields): Params {
  const effort = isObject(body['reasoning']) ? word(body['reasoning']['effort']) : undefined
  return {
    ...(typeof body['max_output_tokens'] === 'number' && { maxTokens: body['max_output_tokens'] }),
    ...(typeof body['temperature'] === 'number' && { temperature: body['temperature'] }),
    ...(typeof body['top_p'] === 'number' && { topP: body['top_p'] }),
    ...(effort !== undefined && { effort: (effort === 'none' ? 'off' : effort) as NonNullable<Params['effort']> }),
    ...(body['parallel_tool_calls'] === false && { parallelCalls: false }),
    ...(typeof body['stream'] === 'boolean' && { stream: body['stream'] }),
    ...(typeof body['store'] === 'boolean' && { store: body['store'] }),
  }
}

function sealed(id: string | undefined, data?: Json): Native {
  return { wire: WIRE, signer: WIRE, ...(id !== undefined && { id }), ...(data !== undefined && { data }) }
}
