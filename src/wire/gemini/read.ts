import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { Params, Request, ServerTool, ToolChoice, ToolSpec } from '../../model/request.ts'
import type {
  AssistantPart,
  CallPart,
  MediaPart,
  Native,
  ResultPart,
  TextPart,
  Turn,
  WireId,
} from '../../model/turn.ts'
import { blob, item, partKind, type WirePart } from './parts.ts'

/** Reads a generateContent body back into a request. */
export function read(body: unknown): Request {
  return readOn('gemini', isObject(body) ? body : {})
}

/** Reads the body of a wire that carries it as it is, or in an envelope. */
export function readOn(wire: WireId, body: WirePart): Request {
  const system = instruction(field(body, 'systemInstruction'))
  const config = field(body, 'toolConfig')
  const choice = toolChoice(isObject(config) ? field(config, 'functionCallingConfig') : undefined)
  const generation = field(body, 'generationConfig')
  const asked = list(body['tools']).flatMap(serverTools)
  return {
    model: typeof body['model'] === 'string' ? body['model'].replace(/^models\//, '') : '',
    ...(system !== '' && { system }),
    tools: list(body['tools'])
      .flatMap((tool) => list(field(tool, 'functionDeclarations')))
      .map(declaration),
    ...(asked.length > 0 && { serverTools: asked }),
    ...(choice !== undefined && { toolChoice: choice }),
    turns: turns(wire, list(body['contents'])),
    params: isObject(generation) ? params(generation) : {},
  }
}

function serverTools(tool: WirePart): ServerTool[] {
  return [
    ...(isObject(field(tool, 'urlContext')) ? (['url_context'] as const) : []),
    ...(isObject(field(tool, 'googleSearch')) ? (['google_search'] as const) : []),
  ]
}

/** A call that has no result yet. */
interface Open {
  readonly call: CallPart
  readonly id: string | undefined
}

function turns(wire: WireId, contents: readonly WirePart[]): Turn[] {
  const made: Turn[] = []
  let open: Open[] = []
  let calls = 0
  for (const content of contents) {
    const parts = list(content['parts'])
    if (content['role'] === 'model') {
      const read_ = parts.map((part) => modelPart(wire, part, () => `call${calls++}`))
      open = read_.flatMap((part) => (part.kind === 'call' ? [{ call: part, id: part.native?.id }] : []))
      const origin = { provider: wire, wire, model: '' } as const
      made.push({ role: 'assistant', origin, parts: read_, finish: { reason: 'stop' } })
      continue
    }
    for (const part of parts) {
      const response = part['functionResponse']
      const last = made.at(-1)
      if (isObject(response)) {
        const result = resultPart(response, open)
        if (last?.role === 'results') made[made.length - 1] = { role: 'results', parts: [...last.parts, result] }
        else made.push({ role: 'results', parts: [result] })
      } else if (last?.role === 'user' && part !== parts[0]) {
        made[made.length - 1] = { role: 'user', parts: [...last.parts, userPart(wire, part)] }
      } else made.push({ role: 'user', parts: [userPart(wire, part)] })
    }
  }
  return made
}

function userPart(wire: WireId, part: WirePart): TextPart | MediaPart {
  if (typeof part['text'] === 'string') return { kind: 'text', text: part['text'] }
  return blob(part) ?? unknownPart(wire, part)
}

function modelPart(wire: WireId, part: WirePart, mint: () => string): AssistantPart {
  const signature = part['thoughtSignature']
  const signed = typeof signature === 'string' && signature !== ''
  const sealed = signed ? { native: native(wire, undefined, { thoughtSignature: signature }) } : {}
  const call = part['functionCall']
  if (isObject(call)) {
    const args = call['args'] ?? {}
    const id = typeof call['id'] === 'string' && call['id'] !== '' ? call['id'] : undefined
    return {
      kind: 'call',
      id: mint(),
      name: words(call['name']),
      raw: typeof args === 'string' ? args : JSON.stringify(args),
      ...(isObject(args) && { input: args as JsonObject }),
      native: native(wire, id, signed ? { thoughtSignature: signature } : undefined),
    }
  }
  if (typeof part['text'] === 'string') {
    return { kind: part['thought'] === true ? 'reasoning' : 'text', text: part['text'], ...sealed }
  }
  const media = blob(part)
  return media ? { ...media, ...sealed } : unknownPart(wire, part)
}

function unknownPart(wire: WireId, part: WirePart): TextPart {
  return { kind: 'text', text: '', native: native(wire, undefined, item(partKind(part) ?? 'native', part)) }
}

/** A result names its call by id, or answers the first open call of its name (T126). */
function resultPart(given: WirePart, open: Open[]): ResultPart {
  const id = typeof given['id'] === 'string' && given['id'] !== '' ? given['id'] : undefined
  const name = typeof given['name'] === 'string' ? given['name'] : ''
  const byId = id === undefined ? -1 : open.findIndex((one) => one.id === id)
  const at = byId >= 0 ? byId : open.findIndex((one) => one.call.name === name)
  const [answered] = at < 0 ? [] : open.splice(at, 1)
  const response = isObject(given['response']) ? (given['response'] as JsonObject) : {}
  const only = Object.keys(response).length === 1 ? (response['output'] ?? response['error']) : undefined
  const media = list(given['parts']).flatMap((part) => blob(part) ?? [])
  return {
    kind: 'result',
    id: answered?.call.id ?? id ?? '',
    name,
    status: typeof response['error'] === 'string' && only !== undefined ? 'error' : 'ok',
    content: [...(typeof only === 'string' ? [{ kind: 'text', text: only } as const] : []), ...media],
    data: response,
  }
}

function instruction(given: unknown): string {
  if (typeof given === 'string') return given
  if (!isObject(given)) return ''
  const parts = Array.isArray(given['parts']) ? list(given['parts']) : [given]
  return parts.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : [])).join('\n')
}

