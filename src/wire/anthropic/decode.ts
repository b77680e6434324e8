import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import { isObject } from '../../model/json.ts'
import type { FinishReason } from '../../model/turn.ts'
import { type UsageReport, usageFrom } from '../../model/usage.ts'
import { classify, findError } from '../fault.ts'
import type { Frame } from '../frame.ts'
import { type Scribe, startScribe } from '../scribe.ts'
import type { Reading } from '../wire.ts'
import { type Blocks, startBlocks } from './blocks.ts'

/** What is known of an answer while it comes in. */
export interface State {
  readonly scribe: Scribe
  readonly blocks: Blocks
  id: string | undefined
  opened: boolean
  /** The word under which the answer ends; it counts once the end itself has come (T133). */
  stopReason: string | undefined
  counts: Partial<UsageReport>
  status: number | undefined
  /** The beginning of what could not be understood, for an error that nobody explains (T112). */
  unread: string | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** Starts reading an answer. */
export function start(reading: Reading): State {
  const scribe = startScribe('anthropic', reading)
  return {
    scribe,
    blocks: startBlocks(scribe),
    id: undefined,
    opened: false,
    stopReason: undefined,
    counts: {},
    status: reading.status,
    unread: undefined,
  }
}

/** Reads one frame: an event of a stream, or a whole answer. */
export function step(state: State, frame: Frame): TurnEvent[] {
  const { scribe } = state
  if (frame.kind === 'json') jsonFrame(state, frame.value, frame.event)
  else if (frame.kind === 'bad' && frame.event !== 'ping') {
    state.unread ??= frame.text.slice(0, 300)
    scribe.taint(`A part of the answer could not be read: ${frame.text.slice(0, 200)}`)
  } else if (frame.kind === 'comment') {
    const status = /^\s*HTTP_STATUS\/(\d{3})/.exec(frame.text)?.[1]
    if (status !== undefined) state.status = Number(status)
  }
  return scribe.take()
}

/** Closes what is open; `fault` says why the bytes ended early, if they did. */
export function stop(state: State, fault?: Fault): TurnEvent[] {
  const { scribe, blocks } = state
  blocks.end()
  if (!scribe.over && !scribe.failed && !fault && (state.status ?? 200) >= 400)
    fail(state, { message: state.unread ?? '' })
  return scribe.stop(fault)
}

function jsonFrame(state: State, value: unknown, event: string | undefined): void {
  const { scribe } = state
  const error = findError(value)
  if (error && scribe.over)
    return scribe.warn('late-error', `After its end the answer went on with an error: ${error.message}`)
  if (error) return fail(state, error)
  const fields = isObject(value) ? value : {}
  const named = typeof fields['type'] === 'string' ? fields['type'] : (event ?? '')
  const type = named === '' ? shapeOf(fields) : named
  const handler = HANDLERS.get(type)
  if (handler) return handler(state, fields)
  state.unread ??= JSON.stringify(value).slice(0, 300)
  scribe.warn('unknown-event', `An event of type “${type}” was not understood (T132).`)
}

/** A proxy may leave out the type, and a server the whole envelope: then the fields tell. */
function shapeOf(fields: Fields): string {
  if (Array.isArray(fields['content'])) return 'message'
  if (isObject(fields['message'])) return 'message_start'
  if (isObject(fields['content_block'])) return 'content_block_start'
  if (isObject(fields['delta'])) return 'stop_reason' in fields['delta'] ? 'message_delta' : 'content_block_delta'
  return typeof fields['index'] === 'number' ? 'content_block_stop' : ''
}

function messageStart(state: State, event: Fields): void {
  const { scribe, blocks } = state
  // Bedrock sends null here (T132).
  const message = isObject(event['message']) ? event['message'] : {}
  const id = typeof message['id'] === 'string' && message['id'] !== '' ? message['id'] : undefined
  if (scribe.over)
    return scribe.warn('after-end', 'Another answer began after the end of this one; it was ignored (T134).')
  if (state.id !== undefined && id !== undefined && id !== state.id) {
    return scribe.taint('A second answer began in the middle of the first (T134).')
  }
  const again = state.opened
  open(state, message)
  usage(state, message['usage'])
  // Calls that server code made may stand here, whole, before the first block.
  if (!again && Array.isArray(message['content']))
    for (const block of message['content']) if (isObject(block)) blocks.before(block)
}

function open(state: State, message: Fields): void {
  const id = typeof message['id'] === 'string' && message['id'] !== '' ? { id: message['id'] } : {}
  const model = typeof message['model'] === 'string' && message['model'] !== '' ? { model: message['model'] } : {}
  state.id ??= id.id
  if (state.opened) return
  state.opened = true
  state.scribe.emit({ type: 'open', ...id, ...model })
}

function blockStart(state: State, event: Fields): void {
  if (isLate(state)) return
  const block = isObject(event['content_block']) ? event['content_block'] : {}
  state.blocks.start(event['index'], block)
}

function blockDelta(state: State, event: Fields): void {
  if (isLate(state)) return
  if (isObject(event['delta'])) state.blocks.delta(event['index'], event['delta'])
}

function blockStop(state: State, event: Fields): void {
  if (!state.scribe.over) state.blocks.stop(event['index'])
}

function isLate(state: State): boolean {
  if (state.scribe.over)
    state.scribe.warn('after-end', 'A piece came after the end of the answer; it was ignored (T56).')
  return state.scribe.over
}

function messageDelta(state: State, event: Fields): void {
  const delta = isObject(event['delta']) ? event['delta'] : {}
  const word = delta['stop_reason']
  if (typeof word === 'string' && word !== '') state.stopReason ??= word
  const details = isObject(delta['stop_details']) ? delta['stop_details'] : {}
  if (typeof details['explanation'] === 'string') state.scribe.warn('refusal', details['explanation'])
  usage(state, event['usage'])
}

/** Only this ends a stream: a stop reason alone does not (T53, T133). */
function messageStop(state: State): void {
  const { scribe, stopReason: word } = state
  if (scribe.over) return
  const reason = STOP_REASONS.get(word?.toLowerCase() ?? '')
  if (reason === 'fault')
    scribe.fail({ kind: 'server', message: `The endpoint ended the answer with “${word ?? ''}”.` })
  if (reason !== undefined) return scribe.ended(reason, word ?? '')
  // A word that nobody knows, or none: calls do not run on it, text is taken (T54).
  const message =
    word === undefined ? 'The answer ended without a reason.' : `The answer ended for the unknown reason “${word}”.`
  scribe.warn('unknown-finish', message)
  if (scribe.calls.count > 0) scribe.fail({ kind: 'decode', message })
  scribe.ended('stop', word ?? '')
}

/** A whole answer is read as the stream that it could have been. */
function wholeMessage(state: State, message: Fields): void {
  const { scribe, blocks } = state
  if (scribe.over || blocks.count > 0)
    return scribe.warn('repeated-answer', 'The whole answer came after its pieces; it was ignored (T26).')
  open(state, message)
  const content =
    typeof message['content'] === 'string' ? [{ type: 'text', text: message['content'] }] : message['content']
  for (const [index, block] of (Array.isArray(content) ? content : []).entries()) {
    if (!isObject(block)) continue
    blocks.start(index, block)
    blocks.stop(index)
  }
  messageDelta(state, { delta: message, usage: message['usage'] })
  messageStop(state)
}

/** Counts come at the start and at the end; the last that is given counts. The cache is counted apart, thinking is not. */
function usage(state: State, value: unknown): void {
  if (!isObject(value)) return
  const details = isObject(value['output_tokens_details']) ? value['output_tokens_details'] : {}
  const seen = {
    input: value['input_tokens'],
    output: value['output_tokens'],
    cacheRead: value['cache_read_input_tokens'],
    cacheWrite: value['cache_creation_input_tokens'],
    reasoning: details['thinking_tokens'],
  }
  for (const [key, count] of Object.entries(seen))
    if (count !== undefined && count !== null) Object.assign(state.counts, { [key]: count })
  state.scribe.usage(usageFrom({ ...state.counts, inputHoldsCache: false, outputHoldsReasoning: true }))
}

function fail(state: State, error: Parameters<typeof classify>[0]): void {
  const { headers } = state.scribe.reading
  state.scribe.fail(
    classify(error, { ...(state.status !== undefined && { status: state.status }), ...(headers && { headers }) }),
  )
}

const HANDLERS: ReadonlyMap<string, (state: State, event: Fields) => void> = new Map([
  ['message_start', messageStart],
  ['content_block_start', blockStart],
  ['content_block_delta', blockDelta],
  ['content_block_stop', blockStop],
  ['message_delta', messageDelta],
  ['message_stop', messageStop],
  ['message', wholeMessage],
  ['ping', () => undefined],
])

/** The words under which endpoints end an answer, with those that leak from other wires (T135, T54). */
const STOP_REASONS: ReadonlyMap<string, FinishReason> = new Map([
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
