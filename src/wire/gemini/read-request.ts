import type { Warning } from '../../model/event.ts'
import type { DecodedRequest } from '../wire.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import { filterObjects, isObject, nonBlankString, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { ModelParams, ModelRequest } from '../../model/request.ts'
import type { AssistantPart, CallPart, MediaPart, ResultPart, TextPart, Turn, WireId } from '../../model/turn.ts'
import { createUnansweredCalls, type ResultReference } from '../history/unanswered-calls.ts'
import { addParts, createNativeDataFromRequest, pickOtherFields } from '../read-parts.ts'
import { readOutputFormat } from '../output-format.ts'
import { readOtherFields } from '../provider-options.ts'
import { readObjects, warnNotKept } from '../unread-fields.ts'
import { checkGeminiTypes } from './field-types.ts'
import { getField, lowercaseTypes, readGeminiTools, readToolConfig } from './read-tools.ts'
import { getPartKind, isPlainMedia, toMediaPart, toNativeItem, type GeminiPart } from './parts.ts'
import { defined } from '../../model/defined.ts'

export function readGeminiRequest(body: unknown): DecodedRequest {
  return readGeminiBody('gemini', objectOrEmpty(body))
}

/** The body of Gemini itself, or from the envelope of Code Assist. What only this wire understands is kept as native data. */
export function readGeminiBody(wire: WireId, body: GeminiPart): DecodedRequest {
  const warnings: Warning[] = []
  checkGeminiTypes(body, warnings)
  const system = readInstruction(getField(body, 'systemInstruction'), warnings)
  const generation = objectOrEmpty(getField(body, 'generationConfig'))
  const { choice, options: toolOptions } = readToolConfig(objectOrEmpty(getField(body, 'toolConfig')))
  const { tools, serverTools, hostedTools } = readGeminiTools(wire, body['tools'], warnings)
  const { params, options: generationOptions } = readGenerationConfig(generation)
  const options = {
    ...readOtherFields(body, KNOWN_FIELDS),
    ...defined({ generationConfig: generationOptions, toolConfig: toolOptions }),
  }
  const request: ModelRequest = {
    model: stringOrEmpty(body['model']).replace(/^models\//, ''),
    ...(system !== '' && { system }),
    tools,
    ...(serverTools.length > 0 && { serverTools }),
    ...(hostedTools.length > 0 && { hostedTools }),
    ...defined({ toolChoice: choice }),
    turns: readTurns(wire, readObjects(body['contents'], 'A content', warnings), warnings),
    params,
    ...readOutputFormat('answer', readResponseSchema(generation)),
    ...(Object.keys(options).length > 0 && { providerOptions: { gemini: options } }),
  }
  return { request, warnings }
}

const KNOWN_FIELDS = 'model contents systemInstruction tools toolConfig generationConfig session_id'

function readTurns(wire: WireId, contents: readonly GeminiPart[], warnings: Warning[]): Turn[] {
  const history: Turn[] = []
  const unanswered = createUnansweredCalls({ anyName: false })
  let pending: PendingResult[] = []
  let calls = 0
  /** Results are matched together with those that follow them. */
  const flushResults = (): void => {
    const answered = unanswered.match(pending.map(({ fields }) => toReference(fields)))
    for (const [at, { turn, fields }] of pending.entries()) turn.push(readResultPart(wire, fields, answered[at]))
    pending = []
  }
  for (const content of contents) {
    const parts = readObjects(content['parts'], 'A part', warnings)
    warnNotKept(warnings, 'A part of a content', pickOtherFields(content, 'role parts'))
    if (!ROLES.has(stringOrEmpty(content['role']))) warnNotKept(warnings, 'The role of a content', content['role'])
    if (content['role'] === 'model') {
      flushResults()
      const modelParts = parts.map((part) => readModelPart(wire, part, () => `call${calls++}`, warnings))
      unanswered.addResponse(modelParts.filter((part) => part.kind === 'call'))
      const origin = { provider: wire, wire, model: '' } as const
      history.push({ role: 'assistant', origin, parts: modelParts, finish: { reason: 'stop' } })
      continue
    }
    for (const part of parts) {
      const response = part['functionResponse']
      const last = history.at(-1)
      if (isObject(response)) {
        warnNotKept(warnings, 'A part of a result', pickOtherFields(part, 'functionResponse'))
        const turn = last?.role === 'results' ? (pending.at(-1)?.turn ?? []) : []
        if (last?.role !== 'results') history.push({ role: 'results', parts: turn })
        pending.push({ turn, fields: wrapResponse(response) })
      } else if (last?.role === 'user' && part !== parts[0]) {
        addParts(last, [readUserPart(wire, part)])
      } else history.push({ role: 'user', parts: [readUserPart(wire, part)] })
    }
  }
  flushResults()
  return history
}

/** A result whose call is not known yet, and the parts of the turn that it belongs to. */
interface PendingResult {
  readonly turn: ResultPart[]
  readonly fields: GeminiPart
}

/** A result refers to its call by id, or else by its name (T126). */
function toReference(fields: GeminiPart): ResultReference {
  return { id: nonBlankString(fields['id']), name: stringOrEmpty(fields['name']) }
}

const ROLES = new Set(['user', 'model', 'function'])

/** A response must be an object; anything else is taken for its output. */
function wrapResponse(fields: Record<string, unknown>): Record<string, unknown> {
  const { response } = fields
  return response === undefined || response === null || isObject(response)
    ? fields
    : { ...fields, response: { output: response } }
}

function readUserPart(wire: WireId, part: GeminiPart): TextPart | MediaPart {
  if (typeof part['text'] !== 'string') return readMedia(wire, part) ?? readUnknownPart(wire, part)
  const fields = pickOtherFields(part, 'text')
  const native = fields && createNativeDataFromRequest(wire, undefined, { fields })
  return { kind: 'text', text: part['text'], ...defined({ native }) }
}

/** With the whole part, if it has more than its data. */
function readMedia(wire: WireId, part: GeminiPart): MediaPart | undefined {
  const media = toMediaPart(part)
  if (!media || isPlainMedia(part)) return media
  const native = createNativeDataFromRequest(wire, undefined, toNativeItem(getPartKind(part) ?? 'media', part))
  return { ...media, native }
}

function readModelPart(wire: WireId, part: GeminiPart, newId: () => string, warnings: Warning[]): AssistantPart {
  const thoughtSignature = nonBlankString(part['thoughtSignature'])
  const fields = pickOtherFields(part, 'text thought functionCall thoughtSignature')
  const data = { ...defined({ thoughtSignature, fields }) }
  const native = hasFields(data) ? createNativeDataFromRequest(wire, undefined, data) : undefined
  const call = part['functionCall']
  if (isObject(call)) {
    const args = call['args'] ?? {}
    const callData = { ...data, ...defined({ callFields: pickOtherFields(call, 'id name args') }) }
    if (!isObject(args)) warnNotKept(warnings, 'The arguments of a call, which are not an object,', args)
    return {
      kind: 'call',
      id: newId(),
      name: stringOrEmpty(call['name']),
      raw: typeof args === 'string' ? args : JSON.stringify(args),
      ...(isObject(args) && { input: args as JsonObject }),
      native: createNativeDataFromRequest(wire, nonBlankString(call['id']), hasFields(callData) ? callData : undefined),
    }
  }
  if (typeof part['text'] === 'string') {
    const isThought = part['thought'] === true
    // Thoughts without a signature are never sent back.
    if (isThought && thoughtSignature === undefined) warnNotKept(warnings, 'A part of a thought', fields)
    return { kind: isThought ? 'reasoning' : 'text', text: part['text'], ...defined({ native }) }
  }
  const media = readMedia(wire, part)
  return media ? { ...(native && !media.native ? { ...media, native } : media) } : readUnknownPart(wire, part)
}

function hasFields(fields: object): boolean {
  return Object.keys(fields).length > 0
}

function readUnknownPart(wire: WireId, part: GeminiPart): TextPart {
  const item = toNativeItem(getPartKind(part) ?? 'native', part)
  return { kind: 'text', text: '', native: createNativeDataFromRequest(wire, undefined, item) }
}

function readResultPart(wire: WireId, fields: GeminiPart, answered: CallPart | undefined): ResultPart {
  const id = nonBlankString(fields['id'])
  const response = objectOrEmpty(fields['response']) as JsonObject
  const only = Object.keys(response).length === 1 ? (response['output'] ?? response['error']) : undefined
  const parts = filterObjects(fields['parts']).map((part) => readMedia(wire, part) ?? readUnknownPart(wire, part))
  const others = pickOtherFields(fields, 'id name response parts')
  return {
    kind: 'result',
    id: answered?.id ?? id ?? '',
    name: nonBlankString(fields['name']) ?? answered?.name ?? '',
    status: typeof response['error'] === 'string' && only !== undefined ? 'error' : 'ok',
    content: [...(typeof only === 'string' ? [{ kind: 'text', text: only } as const] : []), ...parts],
    data: response,
    ...(others && { native: createNativeDataFromRequest(wire, id, { fields: others }) }),
  }
}

function readInstruction(value: unknown, warnings: Warning[]): string {
  if (typeof value === 'string') return value
  if (!isObject(value)) return ''
  const isContent = Array.isArray(value['parts'])
  if (isContent) warnNotKept(warnings, 'A part of the system prompt', pickOtherFields(value, 'role parts'))
  const parts = isContent ? readObjects(value['parts'], 'A part of the system prompt', warnings) : [value]
  for (const part of parts) warnNotKept(warnings, 'A part of the system prompt', pickOtherFields(part, 'text'))
  return parts.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : [])).join('\n')
}

