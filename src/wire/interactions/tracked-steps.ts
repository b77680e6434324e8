import {
  isObject,
  type Json,
  type JsonObject,
  filterObjects,
  nonBlankString,
  stringOrEmpty,
  tryParseJson,
} from '../../model/json.ts'
import type { PendingCall } from '../calls/call-assembler.ts'
import { createFieldFilter } from '../other-fields.ts'
import type { TextStream } from '../turn/text-stream.ts'
import type { TurnBuilder } from '../turn/turn-builder.ts'
import { CALL_FIELDS, type JsonFields, TEXT_FIELDS, toNativeStep } from './content.ts'
import { isServerStep, pickDeltaFields, readArguments, warnDropped } from './deltas.ts'
import { createOutputStep } from './output-step.ts'

/** A step that is being received. */
export interface TrackedStep {
  readonly type: string
  readonly index: number
  /** A delta opened it: its start has not been received yet. */
  readonly isEarly?: boolean
  isStopped: boolean
  readonly pendingCall?: PendingCall
  /** The id of the call that this step answers: the vendor ran it itself. */
  readonly answers?: string
  add(delta: JsonFields, type: string): void
  /** `whole`: the vendor signalled the end of the step or of the response. */
  close(whole: boolean): void
}

export function openStep(builder: TurnBuilder, index: number, step: JsonFields): TrackedStep {
  switch (step['type']) {
    case 'model_output':
      return { type: 'model_output', index, isStopped: false, ...createOutputStep(builder, step) }
    case 'thought':
      return createThoughtStep(builder, index, step)
    case 'function_call':
      return createCallStep(builder, index, step)
    default:
      return createNativeStep(builder, index, step)
  }
}

function createCallStep(builder: TurnBuilder, index: number, step: JsonFields): TrackedStep {
  const { calls } = builder
  const pendingCall = calls.open({ index, id: step['id'], name: step['name'] })
  const fields = pickCallFields(step)
  if (fields) pendingCall.nativeData = { fields }
  return {
    type: 'function_call',
    index,
    isStopped: false,
    pendingCall,
    add(delta, type) {
      builder.warnOtherFields('a delta', pickDeltaFields(delta))
      if (type === 'arguments_delta') calls.extend(pendingCall, { args: readArguments(delta) })
      else if (type === 'thought_signature')
        pendingCall.nativeData = { fields: { ...fields, signature: delta['signature'] as Json } }
      else if (type === 'text') builder.markCorrupt('A call contained text (T190).')
      else warnDropped(builder, type, delta)
    },
    close(whole) {
      if (!whole) return
      // The arguments at the start are a placeholder, unless no others are received (T18).
      if (pendingCall.raw === '') calls.extend(pendingCall, { args: step['arguments'] })
      // A call without arguments stays open to the end: they may be written as text (T63).
      if (!/^[\s{}]*$/.test(pendingCall.raw)) calls.close(pendingCall)
    },
  }
}

/** Arguments that were received before the start of their call (T190). */
export function createEarlyCallStep(builder: TurnBuilder, index: number): TrackedStep & { readonly args: string } {
  return {
    type: 'function_call',
    index,
    isEarly: true,
    isStopped: false,
    args: '',
    add(delta, type) {
      if (type === 'arguments_delta') Object.assign(this, { args: this.args + readArguments(delta) })
      else warnDropped(builder, type, delta)
    },
    close() {
      if (this.args !== '') builder.calls.open({ index, args: this.args })
    },
  }
}

