import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { ModelParams, ModelRequest, ServerTool, ToolChoice, ToolSpec } from '../../model/request.ts'
import type {
  AssistantPart,
  CallPart,
  MediaPart,
  NativeData,
  ResultPart,
  TextPart,
  Turn,
  WireId,
} from '../../model/turn.ts'
import { toMediaPart, toNativeItem, getPartKind, type GeminiPart } from './parts.ts'
import { defined } from '../../model/defined.ts'

/** Reads a generateContent body back into a request. */
export function readGeminiRequest(body: unknown): ModelRequest {
  return readGeminiBody('gemini', isObject(body) ? body : {})
}

/** Reads the body of a wire that carries it as it is, or in an envelope. */
export function readGeminiBody(wire: WireId, body: GeminiPart): ModelRequest {
  const system = readInstruction(getField(body, 'systemInstruction'))
  const config = getField(body, 'toolConfig')
  const choice = readToolChoice(isObject(config) ? getField(config, 'functionCallingConfig') : undefined)
  const generation = getField(body, 'generationConfig')
  const requested = toObjects(body['tools']).flatMap(readServerTools)
  return {
    model: typeof body['model'] === 'string' ? body['model'].replace(/^models\//, '') : '',
    ...(system !== '' && { system }),
    tools: toObjects(body['tools'])
      .flatMap((tool) => toObjects(getField(tool, 'functionDeclarations')))
      .map(readDeclaration),
    ...(requested.length > 0 && { serverTools: requested }),
    ...defined({ toolChoice: choice }),
    turns: readTurns(wire, toObjects(body['contents'])),
    params: isObject(generation) ? readParams(generation) : {},
  }
}

function readServerTools(tool: GeminiPart): ServerTool[] {
  return [
    ...(isObject(getField(tool, 'urlContext')) ? (['url_context'] as const) : []),
    ...(isObject(getField(tool, 'googleSearch')) ? (['google_search'] as const) : []),
  ]
}

/** A call that has no result yet. */
interface OpenCall {
  readonly call: CallPart
  readonly id: string | undefined
}

function readTurns(wire: WireId, contents: readonly GeminiPart[]): Turn[] {
  const history: Turn[] = []
  let open: OpenCall[] = []
  let calls = 0
  for (const content of contents) {
    const parts = toObjects(content['parts'])
    if (content['role'] === 'model') {
      const read_ = parts.map((part) => readModelPart(wire, part, () => `call${calls++}`))
      open = read_.flatMap((part) => (part.kind === 'call' ? [{ call: part, id: part.native?.id }] : []))
      const origin = { provider: wire, wire, model: '' } as const
      history.push({ role: 'assistant', origin, parts: read_, finish: { reason: 'stop' } })
      continue
    }
    for (const part of parts) {
      const response = part['functionResponse']
      const last = history.at(-1)
      if (isObject(response)) {
        const result = readResultPart(response, open)
        if (last?.role === 'results') history[history.length - 1] = { role: 'results', parts: [...last.parts, result] }
        else history.push({ role: 'results', parts: [result] })
      } else if (last?.role === 'user' && part !== parts[0]) {
        history[history.length - 1] = { role: 'user', parts: [...last.parts, readUserPart(wire, part)] }
      } else history.push({ role: 'user', parts: [readUserPart(wire, part)] })
    }
  }
  return history
}

function readUserPart(wire: WireId, part: GeminiPart): TextPart | MediaPart {
  if (typeof part['text'] === 'string') return { kind: 'text', text: part['text'] }
  return toMediaPart(part) ?? readUnknownPart(wire, part)
}

function readModelPart(wire: WireId, part: GeminiPart, newId: () => string): AssistantPart {
  const signature = part['thoughtSignature']
  const signed = typeof signature === 'string' && signature !== ''
  const nativeField = signed ? { native: createNative(wire, undefined, { thoughtSignature: signature }) } : {}
  const call = part['functionCall']
  if (isObject(call)) {
    const args = call['args'] ?? {}
    const id = typeof call['id'] === 'string' && call['id'] !== '' ? call['id'] : undefined
    return {
      kind: 'call',
      id: newId(),
      name: toText(call['name']),
      raw: typeof args === 'string' ? args : JSON.stringify(args),
      ...(isObject(args) && { input: args as JsonObject }),
      native: createNative(wire, id, signed ? { thoughtSignature: signature } : undefined),
    }
  }
  if (typeof part['text'] === 'string') {
    return { kind: part['thought'] === true ? 'reasoning' : 'text', text: part['text'], ...nativeField }
  }
  const media = toMediaPart(part)
  return media ? { ...media, ...nativeField } : readUnknownPart(wire, part)
}

function readUnknownPart(wire: WireId, part: GeminiPart): TextPart {
  return {
    kind: 'text',
    text: '',
    native: createNative(wire, undefined, toNativeItem(getPartKind(part) ?? 'native', part)),
  }
}

/** A result names its call by id, or answers the first open call of its name (T126). */
function readResultPart(fields: GeminiPart, open: OpenCall[]): ResultPart {
  const id = typeof fields['id'] === 'string' && fields['id'] !== '' ? fields['id'] : undefined
  const name = typeof fields['name'] === 'string' ? fields['name'] : ''
  const byId = id === undefined ? -1 : open.findIndex((one) => one.id === id)
  const at = byId >= 0 ? byId : open.findIndex((one) => one.call.name === name)
  const [answered] = at < 0 ? [] : open.splice(at, 1)
  const response = isObject(fields['response']) ? (fields['response'] as JsonObject) : {}
  const only = Object.keys(response).length === 1 ? (response['output'] ?? response['error']) : undefined
  const media = toObjects(fields['parts']).flatMap((part) => toMediaPart(part) ?? [])
  return {
    kind: 'result',
    id: answered?.call.id ?? id ?? '',
    name,
    status: typeof response['error'] === 'string' && only !== undefined ? 'error' : 'ok',
    content: [...(typeof only === 'string' ? [{ kind: 'text', text: only } as const] : []), ...media],
    data: response,
  }
}

function readInstruction(fields: unknown): string {
  if (typeof fields === 'string') return fields
  if (!isObject(fields)) return ''
  const parts = Array.isArray(fields['parts']) ? toObjects(fields['parts']) : [fields]
  return parts.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : [])).join('\n')
}

