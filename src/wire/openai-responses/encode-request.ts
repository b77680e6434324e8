import type { Warning } from '../../model/event.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ModelParams, ModelRequest, ToolChoice } from '../../model/request.ts'
import { toWellFormed } from '../../model/text.ts'
import type { Turn } from '../../model/turn.ts'
import type { ToolDeclarations } from '../../schema/dialect/declare-tools.ts'
import { listDeclarationWarnings, declareToolsFor } from '../declare-tools.ts'
import { describeToolsAsText } from '../text-calls/format-text-calls.ts'
import { type HistoryPosition, buildTranscript } from '../history/transcript.ts'
import type { EncodedRequest } from '../wire.ts'
import { type ResponsesContext, RESPONSES_WIRE_ID, encodeResultItem, encodeStepItems } from './encode-input.ts'
import { defined } from '../../model/defined.ts'

/** A request as the endpoint takes it. `input` is the last key, so that a longer history extends the bytes of a shorter one. */
interface ResponsesBody extends JsonObject {
  model: string
  input: JsonObject[]
}

/** A call id may have 64 characters; these are safe on every server (T97). */
const ID_FORMAT = { pattern: /^[A-Za-z0-9_-]{1,64}$/ }

/** Writes a Responses request: the whole history in the order in which it came, and nothing left on the server (T84). */
export function encodeResponsesRequest(
  request: ModelRequest,
  profile: Profile,
  position?: HistoryPosition,
): EncodedRequest {
  const projection = declareToolsFor(request.tools, profile)
  const warnings: Warning[] = []
  const native = profile.tools === 'native'
  const complete: ResponsesBody = {
    model: request.model,
    ...encodeInstructions(request, { profile, projection }),
    ...(native && projection.tools.length > 0 && encodeTools(request, projection, warnings)),
    ...encodeSettings(request.params ?? {}, profile, warnings),
    ...(profile.cache === 'key' && request.session !== undefined && { prompt_cache_key: request.session }),
    ...defined({ previous_response_id: request.previous }),
    input: encodeHistory(request, { profile, projection }, warnings, position),
  }
  const body = profile.refuses.reduce<JsonObject>((left, path) => removePath(left, path.split('.')), complete)
  return { body, warnings: [...warnings, ...listDeclarationWarnings(projection)] }
}

function encodeInstructions(request: ModelRequest, { profile, projection }: ResponsesContext): JsonObject {
  const tools = profile.tools === 'text' && projection.tools.length > 0 ? describeToolsAsText(projection.tools) : ''
  const text = [request.system ?? '', tools].filter((part) => part.trim() !== '').join('\n\n')
  return text === '' ? {} : { instructions: toWellFormed(text) }
}

/** What goes only with tools: an empty list, and a choice or a limit without a list, are refused (T98). */
function encodeTools(request: ModelRequest, projection: ToolDeclarations, warnings: Warning[]): JsonObject {
  const parallel = request.params?.parallelCalls
  return {
    tools: projection.tools.map(declareTool),
    ...encodeToolChoice(request.toolChoice, projection, warnings),
    ...defined({ parallel_tool_calls: parallel }),
  }
}

/** `strict` is always said: left out, some servers take it for true and make every parameter required (T144). */
function declareTool(tool: ToolDeclarations['tools'][number]): JsonObject {
  if (tool.freeform) return { type: 'custom', name: tool.name, description: tool.description }
  const strict = tool.strict ?? false
  return { type: 'function', name: tool.name, description: tool.description, parameters: tool.schema, strict }
}

/** `auto` is left out, being the default (T153); a narrower choice leaves the declared tools, and so the cached prefix, as they are. */
function encodeToolChoice(
  toolChoice: ToolChoice | undefined,
  projection: ToolDeclarations,
  warnings: Warning[],
): JsonObject {
  if (toolChoice === undefined || toolChoice === 'auto') return {}
  if (typeof toolChoice === 'string') return { tool_choice: toolChoice }
  const chooseTool = (name: string): JsonObject[] => {
    const tool = projection.tools.find((one) => one.originalName === name)
    if (!tool) warnings.push({ code: 'tool-choice', message: `${name} cannot be chosen: it is not declared.` })
    return tool ? [{ type: tool.freeform ? 'custom' : 'function', name: tool.name }] : []
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
    warnings.push({ code: 'effort', message: 'This wire knows no thinking budgets; it was left out.' })
  if (params.stop && params.stop.length > 0)
    warnings.push({ code: 'stop', message: 'This wire knows no stop sequences; they were left out.' })
  return {
    // The weakest effort is `none`: `minimal` still thinks, and newer models refuse it.
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

/** Less than this is refused. */
const MIN_OUTPUT_TOKENS = 16

/** The history as items. Where the vendor keeps what came before, results may answer calls that are not here (T139). */
function encodeHistory(
  request: ModelRequest,
  context: ResponsesContext,
  warnings: Warning[],
  position?: HistoryPosition,
): JsonObject[] {
  const items: JsonObject[] = []
  const write = (turns: readonly Turn[]) => {
    // Results alone answer calls that the vendor keeps; nothing is to be said beside them.
    if (request.previous !== undefined && turns.every(({ role }) => role === 'results')) return
    const { steps, warnings: found } = buildTranscript(
      turns,
      { wire: RESPONSES_WIRE_ID, ...context, idFormat: ID_FORMAT },
      position,
    )
    warnings.push(...found)
    items.push(...steps.flatMap((step) => encodeStepItems(step, context)))
  }
  if (request.previous === undefined) {
    write(request.turns)
    return items
  }
  const calls = new Set(
    request.turns
      .flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
      .map((part) => part.kind === 'call' && part.id),
  )
  let turns: Turn[] = []
  for (const turn of request.turns) {
    const detached = turn.role === 'results' ? turn.parts.filter((result) => !calls.has(result.id)) : []
    if (turn.role !== 'results' || detached.length === 0) {
      turns.push(turn)
      continue
    }
    turns.push({ role: 'results', parts: turn.parts.filter((result) => calls.has(result.id)) })
    write(turns)
    turns = []
    items.push(...detached.map((result) => encodeResultItem(result.id, result, context)))
  }
  write(turns)
  return items
}

/** The value without a parameter that the endpoint refuses by name, also inside another: `reasoning.summary`, `tools.strict` (T155). */
function removePath<T extends Json>(value: T, [key, ...deeper]: readonly string[]): T {
  if (Array.isArray(value)) return value.map((one) => removePath(one, [key ?? '', ...deeper])) as T
  if (!isObject(value)) return value
  // In their order, so that the input stays last.
  const fields = (Object.entries(value) as [string, Json][]).flatMap(([name, inner]): [string, Json][] => {
    if (name !== key) return [[name, inner]]
    return deeper.length === 0 ? [] : [[name, removePath(inner, deeper)]]
  })
  return Object.fromEntries(fields) as T
}
