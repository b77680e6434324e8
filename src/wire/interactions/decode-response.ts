import { defined } from '../../model/defined.ts'
import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import { type Json, filterObjects, isObject, nonBlankString, objectOrEmpty } from '../../model/json.ts'
import type { FinishReason } from '../../model/turn.ts'
import { addUsage, NO_USAGE, normalizeUsage, type Usage } from '../../model/usage.ts'
import { type ParsedVendorError, parseVendorError } from '../errors/parse-error.ts'
import { createFieldFilter, createNestedFilter } from '../other-fields.ts'
import { createFinishReasonMap } from '../turn/finish-labels.ts'
import { createFrameDecoder } from '../turn/frame-decoder.ts'
import { createTurnBuilder, type TurnBuilder } from '../turn/turn-builder.ts'
import { formatExcerpt } from '../unread-fields.ts'
import type { DecodeContext } from '../wire.ts'
import type { JsonFields } from './content.ts'
import { createGroundingCollector } from './grounding.ts'
import { createStepTracker } from './step-tracker.ts'

export type InteractionsDecoderState = ReturnType<typeof startInteractionsDecoding>

export function startInteractionsDecoding(context: DecodeContext) {
  const builder = createTurnBuilder('interactions', context)
  return {
    builder,
    steps: createStepTracker(builder),
    id: undefined as string | undefined,
    isOpened: false,
    tokenCounts: {} as Partial<Record<(typeof COUNT_KEYS)[number], unknown>>,
    /** Of the interactions that this one continues. */
    usageBefore: NO_USAGE,
    callsBefore: 0,
    /** The interaction is over, but not the response: the next one may follow in the same stream (T193). */
    pause: undefined as { readonly token: string | undefined } | undefined,
    grounding: createGroundingCollector(),
    /** Unknown event types; each is reported once. */
    unknownTypes: new Set<string>(),
  }
}

/** A frame is an event of a stream, or a whole interaction. */
export const decodeInteractionsFrame = createFrameDecoder<InteractionsDecoderState>({
  json: decodeValue,
  bad({ builder }, text) {
    if ((builder.context.status ?? 200) >= 400) builder.failWith({ message: text.slice(0, 200) })
    else builder.markUnreadable(text)
  },
})

export function finishInteractionsDecoding(state: InteractionsDecoderState, fault?: Fault): TurnEvent[] {
  const { builder, steps, grounding } = state
  const { status } = builder.context
  if (status !== undefined && status >= 400 && !builder.hasFailed && !fault) builder.failWith({ message: '' })
  if (state.pause) endPaused(builder, state.pause.token)
  steps.end(builder.hasEnded)
  const found = grounding.get()
  if (found) {
    const native = builder.createNative(undefined, { grounding: found as unknown as Json })
    builder.addPart({ kind: 'text', text: '', native })
  }
  return builder.finish(fault)
}

function decodeValue(state: InteractionsDecoderState, json: unknown, name: string | undefined): void {
  if (Array.isArray(json)) return json.forEach((one) => decodeValue(state, one, name))
  const { builder } = state
  if (!isObject(json)) return builder.warn('unknown-frame', 'A frame that is not an object was ignored.')
  const type = nonBlankString(json['event_type']) ?? name ?? guessEventType(json)
  const handle = EVENT_HANDLERS.get(type)
  if (type === 'error' || (!handle && !EVENT_TYPE.test(type))) {
    const error = parseVendorError(json)
    if (error) return recordError(state, error)
  }
  const others = type === 'interaction' ? undefined : pickEventFields(json)
  if (others) builder.warnOtherFields(`the event ${type}`, others)
  if (handle) return handle(state, json)
  if (state.unknownTypes.has(type)) return
  state.unknownTypes.add(type)
  const excerpt = formatExcerpt(json)
  builder.warn('unknown-event', `Events of the unknown type “${type.slice(0, 80)}” were ignored (T190): ${excerpt}`)
}

/** A proxy may omit the type, and a whole response has none: then the fields show what it is. */
function guessEventType(fields: JsonFields): string {
  if (isObject(fields['interaction'])) {
    return RUNNING_STATUSES.has(String(fields['interaction']['status']))
      ? 'interaction.created'
      : 'interaction.completed'
  }
  if (isObject(fields['step'])) return 'step.start'
  if (isObject(fields['delta'])) return 'step.delta'
  if (Array.isArray(fields['steps']) || fields['object'] === 'interaction') return 'interaction'
  if (typeof fields['interaction_id'] === 'string') return 'interaction.status_update'
  // An interaction without steps, or the end of a step.
  if (typeof fields['status'] === 'string' && !isObject(fields['error'])) return 'interaction'
  return typeof fields['index'] === 'number' ? 'step.stop' : ''
}

