import { type Json, type JsonObject, stringOrEmpty } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import { toMediaUrl, findResultMedia, formatResultText, toWellFormed } from '../../model/text.ts'
import type { AssistantPart, CallPart, MediaPart, ReasoningPart, ResultPart, TextPart } from '../../model/turn.ts'
import type { ToolDeclarations } from '../../schema/dialect/declare-tools.ts'
import { formatCallAsText, formatResultAsText } from '../text-calls/format-text-calls.ts'
import {
  type CallResultPair,
  type TranscriptStep,
  toWireArgumentText,
  toFreeformText,
  getReplayableData,
} from '../history/transcript.ts'
import { defined } from '../../model/defined.ts'

/** The name of this wire. */
export const RESPONSES_WIRE_ID = 'openai-responses'

/** What an item of the history depends on, besides itself. */
export interface ResponsesContext {
  readonly profile: Profile
  readonly projection: ToolDeclarations
}

/** The items of one step: what the assistant said and did, in the order in which it came, then the results in the order of the calls (T92). */
export function encodeStepItems(step: TranscriptStep, context: ResponsesContext): JsonObject[] {
  if (step.kind === 'user') return [createUserMessage(step.parts.map((part) => encodeUserPart(part, context.profile)))]
  if (context.profile.tools === 'text') return encodeTextItems(step, context)
  const results = step.pairs.map(({ call, id, result }) => encodeResultItem(id, result, context, call))
  return [...encodeAssistantItems(step, context), ...results]
}

/** A result. It names its call by `call_id`, never by the id of an item (T139), and may hold pictures and files itself (T100). */
export function encodeResultItem(
  id: string,
  result: ResultPart,
  context: ResponsesContext,
  call?: CallPart,
): JsonObject {
  const custom = call !== undefined && toFreeformText(call, { wire: RESPONSES_WIRE_ID, ...context }) !== undefined
  const media = findResultMedia(result).map((one) => encodeUserPart(one, context.profile))
  const content = [{ type: 'input_text', text: formatResult(result) }, ...media]
  // A list only where there is something to show: not every server takes one.
  const output = content.every(({ type }) => type === 'input_text')
    ? content.map(({ text }) => stringOrEmpty(text)).join('\n')
    : content
  const caller = call && getReplayableData(call, { wire: RESPONSES_WIRE_ID, ...context })?.['caller']
  return {
    type: custom ? 'custom_tool_call_output' : 'function_call_output',
    call_id: id,
    output,
    ...defined({ caller }),
  }
}

function formatResult(result: ResultPart): string {
  const text = formatResultText(result)
  return result.status === 'error' && !/^error/i.test(text) ? `Error: ${text}` : text
}

function encodeAssistantItems(step: TranscriptStep & { kind: 'assistant' }, context: ResponsesContext): JsonObject[] {
  const at = { wire: RESPONSES_WIRE_ID, ...context } as const
  const pairsByCall = new Map<AssistantPart, CallResultPair>(step.pairs.map((pair) => [pair.call, pair]))
  const thoughts = step.parts.filter((part) => part.kind === 'reasoning')
  // A vendor's item that goes back without the thought that led to it is refused (T84).
  const whole = thoughts.every((part) => encodeReasoningItem(part, context) !== undefined)
  const items = step.parts.flatMap((part): JsonObject[] => {
    const pair = pairsByCall.get(part)
    if (pair) return [encodeCallItem(pair, context)]
    if (part.kind === 'reasoning') return encodeReasoningItem(part, context) ?? []
    if (part.kind === 'media') return [createMessageItem(`(${part.mime} was shown here)`)]
    if (part.kind !== 'text') return []
    const data = getReplayableData(part, at)
    if (part.text.trim() === '')
      return typeof data?.['type'] === 'string' && whole && hasPartnerItem(data, step.parts) ? [data] : []
    return [
      {
        ...createMessageItem(toWellFormed(part.text)),
        ...(typeof data?.['phase'] === 'string' && { phase: data['phase'] }),
      },
    ]
  })
  while (items.length > 0 && isTrailingReasoning(items.at(-1))) items.pop()
  return items
}

/**
 * A message of the assistant. The plain form is the one that is published for a message without an id, and ids of items
 * do not go back to a server that keeps none (T84).
 */
function createMessageItem(text: string): JsonObject {
  return { type: 'message', role: 'assistant', content: text }
}

