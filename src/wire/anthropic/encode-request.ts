import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ModelParams, ModelRequest, ToolChoice } from '../../model/request.ts'
import { toWellFormed } from '../../model/text.ts'
import type { Turn } from '../../model/turn.ts'
import type { DeclaredTool, ToolDeclarations } from '../../schema/dialect/declare-tools.ts'
import { listDeclarationWarnings, declareToolsFor } from '../declare-tools.ts'
import { describeToolsAsText } from '../text-calls/format-text-calls.ts'
import { getReplayableData, type TranscriptStep, type HistoryPosition, buildTranscript } from '../history/transcript.ts'
import type { EncodedRequest } from '../wire.ts'
import { isServerToolUse, type AnthropicMessage, encodeMessages } from './encode-messages.ts'

/** The form of ids that the API takes (T97). */
const ID_FORMAT = { pattern: /^[a-zA-Z0-9_-]{1,64}$/ }

const WIRE_ID = 'anthropic'

/** Writes a messages request. The messages come last, so that a longer history extends the bytes of a shorter one. */
export function encodeAnthropicRequest(
  request: ModelRequest,
  profile: Profile,
  position?: HistoryPosition,
): EncodedRequest {
  const projection = declareToolsFor(request.tools, profile)
  const params = request.params ?? {}
  const { steps: all, warnings } = buildTranscript(
    request.turns,
    { wire: WIRE_ID, profile, projection, idFormat: ID_FORMAT },
    position,
  )
  const steps = isPausedTurn(all, request.turns, profile) ? all.slice(0, -1) : all
  const messages = encodeMessages(steps, { profile, projection })
  const thinkingChoice = chooseThinking(params, profile, messages, warnings)
  const body: JsonObject = {
    model: request.model,
    max_tokens: thinkingChoice.maxTokens,
    ...encodeSampling(params, thinkingChoice.on, warnings),
    stream: params.stream ?? true,
    ...thinkingChoice.fields,
    ...encodeTools(request, projection, { profile, steps, thinking: thinkingChoice.on, warnings }),
    ...encodeSystem(request, projection, profile),
    ...(profile.cache === 'auto' && { cache_control: CACHE_CONTROL }),
    messages: (profile.cache === 'marks' ? addCacheControl(messages) : messages) as unknown as JsonObject[],
  }
  for (const refused of profile.refuses) delete body[refused]
  return { body, warnings: [...warnings, ...listDeclarationWarnings(projection)] }
}

/** Where the vendor may cut the prompt for its cache; four are allowed in a request. */
const CACHE_CONTROL: JsonObject = { type: 'ephemeral' }

/** Does the history end in an answer that only paused? It goes back as it is, with nothing said after it (T135). */
function isPausedTurn(steps: readonly TranscriptStep[], turns: readonly Turn[], profile: Profile): boolean {
  const turn = turns.at(-1)
  const step = steps.at(-2)
  if (turn?.role !== 'assistant' || turn.finish.raw !== 'pause_turn') return false
  if (step?.kind !== 'assistant' || step.turn !== turn || profile.tools === 'text') return false
  return step.parts.some((part) => isServerToolUse(getReplayableData(part, { wire: WIRE_ID, profile })))
}

/** The API demands a limit. Without a wish it is this: room for a long file, and no more than current models can write. */
const DEFAULT_MAX_TOKENS = 16384

/** The smallest budget that the API takes. */
const MIN_THINKING_TOKENS = 1024

