import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import type { Grounding } from '../../model/grounding.ts'
import { isObject, type Json, filterObjects, nonBlankString, objectOrEmpty } from '../../model/json.ts'
import type { FinishReason, NativeData, WireId } from '../../model/turn.ts'
import { normalizeUsage } from '../../model/usage.ts'
import { parseVendorError } from '../errors/parse-error.ts'
import { createFieldFilter, createNestedFilter } from '../other-fields.ts'
import { createFinishReasonMap } from '../turn/finish-labels.ts'
import { createFrameDecoder } from '../turn/frame-decoder.ts'
import type { TextStream } from '../turn/text-stream.ts'
import { createTurnBuilder, isNormalEnd } from '../turn/turn-builder.ts'
import type { DecodeContext } from '../wire.ts'
import { createFunctionCallTracker } from './function-calls.ts'
import { mergeGrounding } from './grounding.ts'
import { getPartData, getPartKind, isPlainMedia, toMediaPart, toNativeItem, type GeminiPart } from './parts.ts'
import { defined } from '../../model/defined.ts'

export type GeminiDecoderState = ReturnType<typeof startGeminiDecoding>

export function startGeminiDecoding(wire: WireId, context: DecodeContext) {
  const builder = createTurnBuilder(wire, context)
  return {
    builder,
    calls: createFunctionCallTracker(builder),
    /** The text or reasoning that the next part may continue. */
    textStream: undefined as TextStream | undefined,
    /** It is passed on at the very end, because parts may follow it. */
    end: undefined as { readonly reason: FinishReason; readonly raw: string } | undefined,
    tokenCounts: {} as Partial<Record<(typeof COUNT_KEYS)[number], unknown>>,
    model: undefined as string | undefined,
    continuationToken: undefined as string | undefined,
    isOpened: false,
    hasCandidate: false,
    hasOtherCandidates: false,
    grounding: undefined as Grounding | undefined,
  }
}

/** A frame is an SSE event, an element of a JSON array, or a whole body; all have the same format. */
export const decodeGeminiFrame = createFrameDecoder<GeminiDecoderState>({
  json: decodeValue,
  bad({ builder }, text) {
    if ((builder.context.status ?? 200) >= 400) builder.failWith({ message: text.slice(0, 200) })
    else builder.markUnreadable(text)
  },
  complete(state) {
    if (state.hasCandidate) state.end ??= { reason: 'stop', raw: '' }
  },
})

export function finishGeminiDecoding(state: GeminiDecoderState, fault?: Fault): TurnEvent[] {
  const { builder, end } = state
  const { status } = builder.context
  if (status !== undefined && status >= 400 && !builder.hasFailed && !fault) builder.failWith({ message: '' })
  if (end?.reason === 'fault')
    builder.fail({ kind: 'server', message: `The model ended the response with ${end.raw}.`, code: end.raw })
  state.calls.end(isNormalEnd(end?.reason))
  if (end) builder.setFinish(end.reason, end.raw)
  if (end?.raw === 'CONTINUATION') recordContinuation(state)
  if (state.grounding) {
    const native = builder.createNative(undefined, { grounding: state.grounding as unknown as Json })
    builder.addPart({ kind: 'text', text: '', native })
  }
  return builder.finish(fault)
}

/** The limit of one request, and not that of the response, was reached (T193). */
function recordContinuation({ builder, continuationToken: token }: GeminiDecoderState): void {
  if (token !== undefined) builder.setContinuation({ kind: 'token', token })
  else builder.warn('continuation', 'The server stopped before the end of the response, without a token (T193).')
}

