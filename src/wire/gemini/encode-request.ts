import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ModelParams, ModelRequest, ToolChoice } from '../../model/request.ts'
import { findResultMedia, formatResultText, toWellFormed } from '../../model/text.ts'
import type { AssistantPart, CallPart, MediaPart, TextPart, WireId } from '../../model/turn.ts'
import type { ToolDeclarations } from '../../schema/dialect/declare-tools.ts'
import { listDeclarationWarnings, declareToolsFor } from '../declare-tools.ts'
import { formatCallAsText, describeToolsAsText, formatResultAsText } from '../text-calls/format-text-calls.ts'
import {
  type CallResultPair,
  type TranscriptStep,
  toWireArguments,
  toWireArgumentText,
  isNativeTo,
  getReplayableData,
  type HistoryPosition,
  buildTranscript,
} from '../history/transcript.ts'
import type { EncodedRequest } from '../wire.ts'
import { encodeAttachments, encodeFunctionResponse, encodeMediaPart } from './encode-results.ts'
import { defined } from '../../model/defined.ts'

/** A generateContent body. The contents are the last key, so that a longer history extends the bytes of a shorter one. */
export interface GeminiBody {
  systemInstruction?: JsonObject
  tools?: JsonObject[]
  toolConfig?: JsonObject
  generationConfig?: JsonObject
  session_id?: string
  contents: GeminiContent[]
}

/** One turn on the wire; there are only two roles (T122). */
interface GeminiContent {
  role: 'user' | 'model'
  parts: JsonObject[]
}

interface EncodeContext {
  readonly wire: WireId
  readonly profile: Profile
  readonly projection: ToolDeclarations
}

type AssistantStep = TranscriptStep & { readonly kind: 'assistant' }

/** Ids are only ever those that the endpoint gave, so none of ours needs a form here. */
const ID_FORMAT = { pattern: /^[\w-]{1,64}$/ }

/** Lets a call pass that another model made, and that therefore has no signature of Gemini's (T120). */
const SKIP_SIGNATURE = 'skip_thought_signature_validator'

/** Writes a generateContent request. The model is not in it; it is part of the address. */
export function encodeGeminiRequest(
  request: ModelRequest,
  profile: Profile,
  position?: HistoryPosition,
): EncodedRequest {
  const { body, warnings } = encodeGeminiBody('gemini', request, profile, {}, position)
  return { body: { ...body } as unknown as JsonObject, warnings }
}

/** Writes the request for a wire that carries it as it is, or in an envelope. */
export function encodeGeminiBody(
  wire: WireId,
  request: ModelRequest,
  profile: Profile,
  extra: Partial<GeminiBody> = {},
  position?: HistoryPosition,
): { body: GeminiBody; warnings: Warning[] } {
  const projection = declareToolsFor(request.tools, profile)
  const context: EncodeContext = { wire, profile, projection }
  const { steps, warnings } = buildTranscript(request.turns, { ...context, idFormat: ID_FORMAT }, position)
  const system = getSystemText(request, context)
  const hasDeclarations = profile.tools === 'native' && projection.tools.length > 0
  const tools: JsonObject[] = [
    ...(hasDeclarations ? [{ functionDeclarations: projection.tools.map((tool) => declareTool(tool, profile)) }] : []),
    ...(request.serverTools ?? []).map((tool) => ({ [SERVER_TOOLS[tool]]: {} })),
  ]
  const config = hasDeclarations ? createToolConfig(request.toolChoice, context) : undefined
  const generation = createGenerationConfig(request.params ?? {}, profile, warnings)
  for (const refused of profile.refuses) delete generation[refused]
  const body: GeminiBody = {
    ...(system !== '' && { systemInstruction: { parts: [{ text: system }] } }),
    ...(tools.length > 0 && { tools }),
    ...(config && { toolConfig: { functionCallingConfig: config } }),
    ...(Object.keys(generation).length > 0 && { generationConfig: generation }),
    ...extra,
    contents: encodeContents(steps, context),
  }
  for (const refused of profile.refuses) Reflect.deleteProperty(body, refused)
  warnings.push(...listDeclarationWarnings(projection))
  return { body, warnings }
}

const SERVER_TOOLS = { url_context: 'urlContext', google_search: 'googleSearch' } as const

function getSystemText(request: ModelRequest, { profile, projection }: EncodeContext): string {
  const tools = profile.tools === 'text' && projection.tools.length > 0 ? describeToolsAsText(projection.tools) : ''
  return toWellFormed([request.system ?? '', tools].filter((text) => text.trim() !== '').join('\n\n'))
}