function handleCreated(state: InteractionsDecoderState, event: JsonFields): void {
  const { builder } = state
  const interaction = objectOrEmpty(event['interaction'])
  const id = nonBlankString(interaction['id'])
  if (builder.hasEnded)
    return builder.warn('after-end', 'A second response after the end of this one was ignored (T134).')
  if (state.pause) return resume(state, id)
  if (state.id !== undefined && id !== undefined && id !== state.id)
    return builder.markCorrupt('A second response started before the end of the first (T134).')
  emitOpen(state, interaction)
  builder.keepFields('interaction', pickInteractionFields(interaction))
  recordUsage(state, interaction['usage'])
}

/** The official client asks for the rest by itself, and its events follow. */
function resume(state: InteractionsDecoderState, id: string | undefined): void {
  state.id = id
  state.pause = undefined
  state.usageBefore = addUsage(state.usageBefore, readUsage(state))
  state.tokenCounts = {}
  state.callsBefore = state.steps.listCallIds().length
}

/** The id is empty if the vendor stores nothing. */
function emitOpen(state: InteractionsDecoderState, interaction: JsonFields): void {
  const id = nonBlankString(interaction['id'])
  state.id ??= id
  if (state.isOpened) return
  state.isOpened = true
  state.builder.emit({ type: 'open', ...defined({ id, model: nonBlankString(interaction['model']) }) })
}

function handleStepStart(state: InteractionsDecoderState, event: JsonFields): void {
  const step = objectOrEmpty(event['step'])
  if (isAfterEnd(state)) return
  // What was sent to the model is not part of its response.
  if (step['type'] === 'user_input') return state.builder.warn('echoed-input', 'The response repeats its input.')
  state.steps.start(event['index'], step)
  state.grounding.add(step)
  if (isObject(step['error'])) recordError(state, parseVendorError(step))
}

function handleStepDelta(state: InteractionsDecoderState, event: JsonFields): void {
  recordUsage(state, objectOrEmpty(event['metadata'])['total_usage'])
  const { delta } = event
  if (isAfterEnd(state) || !isObject(delta)) return
  state.steps.addDelta(event['index'], delta)
  state.grounding.add(delta)
}

function handleStepStop(state: InteractionsDecoderState, event: JsonFields): void {
  recordUsage(state, event['usage'])
  if (!isOver(state)) state.steps.stop(event['index'])
}

function isOver({ builder, pause }: InteractionsDecoderState): boolean {
  return builder.hasEnded || pause !== undefined
}

function isAfterEnd(state: InteractionsDecoderState): boolean {
  if (isOver(state)) state.builder.warn('after-end', 'An event after the end of the response was ignored (T56).')
  return isOver(state)
}

/** Only this event ends a stream: a status in an update does not (T53). */
function handleCompleted(state: InteractionsDecoderState, event: JsonFields): void {
  const { builder, steps } = state
  const interaction = objectOrEmpty(event['interaction'])
  emitOpen(state, interaction)
  builder.keepFields('interaction', pickInteractionFields(interaction))
  recordUsage(state, interaction['usage'])
  if (isOver(state)) return
  const listed = filterObjects(interaction['steps'])
  if (steps.count() === 0) addListedSteps(state, listed)
  else if (listed.length > 0) {
    const ids = listed.flatMap((step) => (step['type'] === 'function_call' ? [nonBlankString(step['id']) ?? ''] : []))
    if (ids.join('\n') !== steps.listCallIds().slice(state.callsBefore).join('\n'))
      builder.markCorrupt('The final list of steps contains other calls than the stream (T140).')
  }
  recordFinish(state, interaction)
}

function decodeWholeInteraction(state: InteractionsDecoderState, interaction: JsonFields): void {
  if (isOver(state) || state.steps.count() > 0)
    return state.builder.warn('repeated-answer', 'The whole response was sent again; it was ignored (T26).')
  handleCompleted(state, { interaction })
}

/** A stored interaction repeats its input, which may contain calls of earlier responses (T192). */
function addListedSteps(state: InteractionsDecoderState, listed: readonly JsonFields[]): void {
  const input = listed.findLastIndex(({ type }) => type === 'user_input') + 1
  if (input > 0) state.builder.warn('echoed-input', 'The response repeats its input.')
  for (const [index, step] of listed.slice(input).entries()) {
    handleStepStart(state, { index, step })
    state.steps.stop(index)
  }
}

function recordFinish(state: InteractionsDecoderState, interaction: JsonFields): void {
  const { builder } = state
  const status = nonBlankString(interaction['status'])
  const errors = filterObjects(interaction['errors'])
  const [error] = errors
  if (status === undefined || RUNNING_STATUSES.has(status)) return
  const reason = FINISH_REASONS.get(status)
  if (reason === 'fault') {
    recordError(state, error ? parseVendorError({ error }) : undefined)
    if (!builder.hasEnded) builder.setFinish('fault', status)
    return
  }
  for (const { message, code } of errors)
    builder.warn('vendor-error', `The server reports: ${nonBlankString(message) ?? nonBlankString(code) ?? 'an error'}`)
  if (reason === undefined) builder.warnUnknownFinish(status)
  if (status === 'requires_continuation') {
    state.pause = { token: nonBlankString(interaction['continuation_token']) }
    return
  }
  builder.setFinish(reason ?? 'stop', status)
}

