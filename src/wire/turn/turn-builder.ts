import type { TurnEvent } from '../../model/event.ts'
import type { Fault } from '../../model/fault.ts'
import type { AssistantPart, Finish, FinishReason, WireId } from '../../model/turn.ts'
import type { Usage } from '../../model/usage.ts'
import { type CallAssembler, createCallAssembler } from '../calls/call-assembler.ts'
import { createPartEmitter, type PartEmitter } from './part-emitter.ts'
import { type TextStream, createTextStream } from './text-stream.ts'
import type { DecodeContext } from '../wire.ts'

/**
 * Writes down one turn while its frames come in. A wire says what a frame means in the words of this interface; what all
 * wires have in common is here: numbering parts, sealing native data, ending exactly once, and never running a call of
 * an answer that did not end well.
 */
export interface TurnBuilder extends PartEmitter {
  readonly calls: CallAssembler
  /** Starts a run of text or reasoning, with an index of its own. */
  openText(kind: TextStream['kind'], index?: number, refusal?: boolean): TextStream
  /** Adds a part that is whole from the start. */
  addPart(part: AssistantPart): void
  setUsage(usage: Usage): void
  /** A frame was lost: the text goes on, but no call of this answer may run (T114). */
  markCorrupt(message: string): void
  /** The vendor reported an error; the first one counts. */
  fail(fault: Fault): void
  /** The vendor's end signal. The first one counts, unless a later one is worse (T56). */
  setFinish(reason: FinishReason, raw: string): void
  readonly hasEnded: boolean
  readonly hasFailed: boolean
  /** Closes everything and gives the last events, among them exactly one `finish`. */
  finish(fault?: Fault): TurnEvent[]
}

/** Starts the record of one turn. */
export function createTurnBuilder(wire: WireId, context: DecodeContext): TurnBuilder {
  let fault: Fault | undefined
  let corruption: string | undefined
  let end: { reason: FinishReason; raw: string } | undefined
  const streams: TextStream[] = []
  const emitter = createPartEmitter(wire, context)
  const calls = createCallAssembler(emitter)
  const fail = (next: Fault): void => void (fault ??= next)

  function stop(why?: Fault): TurnEvent[] {
    if (why) fail(why)
    const natural = isNormalEnd(end?.reason) && !fault && corruption === undefined
    const failed = fault !== undefined
    const hadCalls = calls.count > 0
    for (const stream of streams)
      if (stream.kind === 'text') stream.end({ endedNormally: natural, hasNativeCalls: hadCalls, hasFailed: failed })
    // What was written as a call in the text and in the reasoning was only drafted in the reasoning.
    const hasCalls = calls.count > 0
    for (const stream of streams)
      if (stream.kind === 'reasoning')
        stream.end({ endedNormally: natural, hasNativeCalls: hasCalls, hasFailed: failed })
    calls.end(end !== undefined)
    emitter.emit({ type: 'finish', ...finish() })
    return emitter.takeEvents()
  }

  function finish(): Finish {
    const raw = end && end.raw !== '' ? { raw: end.raw } : {}
    // A server that could not read the model's call says so as an error; it is the model that must try again (T73).
    if (fault) return { reason: fault.written === undefined ? 'fault' : 'malformed-call', ...raw, fault }
    if (corruption !== undefined) return { reason: 'fault', ...raw, fault: { kind: 'decode', message: corruption } }
    if (!end) return { reason: 'fault', fault: TRUNCATED_FAULT }
    if (!isNormalEnd(end.reason)) return { reason: end.reason, ...raw }
    const placeholder = streams.some((stream) => stream.kind === 'text' && PLACEHOLDER_ANSWERS.has(stream.text.trim()))
    if (placeholder && calls.count === 0) return { reason: 'fault', ...raw, fault: PLACEHOLDER_FAULT }
    if (calls.hasUnnamed) return { reason: 'malformed-call', ...raw }
    // Arguments that stop in the middle were cut, whatever the vendor says (T38).
    if (calls.hasUnfinished) return { reason: 'length', ...raw }
    return { reason: calls.count > 0 ? 'calls' : 'stop', ...raw }
  }

  return {
    ...emitter,
    calls,
    openText(kind, index, refusal) {
      const stream = createTextStream(emitter, calls, {
        kind,
        index: index ?? emitter.reserveIndex(),
        ...(refusal && { refusal }),
      })
      streams.push(stream)
      return stream
    },
    addPart(part) {
      const index = emitter.reserveIndex()
      emitter.emit({ type: 'part-open', index, kind: part.kind })
      emitter.emit({ type: 'part-close', index, part })
    },
    setUsage: (usage) => emitter.emit({ type: 'usage', usage }),
    markCorrupt(message) {
      emitter.warn('tainted', message)
      // What comes after the end signal was not needed.
      if (!end) corruption ??= message
    },
    fail,
    setFinish(reason, raw) {
      end = { reason: !end || (isNormalEnd(end.reason) && !isNormalEnd(reason)) ? reason : end.reason, raw }
    },
    get hasEnded() {
      return end !== undefined
    },
    get hasFailed() {
      return fault !== undefined
    },
    finish: stop,
  }
}

function isNormalEnd(reason: FinishReason | undefined): boolean {
  return reason === 'stop' || reason === 'calls'
}

const TRUNCATED_FAULT: Fault = { kind: 'transport', message: 'The answer ended without an end signal.' }

const PLACEHOLDER_FAULT: Fault = {
  kind: 'server',
  message: 'The endpoint answered with a placeholder instead of an answer.',
}

/** Whole answers that gateways give instead of an error (T58). */
const PLACEHOLDER_ANSWERS = new Set(['(request timeout)', '(no response)', '(empty response)', '[request timeout]'])
