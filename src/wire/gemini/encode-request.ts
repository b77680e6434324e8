import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject, objectOrEmpty } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ModelParams, ModelRequest, ToolChoice } from '../../model/request.ts'
import { findResultMedia, toWellFormed } from '../../model/text.ts'
import type { AssistantPart, CallPart, MediaPart, TextPart, WireId } from '../../model/turn.ts'
import type { DeclaredTool } from '../../schema/dialect/declare-tools.ts'
import { createEncodeContext, getNativeToolFields, listDeclarationWarnings, listHostedTools } from '../declare-tools.ts'
import { findChosenTool, joinSystemPrompt, limitStopSequences, warnAboutCacheTtl } from '../encode-parts.ts'
import { formatCallPart, formatResultPart } from '../text-calls/format-text-calls.ts'
import type {
  AssistantStep,
  CallResultPair,
  EncodeContext,
  HistoryPosition,
  TranscriptStep,
} from '../history/transcript.ts'
import { buildTranscript, getReplayableData, hasNativeDataFor, toWireArguments } from '../history/transcript.ts'
import { chooseOutputRequest } from '../output-format.ts'
import { mergeProviderOptions } from '../provider-options.ts'
import type { Wire } from '../wire.ts'
import { encodeAttachments, encodeFunctionResponse, encodeMediaPart } from './encode-results.ts'
import { defined } from '../../model/defined.ts'

/** The contents are the last key, so that a longer history only adds bytes at the end. */
interface GeminiBody {
  systemInstruction?: JsonObject
  tools?: JsonObject[]
  toolConfig?: JsonObject
  generationConfig?: JsonObject
  session_id?: string
  contents: GeminiContent[]
}

/** There are only two roles (T122). */
interface GeminiContent {
  role: 'user' | 'model'
  parts: JsonObject[]
}

/** Our own ids are not sent: an id is sent back only to the endpoint that made it. */
const ID_PATTERN = /^[\w-]{1,64}$/

/** The documented sentinel for calls of other models, which have no signature of Gemini (T120). */
const SKIP_SIGNATURE = 'skip_thought_signature_validator'

/** The model is not in the body; it is part of the URL. */
export const encodeGeminiRequest: Wire['encodeRequest'] = (request, profile, position) => {
  const { body, warnings } = encodeGeminiBody('gemini', request, profile, {}, position)
  return { body: { ...body } as unknown as JsonObject, warnings }
}

/** The body for Gemini itself, or for the envelope of Code Assist. */
export function encodeGeminiBody(
  wire: WireId,
  request: ModelRequest,
  profile: Profile,
  extra: Partial<GeminiBody> = {},
  position?: HistoryPosition,
): { body: GeminiBody; warnings: Warning[] } {
  const context = createEncodeContext(wire, request, profile, position)
  const { projection } = context
  const { steps, warnings } = buildTranscript(request.turns, context, ID_PATTERN, position)
  const system = joinSystemPrompt(request, context)
  const hasDeclarations = profile.tools === 'native' && projection.tools.length > 0
  const tools: JsonObject[] = [
    ...(hasDeclarations
      ? [{ functionDeclarations: projection.tools.map((tool) => declareTool(tool, wire, profile)) }]
      : []),
    ...(request.serverTools ?? []).map((tool) => ({ [GEMINI_SERVER_TOOL_NAMES[tool]]: {} })),
    ...listHostedTools(request, wire, warnings),
  ]
  const config = hasDeclarations ? createToolConfig(request.toolChoice, context, warnings) : undefined
  const generation = {
    ...createGenerationConfig(request.params ?? {}, profile, warnings),
    ...createResponseFormat(request, context),
  }
  const complete = {
    ...(system !== '' && { systemInstruction: { parts: [{ text: system }] } }),
    ...(tools.length > 0 && { tools }),
    ...(config && { toolConfig: { functionCallingConfig: config } }),
    ...(Object.keys(generation).length > 0 && { generationConfig: generation }),
    ...defined({ continuationToken: request.continuation }),
    ...extra,
    contents: encodeContents(steps, context) as unknown as JsonObject[],
  }
  const merged = mergeProviderOptions(complete, request.providerOptions?.gemini, warnings)
  const body = removeRefused(merged, profile.refuses) as unknown as GeminiBody
  warnings.push(...listDeclarationWarnings(projection))
  return { body, warnings }
}

/** A refused field may be one of the generation settings. */
function removeRefused(body: JsonObject, refuses: readonly string[]): JsonObject {
  const out = { ...body }
  const settings = isObject(body['generationConfig']) ? { ...body['generationConfig'] } : {}
  for (const refused of refuses) {
    delete out[refused]
    delete settings[refused]
  }
  if (Object.keys(settings).length === 0) delete out['generationConfig']
  else if (out['generationConfig'] !== undefined) out['generationConfig'] = settings
  return out
}