/** The limit of one request, and not that of the response, was reached. */
function endPaused(builder: TurnBuilder, token: string | undefined): void {
  builder.setFinish('length', 'requires_continuation')
  if (token !== undefined) builder.setContinuation({ kind: 'token', token })
  else builder.warn('continuation', 'The server stopped before the end of the response, without a token (T193).')
}

/** A blocked response, or a call that the server could not parse, has an error code instead of a status. */
function recordError(state: InteractionsDecoderState, error: ParsedVendorError | undefined): void {
  const { builder } = state
  const reason = getReasonOfErrorCode(error?.code)
  if (builder.hasEnded)
    return builder.warn('late-error', `The server reported an error after the end: ${error?.message ?? ''}`)
  if (!error || reason === undefined)
    return builder.failWith(error ?? { message: 'The endpoint reports that the response failed.' })
  builder.warn(reason, `The response ended with ${error.code}: ${error.message}`)
  builder.setFinish(reason, error.code ?? '')
}

/** The last count of each kind is used. Input includes the cache, output excludes thoughts. */
function recordUsage(state: InteractionsDecoderState, value: unknown): void {
  if (!isObject(value)) return
  const { tokenCounts } = state
  const others = pickUsageFields(value)
  if (others) state.builder.keepFields('interaction', { usage: others })
  for (const key of COUNT_KEYS) tokenCounts[key] = value[key] ?? tokenCounts[key]
  state.builder.setUsage(addUsage(state.usageBefore, readUsage(state)))
}

function readUsage({ tokenCounts }: InteractionsDecoderState): Usage {
  return normalizeUsage({
    input: toCount(tokenCounts.total_input_tokens) + toCount(tokenCounts.total_tool_use_tokens),
    cacheRead: tokenCounts.total_cached_tokens,
    output: tokenCounts.total_output_tokens,
    reasoning: tokenCounts.total_thought_tokens,
    inputIncludesCache: true,
    outputIncludesReasoning: false,
  })
}

function toCount(value: unknown): number {
  const count = Number(value ?? 0)
  return Number.isFinite(count) && count > 0 ? count : 0
}

const COUNT_KEYS = [
  'total_input_tokens',
  'total_tool_use_tokens',
  'total_cached_tokens',
  'total_output_tokens',
  'total_thought_tokens',
] as const

const pickUsageFields = createFieldFilter(`${COUNT_KEYS.join(' ')} total_tokens`)

const pickInteractionFields = createFieldFilter(
  'id object model status created updated usage steps errors error continuation_token',
)

const pickEventFields = createNestedFilter(
  'event_type type event_id index step delta interaction interaction_id status usage error continuation_token',
  { metadata: createFieldFilter('total_usage') },
)

type EventHandler = (state: InteractionsDecoderState, event: JsonFields) => void

const EVENT_HANDLERS: ReadonlyMap<string, EventHandler> = new Map<string, EventHandler>([
  ['interaction.created', handleCreated],
  ['interaction.status_update', (state, event) => recordUsage(state, event['usage'])],
  ['step.start', handleStepStart],
  ['step.delta', handleStepDelta],
  ['step.stop', handleStepStop],
  ['interaction.completed', handleCompleted],
  ['interaction', decodeWholeInteraction],
  ['error', (state) => recordError(state, undefined)],
  ['ping', () => undefined],
])

/** Events that are never errors, though an interaction may have a list of them. */
const EVENT_TYPE = /^(?:step\.|interaction)/

const RUNNING_STATUSES = new Set(['in_progress', 'queued'])

/** A pending call is shown by its step: the status may be either of the first two. */
const FINISH_REASONS = createFinishReasonMap({
  stop: 'completed requires_action',
  length: 'incomplete budget_exceeded requires_continuation',
  aborted: 'cancelled',
  fault: 'failed',
})

/** Codes of errors that end a response of the model; all others are faults. */
export function getReasonOfErrorCode(code: unknown): FinishReason | undefined {
  return typeof code === 'string' ? ERROR_REASONS.get(code) : undefined
}

const ERROR_REASONS: ReadonlyMap<string, FinishReason> = createFinishReasonMap({
  filter:
    'safety recitation language prohibited_content spii blocklist content_blocked image_safety image_prohibited_content image_recitation image_other',
  'malformed-call': 'malformed_function_call malformed_tool_call unexpected_tool_call too_many_tool_calls',
})
