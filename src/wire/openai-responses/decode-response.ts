import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import { normalizeUsage } from '../../model/usage.ts'
import { classifyError, parseError } from '../errors/classify-error.ts'
import type { Frame } from '../framing/frame.ts'
import { type TurnBuilder, createTurnBuilder } from '../turn/turn-builder.ts'
import type { DecodeContext } from '../wire.ts'
import {
  type TextChannel,
  type JsonFields,
  type OutputItem,
  updateItem,
  finishTextItem,
  toObjects,
  replacePieceText,
  nonEmptyString,
  appendItemText,
} from './output-item.ts'
import { type EventSequence, createEventSequence } from './event-sequence.ts'
import { type OutputItems, isRepeatedItem, expectsMore, createOutputItems } from './output-items.ts'
import { defined } from '../../model/defined.ts'

/** What is known of an answer while it comes in. */
export interface ResponsesDecoderState {
  readonly builder: TurnBuilder
  readonly outputItems: OutputItems
  readonly sequence: EventSequence
  /** Event types that were not understood; each is reported once. */
  readonly unknownTypes: Set<string>
  isOpened: boolean
  hasModel: boolean
  /** The vendor called an item of a finished answer incomplete. */
  isTruncated: boolean
}

/** Starts reading an answer. */
export function startResponsesDecoding(context: DecodeContext): ResponsesDecoderState {
  const builder = createTurnBuilder('openai-responses', context)
  const [outputItems, sequence] = [createOutputItems(builder), createEventSequence()]
  return {
    builder,
    outputItems,
    sequence,
    unknownTypes: new Set(),
    isOpened: false,
    hasModel: false,
    isTruncated: false,
  }
}

/** Reads one frame: an event of a stream, or a whole answer. */
export function decodeResponsesFrame(state: ResponsesDecoderState, frame: Frame): TurnEvent[] {
  const { builder } = state
  if (frame.kind === 'bad') builder.markCorrupt(`A part of the answer could not be read: ${frame.text.slice(0, 200)}`)
  else if (frame.kind === 'json') {
    if (isObject(frame.value)) decodeEvent(state, frame.value, frame.event)
    else
      builder.warn('odd-frame', `A frame that is no object was ignored: ${JSON.stringify(frame.value).slice(0, 200)}`)
  }
  return builder.takeEvents()
}

/** Closes what is open; `fault` says why the bytes ended early, if they did. */
export function finishResponsesDecoding(state: ResponsesDecoderState, fault?: Fault): TurnEvent[] {
  const { builder } = state
  const { status } = builder.context
  if (!builder.hasEnded && !builder.hasFailed && !fault && status !== undefined && status >= 400)
    reportError(state, { message: '' })
  return builder.finish(fault)
}

function decodeEvent(state: ResponsesDecoderState, value: JsonFields, name: string | undefined): void {
  const { builder } = state
  // A delta is no error; there are too many of them to look twice.
  const error = typeof value['delta'] === 'string' ? undefined : parseError(value)
  if (error) reportError(state, error)
  const type = nonEmptyString(value['type']) ?? name ?? ''
  const response = isObject(value['response']) ? value['response'] : undefined
  if (value['object'] === 'response' || (response === undefined && Array.isArray(value['output'])))
    return handleResponseEnd(state, value)
  const ending = STATUS_BY_END_EVENT.get(type)
  if (ending !== undefined) return handleResponseEnd(state, response ?? {}, ending, value)
  if (state.sequence.isRepeated(type, value))
    return builder.warn('repeated-event', `An event ${type} was sent again; the repeat was dropped.`)
  if (response) return emitOpen(state, response)
  if (error || type === 'error') return
  if (builder.hasEnded) return builder.warn('late-event', `An event ${type} after the end was ignored (T56).`)
  const handle = EVENT_HANDLERS.get(type)
  if (handle) handle(state, value)
  else if (!IGNORED_EVENT.test(type) && !state.unknownTypes.has(type)) {
    state.unknownTypes.add(type)
    builder.warn('unknown-event', `Events of type “${type.slice(0, 80)}” were not understood.`)
  }
}