function decodeValue(state: GeminiDecoderState, json: unknown): void {
  if (Array.isArray(json)) return json.forEach((one) => decodeValue(state, one))
  const error = parseVendorError(json)
  if (error) state.builder.failWith(error)
  if (error && !(isObject(json) && 'candidates' in json)) return
  if (!isObject(json)) return state.builder.warn('unknown-frame', 'A frame that is not an object was ignored.')
  // Code Assist puts the response into an envelope; an error may be inside or outside of it (T131).
  if (isObject(json['response'])) {
    state.builder.keepFields('envelope', pickEnvelopeFields(json))
    return decodeValue(state, json['response'])
  }
  if (CHUNK_KEYS.some((key) => key in json)) return decodeChunk(state, json)
  const keys = Object.keys(json).slice(0, 8).join(', ')
  state.builder.warn('unknown-frame', `A frame with the unknown keys ${keys} was ignored.`)
}

function decodeChunk(state: GeminiDecoderState, json: Record<string, unknown>): void {
  const { builder } = state
  emitOpen(state, json)
  recordUsage(state, json['usageMetadata'])
  builder.keepFields('response', pickChunkFields(json))
  const { blockReason } = objectOrEmpty(json['promptFeedback'])
  if (typeof blockReason === 'string' && !UNSPECIFIED.has(blockReason)) recordFinish(state, 'filter', blockReason)
  const candidates = filterObjects(json['candidates'])
  const first = candidates.find(({ index }) => index === 0) ?? candidates.find(({ index }) => index === undefined)
  if (candidates.length > (first ? 1 : 0)) warnAboutOthers(state, candidates, first)
  if (!first) return
  state.hasCandidate = true
  decodeCandidate(state, first, json)
}

function warnAboutOthers(state: GeminiDecoderState, candidates: readonly GeminiPart[], first: unknown): void {
  const { builder } = state
  if (!state.hasOtherCandidates) builder.warn('other-candidates', 'Only the first candidate is read.')
  state.hasOtherCandidates = true
  for (const one of candidates)
    if (one !== first) builder.warnOtherFields('another candidate', pickCandidateFields(one))
}

function decodeCandidate(state: GeminiDecoderState, json: Record<string, unknown>, frame: unknown): void {
  const parts = filterObjects(objectOrEmpty(json['content'])['parts'])
  state.builder.keepFields('candidate', pickCandidateFields(json))
  if (!state.calls.startFrame(parts, frame)) for (const one of parts) decodePart(state, one)
  if (json['groundingMetadata'] ?? json['urlContextMetadata']) state.grounding = mergeGrounding(json, state.grounding)
  state.continuationToken = nonBlankString(json['continuationToken']) ?? state.continuationToken
  const finishLabel = json['finishReason']
  if (typeof finishLabel !== 'string' || UNSPECIFIED.has(finishLabel)) return
  const reason = FINISH_REASONS.get(finishLabel) ?? (finishLabel.startsWith('IMAGE_') ? 'filter' : 'fault')
  const detail = typeof json['finishMessage'] === 'string' ? `: ${json['finishMessage']}` : ''
  // The message may contain what the model wrote instead of a call (T124).
  if (reason === 'malformed-call' || detail !== '')
    state.builder.warn(reason, `The response ended with ${finishLabel}${detail}`)
  recordFinish(state, reason, finishLabel)
}

/** The first end counts (T56), unless a later one forbids calls. */
function recordFinish(state: GeminiDecoderState, reason: FinishReason, raw: string): void {
  if (!state.end || (isNormalEnd(state.end.reason) && !isNormalEnd(reason))) state.end = { reason, raw }
}

function decodePart(state: GeminiDecoderState, json: GeminiPart): void {
  const { builder, calls } = state
  const data = getPartData(json)
  const native = data && builder.createNative(undefined, data)
  if (isObject(json['functionCall'])) {
    closeText(state)
    return calls.addCall(json, json['functionCall'])
  }
  // An empty part is a keep-alive, and does not end a call that is still being received.
  if (json['text'] === '' && !native) return
  calls.closePartialCall()
  if (typeof json['text'] === 'string') return decodeText(state, json['text'], json['thought'] === true, native)
  closeText(state)
  const kind = getPartKind(json)
  if (kind === undefined) return native && builder.addPart({ kind: 'text', text: '', native })
  const media = toMediaPart(json)
  if (media) {
    const item = isPlainMedia(json) ? undefined : builder.createNative(undefined, toNativeItem(kind, json))
    return builder.addPart({ ...media, ...defined({ native: item ?? native }) })
  }
  if (isObject(json['functionResponse'])) calls.markAnswered(json['functionResponse'])
  else if (!SERVER_PARTS.has(kind))
    builder.warn('unknown-part', `A part of the unknown kind ${kind} was kept as it is.`)
  builder.addPart({ kind: 'text', text: '', native: builder.createNative(undefined, toNativeItem(kind, json)) })
}