function declaration(given: WirePart): ToolSpec {
  const json = given['parametersJsonSchema']
  const older = given['parameters']
  const schema = isObject(json)
    ? json
    : isObject(older)
      ? lowerTypes(older as JsonObject)
      : { type: 'object', properties: {} }
  return { name: words(given['name']), description: words(given['description']), schema: schema as JsonObject }
}

/** Gemini's own dialect writes types in capitals. */
function lowerTypes(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(lowerTypes)
  if (!isObject(schema)) return schema
  const lower = (key: string, value: Json) =>
    key === 'type' && typeof value === 'string' ? value.toLowerCase() : lowerTypes(value)
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, lower(key, value)]))
}

function toolChoice(config: unknown): ToolChoice | undefined {
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

function params(given: WirePart): Params {
  const thinking = given['thinkingConfig']
  const budget = isObject(thinking) ? thinking['thinkingBudget'] : undefined
  const level = isObject(thinking) ? thinking['thinkingLevel'] : undefined
  const stop = given['stopSequences']
  return {
    ...(typeof given['maxOutputTokens'] === 'number' && { maxTokens: given['maxOutputTokens'] }),
    ...(typeof given['temperature'] === 'number' && { temperature: given['temperature'] }),
    ...(typeof given['topP'] === 'number' && { topP: given['topP'] }),
    ...(Array.isArray(stop) && stop.length > 0 && { stop: stop.map(String) }),
    ...(typeof budget === 'number' && budget >= 0 && { effort: budget === 0 ? ('off' as const) : budget }),
    ...(typeof level === 'string' && LEVELS.has(level.toLowerCase()) && { effort: level.toLowerCase() as 'low' }),
  }
}

const LEVELS = new Set(['minimal', 'low', 'medium', 'high'])

/** The API takes the keys of a body in both spellings. */
function field(given: WirePart, key: string): unknown {
  return given[key] ?? given[key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)]
}

function words(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function list(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function native(wire: WireId, id: string | undefined, data?: Json): Native {
  return { wire, signer: wire, ...(id !== undefined && { id }), ...(data !== undefined && { data }) }
}