function declareTool(tool: ToolDeclarations['tools'][number], { dialect }: Profile): JsonObject {
  const { name, description, schema } = tool
  if (dialect !== 'gemini') return { name, description, parametersJsonSchema: schema }
  // The older form refuses an object without properties.
  const properties = schema['properties']
  const empty = !isObject(properties) || Object.keys(properties).length === 0
  return { name, description, ...(!empty && { parameters: schema }) }
}

/** Sent only beside declarations (T130). `auto` is the default; VALIDATED is the same, with calls held to their schemas. */
function createToolConfig(
  choice: ToolChoice | undefined,
  { profile, projection }: EncodeContext,
): JsonObject | undefined {
  const streaming = profile.eagerArguments ? { streamFunctionCallArguments: true } : {}
  if (choice === 'none') return { mode: 'NONE' }
  if (choice === 'required') return { mode: 'ANY', ...streaming }
  if (isObject(choice)) {
    const wanted = ('name' in choice ? [choice.name] : choice.only).map((name) => projection.toWireName(name))
    const names = wanted.filter((name) => projection.tools.some((tool) => tool.name === name))
    if (names.length === 0) return { mode: 'NONE' }
    // AUTO takes no names; ANY would force a call, and a model that must call can never finish (T130).
    return { mode: 'name' in choice ? 'ANY' : 'VALIDATED', allowedFunctionNames: names, ...streaming }
  }
  if (profile.constrain) return { mode: 'VALIDATED', ...streaming }
  return profile.eagerArguments ? streaming : undefined
}

function createGenerationConfig(params: ModelParams, profile: Profile, warnings: Warning[]): JsonObject {
  if (params.parallelCalls === false) {
    warnings.push({ code: 'parallel-calls', message: 'This wire cannot forbid parallel calls.' })
  }
  const stops = params.stop?.filter((word) => word !== '') ?? []
  if (stops.length > MAX_STOP_SEQUENCES)
    warnings.push({ code: 'stop', message: `Only the first ${MAX_STOP_SEQUENCES} stop sequences were sent.` })
  const thinking = createThinkingConfig(params.effort, profile)
  return {
    ...defined({ maxOutputTokens: params.maxTokens, temperature: params.temperature, topP: params.topP }),
    ...(stops.length > 0 && { stopSequences: stops.slice(0, MAX_STOP_SEQUENCES) }),
    ...defined({ thinkingConfig: thinking }),
  }
}

/** More are refused (T155). */
const MAX_STOP_SEQUENCES = 5

/** Without an effort the model thinks as it likes. Thoughts cannot be asked for where thinking is off. */
function createThinkingConfig(effort: ModelParams['effort'], { thinking }: Profile): JsonObject | undefined {
  if (thinking === 'none') return undefined
  if (effort === undefined) return { includeThoughts: true }
  if (thinking === 'level') {
    const level =
      typeof effort === 'number'
        ? effort <= 2048
          ? 'LOW'
          : effort <= 8192
            ? 'MEDIUM'
            : 'HIGH'
        : THINKING_LEVELS[effort]
    return { thinkingLevel: level, includeThoughts: true }
  }
  const budget = typeof effort === 'number' ? effort : THINKING_BUDGETS[effort]
  return { thinkingBudget: budget, ...(budget !== 0 && { includeThoughts: true }) }
}

const THINKING_BUDGETS = { off: 0, minimal: 512, low: 2048, medium: 8192, high: 24576, xhigh: 24576 } as const

/** Not every model of this kind knows MINIMAL, and none can be turned off. */
const THINKING_LEVELS = {
  off: 'LOW',
  minimal: 'LOW',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
} as const

/** The history. What follows the same role is merged, so that results and the words after them are one content (T121, T122). */
function encodeContents(steps: readonly TranscriptStep[], context: EncodeContext): GeminiContent[] {
  const list: GeminiContent[] = []
  const add = (role: GeminiContent['role'], parts: JsonObject[]) => {
    const last = list.at(-1)
    if (parts.length === 0) return // never `parts: []` (T123)
    if (last?.role === role) last.parts.push(...parts)
    else list.push({ role, parts })
  }
  for (const step of steps) {
    if (step.kind === 'user')
      add(
        'user',
        step.parts.map((part) => encodeUserPart(part, context.profile)),
      )
    else if (context.profile.tools === 'text') {
      add('model', encodeTextTurn(step, context))
      add(
        'user',
        step.pairs.flatMap((pair) => encodeTextResult(pair, context)),
      )
    } else {
      add('model', encodeModelParts(step, context))
      const answers = step.pairs.map((pair) => encodeFunctionResponse(pair, getEchoedId(pair, context), context))
      add('user', [...answers, ...step.pairs.flatMap(({ result }) => encodeAttachments(result, context.profile))])
    }
  }
  return list
}

