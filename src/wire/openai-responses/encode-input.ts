import type { Warning } from '../../model/event.ts'
import { isObject, type Json, type JsonObject, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import type { ToolSpec } from '../../model/request.ts'
import { describeMedia, findResultMedia, toMediaUrl, toWellFormed } from '../../model/text.ts'
import type { AssistantPart, CallPart, MediaPart, ReasoningPart, ResultPart, TextPart, Turn } from '../../model/turn.ts'
import { getNameInNamespace } from '../../schema/dialect/declare-tools.ts'
import { formatResultWithStatus, OPENAI_IMAGE_MIME_PATTERN } from '../encode-parts.ts'
import { formatCallPart, formatResultPart } from '../text-calls/format-text-calls.ts'
import type { AssistantStep, CallResultPair, EncodeContext, TranscriptStep, UserStep } from '../history/transcript.ts'
import { getReplayableData, toFreeformText, toWireArguments, toWireArgumentText } from '../history/transcript.ts'
import { type CollectedTools, hasNativeLateTools } from '../late-tools.ts'
import { pickOtherFields } from '../read-parts.ts'
import { warnAboutPartner } from '../unread-fields.ts'
import {
  createAdditionalTools,
  declareLateTools,
  declareResponsesTools,
  isClientToolSearch,
  toWireToolName,
} from './encode-tools.ts'
import { defined } from '../../model/defined.ts'

/** Also the tools of the whole history. */
export interface ResponsesContext extends EncodeContext {
  readonly collected: CollectedTools
}

/** The assistant's items in their order, then the results in the order of the calls (T92), then the tools that they found. */
export function encodeStepItems(step: TranscriptStep, context: ResponsesContext, warnings: Warning[]): JsonObject[] {
  if (step.kind === 'user') return encodeUserItems(step, context)
  if (context.profile.tools === 'text') return encodeTextItems(step, context)
  const results = step.pairs.map(({ call, id, result }) => encodeResultItem(id, result, context, call))
  return [...encodeAssistantItems(step, context, warnings), ...results, ...encodeFoundTools(step, context)]
}

/** Items of the client stand between messages; all other parts that follow each other are one message. */
function encodeUserItems({ parts, tools = [] }: UserStep, context: ResponsesContext): JsonObject[] {
  const added = tools.filter((tool) => !standsInResult(tool, context))
  const items = createAdditionalTools(declareLateTools(added, context), context)
  let content: JsonObject[] = []
  for (const part of parts) {
    const { item, message } = getReplayableData(part, context) ?? {}
    if (isObject(item)) {
      items.push(item)
      content = []
      continue
    }
    if (content.length === 0) items.push({ ...createUserMessage(content), ...objectOrEmpty(message) } as JsonObject)
    content.push(encodeUserPart(part, context))
  }
  return items
}

/** Is this tool of a note declared by the result that found it? */
function standsInResult(tool: ToolSpec, context: ResponsesContext): boolean {
  const { foundBefore, foundBy } = context.collected
  if (!foundBefore.has(tool)) return false
  const result = foundBy.get(tool.name)
  return context.canFindTools || (result && getReplayableData(result, context)?.['type'] === SEARCH_OUTPUT) === true
}

/** Does a turn refer to an item that only the vendor has? */
export function isItemReference(turn: Turn): boolean {
  return turn.role === 'user' && turn.parts.some(({ native }) => isReference(objectOrEmpty(native?.data)['item']))
}

function isReference(item: unknown): boolean {
  return isObject(item) && (item['type'] ?? 'item_reference') === 'item_reference'
}

/** Tools that results of other searches than the API's own found for the first time. */
function encodeFoundTools({ pairs }: AssistantStep, context: ResponsesContext): JsonObject[] {
  if (!context.canFindTools) return []
  const { foundBy } = context.collected
  const found = pairs.flatMap(({ call, result }) => {
    if (isSearchCall(call, context)) return []
    return (result.foundTools ?? []).filter((name) => foundBy.get(name) === result)
  })
  const tools = found.flatMap((name) => context.projection.findTool(name) ?? []).filter(({ deferred }) => deferred)
  const loaded = tools.map(({ deferred: _deferred, ...tool }) => tool)
  return createAdditionalTools(loaded, context)
}

/** A result refers to its call by `call_id`, never by the id of an item (T139), and may contain images and files (T100). */
export function encodeResultItem(
  id: string,
  result: ResultPart,
  context: ResponsesContext,
  call?: CallPart,
): JsonObject {
  const fields = getReplayableData(result, context)
  if (isSearchCall(call, context)) return { ...encodeSearchOutput(id, result, context), ...fields }
  const isFreeform = call !== undefined && toFreeformText(call, context) !== undefined
  const caller = call && getReplayableData(call, context)?.['caller']
  return {
    type: isFreeform ? 'custom_tool_call_output' : 'function_call_output',
    call_id: id,
    output: encodeOutput(result, context),
    ...defined({ caller }),
    ...(fields?.['type'] !== SEARCH_OUTPUT && fields),
  }
}

/** A list only if there are media, or parts with fields of their own: not every server accepts one. */
function encodeOutput(result: ResultPart, context: EncodeContext): Json {
  if (result.content.some((part) => getReplayableData(part, context)))
    return result.content.map((part) => encodeUserPart(part, context))
  const media = findResultMedia(result).map((one) => encodeUserPart(one, context))
  const text = formatResultWithStatus(result)
  if (media.every(({ type }) => type === 'input_text'))
    return [text, ...media.map((one) => stringOrEmpty(one['text']))].join('\n')
  return [{ type: 'input_text', text }, ...media]
}

const SEARCH_CALL = 'tool_search_call'
const SEARCH_OUTPUT = 'tool_search_output'

/** Is this a search for tools that the client runs, as the API has it? */
function isSearchCall(call: CallPart | undefined, context: EncodeContext): boolean {
  if (!call || !hasNativeLateTools(context.profile)) return false
  return (
    isClientToolSearch(context.projection.findTool(call.name), context) ||
    getReplayableData(call, context)?.['type'] === SEARCH_CALL
  )
}

function encodeSearchOutput(id: string, { foundTools = [] }: ResultPart, context: EncodeContext): JsonObject {
  const found = foundTools.flatMap((name) => context.projection.findTool(name) ?? [])
  const tools = declareResponsesTools(found, context)
  return { type: SEARCH_OUTPUT, call_id: id, execution: 'client', status: 'completed', tools }
}

function encodeAssistantItems(step: AssistantStep, context: EncodeContext, warnings: Warning[]): JsonObject[] {
  const pairsByCall = new Map<AssistantPart, CallResultPair>(step.pairs.map((pair) => [pair.call, pair]))
  const reasoning = step.parts.filter((part) => part.kind === 'reasoning')
  // A vendor's item without the reasoning that led to it is rejected (T84).
  const hasAllReasoning = reasoning.every((part) => encodeReasoningItem(part, context) !== undefined)
  const items = step.parts.flatMap((part): JsonObject[] => {
    switch (part.kind) {
      case 'call': {
        const pair = pairsByCall.get(part)
        return pair ? [encodeCallItem(pair, context)] : []
      }
      case 'reasoning':
        return encodeReasoningItem(part, context) ?? []
      case 'media':
        return [createMessageItem(`(${part.mime} was shown here)`)]
      case 'text': {
        const data = getReplayableData(part, context)
        if (typeof data?.['type'] !== 'string') return encodeMessageItem(part, data)
        if (hasAllReasoning && hasPartnerItem(data, step.parts)) return [data]
        if (!step.isReported) warnAboutPartner(data, warnings)
        return []
      }
      default:
        return part satisfies never
    }
  })
  const end = items.findLastIndex((item) => !isTrailingReasoning(item)) + 1
  if (!step.isReported) for (const item of items.slice(end)) warnAboutPartner(item, warnings)
  return items.slice(0, end)
}

/** A message with the text, or with the vendor's own part, if it has more than text. */
function encodeMessageItem({ text, refusal }: TextPart, data: JsonObject | undefined): JsonObject[] {
  const { part, fields, phase, message } = data ?? {}
  if (text.trim() === '' && !isObject(part) && !isObject(fields)) return []
  const own = refusal
    ? { type: 'refusal', refusal: toWellFormed(text) }
    : { type: 'output_text', text: toWellFormed(text) }
  const content = isObject(part) ? [part] : isObject(fields) ? [{ ...own, ...fields }] : toWellFormed(text)
  return [{ ...createMessageItem(content), ...defined({ phase }), ...(isObject(message) && message) }]
}

/** The documented form of an assistant message without an id; ids are not sent to a server that stores nothing (T84). */
function createMessageItem(content: Json): JsonObject {
  return { type: 'message', role: 'assistant', content }
}

function encodeCallItem({ call, id }: CallResultPair, context: EncodeContext): JsonObject {
  const data = getReplayableData(call, context)
  if (isSearchCall(call, context)) {
    const args = toWireArguments(call, context.projection)
    return { type: SEARCH_CALL, call_id: id, execution: 'client', status: 'completed', arguments: args, ...data }
  }
  const fields = data && data['type'] !== SEARCH_CALL ? pickOtherFields(data, 'response') : undefined
  const text = toFreeformText(call, context)
  const name = encodeToolName(call, fields, context)
  return text === undefined
    ? {
        type: 'function_call',
        call_id: id,
        arguments: toWireArgumentText(call, context.projection),
        ...fields,
        ...name,
      }
    : { type: 'custom_tool_call', call_id: id, input: text, ...fields, ...name }
}

/** A tool that is not declared any more has the namespace that its call had. */
function encodeToolName({ name }: CallPart, data: JsonObject | undefined, context: EncodeContext): JsonObject {
  const wireName = toWireToolName(name, context)
  const namespace = data?.['namespace']
  if (wireName.namespace !== undefined || typeof namespace !== 'string') return { ...wireName }
  return { name: context.projection.toWireName(getNameInNamespace({ name, namespace: { name: namespace } })) }
}

/** Encrypted reasoning of the same endpoint, without its id, which a server that stores nothing does not know (T84). */
function encodeReasoningItem(part: ReasoningPart, context: EncodeContext): JsonObject[] | undefined {
  const data = context.profile.replay === 'own' ? getReplayableData(part, context) : undefined
  if (typeof data?.['encrypted_content'] !== 'string') return undefined
  const fields = Object.entries(data).filter(
    ([key, value]) => !OMITTED_KEYS.has(key) && value !== null && !isEmptyContent(key, value),
  )
  return [{ ...Object.fromEntries(fields), summary: data['summary'] ?? [] }]
}

/** Some servers reject `status` on reasoning, though they send it. */
const OMITTED_KEYS = new Set(['id', 'status'])

function isEmptyContent(key: string, value: Json): boolean {
  return key === 'content' && Array.isArray(value) && value.length === 0
}

/** Reasoning at the end of a turn lacks the item that it led to (T84). Gateways mark reasoning of other vendors by a format. */
function isTrailingReasoning(item: JsonObject | undefined): boolean {
  const format = item?.['format']
  return item?.['type'] === 'reasoning' && (typeof format !== 'string' || format.startsWith('openai'))
}

/** A built-in call without its output, or an output without its call, is rejected. */
function hasPartnerItem(item: JsonObject, parts: readonly AssistantPart[]): boolean {
  const type = stringOrEmpty(item['type'])
  const partner = type.endsWith('_call_output')
    ? type.slice(0, -'_output'.length)
    : type.endsWith('_call')
      ? `${type}_output`
      : undefined
  if (partner === undefined || typeof item['call_id'] !== 'string') return true
  return parts.some((part) => {
    const data = part.native?.data
    return isObject(data) && data['type'] === partner && data['call_id'] === item['call_id']
  })
}

function createUserMessage(content: JsonObject[]): JsonObject {
  return { type: 'message', role: 'user', content }
}

/** With the fields that the part had; a part of an unknown kind as it was. */
function encodeUserPart(part: TextPart | MediaPart, context: EncodeContext): JsonObject {
  const data = getReplayableData(part, context)
  if (isObject(data?.['part'])) return data['part']
  const encoded = part.kind === 'text' ? createInputText(part.text) : encodeMediaPart(part, context.profile)
  return { ...encoded, ...objectOrEmpty(data?.['fields']) } as JsonObject
}

function createInputText(text: string): JsonObject {
  return { type: 'input_text', text: toWellFormed(text) }
}

function encodeMediaPart(part: MediaPart, profile: Profile): JsonObject {
  const label = describeMedia(part)
  if (!profile.media) return createInputText(`(${label} was left out: this model takes text only)`)
  const url = toMediaUrl(part)
  if (url === undefined) return createInputText(`(${label} is empty)`)
  if (OPENAI_IMAGE_MIME_PATTERN.test(part.mime)) return { type: 'input_image', detail: 'auto', image_url: url }
  if (/^(?:image|audio|video)\//.test(part.mime))
    return createInputText(`(${label} was left out: this wire cannot carry it)`)
  return url.startsWith('data:')
    ? { type: 'input_file', filename: toWellFormed(part.name ?? 'file'), file_data: url }
    : { type: 'input_file', file_url: url, ...(part.name !== undefined && { filename: toWellFormed(part.name) }) }
}

export function isSupportedMedia(part: MediaPart, profile: Profile): boolean {
  return encodeMediaPart(part, profile)['type'] !== 'input_text'
}

/** A model without native calls gets its own calls and their results as text, in the format that it is asked to use. */
function encodeTextItems(step: AssistantStep, context: EncodeContext): JsonObject[] {
  const { projection } = context
  const texts = step.parts.flatMap((part) =>
    part.kind === 'text' && part.text.trim() !== '' ? [toWellFormed(part.text)] : [],
  )
  const assistantTexts = [...texts, ...step.pairs.map(({ call }) => formatCallPart(call, projection))]
  const results = step.pairs.flatMap((pair) => [
    { type: 'input_text', text: formatResultPart(pair, projection) },
    ...findResultMedia(pair.result).map((one) => encodeUserPart(one, context)),
  ])
  return [
    ...(assistantTexts.length > 0 ? [createMessageItem(assistantTexts.join('\n'))] : []),
    ...(results.length > 0 ? [createUserMessage(results)] : []),
  ]
}
