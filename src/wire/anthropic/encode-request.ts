import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject, objectOrEmpty } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ModelParams, ModelRequest, ToolChoice } from '../../model/request.ts'
import type { Turn } from '../../model/turn.ts'
import type { DeclaredTool, ToolDeclarations } from '../../schema/dialect/declare-tools.ts'
import { listDeclarationWarnings, declareToolsForProfile } from '../declare-tools.ts'
import { createCacheMark, joinSystemPrompt, warnAboutCacheTtl } from '../encode-parts.ts'
import { buildTranscript, type EncodeContext, getReplayableData, type TranscriptStep } from '../history/transcript.ts'
import { chooseOutputRequest, type OutputRequest } from '../output-format.ts'
import { mergeProviderOptions } from '../provider-options.ts'
import type { Wire } from '../wire.ts'
import { type AnthropicMessage, encodeMessages, isServerToolUse, isThinking } from './encode-messages.ts'

/** The ids that the API accepts (T97). */
const ID_PATTERN = /^[a-zA-Z0-9_-]{1,64}$/

/** The messages are the last key, so that a longer history only adds bytes at the end. */
export const encodeAnthropicRequest: Wire['encodeRequest'] = (request, profile, position) => {
  const projection = declareToolsForProfile(request.tools, profile)
  const context: EncodeContext = { wire: 'anthropic', profile, projection }
  const params = request.params ?? {}
  const { steps: all, warnings } = buildTranscript(request.turns, context, ID_PATTERN, position)
  const steps = isPausedTurn(all, request.turns, context) ? all.slice(0, -1) : all
  const messages = encodeMessages(steps, context)
  const thinkingChoice = chooseThinking(params, profile, messages, warnings)
  const mark = createCacheMark(params)
  if (profile.cache === 'none' || profile.cache === 'key') warnAboutCacheTtl(params, warnings)
  const complete: JsonObject = {
    model: request.model,
    max_tokens: thinkingChoice.maxTokens,
    ...encodeSampling(params, thinkingChoice.on, warnings),
    stream: params.stream ?? true,
    ...addOutputFormat(thinkingChoice.fields, chooseOutputRequest(request, profile)),
    ...encodeTools(request, projection, { profile, steps, thinking: thinkingChoice.on, warnings }),
    ...encodeSystem(request, context),
    ...(profile.cache === 'auto' && { cache_control: mark }),
    messages: (profile.cache === 'marks' ? addCacheControl(messages, mark) : messages) as unknown as JsonObject[],
  }
  const body = mergeProviderOptions(complete, request.providerOptions?.anthropic, warnings)
  for (const refused of profile.refuses) delete body[refused]
  return { body, warnings: [...warnings, ...listDeclarationWarnings(projection)] }
}

/** The effort is in the same object as the format. There is no format without a schema. */
function addOutputFormat(fields: JsonObject, asked: OutputRequest | undefined): JsonObject {
  if (asked?.kind !== 'schema') return fields
  const format = { type: 'json_schema', schema: asked.schema }
  return { ...fields, output_config: { ...objectOrEmpty(fields['output_config']), format } }
}

/** Does the history end with a paused response? It is sent back as it is, with nothing after it (T135). */
function isPausedTurn(steps: readonly TranscriptStep[], turns: readonly Turn[], context: EncodeContext): boolean {
  const turn = turns.at(-1)
  const step = steps.at(-2)
  if (turn?.role !== 'assistant' || turn.finish.raw !== 'pause_turn') return false
  if (step?.kind !== 'assistant' || step.turn !== turn || context.profile.tools === 'text') return false
  return step.parts.some((part) => isServerToolUse(getReplayableData(part, context)))
}

/** The API requires a limit. This is enough for a long file, and no more than current models can write. */
const DEFAULT_MAX_TOKENS = 16384

/** Thinking counts towards the limit. */
const DEFAULT_MAX_TOKENS_WITH_THINKING = 32768

const MIN_THINKING_TOKENS = 1024

