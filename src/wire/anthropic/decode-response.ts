import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import { isObject, nonBlankString, objectOrEmpty } from '../../model/json.ts'
import { type CacheDiagnosis, type UsageReport, normalizeUsage } from '../../model/usage.ts'
import { parseVendorError } from '../errors/parse-error.ts'
import { createFieldFilter, createNestedFilter } from '../other-fields.ts'
import { createFinishReasonMap } from '../turn/finish-labels.ts'
import { createFrameDecoder } from '../turn/frame-decoder.ts'
import { createTurnBuilder } from '../turn/turn-builder.ts'
import { formatExcerpt } from '../unread-fields.ts'
import type { DecodeContext } from '../wire.ts'
import { createContentBlockTracker } from './content-block-tracker.ts'
import { defined } from '../../model/defined.ts'

export type AnthropicDecoderState = ReturnType<typeof startAnthropicDecoding>

type JsonFields = Readonly<Record<string, unknown>>

export function startAnthropicDecoding(context: DecodeContext) {
  const builder = createTurnBuilder('anthropic', context)
  return {
    builder,
    blocks: createContentBlockTracker(builder),
    id: undefined as string | undefined,
    isOpened: false,
    /** A whole message without a stop reason; it is complete if it is the whole body (T198). */
    isUnlabelled: false,
    /** Valid only once the end of the response has been received (T133). */
    stopReason: undefined as string | undefined,
    usageReport: {} as Partial<UsageReport>,
    cacheDiagnosis: undefined as CacheDiagnosis | undefined,
    status: context.status,
    /** The beginning of what could not be read, for errors without a message (T112). */
    unreadExcerpt: undefined as string | undefined,
  }
}

/** A frame is an event of a stream, or a whole response. */
export const decodeAnthropicFrame = createFrameDecoder<AnthropicDecoderState>({
  json: decodeJsonFrame,
  bad(state, text, event) {
    if (event === 'ping') return
    state.unreadExcerpt ??= text.slice(0, 300)
    state.builder.markUnreadable(text)
  },
  complete: ({ isUnlabelled, builder }) => void (isUnlabelled && builder.setFinish('stop', '')),
})

export function finishAnthropicDecoding(state: AnthropicDecoderState, fault?: Fault): TurnEvent[] {
  const { builder, blocks } = state
  blocks.end()
  if (state.isUnlabelled) handleMessageStop(state)
  if (!builder.hasEnded && !builder.hasFailed && !fault && (state.status ?? 200) >= 400)
    builder.failWith({ message: state.unreadExcerpt ?? '' }, state.status)
  return builder.finish(fault)
}

function decodeJsonFrame(state: AnthropicDecoderState, value: unknown, event: string | undefined): void {
  const { builder } = state
  const error = parseVendorError(value)
  if (error && builder.hasEnded)
    return builder.warn('late-error', `The server reported an error after the end of the response: ${error.message}`)
  if (error) return builder.failWith(error, state.status)
  const fields = objectOrEmpty(value)
  const named = typeof fields['type'] === 'string' ? fields['type'] : (event ?? '')
  const type = named === '' ? guessEventType(fields) : named
  const handler = EVENT_HANDLERS.get(type)
  if (handler) {
    const others = EVENT_FILTERS.get(type)?.(fields)
    if (others) builder.warnOtherFields(`the event ${type}`, others)
    return handler(state, fields)
  }
  state.unreadExcerpt ??= JSON.stringify(value).slice(0, 300)
  const excerpt = formatExcerpt(value)
  builder.warn('unknown-event', `An event of the unknown type “${type.slice(0, 80)}” was ignored (T132): ${excerpt}`)
}

/** A proxy may omit the type, and a server the whole envelope: then the fields show what it is. */
function guessEventType(fields: JsonFields): string {
  if (Array.isArray(fields['content'])) return 'message'
  if (isObject(fields['message'])) return 'message_start'
  if (isObject(fields['content_block'])) return 'content_block_start'
  if (isObject(fields['delta'])) return 'stop_reason' in fields['delta'] ? 'message_delta' : 'content_block_delta'
  return typeof fields['index'] === 'number' ? 'content_block_stop' : ''
}

function handleMessageStart(state: AnthropicDecoderState, event: JsonFields): void {
  const { builder, blocks } = state
  // Bedrock sends null here (T132).
  const message = objectOrEmpty(event['message'])
  const id = nonBlankString(message['id'])
  if (builder.hasEnded)
    return builder.warn('after-end', 'A second response after the end of this one was ignored (T134).')
  if (state.id !== undefined && id !== undefined && id !== state.id)
    return builder.markCorrupt('A second response started before the end of the first (T134).')
  const again = state.isOpened
  emitOpen(state, message)
  keepFields(state, message)
  recordUsage(state, message['usage'])
  // Calls made by server code may be here, complete, before the first block.
  if (!again && Array.isArray(message['content']))
    for (const block of message['content']) if (isObject(block)) blocks.addLeadingBlock(block)
}

function emitOpen(state: AnthropicDecoderState, message: JsonFields): void {
  const id = nonBlankString(message['id'])
  state.id ??= id
  if (state.isOpened) return
  state.isOpened = true
  state.builder.emit({ type: 'open', ...defined({ id, model: nonBlankString(message['model']) }) })
}

function handleBlockStart(state: AnthropicDecoderState, event: JsonFields): void {
  if (!isAfterEnd(state)) state.blocks.start(event['index'], objectOrEmpty(event['content_block']))
}

function handleBlockDelta(state: AnthropicDecoderState, event: JsonFields): void {
  if (!isAfterEnd(state) && isObject(event['delta'])) state.blocks.addDelta(event['index'], event['delta'])
}

