import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import { isObject, nonBlankString, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { FinishReason } from '../../model/turn.ts'
import { type UsageReport, normalizeUsage } from '../../model/usage.ts'
import { parseVendorError } from '../errors/parse-error.ts'
import { parseMediaUrl } from '../read-parts.ts'
import { createFinishReasonMap } from '../turn/finish-labels.ts'
import { createFrameDecoder } from '../turn/frame-decoder.ts'
import { createTurnBuilder } from '../turn/turn-builder.ts'
import { createReasoningSplitter, type TextOrReasoning } from '../turn/reasoning-splitter.ts'
import { formatExcerpt } from '../unread-fields.ts'
import type { DecodeContext } from '../wire.ts'
import {
  keepCallFields,
  pickCallFields,
  pickChoiceFields,
  pickChunkFields,
  pickEnvelopeFields,
  pickFunctionFields,
  pickImageFields,
  pickMessageFields,
  pickTextFields,
  pickThinkingFields,
} from './kept-fields.ts'
import { readContentList } from './content-list.ts'
import { REASONING_FIELDS, createReasoningDetailsBuilder } from './reasoning-details.ts'
import { defined } from '../../model/defined.ts'

type JsonFields = Record<string, unknown>

export type ChatDecoderState = ReturnType<typeof startChatDecoding>

export function startChatDecoding(context: DecodeContext) {
  const builder = createTurnBuilder('openai-chat', context)
  return {
    builder,
    /** Reasoning, text and refusal come before all calls, so that a streamed response gives the same turn as a whole one. */
    reasoning: builder.openText('reasoning', builder.reserveIndex()),
    text: builder.openText('text', builder.reserveIndex()),
    refusal: builder.openText('text', builder.reserveIndex(), { refusal: true }),
    reasoningDetails: createReasoningDetailsBuilder(),
    splitter: context.profile.think ? createReasoningSplitter() : undefined,
    /** The field of the reasoning; a second field at the same time repeats it (T76). */
    reasoningField: undefined as string | undefined,
    /** The text as received. If there was reasoning inside it, it must be sent back like this (T79). */
    content: '',
    hasInlineReasoning: false,
    /** The field that the calls are in; a second field repeats them (T202). */
    callField: undefined as 'tool_calls' | 'content_list' | undefined,
    isOpened: false,
    hasMessage: false,
    usageReport: {} as Partial<UsageReport>,
    status: context.status,
  }
}

/** A frame is a chunk of a stream, or a whole response. */
export const decodeChatFrame = createFrameDecoder<ChatDecoderState>({
  json: (state, value) => decodeChunk(state, unwrapEnvelope(state, value)),
  complete({ builder, hasMessage }) {
    if (hasMessage && !builder.hasEnded) builder.setFinish('stop', '')
  },
})

export function finishChatDecoding(state: ChatDecoderState, fault?: Fault): TurnEvent[] {
  const { builder, splitter } = state
  for (const piece of splitter?.end() ?? []) appendPiece(state, piece)
  const details = state.reasoningDetails.end()
  if (state.reasoningField !== undefined || details)
    state.reasoning.close(builder.createNative(undefined, { ...defined({ field: state.reasoningField, details }) }))
  if (state.refusal.getText() !== '') state.refusal.close(builder.createNative(undefined, { refusal: true }))
  if (state.hasInlineReasoning) state.text.close(builder.createNative(undefined, { content: state.content }))
  if (!builder.hasEnded && !builder.hasFailed && !fault && (state.status ?? 200) >= 400)
    builder.failWith({ message: '' }, state.status)
  return builder.finish(fault)
}

function decodeChunk(state: ChatDecoderState, value: Record<string, unknown>): void {
  const { builder } = state
  const choices = Array.isArray(value['choices']) ? value['choices'].filter(isObject) : undefined
  const error =
    !choices || (value['error'] !== undefined && value['error'] !== null) ? parseVendorError(value) : undefined
  if (error) builder.failWith(error, state.status)
  else if (!CHUNK_KEYS.some((key) => key in value))
    builder.warn('unknown-frame', `A frame of unknown format was ignored: ${JSON.stringify(value).slice(0, 200)}`)
  if (!state.isOpened && (choices || value['id'] !== undefined)) {
    state.isOpened = true
    const id = typeof value['id'] === 'string' ? value['id'] : undefined
    builder.emit({ type: 'open', ...defined({ id, model: nonBlankString(value['model']) }) })
  }
  builder.keepFields('response', pickChunkFields(value))
  for (const [at, one] of (choices ?? []).entries())
    decodeChoice(state, one, typeof one['index'] === 'number' ? one['index'] : at)
  recordUsage(state, value['usage'])
  if (isObject(value['x_groq'])) recordUsage(state, value['x_groq']['usage'])
}

/** Only the first choice is read, except that a call may be in another one (T25). */
function decodeChoice(state: ChatDecoderState, one: Record<string, unknown>, at: number): void {
  const { builder } = state
  const error = isObject(one['error']) ? parseVendorError(one) : undefined
  if (error) builder.failWith(error, state.status)
  const { delta, message } = one
  const others = pickChoiceFields(one)
  if (at === 0) builder.keepFields('choice', others)
  else builder.warnOtherFields('another choice', others)
  if (isObject(delta)) decodeFields(state, delta, at)
  if (isObject(message)) {
    state.hasMessage ||= at === 0
    decodeFields(state, message, at, isObject(delta) ? 'beside-delta' : 'alone')
  }
  recordUsage(state, one['usage'])
  const finish = one['finish_reason']
  if (typeof finish !== 'string' || finish === '') return
  const reason = FINISH_REASONS.get(finish.toLowerCase()) ?? guessFinishReason(finish)
  recordFinish(state, reason, finish)
}

/** A message that stands alone, or beside a delta: then it repeats everything so far (T197). Absent: these are the fields of a delta. */
type MessageKind = 'alone' | 'beside-delta'

function decodeFields(state: ChatDecoderState, fields: Record<string, unknown>, at: number, kind?: MessageKind): void {
  const { builder } = state
  const others = pickMessageFields(fields)
  if (at === 0) builder.keepFields('message', others, kind ? 'replace' : 'append')
  else builder.warnOtherFields('another choice', others)
  if (at === 0) decodeMessage(state, fields, kind)
  else if (typeof fields['content'] === 'string' && fields['content'] !== '')
    builder.warn('other-choice', 'Only the text of the first choice is read (T25).')
  if (kind === 'beside-delta' && builder.calls.count() > 0) return
  const listed = fields['tool_calls']
  const calls = Array.isArray(listed) ? listed : isObject(listed) ? [listed] : []
  for (const [position, call] of calls.entries())
    if (isObject(call)) decodeToolCall(state, call, { at, position, listed: calls.length })
  if (calls.length > 0) state.callField ??= 'tool_calls'
  if (Array.isArray(fields['content_list'])) decodeContentList(state, fields, at, kind)
  if (isObject(fields['function_call'])) {
    const { name, arguments: args } = fields['function_call']
    builder.warnOtherFields('a call', pickFunctionFields(fields['function_call']))
    builder.calls.add({ index: -1, name, args })
  }
}

/** A list that repeats the content and the calls, or has them alone; it never counts beside them (T202). */
function decodeContentList(
  state: ChatDecoderState,
  { content, content_list: list }: Record<string, unknown>,
  at: number,
  kind?: MessageKind,
): void {
  const { builder } = state
  const { text, calls, others } = readContentList(Array.isArray(list) ? list : [])
  for (const fields of others) builder.warnOtherFields('the content list', fields)
  const known = stringOrEmpty(content)
  if (at === 0 && known === '' && !Array.isArray(content))
    appendContent(state, removeStreamedText(state.content, text, kind))
  else if (text !== '' && text !== known)
    builder.warn('unknown-content', `The text of the content list was ignored: ${formatExcerpt(text)}`)
  if (calls.length > 0) state.callField ??= 'content_list'
  if (state.callField === 'content_list') for (const call of calls) builder.calls.add(call)
}

function recordFinish(state: ChatDecoderState, reason: FinishReason | undefined, label: string): void {
  const { builder } = state
  if (reason === 'fault') builder.fail({ kind: 'server', message: `The endpoint ended the response with “${label}”.` })
  if (reason === undefined) builder.warnUnknownFinish(label)
  builder.setFinish(reason ?? 'stop', label)
}

function decodeMessage(state: ChatDecoderState, delta: Record<string, unknown>, kind?: MessageKind): void {
  const { reasoningDetails } = state
  for (const field of REASONING_FIELDS) {
    const value = delta[field]
    const text = stringOrEmpty(isObject(value) ? value['text'] : value)
    if (isObject(value)) state.builder.warnOtherFields('the reasoning', pickTextFields(value))
    if (text === '') continue
    if (state.reasoningField !== undefined && state.reasoningField !== field) continue
    state.reasoningField = field
    state.reasoning.append(removeStreamedText(state.reasoning.getText(), text, kind))
  }
  if (Array.isArray(delta['reasoning_details']) && !(kind === 'beside-delta' && state.reasoning.getText() !== '')) {
    const text = reasoningDetails.add(delta['reasoning_details'])
    if (state.reasoningField === undefined) state.reasoning.append(text)
  }
  const content = delta['content']
  if (typeof content === 'string') appendContent(state, removeStreamedText(state.content, content, kind))
  else if (Array.isArray(content)) for (const part of content) decodeContentPart(state, part)
  if (typeof delta['refusal'] === 'string')
    state.refusal.append(removeStreamedText(state.refusal.getText(), delta['refusal'], kind))
  if (Array.isArray(delta['images'])) for (const image of delta['images']) addImage(state, image)
}

function appendContent(state: ChatDecoderState, text: string): void {
  state.content += text
  if (state.splitter) for (const piece of state.splitter.push(text)) appendPiece(state, piece)
  else state.text.append(text)
}

function appendPiece(state: ChatDecoderState, { channel, text }: TextOrReasoning): void {
  if (channel === 'reasoning') state.hasInlineReasoning = true
  state[channel].append(text)
}

/** A whole message after a stream repeats its text (T26). Beside a delta, which counts, it can only add to it. */
function removeStreamedText(streamed: string, text: string, kind: MessageKind | undefined): string {
  if (kind === undefined) return text
  if (text.startsWith(streamed)) return text.slice(streamed.length)
  return kind === 'alone' ? text : ''
}

/** Content as a list of parts, which may contain reasoning (Mistral). */
function decodeContentPart(state: ChatDecoderState, part: unknown): void {
  if (typeof part === 'string') return appendContent(state, part)
  if (!isObject(part)) return
  const { builder } = state
  if (part['type'] === 'thinking') {
    builder.warnOtherFields('a content part', pickThinkingFields(part))
    const pieces = Array.isArray(part['thinking']) ? part['thinking'] : [part['thinking']]
    for (const piece of pieces) {
      if (isObject(piece)) builder.warnOtherFields('a content part', pickTextFields(piece))
      state.reasoning.append(stringOrEmpty(isObject(piece) ? piece['text'] : piece))
    }
  } else if (typeof part['text'] === 'string') {
    builder.warnOtherFields('a content part', pickTextFields(part))
    appendContent(state, part['text'])
  } else if (part['type'] === 'image_url') addImage(state, part)
  else builder.warn('unknown-content', `A content part of an unknown type was ignored: ${formatExcerpt(part)}`)
}

/** An image with what it has besides its content. */
function addImage({ builder }: ChatDecoderState, image: unknown): void {
  const fields = objectOrEmpty(image)
  const inner = objectOrEmpty(fields['image_url'])
  if (typeof inner['url'] !== 'string') return builder.warnOtherFields('an image', fields)
  const others = pickImageFields(fields)
  const native = others && builder.createNative(undefined, { response: others })
  builder.addPart({ ...parseMediaUrl(inner['url'], 'image/*'), ...defined({ native }) })
}

/** A call in OpenAI's format, in Gemini's ({name, args}), or as free text (T16, T30). */
function decodeToolCall(
  state: ChatDecoderState,
  call: Record<string, unknown>,
  where: { at: number; position: number; listed: number },
): void {
  const { calls } = state.builder
  const inner = [call['function'], call['custom']].find(isObject) ?? call
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
  // The signature may be sent alone, after the call (T119).
  const signed = pendingCall ?? (index === undefined ? undefined : calls.findByIndex(index))
  if (signed) keepCallFields(signed, call)
  else if (pickCallFields(call)) state.builder.warnOtherFields('a call', call)
}

/** Some gateways wrap the response: `{data: {choices: …}}` (T26). */
function unwrapEnvelope({ builder }: ChatDecoderState, value: unknown): JsonFields {
  const fields = objectOrEmpty(value)
  const inner = fields['data']
  if (Array.isArray(fields['choices']) || !isObject(inner) || !Array.isArray(inner['choices'])) return fields
  builder.warnOtherFields('the envelope', pickEnvelopeFields(fields))
  return inner
}

function recordUsage(state: ChatDecoderState, value: unknown): void {
  if (!isObject(value)) return
  const input = objectOrEmpty(value['prompt_tokens_details'])
  const output = objectOrEmpty(value['completion_tokens_details'])
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

const CHUNK_KEYS = ['choices', 'id', 'object', 'usage', 'x_groq']

function guessFinishReason(label: string): FinishReason | undefined {
  if (/malformed_function_call/i.test(label)) return 'malformed-call'
  return /content.?filter|safety|blocked/i.test(label) ? 'filter' : undefined
}

/** The finish reasons of endpoints, in lower case (T54). */
const FINISH_REASONS = createFinishReasonMap({
  stop: 'stop end eos eos_token end_turn stop_sequence complete completed',
  calls: 'tool_calls tool_call tool_use function_call function_calls',
  length: 'length max_tokens model_length max_output_tokens model_context_window_exceeded',
  filter: 'content_filter sensitive safety refusal',
  'malformed-call': 'malformed_function_call',
  fault: 'error insufficient_system_resource',
  aborted: 'abort aborted cancelled',
})
