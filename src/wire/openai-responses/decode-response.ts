import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import {
  isObject,
  type JsonObject,
  filterObjects,
  nonBlankString,
  objectOrEmpty,
  toCanonicalJson,
} from '../../model/json.ts'
import { type CacheDiagnosis, normalizeUsage } from '../../model/usage.ts'
import { parseVendorError } from '../errors/parse-error.ts'
import { createFieldFilter, createNestedFilter } from '../other-fields.ts'
import { createFrameDecoder } from '../turn/frame-decoder.ts'
import { createTurnBuilder, type TurnBuilder } from '../turn/turn-builder.ts'
import { formatExcerpt } from '../unread-fields.ts'
import type { DecodeContext } from '../wire.ts'
import type { JsonFields, OutputItem, TextChannel } from './output-item.ts'
import {
  appendItemText,
  findFlatName,
  finishTextItem,
  normalizeCallItem,
  replaceItemText,
  updateItem,
} from './output-item.ts'
import { createEventSequenceChecker } from './event-sequence-checker.ts'
import { isRepeatedItem, expectsMoreOfItem, createOutputItems } from './output-items.ts'
import { defined } from '../../model/defined.ts'

export type ResponsesDecoderState = ReturnType<typeof startResponsesDecoding>

export function startResponsesDecoding(context: DecodeContext) {
  const builder = createTurnBuilder('openai-responses', context)
  return {
    builder,
    outputItems: createOutputItems(builder),
    sequence: createEventSequenceChecker(),
    /** Unknown event types; each is reported once. */
    unknownTypes: new Set<string>(),
    isOpened: false,
    hasModel: false,
    /** An item of a complete response is marked as incomplete. */
    isTruncated: false,
  }
}

/** A frame is an event of a stream, or a whole response. */
export const decodeResponsesFrame = createFrameDecoder<ResponsesDecoderState>({
  json(state, value, event) {
    if (isObject(value)) return decodeEvent(state, value, event)
    const excerpt = JSON.stringify(value).slice(0, 200)
    state.builder.warn('odd-frame', `A frame that is not an object was ignored: ${excerpt}`)
  },
})

export function finishResponsesDecoding(state: ResponsesDecoderState, fault?: Fault): TurnEvent[] {
  const { builder } = state
  const { status } = builder.context
  if (!builder.hasEnded && !builder.hasFailed && !fault && (status ?? 200) >= 400) builder.failWith({ message: '' })
  return builder.finish(fault)
}

function decodeEvent(state: ResponsesDecoderState, value: JsonFields, name: string | undefined): void {
  const { builder } = state
  // Deltas are frequent and never errors.
  const error = typeof value['delta'] === 'string' ? undefined : parseVendorError(value)
  if (error) builder.failWith(error)
  const type = nonBlankString(value['type']) ?? name ?? ''
  const response = isObject(value['response']) ? value['response'] : undefined
  if (value['object'] === 'response' || (response === undefined && Array.isArray(value['output'])))
    return handleResponseEnd(state, value)
  const others = type === '' ? undefined : pickEventFields(value)
  const ending = STATUS_BY_END_EVENT.get(type)
  if (ending !== undefined) {
    builder.keepFields('response', others)
    return handleResponseEnd(state, response ?? {}, ending, value)
  }
  if (others) builder.warnOtherFields(`the event ${type}`, others)
  if (state.sequence.isRepeated(type, value))
    return builder.warn('repeated-event', `The event ${type} was sent again; the repeat was dropped.`)
  if (response) {
    builder.keepFields('response', pickResponseFields(response))
    return emitOpen(state, response)
  }
  if (error || type === 'error') return
  if (builder.hasEnded) return builder.warn('late-event', `The event ${type} after the end was ignored (T56).`)
  const handle = EVENT_HANDLERS.get(type)
  if (handle) handle(state, value)
  else if (!IGNORED_EVENT.test(type) && !state.unknownTypes.has(type)) {
    state.unknownTypes.add(type)
    const excerpt = formatExcerpt(value)
    builder.warn('unknown-event', `Events of the unknown type “${type.slice(0, 80)}” were ignored: ${excerpt}`)
  }
}

