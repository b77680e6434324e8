import { type Json, type JsonObject, stringOf } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import { mediaUrl, resultMedia, resultText, wellFormed } from '../../model/text.ts'
import type { AssistantPart, CallPart, MediaPart, ReasoningPart, ResultPart, TextPart } from '../../model/turn.ts'
import type { Projection } from '../../schema/project.ts'
import { callAsText, resultAsText } from '../text-tools.ts'
import { type Exchange, type Step, callText, freeText, ownData } from '../transcript.ts'

/** The name of this wire. */
export const WIRE = 'openai-responses'

/** What an item of the history depends on, besides itself. */
export interface Context {
  readonly profile: Profile
  readonly projection: Projection
}

/** The items of one step: what the assistant said and did, in the order in which it came, then the results in the order of the calls (T92). */
export function stepItems(step: Step, context: Context): JsonObject[] {
  if (step.kind === 'user') return [userMessage(step.parts.map((part) => said(part, context.profile)))]
  if (context.profile.tools === 'text') return textItems(step, context)
  const results = step.exchanges.map(({ call, id, result }) => outputItem(id, result, context, call))
  return [...assistantItems(step, context), ...results]
}

/** A result. It names its call by `call_id`, never by the id of an item (T139), and may hold pictures and files itself (T100). */
export function outputItem(id: string, result: ResultPart, context: Context, call?: CallPart): JsonObject {
  const custom = call !== undefined && freeText(call, { wire: WIRE, ...context }) !== undefined
  const media = resultMedia(result).map((one) => said(one, context.profile))
  const content = [{ type: 'input_text', text: answer(result) }, ...media]
  // A list only where there is something to show: not every server takes one.
  const output = content.every(({ type }) => type === 'input_text')
    ? content.map(({ text }) => stringOf(text)).join('\n')
    : content
  const caller = call && ownData(call, { wire: WIRE, ...context })?.['caller']
  return {
    type: custom ? 'custom_tool_call_output' : 'function_call_output',
    call_id: id,
    output,
    ...(caller !== undefined && { caller }),
  }
}

function answer(result: ResultPart): string {
  const text = resultText(result)
  return result.status === 'error' && !/^error/i.test(text) ? `Error: ${text}` : text
}

function assistantItems(step: Step & { kind: 'assistant' }, context: Context): JsonObject[] {
  const at = { wire: WIRE, ...context } as const
  const exchanges = new Map<AssistantPart, Exchange>(step.exchanges.map((exchange) => [exchange.call, exchange]))
  const thoughts = step.parts.filter((part) => part.kind === 'reasoning')
  // A vendor's item that goes back without the thought that led to it is refused (T84).
  const whole = thoughts.every((part) => thought(part, context) !== undefined)
  const items = step.parts.flatMap((part): JsonObject[] => {
    const exchange = exchanges.get(part)
    if (exchange) return [callItem(exchange, context)]
    if (part.kind === 'reasoning') return thought(part, context) ?? []
    if (part.kind === 'media') return [message(`(${part.mime} was shown here)`)]
    if (part.kind !== 'text') return []
    const data = ownData(part, at)
    if (part.text.trim() === '')
      return typeof data?.['type'] === 'string' && whole && answered(data, step.parts) ? [data] : []
    return [{ ...message(wellFormed(part.text)), ...(typeof data?.['phase'] === 'string' && { phase: data['phase'] }) }]
  })
  while (items.length > 0 && isBareThought(items.at(-1))) items.pop()
  return items
}

/**
 * A message of the assistant. The plain form is the one that is published for a message without an id, and ids of items
 * do not go back to a server that keeps none (T84).
 */
function message(text: string): JsonObject {
  return { type: 'message', role: 'assistant', content: text }
}