function encodeUserPart(part: TextPart | MediaPart, profile: Profile): JsonObject {
  return part.kind === 'text' ? { text: toWellFormed(part.text) } : encodeMediaPart(part, profile)
}

function encodeModelParts(step: AssistantStep, context: EncodeContext): JsonObject[] {
  const pairsByCall = new Map(step.pairs.map((pair) => [pair.call, pair]))
  const first = step.pairs[0]
  return step.parts.flatMap((part) => {
    const pair = part.kind === 'call' ? pairsByCall.get(part) : undefined
    if (pair) return [encodeFunctionCall(pair, step, pair === first, context)]
    return part.kind === 'call' ? [] : encodeModelPart(part, context)
  })
}

/** Own parts go back as they came. Thoughts without a signature stay here: nobody asks for them (T117–T119). */
function encodeModelPart(part: Exclude<AssistantPart, CallPart>, context: EncodeContext): JsonObject[] {
  const { profile } = context
  const data = getReplayableData(part, context)
  const text = part.kind === 'media' ? '' : toWellFormed(part.text)
  const intact = profile.signatures !== 'never' && (part.kind === 'media' || part.text === text)
  const signature = intact ? data?.['thoughtSignature'] : undefined
  const signed = typeof signature === 'string' ? { thoughtSignature: signature } : undefined
  if (part.kind === 'reasoning') return signed && profile.replay === 'own' ? [{ text, thought: true, ...signed }] : []
  if (part.kind === 'media') {
    return isNativeTo(part, context)
      ? [{ ...encodeMediaPart(part, profile), ...signed }]
      : [{ text: `(${part.mime} was shown here)` }]
  }
  const native = data?.['part']
  if (text === '' && isObject(native)) return isReplayable(data?.['type']) ? [native] : []
  return text.trim() === '' && !signed ? [] : [{ text, ...signed }]
}

/** A call that the vendor itself answered would need an answer in the next content, where there is none (T121). */
function isReplayable(type: unknown): boolean {
  return type !== 'functionCall' && type !== 'functionResponse'
}

function encodeFunctionCall(
  pair: CallResultPair,
  step: AssistantStep,
  first: boolean,
  context: EncodeContext,
): JsonObject {
  const { call } = pair
  const id = getEchoedId(pair, context)
  const signature = chooseSignature(call, step, first, context)
  return {
    functionCall: {
      ...defined({ id }),
      name: context.projection.toWireName(call.name),
      args: toWireArguments(call, context.projection),
    },
    ...defined({ thoughtSignature: signature }),
  }
}

/**
 * The signature of a call: the one that came with it, or, where the model insists, the sentinel; and that only on the
 * first call of a turn, because only that one is ever signed (T118). A call that is not sent as it came loses its own (T120).
 */
function chooseSignature(
  call: CallPart,
  step: AssistantStep,
  first: boolean,
  context: EncodeContext,
): string | undefined {
  const { profile } = context
  if (profile.signatures === 'never') return undefined
  const intact = isNativeTo(call, context) && call.input !== undefined && !call.flaw
  const originalSignature = intact ? getReplayableData(call, context)?.['thoughtSignature'] : undefined
  if (typeof originalSignature === 'string' && originalSignature !== '') return originalSignature
  if (profile.signatures !== 'required' || !first) return undefined
  // The endpoint itself left the first call unsigned.
  const isUnsignedOriginal = intact && step.turn.parts.find((part) => part.kind === 'call') === call
  return isUnsignedOriginal ? undefined : SKIP_SIGNATURE
}

/** An id goes back only where this endpoint gave it, and gave it once; others refuse the field (T126). */
function getEchoedId({ call, id }: CallResultPair, context: EncodeContext): string | undefined {
  if (context.profile.refuses.includes('functionCall.id')) return undefined
  return isNativeTo(call, context) && call.native?.id === id ? id : undefined
}

function encodeTextTurn(step: AssistantStep, context: EncodeContext): JsonObject[] {
  return step.parts.flatMap((part) => {
    if (part.kind !== 'call') return encodeModelPart(part, context)
    const { projection } = context
    return [{ text: formatCallAsText(projection.toWireName(part.name), toWireArgumentText(part, projection)) }]
  })
}

function encodeTextResult({ call, result }: CallResultPair, { profile, projection }: EncodeContext): JsonObject[] {
  const resultBlock = formatResultAsText(projection.toWireName(call.name), formatResultText(result), result.status)
  return [{ text: resultBlock }, ...findResultMedia(result).map((part) => encodeMediaPart(part, profile))]
}