/** The thinking parameters, and the limit of the response, which includes the thinking. */
function chooseThinking(
  params: ModelParams,
  profile: Profile,
  messages: readonly AnthropicMessage[],
  warnings: Warning[],
) {
  const { effort } = params
  const maxTokens = params.maxTokens ?? DEFAULT_MAX_TOKENS
  const off = { maxTokens, on: false, fields: {} as JsonObject }
  // A temperature is refused beside thinking, so it goes before thinking that nobody asked for by name (T83).
  const isAsked = params.thinking === true && params.temperature === undefined && params.topP === undefined
  if (effort === undefined && isAsked && profile.thinking === 'adaptive') {
    const limit = params.maxTokens ?? DEFAULT_MAX_TOKENS_WITH_THINKING
    return { maxTokens: limit, on: true, fields: { thinking: { type: 'adaptive' } } as JsonObject }
  }
  if (effort === undefined || profile.thinking === 'none') return off
  // Models with budgets think unless it is disabled; adaptive ones reject the parameter.
  if (effort === 'off')
    return profile.thinking === 'budget' ? { ...off, fields: { thinking: { type: 'disabled' } } } : off
  if (profile.thinking === 'level') return { ...off, fields: { output_config: { effort: toEffortLevel(effort) } } }
  if (profile.thinking === 'adaptive') {
    return {
      ...off,
      on: true,
      fields: { thinking: { type: 'adaptive' }, output_config: { effort: toEffortLevel(effort) } },
    }
  }
  const requested = Math.max(
    MIN_THINKING_TOKENS,
    typeof effort === 'number' ? Math.round(effort) : THINKING_BUDGETS[effort],
  )
  // A level leaves room for the response; a number is used as far as the API allows it (T155).
  const reserved = typeof effort === 'number' ? 1 : Math.ceil(maxTokens / 4)
  const budget = params.maxTokens === undefined ? requested : Math.min(requested, maxTokens - reserved)
  const isTooSmall = budget < MIN_THINKING_TOKENS
  if (isTooSmall || (profile.signatures === 'required' && profile.replay === 'own' && lacksThinking(messages))) {
    const reason = isTooSmall
      ? `a response of ${maxTokens} tokens has no room for it`
      : 'the calls that are being answered were made without it'
    warnings.push({ code: 'thinking', message: `Thinking was turned off: ${reason}.` })
    return off
  }
  const limit = params.maxTokens ?? Math.max(DEFAULT_MAX_TOKENS, budget + 8192)
  return { maxTokens: limit, on: true, fields: { thinking: { type: 'enabled', budget_tokens: budget } } as JsonObject }
}

const THINKING_BUDGETS = { minimal: MIN_THINKING_TOKENS, low: 4096, medium: 8192, high: 16384, xhigh: 23808 } as const

function toEffortLevel(effort: Exclude<ModelParams['effort'], 'off' | undefined>): string {
  if (effort === 'minimal') return 'low'
  if (typeof effort !== 'number') return effort
  return effort <= THINKING_BUDGETS.low ? 'low' : effort <= THINKING_BUDGETS.medium ? 'medium' : 'high'
}

/** Where thinking is signed, a response whose calls are being answered must start with it; one of another model cannot. */
function lacksThinking(messages: readonly AnthropicMessage[]): boolean {
  const lastPrompt = messages.findLastIndex(
    ({ role, content }) => role === 'user' && content.some((block) => block['type'] !== 'tool_result'),
  )
  const first = messages.slice(lastPrompt + 1).find(({ role }) => role === 'assistant')?.content[0]
  return first !== undefined && !isThinking(first)
}

/** With thinking on, sampling parameters are rejected (T83). */
function encodeSampling(params: ModelParams, hasThinking: boolean, warnings: Warning[]): JsonObject {
  const stop = params.stop?.filter((word) => word.trim() !== '') ?? []
  const sampled = params.temperature !== undefined || params.topP !== undefined
  if (hasThinking && sampled)
    warnings.push({ code: 'sampling', message: 'Temperature and top_p were left out, because thinking is on (T83).' })
  return {
    ...(!hasThinking && params.temperature !== undefined && { temperature: params.temperature }),
    ...(!hasThinking && params.topP !== undefined && { top_p: params.topP }),
    ...(stop.length > 0 && { stop_sequences: stop }),
  }
}

interface ToolContext {
  readonly profile: Profile
  readonly steps: readonly TranscriptStep[]
  readonly thinking: boolean
  readonly warnings: Warning[]
}

