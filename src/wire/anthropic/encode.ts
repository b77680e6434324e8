import type { Warning } from '../../model/event.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { Params, Request, ToolChoice } from '../../model/request.ts'
import { wellFormed } from '../../model/text.ts'
import type { Turn } from '../../model/turn.ts'
import type { ProjectedTool, Projection } from '../../schema/project.ts'
import { declarationWarnings, declare } from '../declare.ts'
import { describeTools } from '../text-tools.ts'
import { ownData, type Step, type Place, transcript } from '../transcript.ts'
import type { Encoded } from '../wire.ts'
import { isServerUse, type Message, messagesOf } from './messages.ts'

/** The form of ids that the API takes (T97). */
const FORM = { legal: /^[a-zA-Z0-9_-]{1,64}$/ }

const WIRE = 'anthropic'

/** Writes a messages request. The messages come last, so that a longer history extends the bytes of a shorter one. */
export function encode(request: Request, profile: Profile, place?: Place): Encoded {
  const projection = declare(request.tools, profile)
  const params = request.params ?? {}
  const { steps: all, warnings } = transcript(request.turns, { wire: WIRE, profile, projection, form: FORM }, place)
  const steps = paused(all, request.turns, profile) ? all.slice(0, -1) : all
  const messages = messagesOf(steps, { profile, projection })
  const thought = thinking(params, profile, messages, warnings)
  const body: JsonObject = {
    model: request.model,
    max_tokens: thought.maxTokens,
    ...sampling(params, thought.on, warnings),
    stream: params.stream ?? true,
    ...thought.fields,
    ...tools(request, projection, { profile, steps, thinking: thought.on, warnings }),
    ...system(request, projection, profile),
    ...(profile.cache === 'auto' && { cache_control: MARK }),
    messages: (profile.cache === 'marks' ? marked(messages) : messages) as unknown as JsonObject[],
  }
  for (const refused of profile.refuses) delete body[refused]
  return { body, warnings: [...warnings, ...declarationWarnings(projection)] }
}

/** Where the vendor may cut the prompt for its cache; four are allowed in a request. */
const MARK: JsonObject = { type: 'ephemeral' }

/** Does the history end in an answer that only paused? It goes back as it is, with nothing said after it (T135). */
function paused(steps: readonly Step[], turns: readonly Turn[], profile: Profile): boolean {
  const turn = turns.at(-1)
  const step = steps.at(-2)
  if (turn?.role !== 'assistant' || turn.finish.raw !== 'pause_turn') return false
  if (step?.kind !== 'assistant' || step.turn !== turn || profile.tools === 'text') return false
  return step.parts.some((part) => isServerUse(ownData(part, { wire: WIRE, profile })))
}

/** The API demands a limit. Without a wish it is this: room for a long file, and no more than current models can write. */
const MAX_TOKENS = 16384

/** The smallest budget that the API takes. */
const MIN_BUDGET = 1024

/** Thinking, as the endpoint wants it asked for; and the limit of the answer, of which the thinking is a part. */
function thinking(params: Params, profile: Profile, messages: readonly Message[], warnings: Warning[]) {
  const { effort } = params
  const maxTokens = params.maxTokens ?? MAX_TOKENS
  const off = { maxTokens, on: false, fields: {} as JsonObject }
  if (effort === undefined || profile.thinking === 'none') return off
  // Models that think by themselves must be told not to; adaptive ones refuse to be told.
  if (effort === 'off')
    return profile.thinking === 'budget' ? { ...off, fields: { thinking: { type: 'disabled' } } } : off
  if (profile.thinking === 'level') return { ...off, fields: { output_config: { effort: level(effort) } } }
  if (profile.thinking === 'adaptive') {
    return { ...off, on: true, fields: { thinking: { type: 'adaptive' }, output_config: { effort: level(effort) } } }
  }
  const wish = Math.max(MIN_BUDGET, typeof effort === 'number' ? Math.round(effort) : BUDGETS[effort])
  // A level leaves room for the answer; a number is taken at its word, as far as the API lets us (T155).
  const room = typeof effort === 'number' ? 1 : Math.ceil(maxTokens / 4)
  const budget = params.maxTokens === undefined ? wish : Math.min(wish, maxTokens - room)
  if (budget < MIN_BUDGET) {
    warnings.push({
      code: 'thinking',
      message: `An answer of ${maxTokens} tokens has no room for thinking; it was left out.`,
    })
    return off
  }
  if (profile.signatures === 'required' && profile.replay === 'own' && thoughtless(messages)) {
    warnings.push({
      code: 'thinking',
      message:
        'The calls that are being answered came without thinking of this model; it was left out until they are done.',
    })
    return off
  }
  const limit = params.maxTokens ?? Math.max(MAX_TOKENS, budget + 8192)
  return { maxTokens: limit, on: true, fields: { thinking: { type: 'enabled', budget_tokens: budget } } as JsonObject }
}

const BUDGETS = { minimal: MIN_BUDGET, low: 4096, medium: 8192, high: 16384, xhigh: 23808 } as const

function level(effort: Exclude<Params['effort'], 'off' | undefined>): string {
  if (effort === 'minimal') return 'low'
  if (typeof effort !== 'number') return effort
  return effort <= BUDGETS.low ? 'low' : effort <= BUDGETS.medium ? 'medium' : 'high'
}

/** Where thinking is signed, an answer whose calls are being answered must begin with it; another model's, or one that lost it, cannot. */
function thoughtless(messages: readonly Message[]): boolean {
  const asked = messages.findLastIndex(
    ({ role, content }) => role === 'user' && content.some((block) => block['type'] !== 'tool_result'),
  )
  const first = messages.slice(asked + 1).find(({ role }) => role === 'assistant')?.content[0]
  return first !== undefined && first['type'] !== 'thinking' && first['type'] !== 'redacted_thinking'
}

