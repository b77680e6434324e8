import type { Warning } from '../../model/event.ts'
import { isObject, type Json, type JsonObject, objectOrEmpty } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ModelParams, ModelRequest, ToolChoice } from '../../model/request.ts'
import { listDeclarationWarnings, createEncodeContext, listHostedTools } from '../declare-tools.ts'
import { encodeOpenAiCacheTtl, findChosenTool, joinSystemPrompt } from '../encode-parts.ts'
import { encodeStoredHistory, getStoredResponseId, type HistoryEncoder } from '../history/stored-history.ts'
import { buildTranscript, type HistoryPosition } from '../history/transcript.ts'
import { collectDeclaredTools } from '../late-tools.ts'
import { chooseOutputRequest, encodeOpenAiFormat } from '../output-format.ts'
import { mergeProviderOptions } from '../provider-options.ts'
import type { Wire } from '../wire.ts'
import { encodeResultItem, encodeStepItems, isItemReference, type ResponsesContext } from './encode-input.ts'
import { declareResponsesTools, toWireToolName } from './encode-tools.ts'
import { defined } from '../../model/defined.ts'

/** `input` is the last key, so that a longer history only adds bytes at the end. */
interface ResponsesBody extends JsonObject {
  model: string
  input: JsonObject[]
}

/** A call id may have 64 characters; these are valid on every server (T97). */
const ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/

/** Every request has the whole history, because nothing is stored on the server (T84). */
export const encodeResponsesRequest: Wire['encodeRequest'] = (request, profile, position) => {
  const collected = position?.tools ?? collectDeclaredTools(request)
  const base = createEncodeContext('openai-responses', request, profile, position)
  const { projection } = base
  const warnings: Warning[] = []
  const hosted = listHostedTools(request, 'openai-responses', warnings)
  const context: ResponsesContext = { ...base, collected }
  const native = profile.tools === 'native'
  const instructions = joinSystemPrompt(request, context)
  const format = encodeOpenAiFormat(chooseOutputRequest(request, context))
  const complete: ResponsesBody = {
    model: request.model,
    ...(instructions !== '' && { instructions }),
    ...(native && encodeTools(request, context, hosted, warnings)),
    ...encodeSettings(request.params ?? {}, profile, warnings),
    ...(format && { text: { format: { type: format.type, ...format.details } } }),
    ...(profile.cache === 'key' && request.session !== undefined && { prompt_cache_key: request.session }),
    ...encodeCacheOptions(request, profile, warnings),
    ...defined({ previous_response_id: getStoredResponseId(request, 'openai-responses') }),
    input: encodeHistory(request, context, warnings, position),
  }
  const merged = mergeProviderOptions(complete, request.providerOptions?.['openai-responses'], warnings)
  const body = profile.refuses.reduce<JsonObject>((left, path) => removePath(left, path.split('.')), merged)
  return { body, warnings: [...warnings, ...listDeclarationWarnings(projection)] }
}

/** An empty list of tools is rejected, and so are the other parameters without tools (T98). */
function encodeTools(
  request: ModelRequest,
  context: ResponsesContext,
  hosted: readonly JsonObject[],
  warnings: Warning[],
): JsonObject {
  const { projection, collected } = context
  const declarations = [...declareResponsesTools(projection.tools, context), ...hosted]
  if (declarations.length === 0 && collected.known.length === 0) return {}
  return {
    ...(declarations.length > 0 && { tools: declarations }),
    ...encodeToolChoice(request.toolChoice, context, warnings),
    ...defined({ parallel_tool_calls: request.params?.parallelCalls }),
  }
}