/** An item starts. Its deltas may have opened it already (T140). */
function handleItemAdded({ outputItems, builder }: ResponsesDecoderState, value: JsonFields): void {
  const data = getItem(value, builder)
  if (!data) return
  const existing = outputItems.find(value, data)
  const again = existing && isReannounced(existing, data)
  const same = existing && !existing.isDone && (!existing.isAnnounced || again)
  const item = same ? existing : outputItems.create(value, data['type'])
  // Arguments that were complete before the call was announced, with another id, may belong to another call.
  const hasForeignId = item.hasFinalArguments && item.ids.size > 0 && !item.ids.has(String(data['id']))
  if (item.pendingCall && hasForeignId) item.pendingCall.isAmbiguous = true
  item.isAnnounced = true
  item.initialArguments = data['arguments'] ?? data['input']
  item.announcedFields = pickItemFields(data)
  updateItem(item, data)
}

/** Was this item announced before? Two calls may have the same id (T10), but they are different items. */
function isReannounced({ ids, pendingCall }: OutputItem, data: JsonFields): boolean {
  const id = nonBlankString(data['id'])
  if (id !== undefined && ids.size > 0) return ids.has(id)
  if (!pendingCall || pendingCall.wireId !== nonBlankString(data['call_id'])) return false
  return pendingCall.nameFragments[0] === undefined || pendingCall.nameFragments[0] === nonBlankString(data['name'])
}

/** An item is complete. Its final version replaces what came before (T140). */
function handleItemDone(state: ResponsesDecoderState, value: JsonFields): void {
  const data = getItem(value, state.builder)
  if (!data) return
  const existing = state.outputItems.find(value, data)
  if (existing?.isDone && isRepeatedItem(existing, data)) return
  finishItem(state, existing && !existing.isDone ? existing : state.outputItems.create(value, data['type']), data)
}

function finishItem(state: ResponsesDecoderState, item: OutputItem, fields: JsonFields): void {
  const { builder } = state
  const data = item.announcedFields ? { ...item.announcedFields, ...fields } : fields
  state.outputItems.finish(item)
  updateItem(item, data)
  if (data['status'] === 'incomplete') state.isTruncated = true
  const { pendingCall } = item
  if (pendingCall) {
    const args = data['arguments'] ?? data['input']
    if (!isEmptyValue(args)) {
      builder.calls.replaceArguments(pendingCall, args)
      pendingCall.isAmbiguous = false
    } else if (pendingCall.raw === '') builder.calls.replaceArguments(pendingCall, item.initialArguments)
    // The vendor says that the call has no arguments: those received belong to another call.
    else if (args !== undefined && args !== null) pendingCall.isAmbiguous = true
    builder.calls.close(pendingCall)
  } else if (item.kind === 'other') finishNativeItem(state, item, data)
  else finishTextItem(builder, item, data)
}

/** Tools that the vendor ran itself are kept as native data. */
function finishNativeItem(state: ResponsesDecoderState, item: OutputItem, data: JsonFields): void {
  const { builder } = state
  if (data['status'] !== undefined && data['status'] !== 'completed') return warnUnfinishedItem(state, item)
  builder.openText('text', item.partIndex).close(builder.createNative(nonBlankString(data['id']), data as JsonObject))
}

function warnUnfinishedItem({ builder }: ResponsesDecoderState, { type }: OutputItem): void {
  builder.warn('unfinished-item', `An incomplete item of type ${type} was dropped.`)
}