function encodeCallItem({ call, id }: CallResultPair, context: ResponsesContext): JsonObject {
  const name = context.projection.toWireName(call.name)
  const data = getReplayableData(call, { wire: RESPONSES_WIRE_ID, ...context })
  const text = toFreeformText(call, { wire: RESPONSES_WIRE_ID, ...context })
  return {
    ...(text === undefined
      ? { type: 'function_call', call_id: id, name, arguments: toWireArgumentText(call, context.projection) }
      : { type: 'custom_tool_call', call_id: id, name, input: text }),
    ...(data?.['namespace'] !== undefined && { namespace: data['namespace'] }),
    ...(data?.['caller'] !== undefined && { caller: data['caller'] }),
  }
}

/** A thought that may go back: our own, sealed by the vendor, without the id that means nothing to a server that keeps none (T84). */
function encodeReasoningItem(part: ReasoningPart, { profile }: ResponsesContext): JsonObject[] | undefined {
  const data = profile.replay === 'own' ? getReplayableData(part, { wire: RESPONSES_WIRE_ID, profile }) : undefined
  if (typeof data?.['encrypted_content'] !== 'string') return undefined
  const fields = Object.entries(data).filter(
    ([key, value]) => !OMITTED_KEYS.has(key) && value !== null && !isEmptyContent(key, value),
  )
  return [{ ...Object.fromEntries(fields), summary: data['summary'] ?? [] }]
}

/** `status` is refused on thoughts by some servers, though they send it. */
const OMITTED_KEYS = new Set(['id', 'status'])

function isEmptyContent(key: string, value: Json): boolean {
  return key === 'content' && Array.isArray(value) && value.length === 0
}

/** A thought at the end of a turn lacks the item that it led to (T84). Gateways mark thoughts of other vendors by a format; those stand anywhere. */
function isTrailingReasoning(item: JsonObject | undefined): boolean {
  const format = item?.['format']
  return item?.['type'] === 'reasoning' && (typeof format !== 'string' || format.startsWith('openai'))
}

/** A built-in call goes back only with its output, and an output only with its call: one without the other is refused. */
function hasPartnerItem(item: JsonObject, parts: readonly AssistantPart[]): boolean {
  const type = typeof item['type'] === 'string' ? item['type'] : ''
  const partner = type.endsWith('_call_output')
    ? type.slice(0, -'_output'.length)
    : type.endsWith('_call')
      ? `${type}_output`
      : undefined
  if (partner === undefined || typeof item['call_id'] !== 'string') return true
  return parts.some((part) => {
    const data = part.native?.data
    return (
      typeof data === 'object' &&
      data !== null &&
      !Array.isArray(data) &&
      data['type'] === partner &&
      data['call_id'] === item['call_id']
    )
  })
}

function createUserMessage(content: JsonObject[]): JsonObject {
  return { type: 'message', role: 'user', content }
}

function encodeUserPart(part: TextPart | MediaPart, profile: Profile): JsonObject {
  if (part.kind === 'text') return { type: 'input_text', text: toWellFormed(part.text) }
  const name = toWellFormed(part.name ?? 'file')
  const label = part.name === undefined ? part.mime : `${name} (${part.mime})`
  if (!profile.media) return { type: 'input_text', text: `(${label} was left out: this model takes text only)` }
  const url = toMediaUrl(part)
  if (url === undefined) return { type: 'input_text', text: `(${label} is empty)` }
  if (IMAGE_MIME.test(part.mime)) return { type: 'input_image', detail: 'auto', image_url: url }
  if (/^(?:image|audio|video)\//.test(part.mime))
    return { type: 'input_text', text: `(${label} was left out: this wire cannot carry it)` }
  return url.startsWith('data:')
    ? { type: 'input_file', filename: name, file_data: url }
    : { type: 'input_file', file_url: url }
}

/** Another kind of picture would cost the whole request, and all that follow (T100). */
const IMAGE_MIME = /^image\/(?:png|jpe?g|gif|webp|\*)$/

/** A model without native calls reads its own calls and their results as text, in the form in which it is asked to write them. */
function encodeTextItems(
  step: TranscriptStep & { kind: 'assistant' },
  { profile, projection }: ResponsesContext,
): JsonObject[] {
  const texts = step.parts.flatMap((part) =>
    part.kind === 'text' && part.text.trim() !== '' ? [toWellFormed(part.text)] : [],
  )
  const calls = step.pairs.map(({ call }) =>
    formatCallAsText(projection.toWireName(call.name), toWireArgumentText(call, projection)),
  )
  const assistantTexts = [...texts, ...calls]
  const results = step.pairs.flatMap(({ call, result }) => [
    {
      type: 'input_text',
      text: formatResultAsText(projection.toWireName(call.name), formatResultText(result), result.status),
    },
    ...findResultMedia(result).map((one) => encodeUserPart(one, profile)),
  ])
  return [
    ...(assistantTexts.length > 0 ? [createMessageItem(assistantTexts.join('\n'))] : []),
    ...(results.length > 0 ? [createUserMessage(results)] : []),
  ]
}