/** `auto` is the default (T153). A restricted choice does not change the declared tools, and so keeps the cached prefix. */
function encodeToolChoice(
  toolChoice: ToolChoice | undefined,
  context: ResponsesContext,
  warnings: Warning[],
): JsonObject {
  if (toolChoice === undefined || toolChoice === 'auto') return {}
  if (typeof toolChoice === 'string') return { tool_choice: toolChoice }
  const chooseTool = (name: string): JsonObject[] => {
    const tool = context.projection.findTool(name) ?? findChosenTool(name, context.projection, warnings)
    return tool ? [{ type: tool.freeform ? 'custom' : 'function', ...toWireToolName(name, context) }] : []
  }
  if ('name' in toolChoice) {
    const [chosen] = chooseTool(toolChoice.name)
    return chosen ? { tool_choice: chosen } : {}
  }
  const tools = toolChoice.only.flatMap(chooseTool)
  return { tool_choice: tools.length > 0 ? { type: 'allowed_tools', mode: 'auto', tools } : 'none' }
}

function encodeSettings(params: ModelParams, profile: Profile, warnings: Warning[]): JsonObject {
  const { effort, maxTokens, temperature, topP } = params
  if (typeof effort === 'number')
    warnings.push({ code: 'effort', message: 'This API has no thinking budget; it was left out.' })
  if (params.stop && params.stop.length > 0)
    warnings.push({ code: 'stop', message: 'This API has no stop sequences; they were left out.' })
  return {
    // The lowest effort is `none`: `minimal` still thinks, and newer models reject it.
    ...(typeof effort === 'string' &&
      profile.thinking !== 'none' && {
        reasoning: { effort: effort === 'off' ? 'none' : effort, ...(effort !== 'off' && { summary: 'auto' }) },
      }),
    ...defined({ temperature, top_p: topP }),
    ...(maxTokens !== undefined && { max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, maxTokens) }),
    ...(profile.encryptedReasoning && { include: ['reasoning.encrypted_content'] }),
    store: params.store ?? false,
    stream: params.stream ?? true,
  }
}

/** Why the cache missed is told only in comparison with an earlier response, by models that have these options. */
function encodeCacheOptions(
  { params = {}, diagnoseCache }: ModelRequest,
  profile: Profile,
  warnings: Warning[],
): JsonObject {
  const fields = encodeOpenAiCacheTtl(params, profile, warnings)
  const { previous } = diagnoseCache ?? {}
  if (!profile.cacheDiagnosis || profile.cacheTtlField !== 'prompt_cache_options' || previous === undefined)
    return fields
  const options = objectOrEmpty(fields['prompt_cache_options'])
  return { ...fields, prompt_cache_options: { ...options, comparison_response_id: previous } }
}

/** Less than this is rejected. */
const MIN_OUTPUT_TOKENS = 16

function encodeHistory(
  request: ModelRequest,
  context: ResponsesContext,
  warnings: Warning[],
  position?: HistoryPosition,
): JsonObject[] {
  const encoder: HistoryEncoder = {
    encodeTurns(turns, place) {
      const { steps, warnings: found } = buildTranscript(turns, context, ID_PATTERN, place)
      warnings.push(...found)
      return steps.flatMap((step) => encodeStepItems(step, context, warnings))
    },
    encodeResult: (result) => encodeResultItem(result.id, result, context),
  }
  return encodeStoredHistory(request, hasStoredHistory(request), encoder, position)
}

/** May results belong to calls that only the vendor has? */
function hasStoredHistory(request: ModelRequest): boolean {
  const { conversation } = request.providerOptions?.['openai-responses'] ?? {}
  const isContinued = getStoredResponseId(request, 'openai-responses') !== undefined
  return isContinued || (conversation ?? null) !== null || request.turns.some(isItemReference)
}

/** Removes a parameter that the endpoint rejects, also a nested one: `reasoning.summary`, `tools.strict` (T155). */
function removePath<T extends Json>(value: T, [key, ...deeper]: readonly string[]): T {
  if (Array.isArray(value)) return value.map((one) => removePath(one, [key ?? '', ...deeper])) as T
  if (!isObject(value)) return value
  // The order is kept, so that the input stays last.
  const fields = (Object.entries(value) as [string, Json][]).flatMap(([name, inner]): [string, Json][] => {
    if (name !== key) return [[name, inner]]
    return deeper.length === 0 ? [] : [[name, removePath(inner, deeper)]]
  })
  return Object.fromEntries(fields) as T
}