function handleArguments(state: ResponsesDecoderState, value: JsonFields, type: string): void {
  const { calls } = state.builder
  // An empty delta does not create a call (T28).
  if (value['delta'] === '') return
  const item = state.outputItems.findOrCreate(value, type)
  const { pendingCall } = item
  if (!pendingCall || item.isDone) return warnLatePiece(state, 'Arguments')
  if (pendingCall.nameFragments.length === 0 && nonBlankString(value['name']) !== undefined)
    pendingCall.nameFragments = [findFlatName(undefined, String(value['name']), state.builder.projection)]
  if (!item.ids.has(nonBlankString(value['item_id']) ?? '')) markAmbiguous(state, item.outputIndex)
  if (value['delta'] !== undefined) {
    return item.hasFinalArguments
      ? warnLatePiece(state, 'Arguments')
      : calls.extend(pendingCall, { args: value['delta'] })
  }
  const args = value['arguments'] ?? value['input']
  // Different complete arguments after complete arguments belong to another call.
  if (item.hasFinalArguments && !isEmptyValue(args) && args !== pendingCall.raw) pendingCall.isAmbiguous = true
  item.hasFinalArguments = true
  calls.replaceArguments(pendingCall, args)
}

/** A delta without a known id may belong to any open call at its index; only a complete item resolves that. */
function markAmbiguous({ outputItems }: ResponsesDecoderState, index: number | undefined): void {
  const waiting = outputItems.listOpenAt(index).filter((item) => item.pendingCall && expectsMoreOfItem(item))
  if (waiting.length > 1) for (const { pendingCall } of waiting) if (pendingCall) pendingCall.isAmbiguous = true
}

function handleText(state: ResponsesDecoderState, value: JsonFields, channel: TextChannel): void {
  const type = channel === 'text' || channel === 'refusal' ? 'message' : 'reasoning'
  const item = state.outputItems.findOrCreate(value, type)
  if (item.isDone) return warnLatePiece(state, 'Text')
  const at = Number(value['content_index'] ?? value['summary_index'] ?? 0)
  if (typeof value['delta'] === 'string') return appendItemText(state.builder, item, channel, at, value['delta'])
  const part = isObject(value['part']) ? value['part'] : value
  const text = part['text'] ?? part['refusal']
  if (typeof text === 'string') replaceItemText(state.builder, item, channel, at, text)
}

function warnLatePiece({ builder }: ResponsesDecoderState, what: string): void {
  builder.warn('late-piece', `${what} for an item that was already complete was ignored (T140).`)
}

function handlePartDone(state: ResponsesDecoderState, value: JsonFields): void {
  const part = objectOrEmpty(value['part'])
  const channel = CHANNEL_BY_PART_TYPE.get(String(part['type']))
  if (channel) handleText(state, value, channel)
  if (channel === 'text') for (const one of filterObjects(part['annotations'])) addAnnotation(state, value, one)
}

function handleAnnotation(state: ResponsesDecoderState, value: JsonFields): void {
  if (isObject(value['annotation'])) addAnnotation(state, value, value['annotation'])
}

function addAnnotation(state: ResponsesDecoderState, value: JsonFields, annotation: JsonFields): void {
  const { annotations, isDone } = state.outputItems.findOrCreate(value, 'message')
  if (isDone) return
  const at = Number(value['content_index'] ?? 0)
  const list = annotations.get(at) ?? []
  annotations.set(at, list)
  // The end of a part repeats those that came before.
  if (!list.some((one) => toCanonicalJson(one) === toCanonicalJson(annotation))) list.push(annotation as JsonObject)
}

/** The end of a response: its list of items adds whatever was not received before (T140). */
function handleResponseEnd(state: ResponsesDecoderState, response: JsonFields, ending?: string, event?: JsonFields) {
  const { builder, outputItems, sequence } = state
  emitOpen(state, response)
  recordUsage(state, response)
  builder.keepFields('response', pickResponseFields(response))
  if (builder.hasEnded) return
  if (event) sequence.isRepeated(ending ?? '', event)
  const output = filterObjects(response['output']).map((item) => normalizeCallItem(item, builder.projection))
  let unseen = 0
  let other = false
  for (const [position, data] of output.entries()) {
    const existing = outputItems.findListed(data, position)
    const item = existing ?? outputItems.create({}, data['type'])
    if (!existing && item.pendingCall) unseen++
    item.isListed = true
    if (item.isDone && item.pendingCall && !isRepeatedItem(item, data)) other = true
    if (!item.isDone) finishItem(state, item, data)
  }
  if (other || (unseen > 0 && outputItems.items.some((item) => item.pendingCall && !item.isListed)))
    builder.markCorrupt('The final list of items contains other calls than the stream.')
  const gap = sequence.getGap()
  if (gap) {
    const message = `Events are missing: number ${gap.after} was followed by ${gap.next}.`
    // Without the list it is not known what the missing events contained.
    if (output.length === 0) builder.markCorrupt(message)
    else builder.warn('missing-events', `${message} Their content is in the final list of items.`)
  }
  for (const item of outputItems.items) if (!item.isDone) closeUnfinishedItem(state, item, output.length > 0)
  recordFinish(state, response, ending)
}

