import type { TurnEvent } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import type { AssistantPart, Finish, FinishReason, WireId } from '../model/turn.ts'
import type { Usage } from '../model/usage.ts'
import { type CallAssembler, startCalls } from './calls.ts'
import { createPartEmitter, type PartEmitter } from './part-emitter.ts'
import { type Run, startRun } from './run.ts'
import type { Reading } from './wire.ts'

/**
 * Writes down one turn while its frames come in. A wire says what a frame means in the words of this interface; what all
 * wires have in common is here: numbering parts, sealing native data, ending exactly once, and never running a call of
 * an answer that did not end well.
 */
export interface Scribe extends PartEmitter {
  readonly calls: CallAssembler
  /** Starts a run of text or reasoning, with an index of its own. */
  run(kind: Run['kind'], index?: number, refusal?: boolean): Run
  /** Adds a part that is whole from the start. */
  add(part: AssistantPart): void
  usage(usage: Usage): void
  /** A frame was lost: the text goes on, but no call of this answer may run (T114). */
  taint(message: string): void
  /** The vendor reported an error; the first one counts. */
  fail(fault: Fault): void
  /** The vendor's end signal. The first one counts, unless a later one is worse (T56). */
  ended(reason: FinishReason, raw: string): void
  readonly over: boolean
  readonly failed: boolean
  /** Closes everything and gives the last events, among them exactly one `finish`. */
  stop(fault?: Fault): TurnEvent[]
}

/** Starts the record of one turn. */
export function startScribe(wire: WireId, reading: Reading): Scribe {
  let fault: Fault | undefined
  let tainted: string | undefined
  let end: { reason: FinishReason; raw: string } | undefined
  const runs: Run[] = []
  const emitter = createPartEmitter(wire, reading)
  const calls = startCalls(emitter)
  const fail = (next: Fault): void => void (fault ??= next)

  function stop(why?: Fault): TurnEvent[] {
    if (why) fail(why)
    const natural = endedWell(end?.reason) && !fault && tainted === undefined
    const failed = fault !== undefined
    const hadCalls = calls.count > 0
    for (const run of runs) if (run.kind === 'text') run.end({ natural, native: hadCalls, failed })
    // What was written as a call in the text and in the reasoning was only drafted in the reasoning.
    const hasCalls = calls.count > 0
    for (const run of runs) if (run.kind === 'reasoning') run.end({ natural, native: hasCalls, failed })
    calls.end(end !== undefined)
    emitter.emit({ type: 'finish', ...finish() })
    return emitter.take()
  }

  function finish(): Finish {
    const raw = end && end.raw !== '' ? { raw: end.raw } : {}
    // A server that could not read the model's call says so as an error; it is the model that must try again (T73).
    if (fault) return { reason: fault.written === undefined ? 'fault' : 'malformed-call', ...raw, fault }
    if (tainted !== undefined) return { reason: 'fault', ...raw, fault: { kind: 'decode', message: tainted } }
    if (!end) return { reason: 'fault', fault: BROKE_OFF }
    if (!endedWell(end.reason)) return { reason: end.reason, ...raw }
    const placeholder = runs.some((run) => run.kind === 'text' && PLACEHOLDERS.has(run.text.trim()))
    if (placeholder && calls.count === 0) return { reason: 'fault', ...raw, fault: DEGRADED }
    if (calls.unnamed) return { reason: 'malformed-call', ...raw }
    // Arguments that stop in the middle were cut, whatever the vendor says (T38).
    if (calls.unfinished) return { reason: 'length', ...raw }
    return { reason: calls.count > 0 ? 'calls' : 'stop', ...raw }
  }

  return {
    ...emitter,
    calls,
    run(kind, index, refusal) {
      const run = startRun(emitter, calls, { kind, index: index ?? emitter.reserve(), ...(refusal && { refusal }) })
      runs.push(run)
      return run
    },
    add(part) {
      const index = emitter.reserve()
      emitter.emit({ type: 'part-open', index, kind: part.kind })
      emitter.emit({ type: 'part-close', index, part })
    },
    usage: (usage) => emitter.emit({ type: 'usage', usage }),
    taint(message) {
      emitter.warn('tainted', message)
      // What comes after the end signal was not needed.
      if (!end) tainted ??= message
    },
    fail,
    ended(reason, raw) {
      end = { reason: !end || (endedWell(end.reason) && !endedWell(reason)) ? reason : end.reason, raw }
    },
    get over() {
      return end !== undefined
    },
    get failed() {
      return fault !== undefined
    },
    stop,
  }
}

function endedWell(reason: FinishReason | undefined): boolean {
  return reason === 'stop' || reason === 'calls'
}

const BROKE_OFF: Fault = { kind: 'transport', message: 'The answer ended without an end signal.' }

const DEGRADED: Fault = { kind: 'server', message: 'The endpoint answered with a placeholder instead of an answer.' }

/** Whole answers that gateways give instead of an error (T58). */
const PLACEHOLDERS = new Set(['(request timeout)', '(no response)', '(empty response)', '[request timeout]'])