function callItem({ call, id }: Exchange, context: Context): JsonObject {
  const name = context.projection.wireName(call.name)
  const data = ownData(call, { wire: WIRE, ...context })
  const text = freeText(call, { wire: WIRE, ...context })
  return {
    ...(text === undefined
      ? { type: 'function_call', call_id: id, name, arguments: callText(call, context.projection) }
      : { type: 'custom_tool_call', call_id: id, name, input: text }),
    ...(data?.['namespace'] !== undefined && { namespace: data['namespace'] }),
    ...(data?.['caller'] !== undefined && { caller: data['caller'] }),
  }
}

/** A thought that may go back: our own, sealed by the vendor, without the id that means nothing to a server that keeps none (T84). */
function thought(part: ReasoningPart, { profile }: Context): JsonObject[] | undefined {
  const data = profile.replay === 'own' ? ownData(part, { wire: WIRE, profile }) : undefined
  if (typeof data?.['encrypted_content'] !== 'string') return undefined
  const fields = Object.entries(data).filter(
    ([key, value]) => !UNSENT.has(key) && value !== null && !isEmpty(key, value),
  )
  return [{ ...Object.fromEntries(fields), summary: data['summary'] ?? [] }]
}

/** `status` is refused on thoughts by some servers, though they send it. */
const UNSENT = new Set(['id', 'status'])

function isEmpty(key: string, value: Json): boolean {
  return key === 'content' && Array.isArray(value) && value.length === 0
}

/** A thought at the end of a turn lacks the item that it led to (T84). Gateways mark thoughts of other vendors by a format; those stand anywhere. */
function isBareThought(item: JsonObject | undefined): boolean {
  const format = item?.['format']
  return item?.['type'] === 'reasoning' && (typeof format !== 'string' || format.startsWith('openai'))
}

/** A built-in call goes back only with its output, and an output only with its call: one without the other is refused. */
function answered(item: JsonObject, parts: readonly AssistantPart[]): boolean {
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

function userMessage(content: JsonObject[]): JsonObject {
  return { type: 'message', role: 'user', content }
}

function said(part: TextPart | MediaPart, profile: Profile): JsonObject {
  if (part.kind === 'text') return { type: 'input_text', text: wellFormed(part.text) }
  const name = wellFormed(part.name ?? 'file')
  const named = part.name === undefined ? part.mime : `${name} (${part.mime})`
  if (!profile.media) return { type: 'input_text', text: `(${named} was left out: this model takes text only)` }
  const url = mediaUrl(part)
  if (url === undefined) return { type: 'input_text', text: `(${named} is empty)` }
  if (PICTURE.test(part.mime)) return { type: 'input_image', detail: 'auto', image_url: url }
  if (/^(?:image|audio|video)\//.test(part.mime))
    return { type: 'input_text', text: `(${named} was left out: this wire cannot carry it)` }
  return url.startsWith('data:')
    ? { type: 'input_file', filename: name, file_data: url }
    : { type: 'input_file', file_url: url }
}

/** Another kind of picture would cost the whole request, and all that follow (T100). */
const PICTURE = /^image\/(?:png|jpe?g|gif|webp|\*)$/

/** A model without native calls reads its own calls and their results as text, in the form in which it is asked to write them. */
function textItems(step: Step & { kind: 'assistant' }, { profile, projection }: Context): JsonObject[] {
  const texts = step.parts.flatMap((part) =>
    part.kind === 'text' && part.text.trim() !== '' ? [wellFormed(part.text)] : [],
  )
  const calls = step.exchanges.map(({ call }) => callAsText(projection.wireName(call.name), callText(call, projection)))
  const spoken = [...texts, ...calls]
  const results = step.exchanges.flatMap(({ call, result }) => [
    { type: 'input_text', text: resultAsText(projection.wireName(call.name), resultText(result), result.status) },
    ...resultMedia(result).map((one) => said(one, profile)),
  ])
  return [
    ...(spoken.length > 0 ? [message(spoken.join('\n'))] : []),
    ...(results.length > 0 ? [userMessage(results)] : []),
  ]
}
