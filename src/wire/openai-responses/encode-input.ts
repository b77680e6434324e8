import { isObject, type Json, type JsonObject, stringOrEmpty } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import { describeMedia, findResultMedia, toMediaUrl, toWellFormed } from '../../model/text.ts'
import type { AssistantPart, CallPart, MediaPart, ReasoningPart, ResultPart, TextPart } from '../../model/turn.ts'
import { formatResultWithStatus, OPENAI_IMAGE_MIME_PATTERN } from '../encode-parts.ts'
import { formatCallPart, formatResultPart } from '../text-calls/format-text-calls.ts'
import type { AssistantStep, CallResultPair, EncodeContext, TranscriptStep } from '../history/transcript.ts'
import { getReplayableData, toFreeformText, toWireArgumentText } from '../history/transcript.ts'
import { defined } from '../../model/defined.ts'

/** The assistant's items in their order, then the results in the order of the calls (T92). */
export function encodeStepItems(step: TranscriptStep, context: EncodeContext): JsonObject[] {
  if (step.kind === 'user') return [createUserMessage(step.parts.map((part) => encodeUserPart(part, context.profile)))]
  if (context.profile.tools === 'text') return encodeTextItems(step, context)
  const results = step.pairs.map(({ call, id, result }) => encodeResultItem(id, result, context, call))
  return [...encodeAssistantItems(step, context), ...results]
}

/** A result refers to its call by `call_id`, never by the id of an item (T139), and may contain images and files (T100). */
export function encodeResultItem(id: string, result: ResultPart, context: EncodeContext, call?: CallPart): JsonObject {
  const custom = call !== undefined && toFreeformText(call, context) !== undefined
  const media = findResultMedia(result).map((one) => encodeUserPart(one, context.profile))
  const content = [{ type: 'input_text', text: formatResultWithStatus(result) }, ...media]
  // A list only if there are media: not every server accepts one.
  const output = content.every(({ type }) => type === 'input_text')
    ? content.map(({ text }) => stringOrEmpty(text)).join('\n')
    : content
  const caller = call && getReplayableData(call, context)?.['caller']
  return {
    type: custom ? 'custom_tool_call_output' : 'function_call_output',
    call_id: id,
    output,
    ...defined({ caller }),
  }
}

function encodeAssistantItems(step: AssistantStep, context: EncodeContext): JsonObject[] {
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
        const phase = data?.['phase']
        if (part.text.trim() !== '')
          return [{ ...createMessageItem(toWellFormed(part.text)), ...(typeof phase === 'string' && { phase }) }]
        const isItem = typeof data?.['type'] === 'string' && hasAllReasoning && hasPartnerItem(data, step.parts)
        return isItem ? [data] : []
      }
      default:
        return part satisfies never
    }
  })
  while (items.length > 0 && isTrailingReasoning(items.at(-1))) items.pop()
  return items
}

/** The documented form of an assistant message without an id; ids are not sent to a server that stores nothing (T84). */
function createMessageItem(text: string): JsonObject {
  return { type: 'message', role: 'assistant', content: text }
}

function encodeCallItem({ call, id }: CallResultPair, context: EncodeContext): JsonObject {
  const name = context.projection.toWireName(call.name)
  const data = getReplayableData(call, context)
  const text = toFreeformText(call, context)
  return {
    ...(text === undefined
      ? { type: 'function_call', call_id: id, name, arguments: toWireArgumentText(call, context.projection) }
      : { type: 'custom_tool_call', call_id: id, name, input: text }),
    ...defined({ namespace: data?.['namespace'], caller: data?.['caller'] }),
  }
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

function encodeUserPart(part: TextPart | MediaPart, profile: Profile): JsonObject {
  if (part.kind === 'text') return { type: 'input_text', text: toWellFormed(part.text) }
  const label = describeMedia(part)
  if (!profile.media) return { type: 'input_text', text: `(${label} was left out: this model takes text only)` }
  const url = toMediaUrl(part)
  if (url === undefined) return { type: 'input_text', text: `(${label} is empty)` }
  if (OPENAI_IMAGE_MIME_PATTERN.test(part.mime)) return { type: 'input_image', detail: 'auto', image_url: url }
  if (/^(?:image|audio|video)\//.test(part.mime))
    return { type: 'input_text', text: `(${label} was left out: this wire cannot carry it)` }
  return url.startsWith('data:')
    ? { type: 'input_file', filename: toWellFormed(part.name ?? 'file'), file_data: url }
    : { type: 'input_file', file_url: url }
}

/** A model without native calls gets its own calls and their results as text, in the format that it is asked to use. */
function encodeTextItems(step: AssistantStep, { profile, projection }: EncodeContext): JsonObject[] {
  const texts = step.parts.flatMap((part) =>
    part.kind === 'text' && part.text.trim() !== '' ? [toWellFormed(part.text)] : [],
  )
  const assistantTexts = [...texts, ...step.pairs.map(({ call }) => formatCallPart(call, projection))]
  const results = step.pairs.flatMap((pair) => [
    { type: 'input_text', text: formatResultPart(pair, projection) },
    ...findResultMedia(pair.result).map((one) => encodeUserPart(one, profile)),
  ])
  return [
    ...(assistantTexts.length > 0 ? [createMessageItem(assistantTexts.join('\n'))] : []),
    ...(results.length > 0 ? [createUserMessage(results)] : []),
  ]
}
