import type { Warning } from '../../model/event.ts'
import type { DecodedRequest } from '../wire.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import { filterObjects, isObject, nonBlankString, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { ModelParams, ModelRequest, ServerTool, ToolChoice, ToolSpec } from '../../model/request.ts'
import type { AssistantPart, CallPart, MediaPart, ResultPart, TextPart, Turn, WireId } from '../../model/turn.ts'
import { appendResults, createNativeDataFromRequest, readToolSchema } from '../read-parts.ts'
import { readOutputFormat } from '../output-format.ts'
import { readOtherFields } from '../provider-options.ts'
import { GEMINI_SERVER_TOOL_NAMES } from './encode-request.ts'
import { toMediaPart, toNativeItem, getPartKind, type GeminiPart } from './parts.ts'
import { defined } from '../../model/defined.ts'

export function readGeminiRequest(body: unknown): DecodedRequest {
  return readGeminiBody('gemini', objectOrEmpty(body))
}

/** The body of Gemini itself, or from the envelope of Code Assist. */
export function readGeminiBody(wire: WireId, body: GeminiPart): DecodedRequest {
  const warnings: Warning[] = []
  const system = readInstruction(getField(body, 'systemInstruction'))
  const config = getField(objectOrEmpty(getField(body, 'toolConfig')), 'functionCallingConfig')
  const tools = filterObjects(body['tools'])
  const serverTools = tools.flatMap(readServerTools)
  const generation = objectOrEmpty(getField(body, 'generationConfig'))
  const options = readOtherFields(body, KNOWN_FIELDS, {
    generationConfig: KNOWN_GENERATION_FIELDS,
    generation_config: KNOWN_GENERATION_FIELDS,
  })
  const request: ModelRequest = {
    model: stringOrEmpty(body['model']).replace(/^models\//, ''),
    ...(system !== '' && { system }),
    tools: tools.flatMap((tool) => filterObjects(getField(tool, 'functionDeclarations'))).map(readDeclaration),
    ...(serverTools.length > 0 && { serverTools }),
    ...defined({ toolChoice: readToolChoice(config) }),
    turns: readTurns(wire, filterObjects(body['contents'])),
    params: readParams(generation),
    ...readOutputFormat(
      'answer',
      getField(generation, 'responseJsonSchema') ?? lowercaseTypes(getField(generation, 'responseSchema') as Json),
    ),
    ...(options && { providerOptions: { gemini: options } }),
  }
  return { request, warnings }
}

const KNOWN_FIELDS = 'model contents systemInstruction tools toolConfig session_id'

const KNOWN_GENERATION_FIELDS =
  'maxOutputTokens temperature topP stopSequences thinkingConfig responseMimeType responseSchema responseJsonSchema'

function readServerTools(tool: GeminiPart): ServerTool[] {
  const entries = Object.entries(GEMINI_SERVER_TOOL_NAMES) as [ServerTool, string][]
  return entries.flatMap(([name, field]) => (isObject(getField(tool, field)) ? [name] : []))
}

function readTurns(wire: WireId, contents: readonly GeminiPart[]): Turn[] {
  const history: Turn[] = []
  /** The calls of the last model turn without a result so far. */
  let open: CallPart[] = []
  let calls = 0
  for (const content of contents) {
    const parts = filterObjects(content['parts'])
    if (content['role'] === 'model') {
      const modelParts = parts.map((part) => readModelPart(wire, part, () => `call${calls++}`))
      open = modelParts.filter((part) => part.kind === 'call')
      const origin = { provider: wire, wire, model: '' } as const
      history.push({ role: 'assistant', origin, parts: modelParts, finish: { reason: 'stop' } })
      continue
    }
    for (const part of parts) {
      const response = part['functionResponse']
      const last = history.at(-1)
      if (isObject(response)) appendResults(history, readResultPart(response, open))
      else if (last?.role === 'user' && part !== parts[0]) {
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
  const thoughtSignature = nonBlankString(part['thoughtSignature'])
  const signature = thoughtSignature === undefined ? undefined : { thoughtSignature }
  const nativeField = signature ? { native: createNativeDataFromRequest(wire, undefined, signature) } : {}
  const call = part['functionCall']
  if (isObject(call)) {
    const args = call['args'] ?? {}
    return {
      kind: 'call',
      id: newId(),
      name: stringOrEmpty(call['name']),
      raw: typeof args === 'string' ? args : JSON.stringify(args),
      ...(isObject(args) && { input: args as JsonObject }),
      native: createNativeDataFromRequest(wire, nonBlankString(call['id']), signature),
    }
  }
  if (typeof part['text'] === 'string')
    return { kind: part['thought'] === true ? 'reasoning' : 'text', text: part['text'], ...nativeField }
  const media = toMediaPart(part)
  return media ? { ...media, ...nativeField } : readUnknownPart(wire, part)
}

function readUnknownPart(wire: WireId, part: GeminiPart): TextPart {
  const item = toNativeItem(getPartKind(part) ?? 'native', part)
  return { kind: 'text', text: '', native: createNativeDataFromRequest(wire, undefined, item) }
}

/** A result refers to its call by id, or else to the first open call of its name (T126). */
function readResultPart(fields: GeminiPart, open: CallPart[]): ResultPart {
  const id = nonBlankString(fields['id'])
  const name = stringOrEmpty(fields['name'])
  const byId = id === undefined ? -1 : open.findIndex(({ native }) => native?.id === id)
  const at = byId >= 0 ? byId : open.findIndex((call) => call.name === name)
  const [answered] = at < 0 ? [] : open.splice(at, 1)
  const response = objectOrEmpty(fields['response']) as JsonObject
  const only = Object.keys(response).length === 1 ? (response['output'] ?? response['error']) : undefined
  const media = filterObjects(fields['parts']).flatMap((part) => toMediaPart(part) ?? [])
  return {
    kind: 'result',
    id: answered?.id ?? id ?? '',
    name,
    status: typeof response['error'] === 'string' && only !== undefined ? 'error' : 'ok',
    content: [...(typeof only === 'string' ? [{ kind: 'text', text: only } as const] : []), ...media],
    data: response,
  }
}

function readInstruction(fields: unknown): string {
  if (typeof fields === 'string') return fields
  if (!isObject(fields)) return ''
  const parts = Array.isArray(fields['parts']) ? filterObjects(fields['parts']) : [fields]
  return parts.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : [])).join('\n')
}

function readDeclaration(fields: GeminiPart): ToolSpec {
  const { parametersJsonSchema, parameters } = fields
  const schema = isObject(parametersJsonSchema) ? parametersJsonSchema : lowercaseTypes(parameters as Json)
  return {
    name: stringOrEmpty(fields['name']),
    description: stringOrEmpty(fields['description']),
    schema: readToolSchema(schema),
  }
}

/** Gemini's own dialect has upper-case types. */
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
  const { thinkingBudget: budget, thinkingLevel } = objectOrEmpty(fields['thinkingConfig'])
  const level = stringOrEmpty(thinkingLevel).toLowerCase()
  const stop = fields['stopSequences']
  return {
    ...(typeof fields['maxOutputTokens'] === 'number' && { maxTokens: fields['maxOutputTokens'] }),
    ...(typeof fields['temperature'] === 'number' && { temperature: fields['temperature'] }),
    ...(typeof fields['topP'] === 'number' && { topP: fields['topP'] }),
    ...(Array.isArray(stop) && stop.length > 0 && { stop: stop.map(String) }),
    ...(typeof budget === 'number' && budget >= 0 && { effort: budget === 0 ? ('off' as const) : budget }),
    ...(THINKING_LEVELS.has(level) && { effort: level as 'low' }),
  }
}

const THINKING_LEVELS = new Set(['minimal', 'low', 'medium', 'high'])

/** The API accepts keys in camel case and in snake case. */
function getField(fields: GeminiPart, key: string): unknown {
  return fields[key] ?? fields[key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]
}
