import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import { isObject, type Json } from '../../model/json.ts'
import type { FinishReason } from '../../model/turn.ts'
import { type UsageReport, normalizeUsage } from '../../model/usage.ts'
import { classifyError, parseError } from '../errors/classify-error.ts'
import type { Frame } from '../framing/frame.ts'
import type { TextStream } from '../turn/text-stream.ts'
import { type TurnBuilder, createTurnBuilder } from '../turn/turn-builder.ts'
import { type ReasoningSplitter, createReasoningSplitter } from '../turn/reasoning-splitter.ts'
import type { DecodeContext } from '../wire.ts'
import { type ReasoningDetailsBuilder, createReasoningDetailsBuilder } from './reasoning-details.ts'
import { defined } from '../../model/defined.ts'

/** What is known of an answer while it comes in. */
export interface ChatDecoderState {
  readonly builder: TurnBuilder
  /** Reasoning, text and refusal have their places before all calls, so that a streamed answer folds like a whole one. */
  readonly reasoning: TextStream
  readonly text: TextStream
  readonly refusal: TextStream
  readonly reasoningDetails: ReasoningDetailsBuilder
  readonly splitter: ReasoningSplitter | undefined
  /** Under which field the reasoning comes; a second field at the same time repeats it (T76). */
  reasoningField: string | undefined
  /** The text as it came; `divided` if thoughts were inside it, and then it must go back like this (T79). */
  content: string
  hasInlineReasoning: boolean
  isOpened: boolean
  usageReport: Partial<UsageReport>
  status: number | undefined
}

/** Starts reading an answer. */
export function startChatDecoding(context: DecodeContext): ChatDecoderState {
  const builder = createTurnBuilder('openai-chat', context)
  return {
    builder,
    reasoning: builder.openText('reasoning', builder.reserveIndex()),
    text: builder.openText('text', builder.reserveIndex()),
    refusal: builder.openText('text', builder.reserveIndex(), true),
    reasoningDetails: createReasoningDetailsBuilder(),
    splitter: context.profile.think ? createReasoningSplitter() : undefined,
    reasoningField: undefined,
    content: '',
    hasInlineReasoning: false,
    isOpened: false,
    usageReport: {},
    status: context.status,
  }
}

/** Reads one frame: a chunk of a stream, or a whole answer. */
export function decodeChatFrame(state: ChatDecoderState, frame: Frame): TurnEvent[] {
  const { builder } = state
  if (frame.kind === 'json') decodeChunk(state, unwrapEnvelope(frame.value))
  else if (frame.kind === 'bad')
    builder.markCorrupt(`A part of the answer could not be read: ${frame.text.slice(0, 200)}`)
  else if (frame.kind === 'comment') {
    const status = /^\s*HTTP_STATUS\/(\d{3})/.exec(frame.text)?.[1]
    if (status !== undefined) state.status = Number(status)
  }
  return builder.takeEvents()
}

/** Closes what is open; `fault` says why the bytes ended early, if they did. */
export function finishChatDecoding(state: ChatDecoderState, fault?: Fault): TurnEvent[] {
  const { builder, splitter } = state
  for (const piece of splitter?.end() ?? []) appendPiece(state, piece)
  const details = state.reasoningDetails.end()
  if (state.reasoningField !== undefined || details) {
    const field = state.reasoningField === undefined ? {} : { field: state.reasoningField }
    state.reasoning.close(builder.createNative(undefined, { ...field, ...defined({ details }) }))
  }
  if (state.hasInlineReasoning) state.text.close(builder.createNative(undefined, { content: state.content }))
  if (!builder.hasEnded && !builder.hasFailed && !fault && (state.status ?? 200) >= 400) {
    builder.fail(classifyError({ message: '' }, { status: state.status ?? 0, ...getHeaders(state) }))
  }
  return builder.finish(fault)
}

function decodeChunk(state: ChatDecoderState, value: Record<string, unknown>): void {
  const { builder } = state
  const choices = Array.isArray(value['choices']) ? value['choices'].filter(isObject) : undefined
  const error = !choices || (value['error'] !== undefined && value['error'] !== null) ? parseError(value) : undefined
  if (error) reportError(state, error)
  else if (!CHUNK_KEYS.some((key) => key in value))
    builder.warn('unknown-frame', `A frame was not understood: ${JSON.stringify(value).slice(0, 200)}`)
  if (!state.isOpened && (choices || value['id'] !== undefined)) {
    state.isOpened = true
    const id = typeof value['id'] === 'string' ? { id: value['id'] } : {}
    const model = typeof value['model'] === 'string' && value['model'] !== '' ? { model: value['model'] } : {}
    builder.emit({ type: 'open', ...id, ...model })
  }
  for (const [at, one] of (choices ?? []).entries())
    decodeChoice(state, one, typeof one['index'] === 'number' ? one['index'] : at)
  recordUsage(state, value['usage'])
  if (isObject(value['x_groq'])) recordUsage(state, value['x_groq']['usage'])
}

