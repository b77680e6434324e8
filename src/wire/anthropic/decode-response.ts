import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import { isObject } from '../../model/json.ts'
import type { FinishReason } from '../../model/turn.ts'
import { type UsageReport, normalizeUsage } from '../../model/usage.ts'
import { classifyError, parseError } from '../errors/classify-error.ts'
import type { Frame } from '../framing/frame.ts'
import { type TurnBuilder, createTurnBuilder } from '../turn/turn-builder.ts'
import type { DecodeContext } from '../wire.ts'
import { type ContentBlocks, createContentBlocks } from './content-blocks.ts'
import { defined } from '../../model/defined.ts'

/** What is known of an answer while it comes in. */
export interface AnthropicDecoderState {
  readonly builder: TurnBuilder
  readonly blocks: ContentBlocks
  id: string | undefined
  isOpened: boolean
  /** The word under which the answer ends; it counts once the end itself has come (T133). */
  stopReason: string | undefined
  usageReport: Partial<UsageReport>
  status: number | undefined
  /** The beginning of what could not be understood, for an error that nobody explains (T112). */
  unreadExcerpt: string | undefined
}

type JsonFields = Readonly<Record<string, unknown>>

/** Starts reading an answer. */
export function startAnthropicDecoding(context: DecodeContext): AnthropicDecoderState {
  const builder = createTurnBuilder('anthropic', context)
  return {
    builder,
    blocks: createContentBlocks(builder),
    id: undefined,
    isOpened: false,
    stopReason: undefined,
    usageReport: {},
    status: context.status,
    unreadExcerpt: undefined,
  }
}

/** Reads one frame: an event of a stream, or a whole answer. */
export function decodeAnthropicFrame(state: AnthropicDecoderState, frame: Frame): TurnEvent[] {
  const { builder } = state
  if (frame.kind === 'json') decodeJsonFrame(state, frame.value, frame.event)
  else if (frame.kind === 'bad' && frame.event !== 'ping') {
    state.unreadExcerpt ??= frame.text.slice(0, 300)
    builder.markCorrupt(`A part of the answer could not be read: ${frame.text.slice(0, 200)}`)
  } else if (frame.kind === 'comment') {
    const status = /^\s*HTTP_STATUS\/(\d{3})/.exec(frame.text)?.[1]
    if (status !== undefined) state.status = Number(status)
  }
  return builder.takeEvents()
}

/** Closes what is open; `fault` says why the bytes ended early, if they did. */
export function finishAnthropicDecoding(state: AnthropicDecoderState, fault?: Fault): TurnEvent[] {
  const { builder, blocks } = state
  blocks.end()
  if (!builder.hasEnded && !builder.hasFailed && !fault && (state.status ?? 200) >= 400)
    reportError(state, { message: state.unreadExcerpt ?? '' })
  return builder.finish(fault)
}

function decodeJsonFrame(state: AnthropicDecoderState, value: unknown, event: string | undefined): void {
  const { builder } = state
  const error = parseError(value)
  if (error && builder.hasEnded)
    return builder.warn('late-error', `After its end the answer went on with an error: ${error.message}`)
  if (error) return reportError(state, error)
  const fields = isObject(value) ? value : {}
  const named = typeof fields['type'] === 'string' ? fields['type'] : (event ?? '')
  const type = named === '' ? guessEventType(fields) : named
  const handler = EVENT_HANDLERS.get(type)
  if (handler) return handler(state, fields)
  state.unreadExcerpt ??= JSON.stringify(value).slice(0, 300)
  builder.warn('unknown-event', `An event of type “${type}” was not understood (T132).`)
}

/** A proxy may leave out the type, and a server the whole envelope: then the fields tell. */
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
  const message = isObject(event['message']) ? event['message'] : {}
  const id = typeof message['id'] === 'string' && message['id'] !== '' ? message['id'] : undefined
  if (builder.hasEnded)
    return builder.warn('after-end', 'Another answer began after the end of this one; it was ignored (T134).')
  if (state.id !== undefined && id !== undefined && id !== state.id) {
    return builder.markCorrupt('A second answer began in the middle of the first (T134).')
  }
  const again = state.isOpened
  emitOpen(state, message)
  recordUsage(state, message['usage'])
  // Calls that server code made may stand here, whole, before the first block.
  if (!again && Array.isArray(message['content']))
    for (const block of message['content']) if (isObject(block)) blocks.addLeadingBlock(block)
}

function emitOpen(state: AnthropicDecoderState, message: JsonFields): void {
  const id = typeof message['id'] === 'string' && message['id'] !== '' ? { id: message['id'] } : {}
  const model = typeof message['model'] === 'string' && message['model'] !== '' ? { model: message['model'] } : {}
  state.id ??= id.id
  if (state.isOpened) return
  state.isOpened = true
  state.builder.emit({ type: 'open', ...id, ...model })
}