function createResponseFormat(request: ModelRequest, context: EncodeContext): JsonObject {
  const asked = chooseOutputRequest(request, context)
  if (!asked || asked.kind === 'words') return {}
  const schemaField = context.profile.dialect === 'gemini' ? 'responseSchema' : 'responseJsonSchema'
  return { responseMimeType: 'application/json', ...(asked.kind === 'schema' && { [schemaField]: asked.schema }) }
}

export const GEMINI_SERVER_TOOL_NAMES = { url_context: 'urlContext', google_search: 'googleSearch' } as const

function declareTool(tool: DeclaredTool, wire: WireId, { dialect }: Profile): JsonObject {
  const { name, description, schema } = tool
  const others = getNativeToolFields(tool, wire)
  if (dialect !== 'gemini') return { name, description, parametersJsonSchema: schema, ...others }
  // The older dialect rejects an object without properties.
  const isEmpty = Object.keys(objectOrEmpty(schema['properties'])).length === 0
  return { name, description, ...(!isEmpty && { parameters: schema }), ...others }
}

/** Sent only with declarations (T130). `auto` is the default; VALIDATED is the same with calls constrained to their schemas. */
function createToolConfig(choice: ToolChoice | undefined, { profile, projection }: EncodeContext, warnings: Warning[]) {
  const streaming = profile.eagerArguments ? { streamFunctionCallArguments: true } : {}
  if (choice === 'none') return { mode: 'NONE' }
  if (choice === 'required') return { mode: 'ANY', ...streaming }
  if (isObject(choice)) {
    const wanted = 'name' in choice ? [choice.name] : choice.only
    const names = wanted.flatMap((name) => findChosenTool(name, projection, warnings)?.name ?? [])
    if (names.length === 0) return { mode: 'NONE' }
    // AUTO does not accept names; ANY would force a call, and a model that must call never finishes (T130).
    return { mode: 'name' in choice ? 'ANY' : 'VALIDATED', allowedFunctionNames: names, ...streaming }
  }
  if (profile.constrain) return { mode: 'VALIDATED', ...streaming }
  return profile.eagerArguments ? streaming : undefined
}

function createGenerationConfig(params: ModelParams, profile: Profile, warnings: Warning[]): JsonObject {
  if (params.parallelCalls === false)
    warnings.push({ code: 'parallel-calls', message: 'This API cannot forbid parallel calls.' })
  warnAboutCacheTtl(params, warnings)
  const stopSequences = limitStopSequences(params.stop, MAX_STOP_SEQUENCES, warnings)
  return {
    ...defined({ maxOutputTokens: params.maxTokens, temperature: params.temperature, topP: params.topP }),
    ...(stopSequences.length > 0 && { stopSequences }),
    ...defined({ thinkingConfig: createThinkingConfig(params.effort, profile) }),
  }
}

const MAX_STOP_SEQUENCES = 5

/** Without an effort the model decides how much it thinks. Thoughts cannot be requested if thinking is off. */
function createThinkingConfig(effort: ModelParams['effort'], { thinking }: Profile): JsonObject | undefined {
  if (thinking === 'none') return undefined
  if (effort === undefined) return { includeThoughts: true }
  if (thinking === 'level') return { thinkingLevel: chooseThinkingLevel(effort), includeThoughts: true }
  const budget = typeof effort === 'number' ? effort : THINKING_BUDGETS[effort]
  return { thinkingBudget: budget, ...(budget !== 0 && { includeThoughts: true }) }
}

/** For models that have levels; a budget becomes the level that it comes nearest to. */
export function chooseThinkingLevel(effort: NonNullable<ModelParams['effort']>): 'LOW' | 'MEDIUM' | 'HIGH' {
  return THINKING_LEVELS[typeof effort === 'number' ? toEffort(effort) : effort]
}

function toEffort(budget: number): 'low' | 'medium' | 'high' {
  return budget <= THINKING_BUDGETS.low ? 'low' : budget <= THINKING_BUDGETS.medium ? 'medium' : 'high'
}

const THINKING_BUDGETS = { off: 0, minimal: 512, low: 2048, medium: 8192, high: 24576, xhigh: 24576 } as const

/** Not every model with levels supports MINIMAL, and none can be turned off. */
const THINKING_LEVELS = {
  off: 'LOW',
  minimal: 'LOW',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
} as const

/** Consecutive contents of one role are merged, so that results and the text after them are one content (T121, T122). */
function encodeContents(steps: readonly TranscriptStep[], context: EncodeContext): GeminiContent[] {
  const list: GeminiContent[] = []
  const add = (role: GeminiContent['role'], parts: JsonObject[]) => {
    const last = list.at(-1)
    if (parts.length === 0) return // never `parts: []` (T123)
    if (last?.role === role) last.parts.push(...parts)
    else list.push({ role, parts })
  }
  for (const step of steps) {
    const { profile } = context
    if (step.kind === 'user') {
      add(
        'user',
        step.parts.map((part) => encodeUserPart(part, context)),
      )
    } else if (profile.tools === 'text') {
      add('model', encodeTextTurn(step, context))
      add(
        'user',
        step.pairs.flatMap((pair) => encodeTextResult(pair, context)),
      )
    } else {
      add('model', encodeModelParts(step, context))
      const answers = step.pairs.map((pair) => encodeFunctionResponse(pair, getEchoedId(pair, context), context))
      add('user', [...answers, ...step.pairs.flatMap(({ result }) => encodeAttachments(result, profile))])
    }
  }
  return list
}

