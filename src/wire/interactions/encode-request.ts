import { defined } from '../../model/defined.ts'
import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import type { ModelParams, ModelRequest, ToolChoice } from '../../model/request.ts'
import { createEncodeContext, getNativeToolFields, listDeclarationWarnings, listHostedTools } from '../declare-tools.ts'
import { findChosenTool, joinSystemPrompt, limitStopSequences, warnAboutCacheTtl } from '../encode-parts.ts'
import { chooseThinkingLevel } from '../gemini/encode-request.ts'
import { encodeStoredHistory, getStoredResponseId } from '../history/stored-history.ts'
import { buildTranscript, type EncodeContext } from '../history/transcript.ts'
import { chooseOutputRequest } from '../output-format.ts'
import { mergeProviderOptions } from '../provider-options.ts'
import type { Wire } from '../wire.ts'
import { encodeResultStep, encodeSteps } from './encode-steps.ts'

/** Ids of other vendors are kept if they look like this; others are replaced. */
const ID_PATTERN = /^[\w-]{1,64}$/

/** `input` is the last key, so that a longer history only adds bytes at the end. */
export const encodeInteractionsRequest: Wire['encodeRequest'] = (request, profile, position) => {
  const context = createEncodeContext('interactions', request, profile, position)
  const warnings: Warning[] = []
  const system = joinSystemPrompt(request, context)
  const tools = encodeTools(request, context, warnings)
  const generation = encodeGeneration(request, context, warnings)
  const previous = getStoredResponseId(request, 'interactions')
  const complete: JsonObject = {
    ...(request.model !== '' && { model: request.model }),
    ...(system !== '' && { system_instruction: system }),
    ...(tools.length > 0 && { tools }),
    ...encodeResponseFormat(request, context),
    ...(Object.keys(generation).length > 0 && { generation_config: generation }),
    // The service stores every interaction unless it is told not to.
    store: request.params?.store ?? false,
    stream: request.params?.stream ?? true,
    ...defined({ previous_interaction_id: previous, continuation_token: request.continuation }),
    input: encodeStoredHistory(
      request,
      previous !== undefined,
      {
        encodeTurns(turns, place) {
          const { steps, warnings: found } = buildTranscript(turns, context, ID_PATTERN, place)
          warnings.push(...found)
          return steps.flatMap((step) => encodeSteps(step, context, warnings))
        },
        encodeResult: (result) => encodeResultStep(result.id, result.name, result, context),
      },
      position,
    ),
  }
  const merged = mergeProviderOptions(complete, request.providerOptions?.interactions, warnings)
  warnings.push(...listDeclarationWarnings(context.projection))
  return { body: removeRefused(merged, profile.refuses), warnings }
}

/** Our own functions, the tools that the vendor runs, and what was declared to this wire by somebody else. */
function encodeTools(request: ModelRequest, { profile, projection }: EncodeContext, warnings: Warning[]): JsonObject[] {
  const functions = profile.tools === 'native' ? projection.tools : []
  return [
    ...functions.map((tool) => {
      const { name, description, schema } = tool
      return { type: 'function', name, description, parameters: schema, ...getNativeToolFields(tool, 'interactions') }
    }),
    ...(request.serverTools ?? []).map((type) => ({ type })),
    ...listHostedTools(request, 'interactions', warnings),
  ]
}

function encodeResponseFormat(request: ModelRequest, context: EncodeContext): JsonObject {
  const asked = chooseOutputRequest(request, context)
  if (!asked || asked.kind === 'words') return {}
  const schema = asked.kind === 'schema' ? { schema: asked.schema } : {}
  return { response_format: { type: 'text', mime_type: 'application/json', ...schema } }
}

function encodeGeneration(
  { params = {}, toolChoice }: ModelRequest,
  context: EncodeContext,
  warnings: Warning[],
): JsonObject {
  const { profile, projection } = context
  if (params.parallelCalls === false)
    warnings.push({ code: 'parallel-calls', message: 'This API cannot forbid parallel calls.' })
  warnAboutCacheTtl(params, warnings)
  const stop = limitStopSequences(params.stop, MAX_STOP_SEQUENCES, warnings)
  const choice =
    projection.tools.length > 0 && profile.tools === 'native'
      ? encodeToolChoice(toolChoice, context, warnings)
      : undefined
  return {
    ...defined({ max_output_tokens: params.maxTokens, temperature: params.temperature, top_p: params.topP }),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...(profile.thinking !== 'none' && encodeThinking(params.effort)),
    ...defined({ tool_choice: choice }),
  }
}

const MAX_STOP_SEQUENCES = 5

/** This API has levels only; without an effort the model decides how much it thinks. */
function encodeThinking(effort: ModelParams['effort']): JsonObject {
  const level = effort === undefined ? {} : { thinking_level: chooseThinkingLevel(effort).toLowerCase() }
  return { ...level, thinking_summaries: 'auto' }
}

/** `auto` is the default; `validated` is the same with calls constrained to their schemas (T130). */
function encodeToolChoice(choice: ToolChoice | undefined, { profile, projection }: EncodeContext, warnings: Warning[]) {
  if (choice === 'none') return 'none'
  if (choice === 'required') return 'any'
  if (!isObject(choice)) return profile.constrain ? 'validated' : undefined
  const wanted = 'name' in choice ? [choice.name] : choice.only
  const names = wanted.flatMap((name) => findChosenTool(name, projection, warnings)?.name ?? [])
  if (names.length === 0) return 'none'
  return { allowed_tools: { mode: 'name' in choice ? 'any' : 'validated', tools: names } }
}

/** A refused field may be one of the generation settings. */
function removeRefused(body: JsonObject, refuses: readonly string[]): JsonObject {
  const drop = (fields: JsonObject) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !refuses.includes(name)))
  const { generation_config: generation } = body
  const kept = isObject(generation) ? drop(generation) : {}
  return Object.fromEntries(
    Object.entries(drop(body)).flatMap(([name, value]) => {
      if (name !== 'generation_config') return [[name, value]]
      return Object.keys(kept).length > 0 ? [[name, kept]] : []
    }),
  )
}