/** An item begins. One that its deltas have opened already is only named now (T140). */
function handleItemAdded({ outputItems }: ResponsesDecoderState, value: JsonFields): void {
  const data = getItem(value)
  if (!data) return
  const existing = outputItems.find(value, data)
  const again = existing && isReannounced(existing, data)
  const same = existing && !existing.isDone && (!existing.isAnnounced || again)
  const item = same ? existing : outputItems.create(value, data['type'])
  // Arguments that were whole before their call was announced, under another id, may be another call's.
  const hasForeignId = item.hasFinalArguments && item.ids.size > 0 && !item.ids.has(String(data['id']))
  if (item.pendingCall && hasForeignId) item.pendingCall.isAmbiguous = true
  item.isAnnounced = true
  item.initialArguments = data['arguments'] ?? data['input']
  updateItem(item, data)
}

/** Is this an item that was announced before? Two calls may have one id (T10), but not as one item. */
function isReannounced({ ids, pendingCall }: OutputItem, data: JsonFields): boolean {
  const id = nonEmptyString(data['id'])
  if (id !== undefined && ids.size > 0) return ids.has(id)
  if (!pendingCall || pendingCall.wireId !== nonEmptyString(data['call_id'])) return false
  return pendingCall.nameFragments[0] === undefined || pendingCall.nameFragments[0] === nonEmptyString(data['name'])
}

/** An item is whole. What it says now counts, whatever came before (T140). */
function handleItemDone(state: ResponsesDecoderState, value: JsonFields): void {
  const data = getItem(value)
  if (!data) return
  const existing = state.outputItems.find(value, data)
  if (existing?.isDone && isRepeatedItem(existing, data)) return
  finishItem(state, existing && !existing.isDone ? existing : state.outputItems.create(value, data['type']), data)
}

/** Takes over what a finished item says, and closes it. */
function finishItem(state: ResponsesDecoderState, item: OutputItem, data: JsonFields): void {
  const { builder } = state
  item.isDone = true
  updateItem(item, data)
  if (data['status'] === 'incomplete') state.isTruncated = true
  const { pendingCall } = item
  if (pendingCall) {
    const args = data['arguments'] ?? data['input']
    if (!isEmptyValue(args)) {
      builder.calls.replaceArguments(pendingCall, args)
      pendingCall.isAmbiguous = false
    } else if (pendingCall.raw === '') builder.calls.replaceArguments(pendingCall, item.initialArguments)
    // The vendor says that the call has no arguments: those that came were another's.
    else if (args !== undefined && args !== null) pendingCall.isAmbiguous = true
    builder.calls.close(pendingCall)
  } else if (item.kind === 'other') finishNativeItem(state, item, data)
  else finishTextItem(builder, item, data)
}

/** What the vendor ran itself is kept for the vendor, in its place. */
function finishNativeItem({ builder }: ResponsesDecoderState, item: OutputItem, data: JsonFields): void {
  if (data['status'] !== undefined && data['status'] !== 'completed') {
    return builder.warn('unfinished-item', `An item of type ${item.type} did not finish; it is not kept.`)
  }
  builder.openText('text', item.partIndex).close(builder.createNative(nonEmptyString(data['id']), data as JsonObject))
}

/** The arguments of a call, in pieces or whole. */
function handleArguments(state: ResponsesDecoderState, value: JsonFields, type: string): void {
  const { calls } = state.builder
  // Nothing makes no call (T28).
  if (value['delta'] === '') return
  const item = state.outputItems.findOrCreate(value, type)
  const { pendingCall } = item
  if (!pendingCall || item.isDone) return warnLatePiece(state, 'Arguments')
  if (pendingCall.nameFragments.length === 0 && nonEmptyString(value['name']) !== undefined)
    pendingCall.nameFragments = [String(value['name'])]
  if (!item.ids.has(nonEmptyString(value['item_id']) ?? '')) markAmbiguous(state, item.outputIndex)
  if (value['delta'] !== undefined) {
    return item.hasFinalArguments
      ? warnLatePiece(state, 'Arguments')
      : calls.extend(pendingCall, { args: value['delta'] })
  }
  const args = value['arguments'] ?? value['input']
  // Whole arguments after other whole arguments are those of another call.
  if (item.hasFinalArguments && !isEmptyValue(args) && args !== pendingCall.raw) pendingCall.isAmbiguous = true
  item.hasFinalArguments = true
  calls.replaceArguments(pendingCall, args)
}

