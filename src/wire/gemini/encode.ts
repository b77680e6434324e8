import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { Params, Request, ToolChoice } from '../../model/request.ts'
import { resultMedia, resultText, wellFormed } from '../../model/text.ts'
import type { AssistantPart, CallPart, MediaPart, TextPart, WireId } from '../../model/turn.ts'
import type { Projection } from '../../schema/project.ts'
import { declarationWarnings, declare } from '../declare.ts'
import { callAsText, describeTools, resultAsText } from '../text-tools.ts'
import { type Exchange, type Step, callInput, callText, isOwn, ownData, type Place, transcript } from '../transcript.ts'
import type { Encoded } from '../wire.ts'
import { attachments, functionResponse, mediaPart } from './results.ts'

/** A generateContent body. The contents are the last key, so that a longer history extends the bytes of a shorter one. */
export interface GeminiBody {
  systemInstruction?: JsonObject
  tools?: JsonObject[]
  toolConfig?: JsonObject
  generationConfig?: JsonObject
  session_id?: string
  contents: Content[]
}

/** One turn on the wire; there are only two roles (T122). */
interface Content {
  role: 'user' | 'model'
  parts: JsonObject[]
}

interface Context {
  readonly wire: WireId
  readonly profile: Profile
  readonly projection: Projection
}

type AssistantStep = Step & { readonly kind: 'assistant' }

/** Ids are only ever those that the endpoint gave, so none of ours needs a form here. */
const FORM = { legal: /^[\w-]{1,64}$/ }

/** Lets a call pass that another model made, and that therefore has no signature of Gemini's (T120). */
const SENTINEL = 'skip_thought_signature_validator'

/** Writes a generateContent request. The model is not in it; it is part of the address. */
export function encode(request: Request, profile: Profile, place?: Place): Encoded {
  const { body, warnings } = encodeOn('gemini', request, profile, {}, place)
  return { body: { ...body } as unknown as JsonObject, warnings }
}

/** Writes the request for a wire that carries it as it is, or in an envelope. */
export function encodeOn(
  wire: WireId,
  request: Request,
  profile: Profile,
  extra: Partial<GeminiBody> = {},
  place?: Place,
): { body: GeminiBody; warnings: Warning[] } {
  const projection = declare(request.tools, profile)
  const context: Context = { wire, profile, projection }
  const { steps, warnings } = transcript(request.turns, { ...context, form: FORM }, place)
  const system = instruction(request, context)
  const declared = profile.tools === 'native' && projection.tools.length > 0
  const tools: JsonObject[] = [
    ...(declared ? [{ functionDeclarations: projection.tools.map((tool) => declaration(tool, profile)) }] : []),
    ...(request.serverTools ?? []).map((tool) => ({ [SERVER_TOOLS[tool]]: {} })),
  ]
  const config = declared ? toolConfig(request.toolChoice, context) : undefined
  const generation = generationConfig(request.params ?? {}, profile, warnings)
  for (const refused of profile.refuses) delete generation[refused]
  const body: GeminiBody = {
    ...(system !== '' && { systemInstruction: { parts: [{ text: system }] } }),
    ...(tools.length > 0 && { tools }),
    ...(config && { toolConfig: { functionCallingConfig: config } }),
    ...(Object.keys(generation).length > 0 && { generationConfig: generation }),
    ...extra,
    contents: contents(steps, context),
  }
  for (const refused of profile.refuses) Reflect.deleteProperty(body, refused)
  warnings.push(...declarationWarnings(projection))
  return { body, warnings }
}

const SERVER_TOOLS = { url_context: 'urlContext', google_search: 'googleSearch' } as const

function instruction(request: Request, { profile, projection }: Context): string {
  const tools = profile.tools === 'text' && projection.tools.length > 0 ? describeTools(projection.tools) : ''
  return wellFormed([request.system ?? '', tools].filter((text) => text.trim() !== '').join('\n\n'))
}

function declaration(tool: Projection['tools'][number], { dialect }: Profile): JsonObject {
  const { name, description, schema } = tool
  if (dialect !== 'gemini') return { name, description, parametersJsonSchema: schema }
  // The older form refuses an object without properties.
  const properties = schema['properties']
  const empty = !isObject(properties) || Object.keys(properties).length === 0
  return { name, description, ...(!empty && { parameters: schema }) }
}

