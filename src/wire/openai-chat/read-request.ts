import { isObject, type Json, type JsonObject, stringOrEmpty } from '../../model/json.ts'
import type { ModelRequest, ToolChoice, ToolSpec } from '../../model/request.ts'
import type { AssistantPart, MediaPart, NativeData, ResultPart, TextPart, Turn } from '../../model/turn.ts'
import { parseArguments } from '../calls/parse-arguments.ts'
import { defined } from '../../model/defined.ts'

const READ_ORIGIN = { provider: 'openai-chat', wire: 'openai-chat', model: '' } as const

/** Reads a chat completions request back into a request. */
export function readChatRequest(body: unknown): ModelRequest {
  const fields = isObject(body) ? body : {}
  const turns: Turn[] = []
  const system: string[] = []
  let callCount = 0
  for (const message of Array.isArray(fields['messages']) ? fields['messages'] : []) {
    if (!isObject(message)) continue
    const role = message['role']
    if (role === 'system' || role === 'developer') system.push(toPlainText(message['content']))
    else if (role === 'assistant') {
      const parts = readAssistantParts(message, () => `call${callCount++}`)
      turns.push({ role: 'assistant', origin: READ_ORIGIN, parts, finish: { reason: 'stop' } })
    } else if (role === 'tool' || role === 'function') {
      const result = readToolResult(message, turns)
      const last = turns.at(-1)
      if (last?.role === 'results') turns[turns.length - 1] = { role: 'results', parts: [...last.parts, result] }
      else turns.push({ role: 'results', parts: [result] })
    } else turns.push({ role: 'user', parts: readContentParts(message['content']) })
  }
  const choice = readToolChoice(fields['tool_choice'])
  return {
    model: typeof fields['model'] === 'string' ? fields['model'] : '',
    ...(system.length > 0 && { system: system.join('\n') }),
    tools: (Array.isArray(fields['tools']) ? fields['tools'] : []).filter(isObject).map(readTool),
    ...defined({ toolChoice: choice }),
    turns,
    params: readParams(fields),
  }
}

function readAssistantParts(message: Record<string, unknown>, newId: () => string): AssistantPart[] {
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
      ...(details && { native: createNative(undefined, { ...(field && { field }), ...details }) }),
    })
  }
  parts.push(...readContentParts(message['content']))
  for (const call of Array.isArray(message['tool_calls']) ? message['tool_calls'] : []) {
    if (!isObject(call)) continue
    const inner = isObject(call['function']) ? call['function'] : isObject(call['custom']) ? call['custom'] : call
    const args = inner['arguments'] ?? inner['input'] ?? inner['args']
    const raw = typeof args === 'string' ? args : JSON.stringify(args ?? {})
    const id = typeof call['id'] === 'string' && call['id'] !== '' ? call['id'] : undefined
    const isFreeform = call['type'] === 'custom'
    const reading = parseArguments(raw)
    const input = isFreeform ? { input: raw } : reading.ok ? reading.inputs[0] : undefined
    const extra = isObject(call['extra_content']) ? { extra_content: call['extra_content'] as Json } : undefined
    parts.push({
      kind: 'call',
      id: id ?? newId(),
      name: stringOrEmpty(inner['name']),
      raw,
      ...defined({ input }),
      ...(isFreeform && { freeform: true as const }),
      native: createNative(id, extra),
    })
  }
  return parts
}

/** A result names its call; where it does not, it answers the first call that has none yet. */
function readToolResult(message: Record<string, unknown>, turns: readonly Turn[]): ResultPart {
  const fields = typeof message['tool_call_id'] === 'string' ? message['tool_call_id'] : ''
  const last = turns.at(-1)
  const answered = last?.role === 'results' ? last.parts : []
  const calls = turns.findLast((turn) => turn.role === 'assistant')?.parts.filter((part) => part.kind === 'call') ?? []
  const open = calls.find((call) => !answered.some((result) => result.id === call.id))
  const name = typeof message['name'] === 'string' ? message['name'] : ''
  const content = readContentParts(message['content'])
  return {
    kind: 'result',
    id: fields || (open?.id ?? ''),
    name,
    status: 'ok',
    content,
    native: createNative(fields || undefined),
  }
}

function readContentParts(content: unknown): (TextPart | MediaPart)[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }]
  if (!Array.isArray(content)) return []
  return content.flatMap((part): (TextPart | MediaPart)[] => {
    if (!isObject(part)) return []
    if (typeof part['text'] === 'string') return [{ kind: 'text', text: part['text'] }]
    const url = isObject(part['image_url']) ? part['image_url']['url'] : part['image_url']
    if (typeof url === 'string') return [toImagePart(url)]
    if (isObject(part['input_audio'])) {
      return [
        {
          kind: 'media',
          mime: `audio/${stringOrEmpty(part['input_audio']['format'])}`,
          data: stringOrEmpty(part['input_audio']['data']),
        },
      ]
    }
    return []
  })
}

function toImagePart(url: string): MediaPart {
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url)
  return inline
    ? { kind: 'media', mime: inline[1] ?? '', data: inline[2] ?? '' }
    : { kind: 'media', mime: 'image/*', uri: url }
}

function toPlainText(content: unknown): string {
  return readContentParts(content)
    .map((part) => (part.kind === 'text' ? part.text : ''))
    .join('\n')
}

function readTool(fields: Record<string, unknown>): ToolSpec {
  const inner = isObject(fields['function'])
    ? fields['function']
    : isObject(fields['custom'])
      ? fields['custom']
      : fields
  return {
    name: stringOrEmpty(inner['name']),
    description: stringOrEmpty(inner['description']),
    schema: (isObject(inner['parameters']) ? inner['parameters'] : { type: 'object', properties: {} }) as JsonObject,
    ...(fields['type'] === 'custom' && { freeform: true }),
  }
}

function readToolChoice(value: unknown): ToolChoice | undefined {
  if (value === 'auto' || value === 'none' || value === 'required') return value
  if (value === 'any') return 'required'
  if (!isObject(value)) return undefined
  const allowed = value['allowed_tools']
  if (isObject(allowed) && Array.isArray(allowed['tools']))
    return { only: allowed['tools'].filter(isObject).flatMap((one) => getChosenName(one) ?? []) }
  const name = getChosenName(value)
  return name === undefined ? undefined : { name }
}

function getChosenName(fields: Record<string, unknown>): string | undefined {
  const inner = isObject(fields['function']) ? fields['function'] : isObject(fields['custom']) ? fields['custom'] : {}
  return typeof inner['name'] === 'string' ? inner['name'] : undefined
}

function readParams(body: Record<string, unknown>) {
  const maxTokens = body['max_completion_tokens'] ?? body['max_tokens']
  return {
    ...(typeof maxTokens === 'number' && { maxTokens }),
    ...(typeof body['temperature'] === 'number' && { temperature: body['temperature'] }),
    ...(typeof body['top_p'] === 'number' && { topP: body['top_p'] }),
    ...(typeof body['parallel_tool_calls'] === 'boolean' && { parallelCalls: body['parallel_tool_calls'] }),
    ...(typeof body['stream'] === 'boolean' && { stream: body['stream'] }),
  }
}

function createNative(id: string | undefined, data?: Json): NativeData {
  return {
    wire: 'openai-chat',
    signer: 'openai-chat',
    ...defined({ id, data }),
  }
}