/** Thinking models take no sampling parameters (T83). */
function sampling(params: Params, thinks: boolean, warnings: Warning[]): JsonObject {
  const stop = params.stop?.filter((word) => word.trim() !== '') ?? []
  const sampled = params.temperature !== undefined || params.topP !== undefined
  if (thinks && sampled)
    warnings.push({ code: 'sampling', message: 'With thinking on, temperature and top_p were left out (T83).' })
  return {
    ...(!thinks && params.temperature !== undefined && { temperature: params.temperature }),
    ...(!thinks && params.topP !== undefined && { top_p: params.topP }),
    ...(stop.length > 0 && { stop_sequences: stop }),
  }
}

interface ToolContext {
  readonly profile: Profile
  readonly steps: readonly Step[]
  readonly thinking: boolean
  readonly warnings: Warning[]
}

function tools(request: Request, projection: Projection, context: ToolContext): JsonObject {
  const { profile, steps } = context
  if (profile.tools === 'text') return {}
  if (projection.tools.length === 0) {
    // A history with calls is refused without tools, so the names that it uses are declared, and closed (T98).
    const calls = steps.flatMap((step) => (step.kind === 'assistant' ? step.exchanges : []))
    const names = new Set(calls.map(({ call }) => projection.wireName(call.name)))
    if (names.size === 0) return {}
    return { tools: [...names].map(bare), tool_choice: { type: 'none' } }
  }
  const strict = profile.constrain ? projection.tools.filter((tool) => isStrict(tool.schema)).slice(0, MAX_STRICT) : []
  const declared = projection.tools.map((tool): JsonObject => ({
    ...declaration(tool),
    ...(strict.includes(tool) && { strict: true }),
    ...(profile.eagerArguments && { eager_input_streaming: true }),
  }))
  const last = declared.at(-1)
  if (last && (profile.cache === 'auto' || profile.cache === 'marks')) last['cache_control'] = MARK
  const choice = toolChoice(request.toolChoice, projection, context)
  const parallel =
    request.params?.parallelCalls === false && choice !== 'none' ? { disable_parallel_tool_use: true } : {}
  if (choice === 'auto')
    return {
      tools: declared,
      ...('disable_parallel_tool_use' in parallel && { tool_choice: { type: choice, ...parallel } }),
    }
  const wanted: JsonObject = typeof choice === 'string' ? { type: choice } : { type: 'tool', name: choice.name }
  return { tools: declared, tool_choice: { ...wanted, ...parallel } }
}

function declaration(tool: ProjectedTool): JsonObject {
  return { name: tool.name, description: tool.description, input_schema: tool.schema }
}

function bare(name: string): JsonObject {
  return {
    name,
    description: 'A tool used earlier; it cannot be called now.',
    input_schema: { type: 'object', properties: {} },
  }
}

/** The wish as this wire can carry it: it knows no subset of tools, and no force while the model thinks (T83). */
function toolChoice(
  wish: ToolChoice | undefined,
  projection: Projection,
  context: ToolContext,
): 'auto' | 'none' | 'any' | { name: string } {
  const { thinking: thinks, warnings } = context
  const soften = (message: string) => {
    warnings.push({ code: 'tool-choice', message })
    return 'auto' as const
  }
  if (wish === undefined || wish === 'auto') return 'auto'
  if (wish === 'none') return 'none'
  if (typeof wish !== 'string' && 'only' in wish) {
    if (wish.only.length === 0) return 'none'
    return soften('This wire cannot narrow the choice of tools; all declared ones stay open to the model.')
  }
  if (thinks) return soften('A model that thinks cannot be made to call; the choice was left to it (T83).')
  if (wish === 'required') return 'any'
  const name = projection.wireName(wish.name)
  return projection.tools.some((tool) => tool.name === name)
    ? { name }
    : soften(`The tool ${wish.name} is not declared; the choice was left to the model.`)
}

/** The vendor compiles up to twenty schemas. */
const MAX_STRICT = 20

/** Can the vendor hold the model to this schema? Only what it is known to compile counts: closed objects without options (T150). */
function isStrict(schema: unknown): boolean {
  if (!isObject(schema) || typeof schema['type'] !== 'string') return false
  if (!Object.keys(schema).every((key) => STRICT_KEYS.has(key))) return false
  if (schema['type'] === 'array') return isStrict(schema['items'])
  if (schema['type'] !== 'object') return true
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  if (schema['additionalProperties'] !== false) return false
  return Object.entries(properties).every(([key, inner]) => required.includes(key) && isStrict(inner))
}

const STRICT_KEYS = new Set([
  'type',
  'description',
  'title',
  'enum',
  'items',
  'properties',
  'required',
  'additionalProperties',
])

function system(request: Request, projection: Projection, profile: Profile): JsonObject {
  const described = profile.tools === 'text' && projection.tools.length > 0 ? describeTools(projection.tools) : ''
  const text = wellFormed([request.system ?? '', described].filter((part) => part.trim() !== '').join('\n\n'))
  if (text === '') return {}
  const mark = profile.cache === 'auto' || profile.cache === 'marks' ? { cache_control: MARK } : {}
  return { system: [{ type: 'text', text, ...mark }] }
}

/** Marks the last two user messages: the one writes the cache that the other, one request later, reads. */
function marked(messages: readonly Message[]): Message[] {
  const users = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : [])).slice(-2)
  return messages.map((message, at) => {
    const last = message.content.at(-1)
    if (!users.includes(at) || !last) return message
    return { ...message, content: [...message.content.slice(0, -1), { ...last, cache_control: MARK }] }
  })
}