/** An item without an end. An announced call without content that is not in the final list is ignored. */
function closeUnfinishedItem(state: ResponsesDecoderState, item: OutputItem, listed: boolean): void {
  const { pendingCall } = item
  if (item.kind === 'other') return warnUnfinishedItem(state, item)
  const twin = state.outputItems.hasDuplicateId(item)
  const made = item.hasFinalArguments || pendingCall?.raw !== '' || !isEmptyValue(item.initialArguments)
  if (!pendingCall || made || !(listed || twin)) return finishItem(state, item, {})
  state.builder.warn('ghost-call', 'A call that was announced but never sent was ignored (T140).')
  state.builder.calls.drop(pendingCall)
}

function recordFinish(state: ResponsesDecoderState, response: JsonFields, ending: string | undefined): void {
  const { builder } = state
  const why = nonBlankString(objectOrEmpty(response['incomplete_details'])['reason'])
  // The type of the last event decides, unless the response itself reports a failure (T143).
  const reported = nonBlankString(response['status'])
  const status =
    ending === undefined || (ending === 'completed' && reported !== undefined && !RUNNING_STATUSES.has(reported))
      ? reported
      : ending
  if (builder.hasFailed || status === 'failed') {
    builder.failWith({ message: 'The endpoint reports that the response failed.' })
    return builder.setFinish('fault', status ?? '')
  }
  if (status === 'incomplete' || (status === undefined && why !== undefined)) {
    const label = why === undefined ? 'incomplete' : `incomplete:${why}`
    return builder.setFinish(why === 'content_filter' ? 'filter' : 'length', label)
  }
  if (status === 'cancelled') return builder.setFinish('aborted', status)
  if (status === undefined ? !Array.isArray(response['output']) : RUNNING_STATUSES.has(status)) return
  if (status !== undefined && status !== 'completed') builder.warnUnknownFinish(status)
  builder.setFinish(state.isTruncated ? 'length' : 'stop', status ?? '')
}

/** Some servers name the model only at the end. */
function emitOpen(state: ResponsesDecoderState, response: JsonFields): void {
  const id = nonBlankString(response['id'])
  const model = nonBlankString(response['model'])
  if (state.isOpened && (state.hasModel || model === undefined)) return
  state.isOpened = true
  state.hasModel = model !== undefined
  state.builder.emit({ type: 'open', ...defined({ id, model }) })
}

function recordUsage(
  state: ResponsesDecoderState,
  { usage: value, prompt_cache_diagnostics: found }: JsonFields,
): void {
  if (!isObject(value)) return
  const input = objectOrEmpty(value['input_tokens_details'])
  const output = objectOrEmpty(value['output_tokens_details'])
  const report = {
    input: value['input_tokens'],
    cacheRead: input['cached_tokens'],
    cacheWrite: input['cache_write_tokens'],
    output: value['output_tokens'],
    reasoning: output['reasoning_tokens'],
  }
  const usage = normalizeUsage({ ...report, inputIncludesCache: true, outputIncludesReasoning: true })
  state.builder.setUsage(usage, readCacheDiagnosis(objectOrEmpty(found)))
}

