import type { Warning } from '../../model/event.ts'
import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ModelParams, ModelRequest } from '../../model/request.ts'
import { describeMedia, findResultMedia, joinTextParts, toMediaUrl, toWellFormed } from '../../model/text.ts'
import type { AssistantPart, MediaPart, Part, ResultPart, TextPart } from '../../model/turn.ts'
import type { DeclaredTool } from '../../schema/dialect/declare-tools.ts'
import { listDeclarationWarnings, createEncodeContext, getNativeToolFields, listHostedTools } from '../declare-tools.ts'
import {
  createCacheMark,
  encodeOpenAiCacheTtl,
  findChosenTool,
  formatResultWithStatus,
  joinSystemPrompt,
  limitStopSequences,
  OPENAI_IMAGE_MIME_PATTERN,
} from '../encode-parts.ts'
import { formatCallPart, formatResultPart } from '../text-calls/format-text-calls.ts'
import type { AssistantStep, EncodeContext, TranscriptStep } from '../history/transcript.ts'
import { buildTranscript, getReplayableData, toFreeformText, toWireArgumentText } from '../history/transcript.ts'
import { chooseOutputRequest, encodeOpenAiFormat } from '../output-format.ts'
import { mergeObjects, mergeProviderOptions } from '../provider-options.ts'
import { pickOtherFields } from '../read-parts.ts'
import type { Wire } from '../wire.ts'
import { defined } from '../../model/defined.ts'

/** OpenAI accepts ids of up to 40 characters (T97). */
const ID_PATTERN = /^[\x21-\x7e]{1,40}$/

/** The messages are the last key, so that a longer history only adds bytes at the end. */
export const encodeChatRequest: Wire['encodeRequest'] = (request, profile, position) => {
  const context = createEncodeContext('openai-chat', request, profile, position)
  const { projection } = context
  const { steps, warnings } = buildTranscript(request.turns, context, ID_PATTERN, position)
  const native = profile.tools === 'native'
  const history = steps.flatMap((step) => encodeStep(step, context))
  const messages = [
    ...(position?.isContinuation ? [] : encodeSystem(request, context)),
    ...(profile.bridge ? insertBridges(history, context) : history),
  ]
  const params = request.params ?? {}
  const declared = projection.tools.map((tool) => declareTool(tool, profile))
  const tools = [...declared, ...listHostedTools(request, 'openai-chat', warnings)]
  const format = encodeOpenAiFormat(chooseOutputRequest(request, context))
  const complete: JsonObject = {
    model: request.model,
    ...encodeSettings(params, profile, warnings),
    ...(format && {
      response_format: { type: format.type, ...(format.details && { json_schema: { ...format.details } }) },
    }),
    ...(profile.cache === 'key' && request.session !== undefined && { prompt_cache_key: request.session }),
    ...encodeOpenAiCacheTtl(params, profile, warnings),
    ...(native && tools.length > 0 && { ...encodeToolChoice(request, context, warnings), tools }),
    messages: profile.alternate ? mergeUserMessages(messages) : messages,
  }
  const body = mergeProviderOptions(complete, request.providerOptions?.['openai-chat'], warnings)
  for (const refused of profile.refuses) delete body[refused]
  return { body, warnings: [...warnings, ...listDeclarationWarnings(projection)] }
}

function encodeSettings(params: ModelParams, profile: Profile, warnings: Warning[]): JsonObject {
  const stream = params.stream ?? true
  const { effort } = params
  const stop = limitStopSequences(params.stop, MAX_STOP_SEQUENCES, warnings)
  if (typeof effort === 'number')
    warnings.push({ code: 'effort', message: 'This API has no thinking budget; it was left out.' })
  return {
    stream,
    ...(stream && profile.streamUsage && { stream_options: { include_usage: true } }),
    ...defined({ [profile.maxTokensField]: params.maxTokens, temperature: params.temperature, top_p: params.topP }),
    ...(stop.length > 0 && { stop }),
    ...(typeof effort === 'string' &&
      profile.thinking !== 'none' && { reasoning_effort: effort === 'off' ? 'none' : effort }),
  }
}

