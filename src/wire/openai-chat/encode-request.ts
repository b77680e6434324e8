import type { Warning } from '../../model/event.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ModelParams, ModelRequest, ToolChoice } from '../../model/request.ts'
import { toMediaUrl, findResultMedia, formatResultText, toWellFormed } from '../../model/text.ts'
import type { AssistantPart, MediaPart, ResultPart, TextPart } from '../../model/turn.ts'
import type { ToolDeclarations } from '../../schema/dialect/declare-tools.ts'
import { listDeclarationWarnings, declareToolsFor } from '../declare-tools.ts'
import { formatCallAsText, describeToolsAsText, formatResultAsText } from '../text-calls/format-text-calls.ts'
import {
  type TranscriptStep,
  toWireArgumentText,
  toFreeformText,
  getReplayableData,
  type HistoryPosition,
  buildTranscript,
} from '../history/transcript.ts'
import type { EncodedRequest } from '../wire.ts'
import { defined } from '../../model/defined.ts'

/** OpenAI takes ids of up to 40 characters (T97). */
const ID_FORMAT = { pattern: /^[\x21-\x7e]{1,40}$/ }

const WIRE_ID = 'openai-chat'

interface EncodeContext {
  readonly profile: Profile
  readonly projection: ToolDeclarations
}

/** Writes a chat completions request. The messages come last, so that a longer history extends the bytes of a shorter one. */
export function encodeChatRequest(request: ModelRequest, profile: Profile, position?: HistoryPosition): EncodedRequest {
  const projection = declareToolsFor(request.tools, profile)
  const { steps, warnings } = buildTranscript(
    request.turns,
    { wire: WIRE_ID, profile, projection, idFormat: ID_FORMAT },
    position,
  )
  const native = profile.tools === 'native'
  const context = { profile, projection }
  const messages = [
    ...(position?.isContinuation ? [] : encodeSystem(request, context)),
    ...insertBridges(
      steps.flatMap((step) => encodeStep(step, context)),
      profile,
    ),
  ]
  const body: JsonObject = {
    model: request.model,
    ...encodeSettings(request.params ?? {}, profile, warnings),
    ...(profile.cache === 'key' && request.session !== undefined && { prompt_cache_key: request.session }),
    ...(native &&
      projection.tools.length > 0 && {
        ...encodeToolChoice(request.toolChoice, request.params, projection, warnings),
        tools: projection.tools.map(declareTool),
      }),
    messages: profile.alternate ? mergeUserMessages(messages) : messages,
  }
  for (const refused of profile.refuses) delete body[refused]
  return { body, warnings: [...warnings, ...listDeclarationWarnings(projection)] }
}

function encodeSettings(params: ModelParams, profile: Profile, warnings: Warning[]): JsonObject {
  const stream = params.stream ?? true
  const { effort } = params
  if (typeof effort === 'number')
    warnings.push({ code: 'effort', message: 'This wire knows no thinking budgets; it was left out.' })
  return {
    stream,
    ...(stream && profile.streamUsage && { stream_options: { include_usage: true } }),
    ...defined({ [profile.maxTokensField]: params.maxTokens, temperature: params.temperature, top_p: params.topP }),
    ...encodeStops(params, warnings),
    ...(typeof effort === 'string' &&
      profile.thinking !== 'none' && { reasoning_effort: effort === 'off' ? 'none' : effort }),
  }
}

/** `auto` is left out, being the default everywhere and refused by some (T153); `parallel_tool_calls` goes only if asked for (T154). */
function encodeToolChoice(
  toolChoice: ToolChoice | undefined,
  params: ModelParams | undefined,
  projection: ToolDeclarations,
  warnings: Warning[],
): JsonObject {
  const parallel = params?.parallelCalls === undefined ? {} : { parallel_tool_calls: params.parallelCalls }
  const chooseTool = (name: string): JsonObject[] => {
    const tool = projection.tools.find((one) => one.originalName === name)
    if (!tool) warnings.push({ code: 'tool-choice', message: `${name} cannot be chosen: it is not declared.` })
    const type = tool?.freeform ? 'custom' : 'function'
    return tool ? [{ type, [type]: { name: tool.name } }] : []
  }
  if (toolChoice === undefined || toolChoice === 'auto') return parallel
  if (typeof toolChoice === 'string') return { ...parallel, tool_choice: toolChoice }
  if ('name' in toolChoice) {
    const [chosen] = chooseTool(toolChoice.name)
    return chosen ? { ...parallel, tool_choice: chosen } : parallel
  }
  const tools = toolChoice.only.flatMap(chooseTool)
  if (tools.length === 0) return { ...parallel, tool_choice: 'none' }
  return { ...parallel, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools } } }
}

