import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import type { AssistantPart, Continuation, Finish, FinishReason, WireId } from '../../model/turn.ts'
import type { CacheDiagnosis, Usage } from '../../model/usage.ts'
import { defined } from '../../model/defined.ts'
import type { JsonObject } from '../../model/json.ts'
import { createCallAssembler } from '../calls/call-assembler.ts'
import { classifyVendorError } from '../errors/classify-error.ts'
import type { ParsedVendorError } from '../errors/parse-error.ts'
import { hasFields, mergeChunkFields, type TextMerge } from '../other-fields.ts'
import { formatExcerpt } from '../unread-fields.ts'
import { createPartEmitter } from './part-emitter.ts'
import { type TextStream, type TextStreamOptions, createTextStream } from './text-stream.ts'
import type { DecodeContext } from '../wire.ts'

export type TurnBuilder = ReturnType<typeof createTurnBuilder>

/**
 * Builds one turn from the frames of a response. The decoder of a wire calls it; it numbers the parts, keeps native data,
 * ends exactly once, and makes sure that no call runs if the response did not end normally.
 */
export function createTurnBuilder(wire: WireId, context: DecodeContext) {
  let fault: Fault | undefined
  let corruption: string | undefined
  let end: { reason: FinishReason; raw: string } | undefined
  let continuation: Continuation | undefined
  const otherFields: JsonObject = {}
  const reportedFields = new Set<string>()
  const streams: TextStream[] = []
  const emitter = createPartEmitter(wire, context)
  const calls = createCallAssembler(emitter)
  /** The first fault counts. */
  const fail = (next: Fault): void => {
    fault ??= next
    builder.hasFailed = true
  }

  /** Closes everything and returns the last events, with exactly one `finish`. */
  function finish(why?: Fault): TurnEvent[] {
    if (why) fail(why)
    const endedNormally = isNormalEnd(end?.reason) && !fault && corruption === undefined
    endStreams(endedNormally)
    calls.end(end !== undefined)
    // A call was announced, and got lost or was never written.
    if (endedNormally && end?.reason === 'calls' && calls.count() === 0)
      emitter.warn('missing-call', `The response ended with “${end.raw}” but has no call (T52).`)
    const native = hasFields(otherFields) ? emitter.createNative(undefined, otherFields) : undefined
    const finished = decideFinish()
    const rest = finished.fault ? undefined : continuation
    emitter.emit({ type: 'finish', ...finished, ...defined({ native, continuation: rest }) })
    return emitter.takeEvents()
  }

  /** A call with text after it is an example or a draft, also if the text is another part. */
  function endStreams(endedNormally: boolean): void {
    // Text first: a call that is written both in the text and in the reasoning was only drafted in the reasoning.
    for (const kind of ['text', 'reasoning'] as const) {
      const hasNativeCalls = calls.count() > 0
      let isFollowedByText = false
      for (const stream of streams.toReversed()) {
        if (stream.kind === kind) stream.readCalls({ endedNormally, hasNativeCalls, isFollowedByText })
        if (stream.kind === 'text') isFollowedByText ||= stream.hasText()
      }
      for (const stream of streams) if (stream.kind === kind) stream.end(fault !== undefined)
    }
  }

  function decideFinish(): Finish {
    const raw = end && end.raw !== '' ? { raw: end.raw } : {}
    // A server that could not parse the model's call reports an error; the model must try again (T73).
    if (fault) return { reason: fault.written === undefined ? 'fault' : 'malformed-call', ...raw, fault }
    if (corruption !== undefined) return { reason: 'fault', ...raw, fault: { kind: 'decode', message: corruption } }
    if (!end) return { reason: 'fault', fault: TRUNCATED_FAULT }
    if (!isNormalEnd(end.reason)) return { reason: end.reason, ...raw }
    const placeholder = streams.some(
      (stream) => stream.kind === 'text' && PLACEHOLDER_ANSWERS.has(stream.getText().trim()),
    )
    if (placeholder && calls.count() === 0) return { reason: 'fault', ...raw, fault: PLACEHOLDER_FAULT }
    if (calls.hasUnnamed()) return { reason: 'malformed-call', ...raw }
    // Incomplete arguments were truncated, whatever the vendor says (T38).
    if (calls.hasUnfinished()) return { reason: 'length', ...raw }
    return { reason: calls.count() > 0 ? 'calls' : 'stop', ...raw }
  }

  // One of these is made for each response; spreading an object or a getter would make it several times as expensive.
  const builder = {
    context,
    projection: emitter.projection,
    emit: emitter.emit,
    warn: emitter.warn,
    reserveIndex: emitter.reserveIndex,
    createNative: emitter.createNative,
    takeEvents: emitter.takeEvents,
    calls,
    hasEnded: false,
    hasFailed: false,
    openText(kind: TextStream['kind'], index?: number, options?: TextStreamOptions): TextStream {
      const stream = createTextStream(emitter, calls, kind, index ?? emitter.reserveIndex(), options)
      streams.push(stream)
      return stream
    },
    /** Adds a part that is complete from the start. */
    addPart(part: AssistantPart): void {
      const index = emitter.reserveIndex()
      emitter.emit({ type: 'part-open', index, kind: part.kind })
      emitter.emit({ type: 'part-close', index, part })
    },
    setUsage: (usage: Usage, cacheDiagnosis?: CacheDiagnosis) =>
      emitter.emit({ type: 'usage', usage, ...defined({ cacheDiagnosis }) }),
    /** The response is not complete, and the vendor can continue it. */
    setContinuation: (next: Continuation): void => void (continuation = next),
    /** Fields of the response that only its wire understands. `place` is the object that they stand in. */
    keepFields(place: string, fields: JsonObject | undefined, texts: TextMerge = 'replace'): void {
      if (fields && hasFields(fields)) mergeChunkFields(otherFields, { [place]: fields }, texts)
    },
    /** For fields that can be kept nowhere; the same ones are reported once. */
    warnOtherFields(owner: string, fields: Readonly<Record<string, unknown>> | undefined): void {
      if (!fields || !hasFields(fields)) return
      const key = `${owner}: ${Object.keys(fields).join()}`
      if (reportedFields.has(key)) return
      reportedFields.add(key)
      emitter.warn('unknown-fields', `Unknown fields of ${owner} were left out: ${formatExcerpt(fields)}`)
    },
    /** A frame was lost: the text continues, but no call of this response may run (T114). */
    markCorrupt(message: string): void {
      emitter.warn('tainted', message)
      // What follows the end signal is not needed.
      if (!end) corruption ??= message
    },
    markUnreadable(text: string): void {
      builder.markCorrupt(`Part of the response could not be read: ${text.slice(0, 200)}`)
    },
    fail,
    /** The response ended with an unknown label: its calls must not run (T54). */
    warnUnknownFinish(label: string): void {
      const message = `The response ended with the unknown label “${label}” (T54).`
      emitter.warn('unknown-finish', message)
      if (calls.count() > 0) fail({ kind: 'decode', message })
    },
    /** Fails with an error that the vendor sent; `status` overrides that of the HTTP response. */
    failWith: (error: ParsedVendorError, status = context.status) =>
      fail(classifyVendorError(error, { status, headers: context.headers })),
    /** The vendor's end signal. The first one counts, unless a later one is worse (T56). */
    setFinish(reason: FinishReason, raw: string): void {
      builder.hasEnded = true
      end = { reason: !end || (isNormalEnd(end.reason) && !isNormalEnd(reason)) ? reason : end.reason, raw }
    },
    finish,
  }
  return builder
}

export function isNormalEnd(reason: FinishReason | undefined): boolean {
  return reason === 'stop' || reason === 'calls'
}

const TRUNCATED_FAULT: Fault = { kind: 'transport', message: 'The response ended without an end signal.' }

const PLACEHOLDER_FAULT: Fault = { kind: 'server', message: 'The endpoint sent a placeholder instead of a response.' }

/** Whole responses that gateways send instead of an error (T58). */
const PLACEHOLDER_ANSWERS = new Set(['(request timeout)', '(no response)', '(empty response)', '[request timeout]'])