/** `auto` is the default, and some endpoints reject it (T153); `parallel_tool_calls` is sent only if it is set (T154). */
function encodeToolChoice(
  { toolChoice, params }: ModelRequest,
  { profile, projection }: EncodeContext,
  warnings: Warning[],
): JsonObject {
  const parallel = params?.parallelCalls === undefined ? {} : { parallel_tool_calls: params.parallelCalls }
  const chooseTool = (name: string): JsonObject[] => {
    const tool = findChosenTool(name, projection, warnings)
    const type = tool?.freeform && profile.freeTextTools ? 'custom' : 'function'
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

const MAX_STOP_SEQUENCES = 4

function declareTool(tool: DeclaredTool, profile: Profile): JsonObject {
  const { name, description, schema, strict, freeform, grammar } = tool
  const format = grammar && { type: 'grammar', grammar: { syntax: grammar.syntax, definition: grammar.definition } }
  const asFunction = { type: 'function', function: { name, description, parameters: schema, ...defined({ strict }) } }
  if (freeform && !profile.freeTextTools) return asFunction
  const declared = freeform ? { type: 'custom', custom: { name, description, ...defined({ format }) } } : asFunction
  return mergeObjects(declared, getNativeToolFields(tool, 'openai-chat'))
}

/** One system message at the start, and no other (T101). */
function encodeSystem(request: ModelRequest, context: EncodeContext): JsonObject[] {
  const { profile } = context
  const text = joinSystemPrompt(request, context)
  if (text === '') return []
  const marked = [{ type: 'text', text, cache_control: createCacheMark(request.params ?? {}) }]
  return [{ role: profile.systemRole, content: profile.cache === 'marks' ? marked : text }]
}

function encodeStep(step: TranscriptStep, context: EncodeContext): JsonObject[] {
  if (step.kind === 'user')
    return [{ role: 'user', content: encodeUserContent(step.parts, context), ...getMessageFields(step.parts, context) }]
  if (context.profile.tools === 'text') return encodeTextMessages(step, context)
  const results = step.pairs.map(({ call, id, result }) => ({
    role: 'tool',
    tool_call_id: id,
    ...(context.profile.resultName && { name: context.projection.toWireName(call.name) }),
    content: encodeResultContent(result, context),
    ...getMessageFields([result], context),
  }))
  return [encodeAssistant(step, context), ...results, ...encodeAttachments(step, context)]
}

/** The fields of a message stand with its first part. */
function getMessageFields([first]: readonly Part[], context: EncodeContext): JsonObject {
  const message = first && getReplayableData(first, context)?.['message']
  return isObject(message) ? message : {}
}

/** A list only if its parts have fields of their own. */
function encodeResultContent(result: ResultPart, context: EncodeContext): Json {
  const hasFields = result.content.some((part) => getReplayableData(part, context))
  return hasFields ? result.content.map((part) => encodePart(part, context)) : formatResultWithStatus(result)
}

function encodeAssistant(step: AssistantStep, context: EncodeContext): JsonObject {
  const { profile, projection } = context
  const calls = step.pairs.map(({ call, id }): JsonObject => {
    const fields = pickOtherFields(getReplayableData(call, context) ?? {}, 'message response') ?? {}
    const name = projection.toWireName(call.name)
    const freeform = toFreeformText(call, context)
    if (freeform !== undefined) return mergeObjects({ id, type: 'custom', custom: { name, input: freeform } }, fields)
    const args = toWireArgumentText(call, projection)
    return mergeObjects({ id, type: 'function', function: { name, arguments: args } }, fields)
  })
  const refusal = joinRefusals(step.parts, context)
  const text = joinVisibleText(step.parts, context)
  const hasFields = step.parts.some((part) => part.kind === 'text' && hasPartFields(part, context))
  const content = hasFields
    ? { content: step.parts.flatMap((part) => (isContentText(part, context) ? [encodePart(part, context)] : [])) }
    : text !== '' || (calls.length === 0 && refusal === '')
      ? { content: text }
      : EMPTY_CONTENT[profile.emptyContent]
  return {
    role: 'assistant',
    ...content,
    ...(refusal !== '' && { refusal }),
    ...encodeReasoning(step.parts, context),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...getMessageFields(step.parts, context),
  }
}

function hasPartFields(part: TextPart, context: EncodeContext): boolean {
  const { part: whole, fields } = getReplayableData(part, context) ?? {}
  return isObject(whole) || isObject(fields)
}

/** The refusal of a turn in its own field, which only endpoints that sent it are sure to know. */
function joinRefusals(parts: readonly AssistantPart[], context: EncodeContext): string {
  const refusals = parts.filter((part) => part.kind === 'text' && isOwnRefusal(part, context))
  return toWellFormed(joinTextParts(refusals))
}

function isContentText(part: AssistantPart, context: EncodeContext): part is TextPart {
  return part.kind === 'text' && !isOwnRefusal(part, context)
}

function isOwnRefusal(part: TextPart, context: EncodeContext): boolean {
  return getReplayableData(part, context)?.['refusal'] === true
}

/** The content of a message with calls only; endpoints contradict each other here (T86). */
const EMPTY_CONTENT: Record<Profile['emptyContent'], JsonObject> = {
  null: { content: null },
  empty: { content: '' },
  omit: {},
}

/** The visible text of a turn; if the endpoint put reasoning into the text, the text as received (T79). */
function joinVisibleText(parts: readonly AssistantPart[], context: EncodeContext): string {
  const texts = parts.flatMap((part) => {
    const whole = getReplayableData(part, context)?.['content']
    if (typeof whole === 'string') return [whole]
    if (isContentText(part, context) && part.text.trim() !== '') return [toWellFormed(part.text)]
    return part.kind === 'media' ? [`(${part.mime} was shown here)`] : []
  })
  return texts.join('\n\n')
}

/** Reasoning is sent back only to its own endpoint, in the same field (T74, T76, T77). */
function encodeReasoning(parts: readonly AssistantPart[], context: EncodeContext): JsonObject {
  const { needsReasoning, replay } = context.profile
  const fields: JsonObject = needsReasoning ? { [needsReasoning]: '' } : {}
  if (replay === 'never') return fields
  for (const part of parts) {
    if (part.kind !== 'reasoning') continue
    const { field, details } = getReplayableData(part, context) ?? {}
    if (typeof field === 'string') fields[field] = toWellFormed(part.text)
    if (details !== undefined) fields['reasoning_details'] = details
  }
  return fields
}

/** A string if there is only text (T87), else a list of parts. */
function encodeUserContent(parts: readonly (TextPart | MediaPart)[], context: EncodeContext): Json {
  if (parts.every((part) => part.kind === 'text' && !hasPartFields(part, context)))
    return toWellFormed(parts.map((part) => (part.kind === 'text' ? part.text : '')).join('\n'))
  return parts.map((part) => encodePart(part, context))
}

/** With the fields that the part had; a part of an unknown kind as it was. */
function encodePart(part: TextPart | MediaPart, context: EncodeContext): JsonObject {
  const { part: whole, fields } = getReplayableData(part, context) ?? {}
  if (isObject(whole)) return whole
  const encoded =
    part.kind === 'text' ? { type: 'text', text: toWellFormed(part.text) } : encodeMedia(part, context.profile)
  return isObject(fields) ? { ...encoded, ...fields } : encoded
}

function encodeMedia(part: MediaPart, profile: Profile): JsonObject {
  const label = describeMedia(part)
  if (!profile.media) return { type: 'text', text: `(${label} was left out: this model takes text only)` }
  const url = toMediaUrl(part)
  if (url === undefined) return { type: 'text', text: `(${label} is empty)` }
  if (OPENAI_IMAGE_MIME_PATTERN.test(part.mime)) return { type: 'image_url', image_url: { url } }
  if (part.mime.startsWith('image/'))
    return { type: 'text', text: `(${label} was left out: it cannot be shown to this model)` }
  const format = AUDIO_FORMATS[part.mime]
  if (format !== undefined && part.data) return { type: 'input_audio', input_audio: { data: part.data, format } }
  if (url.startsWith('data:'))
    return { type: 'file', file: { filename: toWellFormed(part.name ?? 'file'), file_data: url } }
  return { type: 'text', text: `(${label} at ${url})` }
}

export function isSupportedMedia(part: MediaPart, profile: Profile): boolean {
  return encodeMedia(part, profile)['type'] !== 'text'
}

const AUDIO_FORMATS: Record<string, string> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
}

/** A tool message may contain only text, so media follow in a user message after all of them (T100). */
function encodeAttachments(step: AssistantStep, context: EncodeContext): JsonObject[] {
  const parts = step.pairs.flatMap(({ call, result }) => {
    // Parts with fields of their own stand in the result itself.
    const isInside = result.content.some((part) => getReplayableData(part, context))
    const media = isInside ? [] : findResultMedia(result).map((part) => encodeMedia(part, context.profile))
    return media.length === 0 ? [] : [{ type: 'text', text: `From ${call.name}:` }, ...media]
  })
  return parts.length > 0 ? [{ role: 'user', content: parts }] : []
}

/** A model without native calls gets its own calls and their results as text, in the format that it is asked to use. */
function encodeTextMessages(step: AssistantStep, context: EncodeContext): JsonObject[] {
  const { projection } = context
  const calls = step.pairs.map(({ call }) => formatCallPart(call, projection))
  const texts = [joinVisibleText(step.parts, context), ...calls].filter((text) => text !== '')
  const assistantMessage = { role: 'assistant', content: texts.join('\n'), ...encodeReasoning(step.parts, context) }
  const results = step.pairs.map((pair) => formatResultPart(pair, projection))
  if (results.length === 0) return [assistantMessage]
  return [assistantMessage, { role: 'user', content: results.join('\n') }, ...encodeAttachments(step, context)]
}

/** Some templates reject a user message right after a tool message (T94). */
function insertBridges(messages: JsonObject[], context: EncodeContext): JsonObject[] {
  return messages.flatMap((one, at) => {
    const afterTool = one['role'] === 'user' && messages[at - 1]?.['role'] === 'tool'
    return afterTool ? [{ role: 'assistant', content: 'Understood.', ...encodeReasoning([], context) }, one] : [one]
  })
}

/** Some templates reject two user messages in a row (T93). */
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