/** Only a miss has a reason. Without the response to compare with, nothing can be said of the cache. */
function readCacheDiagnosis({ type, reason, cache_missed_tokens: tokens }: JsonFields): CacheDiagnosis | undefined {
  if (type === 'comparison_response_not_found') return { reason: type }
  if (type !== 'cache_miss' || typeof reason !== 'string') return undefined
  return { reason, ...(typeof tokens === 'number' && { missedTokens: tokens }) }
}

/** What a response has beside its output and what it repeats of the request. */
const pickResponseFields = createNestedFilter(
  'id object created_at completed_at status background error instructions max_output_tokens max_tool_calls model output output_text parallel_tool_calls previous_response_id prompt conversation context_management prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store temperature text tool_choice tools top_logprobs top_p truncation user metadata frequency_penalty presence_penalty input',
  {
    usage: createNestedFilter('input_tokens output_tokens total_tokens', {
      input_tokens_details: createFieldFilter('cached_tokens cache_write_tokens'),
      output_tokens_details: createFieldFilter('reasoning_tokens'),
    }),
    incomplete_details: createFieldFilter('reason'),
  },
)

/** The fields of all events; what is inside of a part is in its item too. */
const pickEventFields = createFieldFilter(
  'type sequence_number response response_id item item_id part output_index content_index summary_index delta text refusal arguments input name call_id annotation annotation_index logprobs obfuscation code message param error partial_image_b64 partial_image_index size quality background output_format headers',
)

/** What the final version of an item may lack though it was announced. */
const pickItemFields = createFieldFilter(
  'type id status role content summary encrypted_content call_id name namespace arguments input phase',
)

function getItem(value: JsonFields, { projection }: TurnBuilder): JsonFields | undefined {
  return isObject(value['item']) ? normalizeCallItem(value['item'], projection) : undefined
}

function isEmptyValue(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** The events that end a response, and the status that the response should have (T143). */
const STATUS_BY_END_EVENT = new Map([
  ['response.completed', 'completed'],
  ['response.done', 'completed'],
  ['response.incomplete', 'incomplete'],
  ['response.failed', 'failed'],
  ['response.cancelled', 'cancelled'],
])

const RUNNING_STATUSES = new Set(['in_progress', 'queued'])

const CHANNEL_BY_PART_TYPE = new Map<string, TextChannel>([
  ['output_text', 'text'],
  ['text', 'text'],
  ['refusal', 'refusal'],
  ['summary_text', 'summary'],
  ['reasoning_text', 'thought'],
])

type EventHandler = (state: ResponsesDecoderState, value: JsonFields) => void

const EVENT_HANDLERS: ReadonlyMap<string, EventHandler> = new Map<string, EventHandler>([
  ['response.output_item.added', handleItemAdded],
  ['response.output_item.done', handleItemDone],
  ['response.content_part.done', handlePartDone],
  ['response.output_text.annotation.added', handleAnnotation],
  ['response.reasoning_summary_part.done', handlePartDone],
  ...listPieceEvents('output_text', (state, value) => handleText(state, value, 'text')),
  ...listPieceEvents('refusal', (state, value) => handleText(state, value, 'refusal')),
  ...listPieceEvents('reasoning_summary_text', (state, value) => handleText(state, value, 'summary')),
  ...listPieceEvents('reasoning_text', (state, value) => handleText(state, value, 'thought')),
  ...listPieceEvents('function_call_arguments', (state, value) => handleArguments(state, value, 'function_call')),
  ...listPieceEvents('custom_tool_call_input', (state, value) => handleArguments(state, value, 'custom_tool_call')),
])

function listPieceEvents(name: string, handler: EventHandler): [string, EventHandler][] {
  return [`response.${name}.delta`, `response.${name}.done`].map((type) => [type, handler])
}

/** Progress events, which contain nothing that the items do not. */
const IGNORED_EVENT =
  /^(?:ping|keepalive|codex\.\w+|response\.(?:metadata|heartbeat|content_part\.added|reasoning_(?:summary_)?part\.(?:added|done)|(?:web_search|file_search|code_interpreter|image_generation|mcp|shell|apply_patch|computer|local_shell|tool_search)_\w+.*))$/
