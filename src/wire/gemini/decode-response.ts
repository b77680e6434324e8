import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import type { Grounding } from '../../model/grounding.ts'
import { isObject, type Json } from '../../model/json.ts'
import type { FinishReason, NativeData, WireId } from '../../model/turn.ts'
import { normalizeUsage } from '../../model/usage.ts'
import { classifyError, parseError } from '../errors/classify-error.ts'
import type { Frame } from '../framing/frame.ts'
import type { TextStream } from '../turn/text-stream.ts'
import { type TurnBuilder, createTurnBuilder } from '../turn/turn-builder.ts'
import type { DecodeContext } from '../wire.ts'
import { type FunctionCallTracker, createFunctionCallTracker } from './function-calls.ts'
import { mergeGrounding } from './grounding.ts'
import { toMediaPart, toNativeItem, getPartKind, type GeminiPart } from './parts.ts'
import { defined } from '../../model/defined.ts'

/** An answer, or a piece of one; everything on the wire is optional. */
interface GeminiChunk {
  readonly candidates?: unknown
  readonly promptFeedback?: unknown
  readonly usageMetadata?: unknown
  readonly modelVersion?: unknown
  readonly responseId?: unknown
}

/** What is known of an answer while it comes in. */
export interface GeminiDecoderState {
  readonly builder: TurnBuilder
  readonly calls: FunctionCallTracker
  /** The text or thought that the next part may go on with. */
  textStream: TextStream | undefined
  /** The end as told so far. It is passed on at the very end, because parts may follow it. */
  end: { readonly reason: FinishReason; readonly raw: string } | undefined
  readonly tokenCounts: Partial<Record<(typeof COUNT_KEYS)[number], unknown>>
  model: string | undefined
  isOpened: boolean
  hasOtherCandidates: boolean
  /** What the vendor looked up for this answer. */
  grounding: Grounding | undefined
}

/** Starts reading an answer, on the wire that it comes on. */
export function startGeminiDecoding(wire: WireId, context: DecodeContext): GeminiDecoderState {
  const builder = createTurnBuilder(wire, context)
  return {
    builder,
    calls: createFunctionCallTracker(builder),
    textStream: undefined,
    end: undefined,
    tokenCounts: {},
    model: undefined,
    isOpened: false,
    hasOtherCandidates: false,
    grounding: undefined,
  }
}

/** Reads one frame: an SSE event, an element of a JSON array, or a whole body; they all have the same shape. */
export function decodeGeminiFrame(state: GeminiDecoderState, frame: Frame): TurnEvent[] {
  if (frame.kind === 'json') decodeValue(state, frame.value)
  else if (frame.kind === 'bad') reportUnreadable(state, frame.text)
  return state.builder.takeEvents()
}

/** Closes what is open; `fault` says why the bytes ended early, if they did. */
export function finishGeminiDecoding(state: GeminiDecoderState, fault?: Fault): TurnEvent[] {
  const { builder, end } = state
  const { status } = builder.context
  if (status !== undefined && status >= 400 && !builder.hasFailed && !fault) reportError(state, { message: '' })
  if (end?.reason === 'fault') {
    builder.fail({ kind: 'server', message: `The model ended the answer with ${end.raw}.`, code: end.raw })
  }
  state.calls.end(end?.reason === 'stop')
  if (end) builder.setFinish(end.reason, end.raw)
  if (state.grounding) {
    const native = builder.createNative(undefined, { grounding: state.grounding as unknown as Json })
    builder.addPart({ kind: 'text', text: '', native })
  }
  return builder.finish(fault)
}

function decodeValue(state: GeminiDecoderState, json: unknown): void {
  if (Array.isArray(json)) return json.forEach((one) => decodeValue(state, one))
  const error = parseError(json)
  if (error) reportError(state, error)
  if (error && !(isObject(json) && 'candidates' in json)) return
  if (!isObject(json)) return state.builder.warn('unknown-frame', 'A frame that is no object was ignored.')
  // Code Assist puts the answer into an envelope; an error may be inside or outside of it (T131).
  if (isObject(json['response'])) return decodeValue(state, json['response'])
  if (!CHUNK_KEYS.some((key) => key in json)) {
    return state.builder.warn('unknown-frame', `A frame with ${Object.keys(json).slice(0, 8).join(', ')} was ignored.`)
  }
  decodeChunk(state, json)
}

function decodeChunk(state: GeminiDecoderState, json: GeminiChunk): void {
  emitOpen(state, json)
  recordUsage(state, json.usageMetadata)
  const feedback = isObject(json.promptFeedback) ? json.promptFeedback['blockReason'] : undefined
  if (typeof feedback === 'string' && !UNSPECIFIED.has(feedback)) recordFinish(state, 'filter', feedback)
  const candidates = Array.isArray(json.candidates) ? json.candidates.filter(isObject) : []
  const first = candidates.find((one, at) => (typeof one['index'] === 'number' ? one['index'] : at) === 0)
  if (candidates.length > (first ? 1 : 0) && !state.hasOtherCandidates) {
    state.hasOtherCandidates = true
    state.builder.warn('other-candidates', 'Only the first candidate is read.')
  }
  if (first) decodeCandidate(state, first, json)
}