/** Sent only beside declarations (T130). `auto` is the default; VALIDATED is the same, with calls held to their schemas. */
function toolConfig(choice: ToolChoice | undefined, { profile, projection }: Context): JsonObject | undefined {
  const eager = profile.eagerArguments ? { streamFunctionCallArguments: true } : {}
  if (choice === 'none') return { mode: 'NONE' }
  if (choice === 'required') return { mode: 'ANY', ...eager }
  if (isObject(choice)) {
    const wanted = ('name' in choice ? [choice.name] : choice.only).map((name) => projection.wireName(name))
    const names = wanted.filter((name) => projection.tools.some((tool) => tool.name === name))
    if (names.length === 0) return { mode: 'NONE' }
    // AUTO takes no names; ANY would force a call, and a model that must call can never finish (T130).
    return { mode: 'name' in choice ? 'ANY' : 'VALIDATED', allowedFunctionNames: names, ...eager }
  }
  if (profile.constrain) return { mode: 'VALIDATED', ...eager }
  return profile.eagerArguments ? eager : undefined
}

function generationConfig(params: Params, profile: Profile, warnings: Warning[]): JsonObject {
  if (params.parallelCalls === false) {
    warnings.push({ code: 'parallel-calls', message: 'This wire cannot forbid parallel calls.' })
  }
  const stops = params.stop?.filter((word) => word !== '') ?? []
  if (stops.length > MAX_STOPS)
    warnings.push({ code: 'stop', message: `Only the first ${MAX_STOPS} stop sequences were sent.` })
  const thinking = thinkingConfig(params.effort, profile)
  return {
    ...(params.maxTokens !== undefined && { maxOutputTokens: params.maxTokens }),
    ...(params.temperature !== undefined && { temperature: params.temperature }),
    ...(params.topP !== undefined && { topP: params.topP }),
    ...(stops.length > 0 && { stopSequences: stops.slice(0, MAX_STOPS) }),
    ...(thinking && { thinkingConfig: thinking }),
  }
}

/** More are refused (T155). */
const MAX_STOPS = 5

/** Without an effort the model thinks as it likes. Thoughts cannot be asked for where thinking is off. */
function thinkingConfig(effort: Params['effort'], { thinking }: Profile): JsonObject | undefined {
  if (thinking === 'none') return undefined
  if (effort === undefined) return { includeThoughts: true }
  if (thinking === 'level') {
    const level =
      typeof effort === 'number' ? (effort <= 2048 ? 'LOW' : effort <= 8192 ? 'MEDIUM' : 'HIGH') : LEVELS[effort]
    return { thinkingLevel: level, includeThoughts: true }
  }
  const budget = typeof effort === 'number' ? effort : BUDGETS[effort]
  return { thinkingBudget: budget, ...(budget !== 0 && { includeThoughts: true }) }
}

const BUDGETS = { off: 0, minimal: 512, low: 2048, medium: 8192, high: 24576, xhigh: 24576 } as const

/** Not every model of this kind knows MINIMAL, and none can be turned off. */
const LEVELS = { off: 'LOW', minimal: 'LOW', low: 'LOW', medium: 'MEDIUM', high: 'HIGH', xhigh: 'HIGH' } as const

/** The history. What follows the same role is merged, so that results and the words after them are one content (T121, T122). */
function contents(steps: readonly Step[], context: Context): Content[] {
  const list: Content[] = []
  const add = (role: Content['role'], parts: JsonObject[]) => {
    const last = list.at(-1)
    if (parts.length === 0) return // never `parts: []` (T123)
    if (last?.role === role) last.parts.push(...parts)
    else list.push({ role, parts })
  }
  for (const step of steps) {
    if (step.kind === 'user')
      add(
        'user',
        step.parts.map((part) => said(part, context.profile)),
      )
    else if (context.profile.tools === 'text') {
      add('model', textTurn(step, context))
      add(
        'user',
        step.exchanges.flatMap((exchange) => textResult(exchange, context)),
      )
    } else {
      add('model', modelParts(step, context))
      const answers = step.exchanges.map((exchange) => functionResponse(exchange, echoedId(exchange, context), context))
      add('user', [...answers, ...step.exchanges.flatMap(({ result }) => attachments(result, context.profile))])
    }
  }
  return list
}

