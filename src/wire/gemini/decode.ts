import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import type { Grounding } from '../../model/grounding.ts'
import { isObject, type Json } from '../../model/json.ts'
import type { FinishReason, Native, WireId } from '../../model/turn.ts'
import { usageFrom } from '../../model/usage.ts'
import { classify, findError } from '../fault.ts'
import type { Frame } from '../frame.ts'
import type { Run } from '../run.ts'
import { type Scribe, startScribe } from '../scribe.ts'
import type { Reading } from '../wire.ts'
import { type FunctionCalls, startFunctionCalls } from './function-calls.ts'
import { grounding } from './grounding.ts'
import { blob, item, partKind, type WirePart } from './parts.ts'

/** An answer, or a piece of one; everything on the wire is optional. */
interface Chunk {
  readonly candidates?: unknown
  readonly promptFeedback?: unknown
  readonly usageMetadata?: unknown
  readonly modelVersion?: unknown
  readonly responseId?: unknown
}

/** What is known of an answer while it comes in. */
export interface State {
  readonly scribe: Scribe
  readonly calls: FunctionCalls
  /** The text or thought that the next part may go on with. */
  run: Run | undefined
  /** The end as told so far. It is passed on at the very end, because parts may follow it. */
  end: { readonly reason: FinishReason; readonly raw: string } | undefined
  readonly counts: Partial<Record<(typeof COUNTS)[number], unknown>>
  model: string | undefined
  opened: boolean
  otherCandidates: boolean
  /** What the vendor looked up for this answer. */
  grounding: Grounding | undefined
}

/** Starts reading an answer, on the wire that it comes on. */
export function startOn(wire: WireId, reading: Reading): State {
  const scribe = startScribe(wire, reading)
  return {
    scribe,
    calls: startFunctionCalls(scribe),
    run: undefined,
    end: undefined,
    counts: {},
    model: undefined,
    opened: false,
    otherCandidates: false,
    grounding: undefined,
  }
}

/** Reads one frame: an SSE event, an element of a JSON array, or a whole body; they all have the same shape. */
export function step(state: State, frame: Frame): TurnEvent[] {
  if (frame.kind === 'json') value(state, frame.value)
  else if (frame.kind === 'bad') unreadable(state, frame.text)
  return state.scribe.take()
}

/** Closes what is open; `fault` says why the bytes ended early, if they did. */
export function stop(state: State, fault?: Fault): TurnEvent[] {
  const { scribe, end } = state
  const { status } = scribe.reading
  if (status !== undefined && status >= 400 && !scribe.failed && !fault) fail(state, { message: `HTTP ${status}` })
  if (end?.reason === 'fault') {
    scribe.fail({ kind: 'server', message: `The model ended the answer with ${end.raw}.`, code: end.raw })
  }
  state.calls.end(end?.reason === 'stop')
  if (end) scribe.ended(end.reason, end.raw)
  if (state.grounding) {
    const sealed = scribe.seal(undefined, { grounding: state.grounding as unknown as Json })
    scribe.add({ kind: 'text', text: '', native: sealed })
  }
  return scribe.stop(fault)
}

function value(state: State, given: unknown): void {
  if (Array.isArray(given)) return given.forEach((one) => value(state, one))
  const error = findError(given)
  if (error) fail(state, error)
  if (error && !(isObject(given) && 'candidates' in given)) return
  if (!isObject(given)) return state.scribe.warn('unknown-frame', 'A frame that is no object was ignored.')
  // Code Assist puts the answer into an envelope; an error may be inside or outside of it (T131).
  if (isObject(given['response'])) return value(state, given['response'])
  if (!KNOWN.some((key) => key in given)) {
    return state.scribe.warn('unknown-frame', `A frame with ${Object.keys(given).slice(0, 8).join(', ')} was ignored.`)
  }
  chunk(state, given)
}

function chunk(state: State, given: Chunk): void {
  open(state, given)
  usage(state, given.usageMetadata)
  const feedback = isObject(given.promptFeedback) ? given.promptFeedback['blockReason'] : undefined
  if (typeof feedback === 'string' && !UNSAID.has(feedback)) ended(state, 'filter', feedback)
  const candidates = Array.isArray(given.candidates) ? given.candidates.filter(isObject) : []
  const first = candidates.find((one, at) => (typeof one['index'] === 'number' ? one['index'] : at) === 0)
  if (candidates.length > (first ? 1 : 0) && !state.otherCandidates) {
    state.otherCandidates = true
    state.scribe.warn('other-candidates', 'Only the first candidate is read.')
  }
  if (first) candidate(state, first, given)
}

function candidate(state: State, given: Record<string, unknown>, frame: Chunk): void {
  const content = isObject(given['content']) ? given['content'] : {}
  const parts = Array.isArray(content['parts']) ? content['parts'].filter(isObject) : []
  if (!state.calls.begin(parts, frame)) for (const one of parts) part(state, one)
  state.grounding = grounding(given, state.grounding)
  const word = given['finishReason']
  if (typeof word !== 'string' || UNSAID.has(word)) return
  const reason = FINISH.get(word) ?? (word.startsWith('IMAGE_') ? 'filter' : 'fault')
  const said = typeof given['finishMessage'] === 'string' ? `: ${given['finishMessage']}` : ''
  // The message may hold what the model wrote instead of a call (T124).
  if (reason === 'malformed-call' || (reason !== 'stop' && said !== '')) {
    state.scribe.warn(reason, `The answer ended with ${word}${said}`)
  }
  ended(state, reason, word)
}