/** An empty list and an empty word are refused, and so are more than four words (T155). */
function encodeStops({ stop = [] }: ModelParams, warnings: Warning[]): JsonObject {
  const words = stop.filter((word) => word !== '')
  if (words.length > MAX_STOP_SEQUENCES)
    warnings.push({ code: 'stop', message: `Only the first ${MAX_STOP_SEQUENCES} stop sequences were sent.` })
  return words.length > 0 ? { stop: words.slice(0, MAX_STOP_SEQUENCES) } : {}
}

const MAX_STOP_SEQUENCES = 4

function declareTool(tool: ToolDeclarations['tools'][number]): JsonObject {
  if (tool.freeform) return { type: 'custom', custom: { name: tool.name, description: tool.description } }
  const strict = tool.strict === undefined ? {} : { strict: tool.strict }
  return {
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: tool.schema, ...strict },
  }
}

/** One system message at the start, and never another (T101). */
function encodeSystem(request: ModelRequest, { profile, projection }: EncodeContext): JsonObject[] {
  const tools = profile.tools === 'text' && projection.tools.length > 0 ? describeToolsAsText(projection.tools) : ''
  const text = toWellFormed([request.system ?? '', tools].filter((part) => part.trim() !== '').join('\n\n'))
  if (text === '') return []
  const marked = [{ type: 'text', text, cache_control: { type: 'ephemeral' } }]
  return [{ role: profile.systemRole, content: profile.cache === 'marks' ? marked : text }]
}

function encodeStep(step: TranscriptStep, context: EncodeContext): JsonObject[] {
  if (step.kind === 'user') return [{ role: 'user', content: encodeUserContent(step.parts, context.profile) }]
  if (context.profile.tools === 'text') return encodeTextMessages(step, context)
  const results = step.pairs.map(({ call, id, result }) => ({
    role: 'tool',
    tool_call_id: id,
    ...(context.profile.resultName && { name: context.projection.toWireName(call.name) }),
    content: formatResult(result),
  }))
  return [encodeAssistant(step, context), ...results, ...encodeAttachments(step, context.profile)]
}