function said(part: TextPart | MediaPart, profile: Profile): JsonObject {
  return part.kind === 'text' ? { text: wellFormed(part.text) } : mediaPart(part, profile)
}

function modelParts(step: AssistantStep, context: Context): JsonObject[] {
  const exchanges = new Map(step.exchanges.map((exchange) => [exchange.call, exchange]))
  const first = step.exchanges[0]
  return step.parts.flatMap((part) => {
    const exchange = part.kind === 'call' ? exchanges.get(part) : undefined
    if (exchange) return [functionCall(exchange, step, exchange === first, context)]
    return part.kind === 'call' ? [] : written(part, context)
  })
}

/** Own parts go back as they came. Thoughts without a signature stay here: nobody asks for them (T117–T119). */
function written(part: Exclude<AssistantPart, CallPart>, context: Context): JsonObject[] {
  const { profile } = context
  const data = ownData(part, context)
  const text = part.kind === 'media' ? '' : wellFormed(part.text)
  const intact = profile.signatures !== 'never' && (part.kind === 'media' || part.text === text)
  const signature = intact ? data?.['thoughtSignature'] : undefined
  const signed = typeof signature === 'string' ? { thoughtSignature: signature } : undefined
  if (part.kind === 'reasoning') return signed && profile.replay === 'own' ? [{ text, thought: true, ...signed }] : []
  if (part.kind === 'media') {
    return isOwn(part, context)
      ? [{ ...mediaPart(part, profile), ...signed }]
      : [{ text: `(${part.mime} was shown here)` }]
  }
  const native = data?.['part']
  if (text === '' && isObject(native)) return isReplayed(data?.['type']) ? [native] : []
  return text.trim() === '' && !signed ? [] : [{ text, ...signed }]
}

/** A call that the vendor itself answered would need an answer in the next content, where there is none (T121). */
function isReplayed(type: unknown): boolean {
  return type !== 'functionCall' && type !== 'functionResponse'
}

function functionCall(exchange: Exchange, step: AssistantStep, first: boolean, context: Context): JsonObject {
  const { call } = exchange
  const id = echoedId(exchange, context)
  const signature = signatureOf(call, step, first, context)
  return {
    functionCall: {
      ...(id !== undefined && { id }),
      name: context.projection.wireName(call.name),
      args: callInput(call, context.projection),
    },
    ...(signature !== undefined && { thoughtSignature: signature }),
  }
}

/**
 * The signature of a call: the one that came with it, or, where the model insists, the sentinel; and that only on the
 * first call of a turn, because only that one is ever signed (T118). A call that is not sent as it came loses its own (T120).
 */
function signatureOf(call: CallPart, step: AssistantStep, first: boolean, context: Context): string | undefined {
  const { profile } = context
  if (profile.signatures === 'never') return undefined
  const intact = isOwn(call, context) && call.input !== undefined && !call.flaw
  const own = intact ? ownData(call, context)?.['thoughtSignature'] : undefined
  if (typeof own === 'string' && own !== '') return own
  if (profile.signatures !== 'required' || !first) return undefined
  // The endpoint itself left the first call unsigned.
  const asMade = intact && step.turn.parts.find((part) => part.kind === 'call') === call
  return asMade ? undefined : SENTINEL
}

/** An id goes back only where this endpoint gave it, and gave it once; others refuse the field (T126). */
function echoedId({ call, id }: Exchange, context: Context): string | undefined {
  if (context.profile.refuses.includes('functionCall.id')) return undefined
  return isOwn(call, context) && call.native?.id === id ? id : undefined
}

function textTurn(step: AssistantStep, context: Context): JsonObject[] {
  return step.parts.flatMap((part) => {
    if (part.kind !== 'call') return written(part, context)
    const { projection } = context
    return [{ text: callAsText(projection.wireName(part.name), callText(part, projection)) }]
  })
}

function textResult({ call, result }: Exchange, { profile, projection }: Context): JsonObject[] {
  const words = resultAsText(projection.wireName(call.name), resultText(result), result.status)
  return [{ text: words }, ...resultMedia(result).map((part) => mediaPart(part, profile))]
}