function readDeclaration(fields: GeminiPart): ToolSpec {
  const json = fields['parametersJsonSchema']
  const legacySchema = fields['parameters']
  const schema = isObject(json)
    ? json
    : isObject(legacySchema)
      ? lowercaseTypes(legacySchema as JsonObject)
      : { type: 'object', properties: {} }
  return { name: toText(fields['name']), description: toText(fields['description']), schema: schema as JsonObject }
}

/** Gemini's own dialect writes types in capitals. */
function lowercaseTypes(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(lowercaseTypes)
  if (!isObject(schema)) return schema
  const lower = (key: string, value: Json) =>
    key === 'type' && typeof value === 'string' ? value.toLowerCase() : lowercaseTypes(value)
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, lower(key, value)]))
}

function readToolChoice(config: unknown): ToolChoice | undefined {
  if (!isObject(config)) return undefined
  const listed = config['allowedFunctionNames']
  const names = Array.isArray(listed) ? listed.map(String) : []
  const mode = config['mode']
  if (mode === 'ANY' && names.length === 1 && names[0] !== undefined) return { name: names[0] }
  if (names.length > 0) return { only: names }
  if (mode === 'AUTO' || mode === 'VALIDATED') return 'auto'
  if (mode === 'ANY') return 'required'
  return mode === 'NONE' ? 'none' : undefined
}

function readParams(fields: GeminiPart): ModelParams {
  const thinking = fields['thinkingConfig']
  const budget = isObject(thinking) ? thinking['thinkingBudget'] : undefined
  const level = isObject(thinking) ? thinking['thinkingLevel'] : undefined
  const stop = fields['stopSequences']
  return {
    ...(typeof fields['maxOutputTokens'] === 'number' && { maxTokens: fields['maxOutputTokens'] }),
    ...(typeof fields['temperature'] === 'number' && { temperature: fields['temperature'] }),
    ...(typeof fields['topP'] === 'number' && { topP: fields['topP'] }),
    ...(Array.isArray(stop) && stop.length > 0 && { stop: stop.map(String) }),
    ...(typeof budget === 'number' && budget >= 0 && { effort: budget === 0 ? ('off' as const) : budget }),
    ...(typeof level === 'string' &&
      THINKING_LEVELS.has(level.toLowerCase()) && { effort: level.toLowerCase() as 'low' }),
  }
}

const THINKING_LEVELS = new Set(['minimal', 'low', 'medium', 'high'])

/** The API takes the keys of a body in both spellings. */
function getField(fields: GeminiPart, key: string): unknown {
  return fields[key] ?? fields[key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function toObjects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function createNative(wire: WireId, id: string | undefined, data?: Json): NativeData {
  return { wire, signer: wire, ...defined({ id, data }) }
}