function decodeCandidate(state: GeminiDecoderState, json: Record<string, unknown>, frame: GeminiChunk): void {
  const content = isObject(json['content']) ? json['content'] : {}
  const parts = Array.isArray(content['parts']) ? content['parts'].filter(isObject) : []
  if (!state.calls.startFrame(parts, frame)) for (const one of parts) decodePart(state, one)
  state.grounding = mergeGrounding(json, state.grounding)
  const finishLabel = json['finishReason']
  if (typeof finishLabel !== 'string' || UNSPECIFIED.has(finishLabel)) return
  const reason = FINISH_REASONS.get(finishLabel) ?? (finishLabel.startsWith('IMAGE_') ? 'filter' : 'fault')
  const detail = typeof json['finishMessage'] === 'string' ? `: ${json['finishMessage']}` : ''
  // The message may hold what the model wrote instead of a call (T124).
  if (reason === 'malformed-call' || (reason !== 'stop' && detail !== '')) {
    state.builder.warn(reason, `The answer ended with ${finishLabel}${detail}`)
  }
  recordFinish(state, reason, finishLabel)
}

/** The first end counts (T56); but one that forbids running calls overrules one that allows it. */
function recordFinish(state: GeminiDecoderState, reason: FinishReason, raw: string): void {
  if (!state.end || (state.end.reason === 'stop' && reason !== 'stop')) state.end = { reason, raw }
}

function decodePart(state: GeminiDecoderState, json: GeminiPart): void {
  const { builder, calls } = state
  const signature = json['thoughtSignature']
  const signed = typeof signature === 'string' && signature !== ''
  const native = signed ? builder.createNative(undefined, { thoughtSignature: signature }) : undefined
  if (isObject(json['functionCall'])) {
    closeText(state)
    return calls.addCall(json, json['functionCall'])
  }
  // An empty part is a sign of life, and says nothing of a call that is still coming in.
  if (json['text'] === '' && !native) return
  calls.closePartialCall()
  if (typeof json['text'] === 'string') return decodeText(state, json['text'], json['thought'] === true, native)
  closeText(state)
  const kind = getPartKind(json)
  if (kind === undefined) return native && builder.addPart({ kind: 'text', text: '', native })
  const media = toMediaPart(json)
  if (media) return builder.addPart({ ...media, ...defined({ native }) })
  if (isObject(json['functionResponse'])) calls.markAnswered(json['functionResponse'])
  else if (!SERVER_PARTS.has(kind)) builder.warn('unknown-part', `A part with ${kind} is kept, but not understood.`)
  builder.addPart({ kind: 'text', text: '', native: builder.createNative(undefined, toNativeItem(kind, json)) })
}

/** Text goes on with the text before it; a part with a signature stands alone, because only so can it go back (T118, T119). */
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

function emitOpen(state: GeminiDecoderState, json: GeminiChunk): void {
  const model = typeof json.modelVersion === 'string' && json.modelVersion !== '' ? json.modelVersion : undefined
  if (state.isOpened && (model === undefined || model === state.model)) return
  const id = typeof json.responseId === 'string' && json.responseId !== '' ? json.responseId : undefined
  state.isOpened = true
  state.model = model
  state.builder.emit({ type: 'open', ...defined({ id, model }) })
}

/** The last count of each kind counts; a chunk may leave some out. Thoughts are not part of the candidates' tokens here. */
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

function reportError(state: GeminiDecoderState, error: NonNullable<ReturnType<typeof parseError>>): void {
  const { status, headers } = state.builder.context
  state.builder.fail(classifyError(error, { ...defined({ status, headers }) }))
}

function reportUnreadable(state: GeminiDecoderState, json: string): void {
  const { status } = state.builder.context
  const excerpt = json.slice(0, 200)
  if (status !== undefined && status >= 400) return reportError(state, { message: excerpt })
  state.builder.markCorrupt(`A part of the answer could not be read: ${excerpt}`)
}

/** What a frame may hold; the history of calls that a client library made by itself repeats calls, and is not read. */
const CHUNK_KEYS = [
  'candidates',
  'promptFeedback',
  'usageMetadata',
  'modelVersion',
  'responseId',
  'automaticFunctionCallingHistory',
]

/** Words for "nothing yet". */
const UNSPECIFIED = new Set(['', 'FINISH_REASON_UNSPECIFIED', 'BLOCK_REASON_UNSPECIFIED'])

const COUNT_KEYS = [
  'promptTokenCount',
  'toolUsePromptTokenCount',
  'cachedContentTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
] as const

/** Parts about what the vendor did by itself. */
const SERVER_PARTS = new Set(['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'])

/** How Gemini ends an answer (T123–T125). What is not here is a fault, so that no call runs. */
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['STOP', 'stop'],
  // A word of test servers.
  ['FUNCTION_CALL', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['MALFORMED_FUNCTION_CALL', 'malformed-call'],
  ['UNEXPECTED_TOOL_CALL', 'malformed-call'],
  ['TOO_MANY_TOOL_CALLS', 'malformed-call'],
  ['SAFETY', 'filter'],
  ['RECITATION', 'filter'],
  ['LANGUAGE', 'filter'],
  ['BLOCKLIST', 'filter'],
  ['PROHIBITED_CONTENT', 'filter'],
  ['SPII', 'filter'],
  ['MODEL_ARMOR', 'filter'],
] as const)