/** Only the first choice speaks; but a call may live in another (T25). */
function decodeChoice(state: ChatDecoderState, one: Record<string, unknown>, at: number): void {
  const { builder } = state
  const error = isObject(one['error']) ? parseError(one) : undefined
  if (error) reportError(state, error)
  const whole = isObject(one['message'])
  const delta = isObject(one['delta']) ? one['delta'] : whole ? (one['message'] as Record<string, unknown>) : {}
  if (at === 0) decodeMessage(state, delta, whole)
  else if (typeof delta['content'] === 'string' && delta['content'] !== '')
    builder.warn('other-choice', 'The text of another choice than the first was not read (T25).')
  const listed = delta['tool_calls']
  const calls = Array.isArray(listed) ? listed : isObject(listed) ? [listed] : []
  for (const [position, call] of calls.entries())
    if (isObject(call)) decodeToolCall(state, call, { at, position, listed: calls.length })
  if (isObject(delta['function_call'])) {
    const { name, arguments: args } = delta['function_call']
    builder.calls.add({ index: -1, name, args })
  }
  recordUsage(state, one['usage'])
  const finish = one['finish_reason']
  if (typeof finish !== 'string' || finish === '') return
  const reason = FINISH_REASONS.get(finish.toLowerCase()) ?? guessFinishReason(finish)
  recordFinish(state, reason, finish)
}

function recordFinish(state: ChatDecoderState, reason: FinishReason | undefined, label: string): void {
  const { builder } = state
  if (reason === 'fault') builder.fail({ kind: 'server', message: `The endpoint ended the answer with “${label}”.` })
  if (reason !== undefined) return builder.setFinish(reason, label)
  builder.warn('unknown-finish', `The answer ended with the unknown word “${label}” (T54).`)
  if (builder.calls.count > 0)
    builder.fail({ kind: 'decode', message: `The answer ended with the unknown word “${label}”.` })
  builder.setFinish('stop', label)
}

function decodeMessage(state: ChatDecoderState, delta: Record<string, unknown>, whole: boolean): void {
  const { reasoningDetails } = state
  for (const field of REASONING_FIELDS) {
    const reasoningValue = delta[field]
    const text =
      typeof reasoningValue === 'string'
        ? reasoningValue
        : isObject(reasoningValue) && typeof reasoningValue['text'] === 'string'
          ? reasoningValue['text']
          : ''
    if (text === '') continue
    if (state.reasoningField !== undefined && state.reasoningField !== field) continue
    state.reasoningField = field
    state.reasoning.append(text)
  }
  if (Array.isArray(delta['reasoning_details'])) {
    const text = reasoningDetails.add(delta['reasoning_details'])
    if (state.reasoningField === undefined) state.reasoning.append(text)
  }
  const content = delta['content']
  if (typeof content === 'string') appendContent(state, whole ? removeStreamedText(state, content) : content)
  else if (Array.isArray(content)) for (const part of content) decodeContentPart(state, part)
  if (typeof delta['refusal'] === 'string') state.refusal.append(delta['refusal'])
  if (Array.isArray(delta['images'])) for (const image of delta['images']) addImage(state, image)
}

function appendContent(state: ChatDecoderState, text: string): void {
  state.content += text
  if (state.splitter) for (const piece of state.splitter.push(text)) appendPiece(state, piece)
  else state.text.append(text)
}

/** Puts a piece of text where it belongs: what stood inside `<think>` is reasoning. */
function appendPiece(
  state: ChatDecoderState,
  { channel, text }: { channel: 'text' | 'reasoning'; text: string },
): void {
  if (channel === 'reasoning') state.hasInlineReasoning = true
  const stream = channel === 'text' ? state.text : state.reasoning
  stream.append(text)
}

/** A whole message after a stream of pieces repeats them (T26). */
function removeStreamedText(state: ChatDecoderState, text: string): string {
  return text.startsWith(state.content) ? text.slice(state.content.length) : text
}

/** Content as a list of parts, with thoughts among them (Mistral). */
function decodeContentPart(state: ChatDecoderState, part: unknown): void {
  if (typeof part === 'string') return appendContent(state, part)
  if (!isObject(part)) return
  if (part['type'] === 'thinking') {
    const thoughts = Array.isArray(part['thinking']) ? part['thinking'] : [part['thinking']]
    for (const reasoningValue of thoughts) {
      const text = isObject(reasoningValue) ? reasoningValue['text'] : reasoningValue
      if (typeof text === 'string') state.reasoning.append(text)
    }
  } else if (typeof part['text'] === 'string') appendContent(state, part['text'])
  else if (part['type'] === 'image_url') addImage(state, part)
  else state.builder.warn('unknown-content', `A part of type ${String(part['type'])} was not understood.`)
}