function handleBlockStop(state: AnthropicDecoderState, event: JsonFields): void {
  if (!state.builder.hasEnded) state.blocks.stop(event['index'])
}

function isAfterEnd(state: AnthropicDecoderState): boolean {
  if (state.builder.hasEnded)
    state.builder.warn('after-end', 'An event after the end of the response was ignored (T56).')
  return state.builder.hasEnded
}

function handleMessageDelta(state: AnthropicDecoderState, event: JsonFields): void {
  const delta = objectOrEmpty(event['delta'])
  state.stopReason ??= nonBlankString(delta['stop_reason'])
  const { explanation } = objectOrEmpty(delta['stop_details'])
  if (typeof explanation === 'string') state.builder.warn('refusal', explanation)
  keepFields(state, delta)
  keepFields(state, event)
  recordUsage(state, event['usage'])
}

/** What the turn has no place for: the container, the stop sequence, applied edits of the context, why the cache missed. */
function keepFields(state: AnthropicDecoderState, message: JsonFields): void {
  state.builder.keepFields('message', pickMessageFields(message))
  const reason = objectOrEmpty(objectOrEmpty(message['diagnostics'])['cache_miss_reason'])
  if (typeof reason['type'] !== 'string') return
  const missed = reason['cache_missed_input_tokens']
  state.cacheDiagnosis = { reason: reason['type'], ...(typeof missed === 'number' && { missedTokens: missed }) }
}

const pickMessageFields = createNestedFilter('id type role model content stop_reason delta', {
  usage: createFieldFilter('input_tokens output_tokens cache_read_input_tokens cache_creation_input_tokens'),
})

/** Of the events whose other fields are not kept: those of the last two belong to the message. */
const EVENT_FILTERS = new Map([
  ['message_start', createFieldFilter('type message')],
  ['content_block_start', createFieldFilter('type index content_block')],
  ['content_block_delta', createFieldFilter('type index delta')],
  ['content_block_stop', createFieldFilter('type index')],
  ['ping', createFieldFilter('type')],
])

/** Only this event ends a stream: a stop reason alone does not (T53, T133). */
function handleMessageStop(state: AnthropicDecoderState, event: JsonFields = {}): void {
  const { builder, stopReason: stopLabel } = state
  if (builder.hasEnded) return
  // Bedrock has its metrics here.
  keepFields(state, event)
  const reason = FINISH_REASONS.get(stopLabel?.toLowerCase() ?? '')
  if (reason === 'fault')
    builder.fail({ kind: 'server', message: `The endpoint ended the response with “${stopLabel ?? ''}”.` })
  if (stopLabel === 'pause_turn') builder.setContinuation({ kind: 'resend' })
  if (reason !== undefined) return builder.setFinish(reason, stopLabel ?? '')
  // With an unknown stop reason, or none, calls do not run, but text is accepted (T54).
  const message =
    stopLabel === undefined
      ? 'The response has no stop reason.'
      : `The response has the unknown stop reason “${stopLabel}”.`
  builder.warn('unknown-finish', message)
  if (builder.calls.count() > 0) builder.fail({ kind: 'decode', message })
  builder.setFinish('stop', stopLabel ?? '')
}

function decodeWholeMessage(state: AnthropicDecoderState, message: JsonFields): void {
  const { builder, blocks } = state
  if (builder.hasEnded || blocks.count() > 0)
    return builder.warn('repeated-answer', 'The whole response was sent again after its stream; it was ignored (T26).')
  emitOpen(state, message)
  const content =
    typeof message['content'] === 'string' ? [{ type: 'text', text: message['content'] }] : message['content']
  for (const [index, block] of (Array.isArray(content) ? content : []).entries()) {
    if (!isObject(block)) continue
    blocks.start(index, block)
    blocks.stop(index)
  }
  handleMessageDelta(state, { delta: message, usage: message['usage'] })
  state.isUnlabelled = state.stopReason === undefined
  if (!state.isUnlabelled) handleMessageStop(state)
}

/** Counts are sent at the start and at the end; the last one is used. Input excludes the cache, output includes thinking. */
function recordUsage(state: AnthropicDecoderState, value: unknown): void {
  if (!isObject(value)) return
  const counts = {
    input: value['input_tokens'],
    output: value['output_tokens'],
    cacheRead: value['cache_read_input_tokens'],
    cacheWrite: value['cache_creation_input_tokens'],
    reasoning: objectOrEmpty(value['output_tokens_details'])['thinking_tokens'],
  }
  for (const [key, count] of Object.entries(counts))
    if (count !== undefined && count !== null) Object.assign(state.usageReport, { [key]: count })
  state.builder.setUsage(
    normalizeUsage({ ...state.usageReport, inputIncludesCache: false, outputIncludesReasoning: true }),
    state.cacheDiagnosis,
  )
}

const EVENT_HANDLERS: ReadonlyMap<string, (state: AnthropicDecoderState, event: JsonFields) => void> = new Map([
  ['message_start', handleMessageStart],
  ['content_block_start', handleBlockStart],
  ['content_block_delta', handleBlockDelta],
  ['content_block_stop', handleBlockStop],
  ['message_delta', handleMessageDelta],
  ['message_stop', handleMessageStop],
  ['message', decodeWholeMessage],
  ['ping', () => undefined],
])

/** The stop reasons of endpoints, also those of other wires (T135, T54). */
const FINISH_REASONS = createFinishReasonMap({
  // After pause_turn the response is sent back, because the server's own tools need more time.
  stop: 'end_turn stop_sequence pause_turn compaction stop',
  calls: 'tool_use tool_calls',
  length: 'max_tokens model_context_window_exceeded length',
  filter: 'refusal sensitive content_filter',
  fault: 'error',
})
