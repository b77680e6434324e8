import type { Warning } from '../../model/event.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { Params, Request, ToolChoice } from '../../model/request.ts'
import { wellFormed } from '../../model/text.ts'
import type { Turn } from '../../model/turn.ts'
import type { Projection } from '../../schema/project.ts'
import { declarationWarnings, declare } from '../declare.ts'
import { describeTools } from '../text-tools.ts'
import { type Place, transcript } from '../transcript.ts'
import type { Encoded } from '../wire.ts'
import { type Context, WIRE, outputItem, stepItems } from './input.ts'

/** A request as the endpoint takes it. `input` is the last key, so that a longer history extends the bytes of a shorter one. */
interface Body extends JsonObject {
  model: string
  input: JsonObject[]
}

/** A call id may have 64 characters; these are safe on every server (T97). */
const FORM = { legal: /^[A-Za-z0-9_-]{1,64}$/ }

/** Writes a Responses request: the whole history in the order in which it came, and nothing left on the server (T84). */
export function encode(request: Request, profile: Profile, place?: Place): Encoded {
  const projection = declare(request.tools, profile)
  const warnings: Warning[] = []
  const native = profile.tools === 'native'
  const whole: Body = {
    model: request.model,
    ...instructions(request, { profile, projection }),
    ...(native && projection.tools.length > 0 && toolbox(request, projection, warnings)),
    ...settings(request.params ?? {}, profile, warnings),
    ...(profile.cache === 'key' && request.session !== undefined && { prompt_cache_key: request.session }),
    ...(request.previous !== undefined && { previous_response_id: request.previous }),
    input: history(request, { profile, projection }, warnings, place),
  }
  const body = profile.refuses.reduce<JsonObject>((left, path) => without(left, path.split('.')), whole)
  return { body, warnings: [...warnings, ...declarationWarnings(projection)] }
}

function instructions(request: Request, { profile, projection }: Context): JsonObject {
  const tools = profile.tools === 'text' && projection.tools.length > 0 ? describeTools(projection.tools) : ''
  const text = [request.system ?? '', tools].filter((part) => part.trim() !== '').join('\n\n')
  return text === '' ? {} : { instructions: wellFormed(text) }
}

/** What goes only with tools: an empty list, and a choice or a limit without a list, are refused (T98). */
function toolbox(request: Request, projection: Projection, warnings: Warning[]): JsonObject {
  const parallel = request.params?.parallelCalls
  return {
    tools: projection.tools.map(declaration),
    ...choice(request.toolChoice, projection, warnings),
    ...(parallel !== undefined && { parallel_tool_calls: parallel }),
  }
}

/** `strict` is always said: left out, some servers take it for true and make every parameter required (T144). */
function declaration(tool: Projection['tools'][number]): JsonObject {
  if (tool.freeform) return { type: 'custom', name: tool.name, description: tool.description }
  const strict = tool.strict ?? false
  return { type: 'function', name: tool.name, description: tool.description, parameters: tool.schema, strict }
}

/** `auto` is left out, being the default (T153); a narrower choice leaves the declared tools, and so the cached prefix, as they are. */
function choice(wanted: ToolChoice | undefined, projection: Projection, warnings: Warning[]): JsonObject {
  if (wanted === undefined || wanted === 'auto') return {}
  if (typeof wanted === 'string') return { tool_choice: wanted }
  const named = (name: string): JsonObject[] => {
    const tool = projection.tools.find((one) => one.original === name)
    if (!tool) warnings.push({ code: 'tool-choice', message: `${name} cannot be chosen: it is not declared.` })
    return tool ? [{ type: tool.freeform ? 'custom' : 'function', name: tool.name }] : []
  }
  if ('name' in wanted) {
    const [chosen] = named(wanted.name)
    return chosen ? { tool_choice: chosen } : {}
  }
  const tools = wanted.only.flatMap(named)
  return { tool_choice: tools.length > 0 ? { type: 'allowed_tools', mode: 'auto', tools } : 'none' }
}

function settings(params: Params, profile: Profile, warnings: Warning[]): JsonObject {
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
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(maxTokens !== undefined && { max_output_tokens: Math.max(LEAST_TOKENS, maxTokens) }),
    ...(profile.encryptedReasoning && { include: ['reasoning.encrypted_content'] }),
    store: params.store ?? false,
    stream: params.stream ?? true,
  }
}

/** Less than this is refused. */
const LEAST_TOKENS = 16

/** The history as items. Where the vendor keeps what came before, results may answer calls that are not here (T139). */
function history(request: Request, context: Context, warnings: Warning[], place?: Place): JsonObject[] {
  const items: JsonObject[] = []
  const write = (turns: readonly Turn[]) => {
    // Results alone answer calls that the vendor keeps; nothing is to be said beside them.
    if (request.previous !== undefined && turns.every(({ role }) => role === 'results')) return
    const { steps, warnings: found } = transcript(turns, { wire: WIRE, ...context, form: FORM }, place)
    warnings.push(...found)
    items.push(...steps.flatMap((step) => stepItems(step, context)))
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
    const stray = turn.role === 'results' ? turn.parts.filter((result) => !calls.has(result.id)) : []
    if (turn.role !== 'results' || stray.length === 0) {
      turns.push(turn)
      continue
    }
    turns.push({ role: 'results', parts: turn.parts.filter((result) => calls.has(result.id)) })
    write(turns)
    turns = []
    items.push(...stray.map((result) => outputItem(result.id, result, context)))
  }
  write(turns)
  return items
}

/** The value without a parameter that the endpoint refuses by name, also inside another: `reasoning.summary`, `tools.strict` (T155). */
function without<T extends Json>(value: T, [key, ...deeper]: readonly string[]): T {
  if (Array.isArray(value)) return value.map((one) => without(one, [key ?? '', ...deeper])) as T
  if (!isObject(value)) return value
  // In their order, so that the input stays last.
  const fields = (Object.entries(value) as [string, Json][]).flatMap(([name, inner]): [string, Json][] => {
    if (name !== key) return [[name, inner]]
    return deeper.length === 0 ? [] : [[name, without(inner, deeper)]]
  })
  return Object.fromEntries(fields) as T
}