/** Thinking, as the endpoint wants it asked for; and the limit of the answer, of which the thinking is a part. */
function chooseThinking(
  params: ModelParams,
  profile: Profile,
  messages: readonly AnthropicMessage[],
  warnings: Warning[],
) {
  const { effort } = params
  const maxTokens = params.maxTokens ?? DEFAULT_MAX_TOKENS
  const off = { maxTokens, on: false, fields: {} as JsonObject }
  if (effort === undefined || profile.thinking === 'none') return off
  // Models that think by themselves must be told not to; adaptive ones refuse to be told.
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
  // A level leaves room for the answer; a number is taken at its word, as far as the API lets us (T155).
  const reserved = typeof effort === 'number' ? 1 : Math.ceil(maxTokens / 4)
  const budget = params.maxTokens === undefined ? requested : Math.min(requested, maxTokens - reserved)
  if (budget < MIN_THINKING_TOKENS) {
    warnings.push({
      code: 'thinking',
      message: `An answer of ${maxTokens} tokens has no room for thinking; it was left out.`,
    })
    return off
  }
  if (profile.signatures === 'required' && profile.replay === 'own' && lacksThinking(messages)) {
    warnings.push({
      code: 'thinking',
      message:
        'The calls that are being answered came without thinking of this model; it was left out until they are done.',
    })
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

/** Where thinking is signed, an answer whose calls are being answered must begin with it; another model's, or one that lost it, cannot. */
function lacksThinking(messages: readonly AnthropicMessage[]): boolean {
  const lastPrompt = messages.findLastIndex(
    ({ role, content }) => role === 'user' && content.some((block) => block['type'] !== 'tool_result'),
  )
  const first = messages.slice(lastPrompt + 1).find(({ role }) => role === 'assistant')?.content[0]
  return first !== undefined && first['type'] !== 'thinking' && first['type'] !== 'redacted_thinking'
}

/** Thinking models take no sampling parameters (T83). */
function encodeSampling(params: ModelParams, isThinking: boolean, warnings: Warning[]): JsonObject {
  const stop = params.stop?.filter((word) => word.trim() !== '') ?? []
  const sampled = params.temperature !== undefined || params.topP !== undefined
  if (isThinking && sampled)
    warnings.push({ code: 'sampling', message: 'With thinking on, temperature and top_p were left out (T83).' })
  return {
    ...(!isThinking && params.temperature !== undefined && { temperature: params.temperature }),
    ...(!isThinking && params.topP !== undefined && { top_p: params.topP }),
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
    // A history with calls is refused without tools, so the names that it uses are declared, and closed (T98).
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
  if (last && (profile.cache === 'auto' || profile.cache === 'marks')) last['cache_control'] = CACHE_CONTROL
  const choice = encodeToolChoice(request.toolChoice, projection, context)
  const parallel =
    request.params?.parallelCalls === false && choice !== 'none' ? { disable_parallel_tool_use: true } : {}
  if (choice === 'auto')
    return {
      tools: declarations,
      ...('disable_parallel_tool_use' in parallel && { tool_choice: { type: choice, ...parallel } }),
    }
  const wanted: JsonObject = typeof choice === 'string' ? { type: choice } : { type: 'tool', name: choice.name }
  return { tools: declarations, tool_choice: { ...wanted, ...parallel } }
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

/** The wish as this wire can carry it: it knows no subset of tools, and no force while the model thinks (T83). */
function encodeToolChoice(
  requested: ToolChoice | undefined,
  projection: ToolDeclarations,
  context: ToolContext,
): 'auto' | 'none' | 'any' | { name: string } {
  const { thinking: isThinking, warnings } = context
  const fallBackToAuto = (message: string) => {
    warnings.push({ code: 'tool-choice', message })
    return 'auto' as const
  }
  if (requested === undefined || requested === 'auto') return 'auto'
  if (requested === 'none') return 'none'
  if (typeof requested !== 'string' && 'only' in requested) {
    if (requested.only.length === 0) return 'none'
    return fallBackToAuto('This wire cannot narrow the choice of tools; all declared ones stay open to the model.')
  }
  if (isThinking) return fallBackToAuto('A model that thinks cannot be made to call; the choice was left to it (T83).')
  if (requested === 'required') return 'any'
  const name = projection.toWireName(requested.name)
  return projection.tools.some((tool) => tool.name === name)
    ? { name }
    : fallBackToAuto(`The tool ${requested.name} is not declared; the choice was left to the model.`)
}

/** The vendor compiles up to twenty schemas. */
const MAX_STRICT_TOOLS = 20

/** Can the vendor hold the model to this schema? Only what it is known to compile counts: closed objects without options (T150). */
function isStrictSchema(schema: unknown): boolean {
  if (!isObject(schema) || typeof schema['type'] !== 'string') return false
  if (!Object.keys(schema).every((key) => STRICT_SCHEMA_KEYS.has(key))) return false
  if (schema['type'] === 'array') return isStrictSchema(schema['items'])
  if (schema['type'] !== 'object') return true
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  if (schema['additionalProperties'] !== false) return false
  return Object.entries(properties).every(([key, inner]) => required.includes(key) && isStrictSchema(inner))
}

const STRICT_SCHEMA_KEYS = new Set([
  'type',
  'description',
  'title',
  'enum',
  'items',
  'properties',
  'required',
  'additionalProperties',
])

function encodeSystem(request: ModelRequest, projection: ToolDeclarations, profile: Profile): JsonObject {
  const described = profile.tools === 'text' && projection.tools.length > 0 ? describeToolsAsText(projection.tools) : ''
  const text = toWellFormed([request.system ?? '', described].filter((part) => part.trim() !== '').join('\n\n'))
  if (text === '') return {}
  const mark = profile.cache === 'auto' || profile.cache === 'marks' ? { cache_control: CACHE_CONTROL } : {}
  return { system: [{ type: 'text', text, ...mark }] }
}

/** Marks the last two user messages: the one writes the cache that the other, one request later, reads. */
function addCacheControl(messages: readonly AnthropicMessage[]): AnthropicMessage[] {
  const users = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : [])).slice(-2)
  return messages.map((message, at) => {
    const last = message.content.at(-1)
    if (!users.includes(at) || !last) return message
    return { ...message, content: [...message.content.slice(0, -1), { ...last, cache_control: CACHE_CONTROL }] }
  })
}