function encodeTools(request: ModelRequest, projection: ToolDeclarations, context: ToolContext): JsonObject {
  const { profile, steps } = context
  if (profile.tools === 'text') return {}
  if (projection.tools.length === 0) {
    // A history with calls is rejected without tools, so the tools that it uses are declared, but cannot be called (T98).
    const calls = steps.flatMap((step) => (step.kind === 'assistant' ? step.pairs : []))
    const names = new Set(calls.map(({ call }) => projection.toWireName(call.name)))
    if (names.size === 0) return {}
    return { tools: [...names].map(declareClosedTool), tool_choice: { type: 'none' } }
  }
  const strict = profile.constrain
    ? projection.tools.filter((tool) => isStrictSchema(tool.schema)).slice(0, MAX_STRICT_TOOLS)
    : []
  const declarations = projection.tools.map((tool): JsonObject => ({
    ...declareTool(tool),
    ...(strict.includes(tool) && { strict: true }),
    ...(profile.eagerArguments && { eager_input_streaming: true }),
  }))
  const last = declarations.at(-1)
  if (last && (profile.cache === 'auto' || profile.cache === 'marks'))
    last['cache_control'] = createCacheMark(request.params ?? {})
  const choice = encodeToolChoice(request.toolChoice, projection, context)
  const isSerial = request.params?.parallelCalls === false && choice !== 'none'
  if (choice === 'auto' && !isSerial) return { tools: declarations }
  const wanted: JsonObject = typeof choice === 'string' ? { type: choice } : { type: 'tool', name: choice.name }
  return { tools: declarations, tool_choice: { ...wanted, ...(isSerial && { disable_parallel_tool_use: true }) } }
}

function declareTool(tool: DeclaredTool): JsonObject {
  return { name: tool.name, description: tool.description, input_schema: tool.schema }
}

function declareClosedTool(name: string): JsonObject {
  return {
    name,
    description: 'A tool used earlier; it cannot be called now.',
    input_schema: { type: 'object', properties: {} },
  }
}

/** This API cannot restrict the choice to some tools, and cannot force a call while thinking is on (T83). */
function encodeToolChoice(
  requested: ToolChoice | undefined,
  projection: ToolDeclarations,
  context: ToolContext,
): 'auto' | 'none' | 'any' | { name: string } {
  const { thinking, warnings } = context
  const fallBackToAuto = (message: string) => {
    warnings.push({ code: 'tool-choice', message })
    return 'auto' as const
  }
  if (requested === undefined || requested === 'auto') return 'auto'
  if (requested === 'none') return 'none'
  if (typeof requested !== 'string' && 'only' in requested) {
    if (requested.only.length === 0) return 'none'
    return fallBackToAuto('This API cannot restrict the choice of tools; the model may call all declared ones.')
  }
  if (thinking) return fallBackToAuto('Calls cannot be forced while thinking is on; the model decides (T83).')
  if (requested === 'required') return 'any'
  const name = projection.toWireName(requested.name)
  return projection.tools.some((tool) => tool.name === name)
    ? { name }
    : fallBackToAuto(`The tool ${requested.name} is not declared; the model decides.`)
}

/** The vendor compiles up to twenty schemas. */
const MAX_STRICT_TOOLS = 20

/** Can the vendor enforce this schema? It supports closed objects without optional properties (T150). */
function isStrictSchema(schema: unknown): boolean {
  if (!isObject(schema) || typeof schema['type'] !== 'string') return false
  if (!Object.keys(schema).every((key) => STRICT_SCHEMA_KEYS.has(key))) return false
  if (schema['type'] === 'array') return isStrictSchema(schema['items'])
  if (schema['type'] !== 'object') return true
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  if (schema['additionalProperties'] !== false) return false
  return Object.entries(objectOrEmpty(schema['properties'])).every(
    ([key, inner]) => required.includes(key) && isStrictSchema(inner),
  )
}

const STRICT_SCHEMA_KEYS = new Set(
  'type description title enum items properties required additionalProperties'.split(' '),
)

function encodeSystem(request: ModelRequest, context: EncodeContext): JsonObject {
  const text = joinSystemPrompt(request, context)
  if (text === '') return {}
  const { cache } = context.profile
  const mark = cache === 'auto' || cache === 'marks' ? { cache_control: createCacheMark(request.params ?? {}) } : {}
  return { system: [{ type: 'text', text, ...mark }] }
}

/** Marks the last two user messages, since four marks are allowed: the next request reads what the last one writes. */
function addCacheControl(messages: readonly AnthropicMessage[], mark: JsonObject): AnthropicMessage[] {
  const users = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : [])).slice(-2)
  return messages.map((message, at) => {
    const last = message.content.at(-1)
    if (!users.includes(at) || !last) return message
    return { ...message, content: [...message.content.slice(0, -1), { ...last, cache_control: mark }] }
  })
}