function addImage(state: ChatDecoderState, image: unknown): void {
  const url = isObject(image) && isObject(image['image_url']) ? image['image_url']['url'] : undefined
  if (typeof url !== 'string') return
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url)
  if (inline) state.builder.addPart({ kind: 'media', mime: inline[1] ?? '', data: inline[2] ?? '' })
  else state.builder.addPart({ kind: 'media', mime: 'image/*', uri: url })
}

/** Reads a call in OpenAI's shape, in Gemini's ({name, args}), or as free text (T16, T30). */
function decodeToolCall(
  state: ChatDecoderState,
  call: Record<string, unknown>,
  where: { at: number; position: number; listed: number },
): void {
  const { calls } = state.builder
  const inner = isObject(call['function']) ? call['function'] : isObject(call['custom']) ? call['custom'] : call
  const index = typeof call['index'] === 'number' ? call['index'] + where.at * 1000 : undefined
  const pendingCall = calls.add({
    id: call['id'],
    index,
    name: inner['name'],
    args: inner['arguments'] ?? inner['args'] ?? inner['input'],
    listPosition: where.position,
    listLength: where.listed,
    freeform: call['type'] === 'custom',
  })
  // The signature may come alone, after the call (T119).
  const signed = pendingCall ?? (index === undefined ? undefined : calls.findByIndex(index))
  if (signed && isObject(call['extra_content'])) signed.nativeData = { extra_content: call['extra_content'] as Json }
}

/** Some gateways wrap the answer: `{data: {choices: …}}` (T26). */
function unwrapEnvelope(value: unknown): Record<string, unknown> {
  if (!isObject(value)) return {}
  const inner = value['data']
  return !Array.isArray(value['choices']) && isObject(inner) && Array.isArray(inner['choices']) ? inner : value
}

function reportError(state: ChatDecoderState, error: NonNullable<ReturnType<typeof parseError>>): void {
  const status = state.status === undefined ? {} : { status: state.status }
  state.builder.fail(classifyError(error, { ...status, ...getHeaders(state) }))
}

function getHeaders(state: ChatDecoderState) {
  return state.builder.context.headers ? { headers: state.builder.context.headers } : {}
}

function recordUsage(state: ChatDecoderState, value: unknown): void {
  if (!isObject(value)) return
  const input = isObject(value['prompt_tokens_details']) ? value['prompt_tokens_details'] : {}
  const output = isObject(value['completion_tokens_details']) ? value['completion_tokens_details'] : {}
  const counts = {
    input: value['prompt_tokens'],
    output: value['completion_tokens'],
    total: value['total_tokens'],
    cacheRead: input['cached_tokens'] ?? value['prompt_cache_hit_tokens'] ?? value['cached_tokens'],
    cacheWrite: input['cache_write_tokens'],
    reasoning: output['reasoning_tokens'] ?? value['reasoning_tokens'],
  }
  for (const [key, count] of Object.entries(counts))
    if (count !== undefined && count !== null) Object.assign(state.usageReport, { [key]: count })
  state.builder.setUsage(
    normalizeUsage({ ...state.usageReport, inputIncludesCache: true, outputIncludesReasoning: true }),
  )
}

const REASONING_FIELDS = ['reasoning_content', 'reasoning', 'reasoning_text'] as const

/** What a chunk may be known by. */
const CHUNK_KEYS = ['choices', 'id', 'object', 'usage', 'x_groq']

function guessFinishReason(label: string): FinishReason | undefined {
  if (/malformed_function_call/i.test(label)) return 'malformed-call'
  return /content.?filter|safety|blocked/i.test(label) ? 'filter' : undefined
}

/** The words under which endpoints end an answer, in lower case (T54). */
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries({
    stop: 'stop',
    end: 'stop',
    eos: 'stop',
    eos_token: 'stop',
    end_turn: 'stop',
    stop_sequence: 'stop',
    complete: 'stop',
    completed: 'stop',
    tool_calls: 'calls',
    tool_call: 'calls',
    tool_use: 'calls',
    function_call: 'calls',
    function_calls: 'calls',
    length: 'length',
    max_tokens: 'length',
    model_length: 'length',
    max_output_tokens: 'length',
    model_context_window_exceeded: 'length',
    content_filter: 'filter',
    sensitive: 'filter',
    safety: 'filter',
    refusal: 'filter',
    malformed_function_call: 'malformed-call',
    error: 'fault',
    insufficient_system_resource: 'fault',
    abort: 'aborted',
    aborted: 'aborted',
    cancelled: 'aborted',
  } as const),
)
