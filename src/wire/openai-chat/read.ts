import { isObject, type Json, type JsonObject, stringOf } from '../../model/json.ts'
import type { Request, ToolChoice, ToolSpec } from '../../model/request.ts'
import type { AssistantPart, MediaPart, Native, ResultPart, TextPart, Turn } from '../../model/turn.ts'
import { readArguments } from '../arguments.ts'

const ORIGIN = { provider: 'openai-chat', wire: 'openai-chat', model: '' } as const

/** Reads a chat completions request back into a request. */
export function read(body: unknown): Request {
  const given = isObject(body) ? body : {}
  const turns: Turn[] = []
  const system: string[] = []
  let minted = 0
  for (const message of Array.isArray(given['messages']) ? given['messages'] : []) {
    if (!isObject(message)) continue
    const role = message['role']
    if (role === 'system' || role === 'developer') system.push(plainText(message['content']))
    else if (role === 'assistant') {
      const parts = assistantParts(message, () => `call${minted++}`)
      turns.push({ role: 'assistant', origin: ORIGIN, parts, finish: { reason: 'stop' } })
    } else if (role === 'tool' || role === 'function') {
      const result = toolResult(message, turns)
      const last = turns.at(-1)
      if (last?.role === 'results') turns[turns.length - 1] = { role: 'results', parts: [...last.parts, result] }
      else turns.push({ role: 'results', parts: [result] })
    } else turns.push({ role: 'user', parts: saidParts(message['content']) })
  }
  const choice = toolChoice(given['tool_choice'])
  return {
    model: typeof given['model'] === 'string' ? given['model'] : '',
    ...(system.length > 0 && { system: system.join('\n') }),
    tools: (Array.isArray(given['tools']) ? given['tools'] : []).filter(isObject).map(tool),
    ...(choice !== undefined && { toolChoice: choice }),
    turns,
    params: params(given),
  }
}

function assistantParts(message: Record<string, unknown>, mint: () => string): AssistantPart[] {
  const parts: AssistantPart[] = []
  const field = ['reasoning_content', 'reasoning', 'reasoning_text'].find(
    (key) => typeof message[key] === 'string' && message[key] !== '',
  )
  const details = Array.isArray(message['reasoning_details'])
    ? { details: message['reasoning_details'] as Json }
    : undefined
  if (field !== undefined || details) {
    const text = field === undefined ? '' : String(message[field])
    parts.push({
      kind: 'reasoning',
      text,
      ...(details && { native: native(undefined, { ...(field && { field }), ...details }) }),
    })
  }
  parts.push(...saidParts(message['content']))
  for (const call of Array.isArray(message['tool_calls']) ? message['tool_calls'] : []) {
    if (!isObject(call)) continue
    const inner = isObject(call['function']) ? call['function'] : isObject(call['custom']) ? call['custom'] : call
    const args = inner['arguments'] ?? inner['input'] ?? inner['args']
    const raw = typeof args === 'string' ? args : JSON.stringify(args ?? {})
    const id = typeof call['id'] === 'string' && call['id'] !== '' ? call['id'] : undefined
    const free = call['type'] === 'custom'
    const reading = readArguments(raw)
    const input = free ? { input: raw } : reading.ok ? reading.inputs[0] : undefined
    const extra = isObject(call['extra_content']) ? { extra_content: call['extra_content'] as Json } : undefined
    parts.push({
      kind: 'call',
      id: id ?? mint(),
      name: stringOf(inner['name']),
      raw,
      ...(input && { input }),
      ...(free && { freeform: true as const }),
      native: native(id, extra),
    })
  }
  return parts
}

/** A result names its call; where it does not, it answers the first call that has none yet. */
function toolResult(message: Record<string, unknown>, turns: readonly Turn[]): ResultPart {
  const given = typeof message['tool_call_id'] === 'string' ? message['tool_call_id'] : ''
  const last = turns.at(-1)
  const answered = last?.role === 'results' ? last.parts : []
  const calls = turns.findLast((turn) => turn.role === 'assistant')?.parts.filter((part) => part.kind === 'call') ?? []
  const open = calls.find((call) => !answered.some((result) => result.id === call.id))
  const name = typeof message['name'] === 'string' ? message['name'] : ''
  const content = saidParts(message['content'])
  return {
    kind: 'result',
    id: given || (open?.id ?? ''),
    name,
    status: 'ok',
    content,
    native: native(given || undefined),
  }
}

function saidParts(content: unknown): (TextPart | MediaPart)[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  if (!Array.isArray(content)) return []
  return content.flatMap((part): (TextPart | MediaPart)[] => {
    if (!isObject(part)) return []
    if (typeof part['text'] === 'string') return [{ kind: 'text', text: part['text'] }]
    const url = isObject(part['image_url']) ? part['image_url']['url'] : part['image_url']
    if (typeof url === 'string') return [picture(url)]
    if (isObject(part['input_audio'])) {
      return [
        {
          kind: 'media',
          mime: `audio/${stringOf(part['input_audio']['format'])}`,
          data: stringOf(part['input_audio']['data']),
        },
      ]
    }
    return []
  })
}

function picture(url: string): MediaPart {
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url)
  return inline
    ? { kind: 'media', mime: inline[1] ?? '', data: inline[2] ?? '' }
    : { kind: 'media', mime: 'image/*', uri: url }
}

function plainText(content: unknown): string {
  return saidParts(content)
    .map((part) => (part.kind === 'text' ? part.text : ''))
    .join('\n')
}

function tool(given: Record<string, unknown>): ToolSpec {
  const inner = isObject(given['function']) ? given['function'] : isObject(given['custom']) ? given['custom'] : given
  return {
    name: stringOf(inner['name']),
    description: stringOf(inner['description']),
    schema: (isObject(inner['parameters']) ? inner['parameters'] : { type: 'object', properties: {} }) as JsonObject,
    ...(given['type'] === 'custom' && { freeform: true }),
  }
}

function toolChoice(value: unknown): ToolChoice | undefined {
  if (value === 'auto' || value === 'none' || value === 'required') return value
  if (value === 'any') return 'required'
  if (!isObject(value)) return undefined
  const allowed = value['allowed_tools']
  if (isObject(allowed) && Array.isArray(allowed['tools']))
    return { only: allowed['tools'].filter(isObject).flatMap((one) => chosen(one) ?? []) }
  const name = chosen(value)
  return name === undefined ? undefined : { name }
}

function chosen(given: Record<string, unknown>): string | undefined {
  const inner = isObject(given['function']) ? given['function'] : isObject(given['custom']) ? given['custom'] : {}
  return typeof inner['name'] === 'string' ? inner['name'] : undefined
}

function params(body: Record<string, unknown>) {
  const maxTokens = body['max_completion_tokens'] ?? body['max_tokens']
  return {
    ...(typeof maxTokens === 'number' && { maxTokens }),
    ...(typeof body['temperature'] === 'number' && { temperature: body['temperature'] }),
    ...(typeof body['top_p'] === 'number' && { topP: body['top_p'] }),
    ...(typeof body['parallel_tool_calls'] === 'boolean' && { parallelCalls: body['parallel_tool_calls'] }),
    ...(typeof body['stream'] === 'boolean' && { stream: body['stream'] }),
  }
}

function native(id: string | undefined, data?: Json): Native {
  return {
    wire: 'openai-chat',
    signer: 'openai-chat',
    ...(id !== undefined && { id }),
    ...(data !== undefined && { data }),
  }
}