/** A signed thought is kept as received, because it must be sent back as it is (T117). */
function createThoughtStep(builder: TurnBuilder, index: number, step: JsonFields): TrackedStep {
  const native = pickThoughtFields(step) && builder.createNative(undefined, toNativeStep(step))
  const stream = builder.openText('reasoning', undefined, { native })
  const summary: JsonObject[] = []
  let signature = ''
  let stray: TextStream | undefined
  const addSummary = (content: JsonFields) => {
    const last = summary.at(-1)
    const { text } = content
    if (typeof text === 'string') stream.append(text)
    if (typeof text === 'string' && typeof last?.['text'] === 'string')
      Object.assign(last, pickContentFields(content), { text: last['text'] + text })
    else summary.push({ ...(content as JsonObject), ...(typeof text === 'string' && { type: 'text' }) })
  }
  const warnAboutUnsigned = () => {
    builder.warnOtherFields('an unsigned thought', pickThoughtFields(step))
    for (const content of summary) builder.warnOtherFields('an unsigned thought', pickContentFields(content))
  }
  const tracked: TrackedStep = {
    type: 'thought',
    index,
    isStopped: false,
    add(delta, type) {
      signature = stringOrEmpty(delta['signature']) || signature
      // The start of the step is kept as a whole, if the thought is signed.
      if (delta !== step) builder.warnOtherFields('a delta', pickDeltaFields(delta))
      for (const content of filterObjects(delta['summary'])) addSummary(content)
      if (type === 'thought_summary') addSummary(isObject(delta['content']) ? delta['content'] : delta)
      // Visible text in a thought: a proxy did not start a new step.
      else if (type === 'text') (stray ??= builder.openText('text')).append(stringOrEmpty(delta['text']))
      else if (type === 'arguments_delta' && readArguments(delta) !== '')
        builder.markCorrupt('A thought contained call arguments (T190).')
      else if (!THOUGHT_DELTAS.has(type)) warnDropped(builder, type, delta)
    },
    close() {
      const signed = { ...step, type: 'thought', ...(summary.length > 0 && { summary }), signature }
      // A thought without a signature is not accepted back (T189).
      const data = signature === '' ? undefined : toNativeStep(signed)
      if (signature !== '' || summary.length > 0) stream.close(builder.createNative(undefined, data))
      if (signature === '') warnAboutUnsigned()
      stray?.close()
    },
  }
  tracked.add(step, 'thought')
  return tracked
}

const pickThoughtFields = createFieldFilter('type summary signature')
const pickContentFields = createFieldFilter(TEXT_FIELDS)
const pickCallFields = createFieldFilter(CALL_FIELDS)

const THOUGHT_DELTAS = new Set(['thought', 'thought_signature', 'arguments_delta'])

/** Server tools, their results and unknown steps are kept as they are, for replay. */
function createNativeStep(builder: TurnBuilder, index: number, step: JsonFields): TrackedStep {
  const type = stringOrEmpty(step['type'])
  const partIndex = builder.reserveIndex()
  let fields = { ...step } as JsonObject
  const answers = type === 'function_result' ? nonBlankString(step['call_id']) : undefined
  if (!isServerStep(type))
    builder.warn('unknown-step', `A step of the unknown type “${type.slice(0, 80)}” was kept as it is.`)
  return {
    type,
    index,
    isStopped: false,
    ...(answers !== undefined && { answers }),
    add(delta) {
      fields = mergeDelta(fields, delta as JsonObject)
    },
    close(whole) {
      if (!whole) return builder.warn('cut-step', `An incomplete step of type ${type} was dropped.`)
      builder.emit({ type: 'part-open', index: partIndex, kind: 'text' })
      emitNativePart(builder, partIndex, fields)
    },
  }
}

/** The vendor ran the call itself: it must not run here (T191). */
export function keepAnsweredCall(builder: TurnBuilder, pendingCall: PendingCall): void {
  const { wireId, raw, isAnnounced, partIndex } = pendingCall
  const name = pendingCall.nameFragments.join('')
  builder.calls.drop(pendingCall)
  builder.warn('answered-call', `The server answered its call of ${name} by itself (T191).`)
  if (!isAnnounced) builder.emit({ type: 'part-open', index: partIndex, kind: 'text' })
  emitNativePart(builder, partIndex, { type: 'function_call', id: wireId ?? '', name, arguments: parseObject(raw) })
}

function emitNativePart(builder: TurnBuilder, index: number, step: JsonFields): void {
  const native = builder.createNative(undefined, toNativeStep(step))
  builder.emit({ type: 'part-close', index, part: { kind: 'text', text: '', native } })
}

/** Lists grow, everything else is replaced. */
function mergeDelta(fields: JsonObject, delta: JsonObject): JsonObject {
  const merged = new Map(Object.entries(fields))
  for (const [key, value] of Object.entries(delta)) {
    const before = merged.get(key)
    if (key !== 'type' && value !== null)
      merged.set(key, Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value)
  }
  return Object.fromEntries(merged)
}

function parseObject(raw: string): JsonObject {
  const value = tryParseJson(raw)
  return isObject(value) ? (value as JsonObject) : {}
}
