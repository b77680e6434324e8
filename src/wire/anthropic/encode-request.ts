import type { Warning } from '../../model/event.ts'
import { defined } from '../../model/defined.ts'
import { filterObjects, isObject, type JsonObject, objectOrEmpty } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ModelParams, ModelRequest } from '../../model/request.ts'
import type { Turn } from '../../model/turn.ts'
import { listDeclarationWarnings, createEncodeContext } from '../declare-tools.ts'
import { createCacheMark, joinSystemPrompt, warnAboutCacheTtl } from '../encode-parts.ts'
import type { EncodeContext, HistoryPosition, TranscriptStep } from '../history/transcript.ts'
import { buildTranscript, getReplayableData } from '../history/transcript.ts'
import { chooseOutputRequest, type OutputRequest } from '../output-format.ts'
import { mergeProviderOptions } from '../provider-options.ts'
import { pickOtherFields } from '../read-parts.ts'
import { warnNotKept } from '../unread-fields.ts'
import type { Wire } from '../wire.ts'
import { createBetaHeader } from './betas.ts'
import { type AnthropicMessage, encodeMessages, isServerToolUse, isThinking } from './encode-messages.ts'
import { encodeTools } from './encode-tools.ts'

/** The ids that the API accepts (T97). */
const ID_PATTERN = /^[a-zA-Z0-9_-]{1,64}$/

/** The messages are the last key, so that a longer history only adds bytes at the end. */
export const encodeAnthropicRequest: Wire['encodeRequest'] = (request, given, position) => {
  const profile = chooseLateTools(given)
  const context = createEncodeContext('anthropic', request, profile, position)
  const { projection } = context
  const params = request.params ?? {}
  const options = request.providerOptions?.anthropic
  const { steps: all, warnings } = buildTranscript(request.turns, context, ID_PATTERN, position)
  const steps = isPausedTurn(all, request.turns, context) ? all.slice(0, -1) : all
  const messages = encodeMessages(steps, context, request.tools, warnings)
  const firstResponse = findFirstResponse(messages, position?.before)
  const thinkingChoice = chooseThinking(params, profile, firstResponse, warnings)
  const mark = createCacheMark(params)
  if (profile.cache === 'none' || profile.cache === 'key') warnAboutCacheTtl(params, warnings)
  warnAboutNotes(request.turns, context, warnings)
  const { diagnoseCache } = request
  const complete: JsonObject = {
    model: request.model,
    max_tokens: thinkingChoice.maxTokens,
    ...encodeSampling(params, thinkingChoice.on, warnings),
    stream: params.stream ?? true,
    ...addOutputFormat(thinkingChoice.fields, chooseOutputRequest(request, context)),
    ...encodeTools(request, { ...context, steps, thinking: thinkingChoice.on, warnings }),
    ...encodeSystem(request, context),
    ...(profile.cache === 'auto' && { cache_control: mark }),
    ...(profile.cacheDiagnosis &&
      diagnoseCache && { diagnostics: { previous_message_id: diagnoseCache.previous ?? null } }),
    messages: (profile.cache === 'marks' ? addCacheControl(messages, mark) : messages) as unknown as JsonObject[],
  }
  // A type of thinking that the caller asks for replaces the usual one as a whole.
  if (objectOrEmpty(options?.['thinking'])['type'] !== undefined) delete complete['thinking']
  const body = mergeProviderOptions(complete, options, warnings)
  for (const refused of profile.refuses) delete body[refused]
  removeUntypedThinking(body, warnings)
  const headers = createBetaHeader(body)
  return {
    body,
    warnings: [...warnings, ...listDeclarationWarnings(projection)],
    ...defined({ headers, endState: firstResponse }),
  }
}

/** Tools are added by system messages; without these they are declared with the others. */
function chooseLateTools(profile: Profile): Profile {
  return profile.lateTools === 'native' && !profile.systemNotes ? { ...profile, lateTools: 'none' } : profile
}

/** Settings of a system message that cannot be sent to this model. */
function warnAboutNotes(turns: readonly Turn[], context: EncodeContext, warnings: Warning[]): void {
  for (const turn of turns) {
    if (turn.role !== 'note' || turn.native?.wire !== 'anthropic') continue
    if (context.profile.systemNotes && getReplayableData(turn, context)) continue
    const message = objectOrEmpty(turn.native.data)
    warnNotKept(warnings, 'A setting of a system message', pickOtherFields(message, 'content'))
    for (const block of filterObjects(message['content']))
      warnNotKept(
        warnings,
        'A part of a system message',
        block['type'] === 'text' ? pickOtherFields(block, 'type text') : block,
      )
  }
}

/** Details of thinking, without thinking, are rejected. */
function removeUntypedThinking(body: JsonObject, warnings: Warning[]): void {
  const { thinking } = body
  if (!isObject(thinking) || thinking['type'] !== undefined) return
  warnNotKept(warnings, 'A detail of thinking, which is off,', thinking)
  delete body['thinking']
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
  firstResponse: HistoryPosition['before'],
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
  // Where thinking is signed, a response whose calls are being answered must start with it; one of another model cannot.
  const lacksThinking = firstResponse !== undefined && !firstResponse.startsWithThinking
  if (isTooSmall || (profile.signatures === 'required' && profile.replay === 'own' && lacksThinking)) {
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

/** The first response since the last prompt; `before` is that of the messages before these. */
function findFirstResponse(
  messages: readonly AnthropicMessage[],
  before: HistoryPosition['before'],
): HistoryPosition['before'] {
  const lastPrompt = messages.findLastIndex(
    ({ role, content }) => role === 'user' && content.some((block) => block['type'] !== 'tool_result'),
  )
  if (lastPrompt < 0 && before) return before
  const first = messages.slice(lastPrompt + 1).find(({ role }) => role === 'assistant')?.content[0]
  return first && { startsWithThinking: isThinking(first) }
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