/** A piece without a known id may belong to any open call in its place; only an item that is whole clears that up. */
function markAmbiguous({ outputItems }: ResponsesDecoderState, index: number | undefined): void {
  const waiting = outputItems
    .listOpen()
    .filter((item) => item.pendingCall && expectsMore(item) && (item.outputIndex ?? index) === index)
  if (waiting.length > 1) for (const { pendingCall } of waiting) if (pendingCall) pendingCall.isAmbiguous = true
}

/** A piece of text, or the whole of one. */
function handleText(state: ResponsesDecoderState, value: JsonFields, channel: TextChannel): void {
  const item = state.outputItems.findOrCreate(
    value,
    channel === 'text' || channel === 'refusal' ? 'message' : 'reasoning',
  )
  if (item.isDone) return warnLatePiece(state, 'Text')
  const at = Number(value['content_index'] ?? value['summary_index'] ?? 0)
  if (typeof value['delta'] === 'string') return appendItemText(state.builder, item, channel, at, value['delta'])
  const part = isObject(value['part']) ? value['part'] : value
  const text = part['text'] ?? part['refusal']
  if (typeof text === 'string') replacePieceText(state.builder, item, channel, at, text)
}

function warnLatePiece({ builder }: ResponsesDecoderState, what: string): void {
  builder.warn('late-piece', `${what} for an item that was whole already came late and was ignored (T140).`)
}

function handlePartDone(state: ResponsesDecoderState, value: JsonFields): void {
  const channel = isObject(value['part']) ? CHANNEL_BY_PART_TYPE.get(String(value['part']['type'])) : undefined
  if (channel) handleText(state, value, channel)
}

/** The end of an answer: its list of items fills in whatever was not seen, and repeats nothing that was (T140). */
function handleResponseEnd(
  state: ResponsesDecoderState,
  response: JsonFields,
  ending?: string,
  value?: JsonFields,
): void {
  const { builder, outputItems, sequence } = state
  emitOpen(state, response)
  recordUsage(state, response['usage'])
  if (builder.hasEnded) return
  if (value) sequence.isRepeated(ending ?? '', value)
  const output = toObjects(response['output'])
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
    builder.markCorrupt('The list at the end names other calls than those that came.')
  // Without the list nobody knows what was in the events that did not arrive.
  if (sequence.gapMessage !== undefined) {
    if (output.length === 0) builder.markCorrupt(sequence.gapMessage)
    else builder.warn('missing-events', `${sequence.gapMessage} The list at the end made up for it.`)
  }
  for (const item of outputItems.items)
    if (!item.isDone && item.kind !== 'other') closeUnfinishedItem(state, item, output.length > 0)
  recordFinish(state, response, ending)
}

/** The end of an item that never ended. A call of which nothing came and which the list does not know was none. */
function closeUnfinishedItem(state: ResponsesDecoderState, item: OutputItem, listed: boolean): void {
  const { pendingCall } = item
  const twin = state.outputItems.hasDuplicateId(item)
  const made = item.hasFinalArguments || pendingCall?.raw !== '' || !isEmptyValue(item.initialArguments)
  if (!pendingCall || made || !(listed || twin)) return finishItem(state, item, {})
  state.builder.warn('ghost-call', 'A call that was announced and never made was ignored (T140).')
  state.builder.calls.drop(pendingCall)
}

function recordFinish(state: ResponsesDecoderState, response: JsonFields, ending: string | undefined): void {
  const { builder } = state
  const why = isObject(response['incomplete_details'])
    ? nonEmptyString(response['incomplete_details']['reason'])
    : undefined
  // An event that says it is the end, is; but a response that says it went wrong, did (T143).
  const reported = nonEmptyString(response['status'])
  const status =
    ending === undefined || (ending === 'completed' && reported !== undefined && !RUNNING_STATUSES.has(reported))
      ? reported
      : ending
  if (builder.hasFailed || status === 'failed') {
    reportError(state, { message: 'The endpoint says that the answer failed.' })
    return builder.setFinish('fault', status ?? '')
  }
  if (status === 'incomplete' || (status === undefined && why !== undefined)) {
    return builder.setFinish(
      why === 'content_filter' ? 'filter' : 'length',
      ['incomplete', ...(why === undefined ? [] : [why])].join(':'),
    )
  }
  if (status === 'cancelled') return builder.setFinish('aborted', status)
  if (status === undefined ? !Array.isArray(response['output']) : RUNNING_STATUSES.has(status)) return
  if (status !== undefined && status !== 'completed') {
    builder.warn('unknown-finish', `The answer ended with the unknown word “${status}” (T54).`)
    if (builder.calls.count > 0)
      builder.fail({ kind: 'decode', message: `The answer ended with the unknown word “${status}”.` })
  }
  builder.setFinish(state.isTruncated ? 'length' : 'stop', status ?? '')
}