/** Text continues the previous text; a part with a signature is kept apart, because it must be sent back as it is (T118, T119). */
function decodeText(state: GeminiDecoderState, json: string, thought: boolean, native: NativeData | undefined): void {
  const kind = thought ? 'reasoning' : 'text'
  if (native) {
    closeText(state)
    const stream = state.builder.openText(kind)
    stream.append(json)
    return stream.close(native)
  }
  if (state.textStream?.kind !== kind) closeText(state)
  state.textStream ??= state.builder.openText(kind)
  state.textStream.append(json)
}

function closeText(state: GeminiDecoderState): void {
  state.textStream?.close()
  state.textStream = undefined
}

function emitOpen(state: GeminiDecoderState, json: Record<string, unknown>): void {
  const model = nonBlankString(json['modelVersion'])
  if (state.isOpened && (model === undefined || model === state.model)) return
  state.isOpened = true
  state.model = model
  state.builder.emit({ type: 'open', ...defined({ id: nonBlankString(json['responseId']), model }) })
}

/** The last count of each kind is used; a chunk may omit some. On this wire output excludes reasoning. */
function recordUsage(state: GeminiDecoderState, json: unknown): void {
  if (!isObject(json)) return
  const { tokenCounts } = state
  for (const key of COUNT_KEYS) tokenCounts[key] = json[key] ?? tokenCounts[key]
  state.builder.setUsage(
    normalizeUsage({
      input: toCount(tokenCounts.promptTokenCount) + toCount(tokenCounts.toolUsePromptTokenCount),
      cacheRead: tokenCounts.cachedContentTokenCount,
      output: tokenCounts.candidatesTokenCount,
      reasoning: tokenCounts.thoughtsTokenCount,
      inputIncludesCache: true,
      outputIncludesReasoning: false,
    }),
  )
}

function toCount(json: unknown): number {
  const count = Number(json ?? 0)
  return Number.isFinite(count) && count > 0 ? count : 0
}

const pickEnvelopeFields = createFieldFilter('response traceId')
const pickCandidateFields = createNestedFilter('finishReason finishMessage index continuationToken', {
  content: createFieldFilter('role parts'),
})

/** The last one repeats calls that a client library made by itself; it is not read. */
const CHUNK_KEYS =
  'candidates promptFeedback usageMetadata modelVersion responseId automaticFunctionCallingHistory'.split(' ')

/** Values that mean "not yet". */
const UNSPECIFIED = new Set(['', 'FINISH_REASON_UNSPECIFIED', 'BLOCK_REASON_UNSPECIFIED'])

const COUNT_KEYS = [
  'promptTokenCount',
  'toolUsePromptTokenCount',
  'cachedContentTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
] as const

const pickChunkFields = createNestedFilter('candidates modelVersion responseId automaticFunctionCallingHistory', {
  promptFeedback: createFieldFilter('blockReason'),
  usageMetadata: createFieldFilter(`${COUNT_KEYS.join(' ')} totalTokenCount`),
})

/** Parts about tools that the vendor ran by itself. */
const SERVER_PARTS = new Set(['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'])

/** Every other finish reason is a fault, so that no call runs (T123–T125). */
const FINISH_REASONS = createFinishReasonMap({
  stop: 'STOP',
  // Sent by test servers.
  calls: 'FUNCTION_CALL',
  length: 'MAX_TOKENS CONTINUATION',
  'malformed-call': 'MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL TOO_MANY_TOOL_CALLS',
  filter: 'SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII MODEL_ARMOR',
})