/** The first end counts (T56); but one that forbids running calls overrules one that allows it. */
function ended(state: State, reason: FinishReason, raw: string): void {
  if (!state.end || (state.end.reason === 'stop' && reason !== 'stop')) state.end = { reason, raw }
}

function part(state: State, given: WirePart): void {
  const { scribe, calls } = state
  const signature = given['thoughtSignature']
  const signed = typeof signature === 'string' && signature !== ''
  const sealed = signed ? scribe.seal(undefined, { thoughtSignature: signature }) : undefined
  if (isObject(given['functionCall'])) {
    closeRun(state)
    return calls.call(given, given['functionCall'])
  }
  // An empty part is a sign of life, and says nothing of a call that is still coming in.
  if (given['text'] === '' && !sealed) return
  calls.pause()
  if (typeof given['text'] === 'string') return text(state, given['text'], given['thought'] === true, sealed)
  closeRun(state)
  const kind = partKind(given)
  if (kind === undefined) return sealed && scribe.add({ kind: 'text', text: '', native: sealed })
  const media = blob(given)
  if (media) return scribe.add({ ...media, ...(sealed && { native: sealed }) })
  if (isObject(given['functionResponse'])) calls.answer(given['functionResponse'])
  else if (!SERVER_PARTS.has(kind)) scribe.warn('unknown-part', `A part with ${kind} is kept, but not understood.`)
  scribe.add({ kind: 'text', text: '', native: scribe.seal(undefined, item(kind, given)) })
}

/** Text goes on with the text before it; a part with a signature stands alone, because only so can it go back (T118, T119). */
function text(state: State, given: string, thought: boolean, sealed: Native | undefined): void {
  const kind = thought ? 'reasoning' : 'text'
  if (sealed) {
    closeRun(state)
    const run = state.scribe.run(kind)
    run.add(given)
    return run.close(sealed)
  }
  if (state.run?.kind !== kind) closeRun(state)
  state.run ??= state.scribe.run(kind)
  state.run.add(given)
}

function closeRun(state: State): void {
  state.run?.close()
  state.run = undefined
}

function open(state: State, given: Chunk): void {
  const model = typeof given.modelVersion === 'string' && given.modelVersion !== '' ? given.modelVersion : undefined
  if (state.opened && (model === undefined || model === state.model)) return
  const id = typeof given.responseId === 'string' && given.responseId !== '' ? given.responseId : undefined
  state.opened = true
  state.model = model
  state.scribe.emit({ type: 'open', ...(id !== undefined && { id }), ...(model !== undefined && { model }) })
}

/** The last count of each kind counts; a chunk may leave some out. Thoughts are not part of the candidates' tokens here. */
function usage(state: State, given: unknown): void {
  if (!isObject(given)) return
  const { counts } = state
  for (const key of COUNTS) counts[key] = given[key] ?? counts[key]
  state.scribe.usage(
    usageFrom({
      input: number(counts.promptTokenCount) + number(counts.toolUsePromptTokenCount),
      cacheRead: counts.cachedContentTokenCount,
      output: counts.candidatesTokenCount,
      reasoning: counts.thoughtsTokenCount,
      inputHoldsCache: true,
      outputHoldsReasoning: false,
    }),
  )
}

function number(given: unknown): number {
  const count = Number(given ?? 0)
  return Number.isFinite(count) && count > 0 ? count : 0
}

function fail(state: State, error: NonNullable<ReturnType<typeof findError>>): void {
  const { status, headers } = state.scribe.reading
  state.scribe.fail(classify(error, { ...(status !== undefined && { status }), ...(headers && { headers }) }))
}

function unreadable(state: State, given: string): void {
  const { status } = state.scribe.reading
  const excerpt = given.slice(0, 200)
  if (status !== undefined && status >= 400) return fail(state, { message: `HTTP ${status}: ${excerpt}` })
  state.scribe.taint(`A part of the answer could not be read: ${excerpt}`)
}

/** What a frame may hold; the history of calls that a client library made by itself repeats calls, and is not read. */
const KNOWN = [
  'candidates',
  'promptFeedback',
  'usageMetadata',
  'modelVersion',
  'responseId',
  'automaticFunctionCallingHistory',
]

/** Words for "nothing yet". */
const UNSAID = new Set(['', 'FINISH_REASON_UNSPECIFIED', 'BLOCK_REASON_UNSPECIFIED'])

const COUNTS = [
  'promptTokenCount',
  'toolUsePromptTokenCount',
  'cachedContentTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
] as const

/** Parts about what the vendor did by itself. */
const SERVER_PARTS = new Set(['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'])

/** How Gemini ends an answer (T123–T125). What is not here is a fault, so that no call runs. */
const FINISH: ReadonlyMap<string, FinishReason> = new Map([
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