/** Says who answers, as soon as it is known; some servers name the model only at the end. */
function emitOpen(state: ResponsesDecoderState, response: JsonFields): void {
  const id = nonEmptyString(response['id'])
  const model = nonEmptyString(response['model'])
  if (state.isOpened && (state.hasModel || model === undefined)) return
  state.isOpened = true
  state.hasModel = model !== undefined
  state.builder.emit({ type: 'open', ...defined({ id, model }) })
}

function recordUsage(state: ResponsesDecoderState, value: unknown): void {
  if (!isObject(value)) return
  const input = isObject(value['input_tokens_details']) ? value['input_tokens_details'] : {}
  const output = isObject(value['output_tokens_details']) ? value['output_tokens_details'] : {}
  const report = {
    input: value['input_tokens'],
    cacheRead: input['cached_tokens'],
    cacheWrite: input['cache_write_tokens'],
    output: value['output_tokens'],
    reasoning: output['reasoning_tokens'],
  }
  state.builder.setUsage(normalizeUsage({ ...report, inputIncludesCache: true, outputIncludesReasoning: true }))
}

function reportError({ builder }: ResponsesDecoderState, error: Parameters<typeof classifyError>[0]): void {
  const { status, headers } = builder.context
  builder.fail(classifyError(error, { ...defined({ status, headers }) }))
}

function getItem(value: JsonFields): JsonFields | undefined {
  return isObject(value['item']) ? value['item'] : undefined
}

function isEmptyValue(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** The events that end an answer, and the word for each that its response should carry (T143). */
const STATUS_BY_END_EVENT = new Map(
  Object.entries({
    'response.completed': 'completed',
    'response.done': 'completed',
    'response.incomplete': 'incomplete',
    'response.failed': 'failed',
    'response.cancelled': 'cancelled',
  }),
)

const RUNNING_STATUSES = new Set(['in_progress', 'queued'])

/** What the parts of an item are called, and where their text goes. */
const CHANNEL_BY_PART_TYPE = new Map<string, TextChannel>(
  Object.entries({
    output_text: 'text',
    text: 'text',
    refusal: 'refusal',
    summary_text: 'summary',
    reasoning_text: 'thought',
  }),
)

const createTextHandler = (channel: TextChannel) => (state: ResponsesDecoderState, value: JsonFields) =>
  handleText(state, value, channel)
const createArgumentsHandler = (type: string) => (state: ResponsesDecoderState, value: JsonFields) =>
  handleArguments(state, value, type)

const EVENT_HANDLERS = new Map<string, (state: ResponsesDecoderState, value: JsonFields) => void>(
  Object.entries({
    'response.output_item.added': handleItemAdded,
    'response.output_item.done': handleItemDone,
    'response.output_text.delta': createTextHandler('text'),
    'response.output_text.done': createTextHandler('text'),
    'response.refusal.delta': createTextHandler('refusal'),
    'response.refusal.done': createTextHandler('refusal'),
    'response.reasoning_summary_text.delta': createTextHandler('summary'),
    'response.reasoning_summary_text.done': createTextHandler('summary'),
    'response.reasoning_text.delta': createTextHandler('thought'),
    'response.reasoning_text.done': createTextHandler('thought'),
    'response.content_part.done': handlePartDone,
    'response.reasoning_summary_part.done': handlePartDone,
    'response.function_call_arguments.delta': createArgumentsHandler('function_call'),
    'response.function_call_arguments.done': createArgumentsHandler('function_call'),
    'response.custom_tool_call_input.delta': createArgumentsHandler('custom_tool_call'),
    'response.custom_tool_call_input.done': createArgumentsHandler('custom_tool_call'),
  }),
)

/** Events that tell of progress, and nothing that the items do not say too. */
const IGNORED_EVENT =
  /^(?:ping|keepalive|codex\.\w+|response\.(?:metadata|heartbeat|content_part\.added|reasoning_(?:summary_)?part\.(?:added|done)|output_text\.annotation\.added|(?:web_search|file_search|code_interpreter|image_generation|mcp|shell|apply_patch|computer|local_shell|tool_search)_\w+.*))$/