function encodeAssistant(
  step: TranscriptStep & { kind: 'assistant' },
  { profile, projection }: EncodeContext,
): JsonObject {
  const calls = step.pairs.map(({ call, id }): JsonObject => {
    const extra = getReplayableData(call, { wire: WIRE_ID, profile })?.['extra_content']
    const name = projection.toWireName(call.name)
    const freeform = toFreeformText(call, { wire: WIRE_ID, profile, projection })
    return freeform !== undefined
      ? { id, type: 'custom', custom: { name, input: freeform } }
      : {
          id,
          type: 'function',
          function: { name, arguments: toWireArgumentText(call, projection) },
          ...defined({ extra_content: extra }),
        }
  })
  const text = joinVisibleText(step.parts, profile)
  const content = text !== '' || calls.length === 0 ? { content: text } : EMPTY_CONTENT[profile.emptyContent]
  return {
    role: 'assistant',
    ...content,
    ...encodeReasoning(step.parts, profile),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

/** What stands for content beside calls; endpoints contradict each other here (T86). */
const EMPTY_CONTENT: Record<Profile['emptyContent'], JsonObject> = {
  null: { content: null },
  empty: { content: '' },
  omit: {},
}

/** The visible text of a turn; where the endpoint wrote its thoughts into the text, the text as it came (T79). */
function joinVisibleText(parts: readonly AssistantPart[], profile: Profile): string {
  const texts = parts.flatMap((part) => {
    const whole = getReplayableData(part, { wire: WIRE_ID, profile })?.['content']
    if (typeof whole === 'string') return [whole]
    if (part.kind === 'text' && part.text.trim() !== '') return [toWellFormed(part.text)]
    return part.kind === 'media' ? [`(${part.mime} was shown here)`] : []
  })
  return texts.join('\n\n')
}

/** Reasoning goes back to its own endpoint, under the field in which it came (T74, T76, T77). */
function encodeReasoning(parts: readonly AssistantPart[], profile: Profile): JsonObject {
  const fields: JsonObject = profile.needsReasoning ? { [profile.needsReasoning]: '' } : {}
  if (profile.replay === 'never') return fields
  for (const part of parts) {
    const data = part.kind === 'reasoning' ? getReplayableData(part, { wire: WIRE_ID, profile }) : undefined
    if (!data) continue
    if (typeof data['field'] === 'string') fields[data['field']] = toWellFormed((part as { text: string }).text)
    if (data['details'] !== undefined) fields['reasoning_details'] = data['details']
  }
  return fields
}

/** Plain text as a plain string (T87); with media a list of parts. */
function encodeUserContent(parts: readonly (TextPart | MediaPart)[], profile: Profile): Json {
  if (parts.every((part) => part.kind === 'text')) return toWellFormed(parts.map((part) => part.text).join('\n'))
  return parts.map((part) =>
    part.kind === 'text' ? { type: 'text', text: toWellFormed(part.text) } : encodeMedia(part, profile),
  )
}

function encodeMedia(part: MediaPart, profile: Profile): JsonObject {
  const name = toWellFormed(part.name ?? 'file')
  const chooseTool = part.name === undefined ? part.mime : `${name} (${part.mime})`
  if (!profile.media) return { type: 'text', text: `(${chooseTool} was left out: this model takes text only)` }
  const url = toMediaUrl(part)
  if (url === undefined) return { type: 'text', text: `(${chooseTool} is empty)` }
  if (IMAGE_MIME.test(part.mime)) return { type: 'image_url', image_url: { url } }
  if (part.mime.startsWith('image/'))
    return { type: 'text', text: `(${chooseTool} was left out: it cannot be shown to this model)` }
  const format = AUDIO_FORMATS[part.mime]
  if (format !== undefined && part.data) return { type: 'input_audio', input_audio: { data: part.data, format } }
  if (url.startsWith('data:')) return { type: 'file', file: { filename: name, file_data: url } }
  return { type: 'text', text: `(${chooseTool} at ${url})` }
}

/** Another kind of picture would cost the whole request, and all that follow (T100). */
const IMAGE_MIME = /^image\/(?:png|jpe?g|gif|webp|\*)$/

const AUDIO_FORMATS: Record<string, string> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
}

function formatResult(result: ResultPart): string {
  const text = formatResultText(result)
  return result.status === 'error' && !/^error/i.test(text) ? `Error: ${text}` : text
}

/** A tool message takes only text, so media follow in a user message after all of them (T100). */
function encodeAttachments(step: TranscriptStep & { kind: 'assistant' }, profile: Profile): JsonObject[] {
  const parts = step.pairs.flatMap(({ call, result }) => {
    const mediaParts = findResultMedia(result)
    return mediaParts.length === 0
      ? []
      : [{ type: 'text', text: `From ${call.name}:` }, ...mediaParts.map((one) => encodeMedia(one, profile))]
  })
  return parts.length > 0 ? [{ role: 'user', content: parts }] : []
}

/** A model without native calls reads its own calls and their results as text, in the form in which it is asked to write them. */
function encodeTextMessages(
  step: TranscriptStep & { kind: 'assistant' },
  { profile, projection }: EncodeContext,
): JsonObject[] {
  const calls = step.pairs.map(({ call }) =>
    formatCallAsText(projection.toWireName(call.name), toWireArgumentText(call, projection)),
  )
  const texts = [joinVisibleText(step.parts, profile), ...calls].filter((text) => text !== '')
  const assistantMessage = { role: 'assistant', content: texts.join('\n'), ...encodeReasoning(step.parts, profile) }
  const results = step.pairs.map(({ call, result }) =>
    formatResultAsText(projection.toWireName(call.name), formatResultText(result), result.status),
  )
  if (results.length === 0) return [assistantMessage]
  return [assistantMessage, { role: 'user', content: results.join('\n') }, ...encodeAttachments(step, profile)]
}

/** Some templates refuse a user message right after a tool message (T94). */
function insertBridges(messages: JsonObject[], profile: Profile): JsonObject[] {
  if (!profile.bridge) return messages
  return messages.flatMap((one, at) => {
    const afterTool = one['role'] === 'user' && messages[at - 1]?.['role'] === 'tool'
    return afterTool ? [{ role: 'assistant', content: 'Understood.', ...encodeReasoning([], profile) }, one] : [one]
  })
}

/** Some templates refuse two user messages in a row (T93). */
function mergeUserMessages(messages: JsonObject[]): JsonObject[] {
  const merged: JsonObject[] = []
  for (const one of messages) {
    const last = merged.at(-1)
    if (last?.['role'] === 'user' && one['role'] === 'user')
      last['content'] = joinContent(last['content'], one['content'])
    else merged.push({ ...one })
  }
  return merged
}

function joinContent(first: Json | undefined, second: Json | undefined): Json {
  if (typeof first === 'string' && typeof second === 'string') return `${first}\n${second}`
  const parts = (content: Json | undefined) =>
    Array.isArray(content) ? content : [{ type: 'text', text: content ?? '' }]
  return [...parts(first), ...parts(second)]
}