function handleBlockStart(state: AnthropicDecoderState, event: JsonFields): void {
  if (isAfterEnd(state)) return
  const block = isObject(event['content_block']) ? event['content_block'] : {}
  state.blocks.start(event['index'], block)
}

function handleBlockDelta(state: AnthropicDecoderState, event: JsonFields): void {
  if (isAfterEnd(state)) return
  if (isObject(event['delta'])) state.blocks.addDelta(event['index'], event['delta'])
}

function handleBlockStop(state: AnthropicDecoderState, event: JsonFields): void {
  if (!state.builder.hasEnded) state.blocks.stop(event['index'])
}

function isAfterEnd(state: AnthropicDecoderState): boolean {
  if (state.builder.hasEnded)
    state.builder.warn('after-end', 'A piece came after the end of the answer; it was ignored (T56).')
  return state.builder.hasEnded
}

function handleMessageDelta(state: AnthropicDecoderState, event: JsonFields): void {
  const delta = isObject(event['delta']) ? event['delta'] : {}
  const stopLabel = delta['stop_reason']
  if (typeof stopLabel === 'string' && stopLabel !== '') state.stopReason ??= stopLabel
  const details = isObject(delta['stop_details']) ? delta['stop_details'] : {}
  if (typeof details['explanation'] === 'string') state.builder.warn('refusal', details['explanation'])
  recordUsage(state, event['usage'])
}

/** Only this ends a stream: a stop reason alone does not (T53, T133). */
function handleMessageStop(state: AnthropicDecoderState): void {
  const { builder, stopReason: stopLabel } = state
  if (builder.hasEnded) return
  const reason = FINISH_REASONS.get(stopLabel?.toLowerCase() ?? '')
  if (reason === 'fault')
    builder.fail({ kind: 'server', message: `The endpoint ended the answer with “${stopLabel ?? ''}”.` })
  if (reason !== undefined) return builder.setFinish(reason, stopLabel ?? '')
  // A word that nobody knows, or none: calls do not run on it, text is taken (T54).
  const message =
    stopLabel === undefined
      ? 'The answer ended without a reason.'
      : `The answer ended for the unknown reason “${stopLabel}”.`
  builder.warn('unknown-finish', message)
  if (builder.calls.count > 0) builder.fail({ kind: 'decode', message })
  builder.setFinish('stop', stopLabel ?? '')
}

/** A whole answer is read as the stream that it could have been. */
function decodeWholeMessage(state: AnthropicDecoderState, message: JsonFields): void {
  const { builder, blocks } = state
  if (builder.hasEnded || blocks.count > 0)
    return builder.warn('repeated-answer', 'The whole answer came after its pieces; it was ignored (T26).')
  emitOpen(state, message)
  const content =
    typeof message['content'] === 'string' ? [{ type: 'text', text: message['content'] }] : message['content']
  for (const [index, block] of (Array.isArray(content) ? content : []).entries()) {
    if (!isObject(block)) continue
    blocks.start(index, block)
    blocks.stop(index)
  }
  handleMessageDelta(state, { delta: message, usage: message['usage'] })
  handleMessageStop(state)
}

/** Counts come at the start and at the end; the last that is given counts. The cache is counted apart, thinking is not. */
function recordUsage(state: AnthropicDecoderState, value: unknown): void {
  if (!isObject(value)) return
  const details = isObject(value['output_tokens_details']) ? value['output_tokens_details'] : {}
  const counts = {
    input: value['input_tokens'],
    output: value['output_tokens'],
    cacheRead: value['cache_read_input_tokens'],
    cacheWrite: value['cache_creation_input_tokens'],
    reasoning: details['thinking_tokens'],
  }
  for (const [key, count] of Object.entries(counts))
    if (count !== undefined && count !== null) Object.assign(state.usageReport, { [key]: count })
  state.builder.setUsage(
    normalizeUsage({ ...state.usageReport, inputIncludesCache: false, outputIncludesReasoning: true }),
  )
}

function reportError(state: AnthropicDecoderState, error: Parameters<typeof classifyError>[0]): void {
  const { headers } = state.builder.context
  state.builder.fail(classifyError(error, { ...defined({ status: state.status, headers }) }))
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

/** The words under which endpoints end an answer, with those that leak from other wires (T135, T54). */
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  // The server's own tools need more time: the same history goes back as it is.
  ['pause_turn', 'stop'],
  ['compaction', 'stop'],
  ['stop', 'stop'],
  ['tool_use', 'calls'],
  ['tool_calls', 'calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['length', 'length'],
  ['refusal', 'filter'],
  ['sensitive', 'filter'],
  ['content_filter', 'filter'],
  ['error', 'fault'],
])