function readResponseSchema(generation: GeminiPart): unknown {
  return getField(generation, 'responseJsonSchema') ?? lowercaseTypes(getField(generation, 'responseSchema') as Json)
}

/** The settings that all wires have, and the others. */
function readGenerationConfig(fields: GeminiPart): { params: ModelParams; options?: JsonObject } {
  const thinking = objectOrEmpty(getField(fields, 'thinkingConfig'))
  const { thinkingBudget: budget, thinkingLevel, includeThoughts } = thinking
  const level = stringOrEmpty(thinkingLevel).toLowerCase()
  const read = PARAM_FIELDS.map(({ field, read: readValue }) => ({ field, param: readValue(getField(fields, field)) }))
  const isBudget = typeof budget === 'number' && budget >= 0
  const params: ModelParams = Object.assign({}, ...read.map(({ param }) => param), {
    ...(isBudget && { effort: budget === 0 ? ('off' as const) : budget }),
    ...(THINKING_LEVELS.has(level) && { effort: level }),
  }) as ModelParams
  const understood = read.flatMap(({ field, param }) => (param ? [field] : []))
  const hasSchema = isObject(readResponseSchema(fields))
  const schemaFields = hasSchema ? ' responseMimeType responseSchema responseJsonSchema' : ''
  const thinkingConfig = pickOtherFields(
    thinking,
    [
      ...(isBudget ? ['thinkingBudget'] : []),
      ...(THINKING_LEVELS.has(level) ? ['thinkingLevel'] : []),
      ...(includeThoughts === true ? ['includeThoughts'] : []),
    ].join(' '),
  )
  const options = {
    ...readOtherFields(fields, `${understood.join(' ')} thinkingConfig${schemaFields}`),
    ...defined({ thinkingConfig }),
  } as JsonObject
  return { params, ...(Object.keys(options).length > 0 && { options }) }
}

interface ParamField {
  readonly field: string
  readonly read: (value: unknown) => ModelParams | undefined
}

const PARAM_FIELDS: readonly ParamField[] = [
  { field: 'maxOutputTokens', read: (value) => (typeof value === 'number' ? { maxTokens: value } : undefined) },
  { field: 'temperature', read: (value) => (typeof value === 'number' ? { temperature: value } : undefined) },
  { field: 'topP', read: (value) => (typeof value === 'number' ? { topP: value } : undefined) },
  {
    field: 'stopSequences',
    read: (value) => (Array.isArray(value) && value.length > 0 ? { stop: value.map(String) } : undefined),
  },
]

const THINKING_LEVELS = new Set(['minimal', 'low', 'medium', 'high'])