/** A part with data that only the vendor understands is sent as it came. */
function encodeUserPart(part: TextPart | MediaPart, context: EncodeContext): JsonObject {
  const data = getReplayableData(part, context)
  if (isObject(data?.['part'])) return data['part']
  if (part.kind === 'media') return encodeMediaPart(part, context.profile)
  return { text: toWellFormed(part.text), ...(data?.['fields'] as JsonObject | undefined) }
}

function encodeModelParts(step: AssistantStep, context: EncodeContext): JsonObject[] {
  const pairsByCall = new Map(step.pairs.map((pair) => [pair.call, pair]))
  const first = step.pairs[0]
  return step.parts.flatMap((part) => {
    if (part.kind !== 'call') return encodeModelPart(part, context)
    const pair = pairsByCall.get(part)
    return pair ? [encodeFunctionCall(pair, chooseSignature(part, step, pair === first, context), context)] : []
  })
}

/** Gemini's own parts are sent back unchanged. Thoughts without a signature are not needed (T117–T119). */
function encodeModelPart(part: Exclude<AssistantPart, CallPart>, context: EncodeContext): JsonObject[] {
  const { profile } = context
  const data = getReplayableData(part, context)
  const text = part.kind === 'media' ? '' : toWellFormed(part.text)
  const intact = profile.signatures !== 'never' && (part.kind === 'media' || part.text === text)
  const signature = intact ? data?.['thoughtSignature'] : undefined
  const signed = typeof signature === 'string' ? { thoughtSignature: signature } : undefined
  const fields = data?.['fields'] as JsonObject | undefined
  switch (part.kind) {
    case 'reasoning':
      return signed && profile.replay === 'own' ? [{ text, thought: true, ...signed, ...fields }] : []
    case 'media':
      if (isObject(data?.['part'])) return [data['part']]
      return hasNativeDataFor(part, context)
        ? [{ ...encodeMediaPart(part, profile), ...signed }]
        : [{ text: `(${part.mime} was shown here)` }]
    case 'text': {
      const native = data?.['part']
      if (text === '' && isObject(native)) return isReplayable(data?.['type']) ? [native] : []
      return text.trim() === '' && !signed ? [] : [{ text, ...signed, ...fields }]
    }
    default:
      return part satisfies never
  }
}

/** A call that the vendor ran itself would need a response in the next content, where there is none (T121). */
function isReplayable(type: unknown): boolean {
  return type !== 'functionCall' && type !== 'functionResponse'
}

function encodeFunctionCall(pair: CallResultPair, thoughtSignature: string | undefined, context: EncodeContext) {
  const { call } = pair
  const data = getReplayableData(call, context)
  return {
    functionCall: {
      ...defined({ id: getEchoedId(pair, context) }),
      name: context.projection.toWireName(call.name),
      args: toWireArguments(call, context.projection),
      ...(data?.['callFields'] as JsonObject | undefined),
    },
    ...defined({ thoughtSignature }),
    ...(data?.['fields'] as JsonObject | undefined),
  }
}

/**
 * The original signature of a call, or the sentinel if the model requires one; the sentinel only on the first call of a
 * turn, because only that one is ever signed (T118). A call that is changed loses its signature (T120).
 */
function chooseSignature(call: CallPart, { turn }: AssistantStep, first: boolean, context: EncodeContext) {
  const { profile } = context
  if (profile.signatures === 'never') return undefined
  const intact = hasNativeDataFor(call, context) && call.input !== undefined && !call.flaw
  const original = intact ? getReplayableData(call, context)?.['thoughtSignature'] : undefined
  if (typeof original === 'string' && original !== '') return original
  if (profile.signatures !== 'required' || !first) return undefined
  // The endpoint itself did not sign the first call.
  const isUnsignedOriginal = intact && turn.parts.find((part) => part.kind === 'call') === call
  return isUnsignedOriginal ? undefined : SKIP_SIGNATURE
}

/** An id is sent back only to the endpoint that made it, and if it is unique; others reject the field (T126). */
function getEchoedId({ call, id }: CallResultPair, context: EncodeContext): string | undefined {
  if (context.profile.refuses.includes('functionCall.id')) return undefined
  return hasNativeDataFor(call, context) && call.native?.id === id ? id : undefined
}

function encodeTextTurn(step: AssistantStep, context: EncodeContext): JsonObject[] {
  return step.parts.flatMap((part) => {
    return part.kind === 'call' ? [{ text: formatCallPart(part, context.projection) }] : encodeModelPart(part, context)
  })
}

function encodeTextResult(pair: CallResultPair, { profile, projection }: EncodeContext): JsonObject[] {
  const media = findResultMedia(pair.result).map((part) => encodeMediaPart(part, profile))
  return [{ text: formatResultPart(pair, projection) }, ...media]
}
