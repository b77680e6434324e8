import type { TurnEvent } from '../model/event.ts'
import type { Fault } from '../model/fault.ts'
import type { Json } from '../model/json.ts'
import type { AssistantPart, Finish, FinishReason, Native, WireId } from '../model/turn.ts'
import type { Usage } from '../model/usage.ts'
import type { Projection } from '../schema/project.ts'
import { type CallAssembler, startCalls } from './calls.ts'
import { declare } from './declare.ts'
import { type Run, startRun } from './run.ts'
import type { Reading } from './wire.ts'

/**
 * Writes down one turn while its frames come in. A wire says what a frame means in the words of this interface; what all
 * wires have in common is here: numbering parts, sealing native data, ending exactly once, and never running a call of
 * an answer that did not end well.
 */
export interface Scribe {
  readonly reading: Reading
  readonly projection: Projection
  readonly calls: CallAssembler
  /** The events since the last time. */
  take(): TurnEvent[]
  emit(event: TurnEvent): void
  warn(code: string, message: string): void
  /** The index of the next part. */
  reserve(): number
  /** Starts a run of text or reasoning, with an index of its own. */
  run(kind: Run['kind'], index?: number, refusal?: boolean): Run
  /** Adds a part that is whole from the start. */
  add(part: AssistantPart): void
  /** Seals vendor data for this wire and signer. */
  seal(id: string | undefined, data?: Json): Native
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
  let events: TurnEvent[] = []
  let parts = 0
  let fault: Fault | undefined
  let tainted: string | undefined
  let end: { reason: FinishReason; raw: string } | undefined
  const runs: Run[] = []
  const projection = declare(reading.tools, reading.profile)

  const scribe: Scribe = {
    reading,
    projection,
    calls: undefined as unknown as CallAssembler,
    take() {
      const taken = events
      events = []
      return taken
    },
    emit: (event) => void events.push(event),
    warn: (code, message) => void events.push({ type: 'warn', warning: { code, message } }),
    reserve: () => parts++,
    run(kind, index, refusal) {
      const run = startRun(scribe, kind, index ?? parts++, refusal)
      runs.push(run)
      return run
    },
    add(part) {
      const index = parts++
      events.push({ type: 'part-open', index, kind: part.kind })
      events.push({ type: 'part-close', index, part })
    },
    seal: (id, data) => ({
      wire,
      signer: reading.profile.signer,
      ...(id !== undefined && id !== '' && { id }),
      ...(data !== undefined && { data }),
    }),
    usage: (usage) => void events.push({ type: 'usage', usage }),
    taint(message) {
      scribe.warn('tainted', message)
      // What comes after the end signal was not needed.
      if (!end) tainted ??= message
    },
    fail: (next) => void (fault ??= next),
    ended(reason, raw) {
      end = { reason: !end || (endedWell(end.reason) && !endedWell(reason)) ? reason : end.reason, raw }
    },
    get over() {
      return end !== undefined
    },
    get failed() {
      return fault !== undefined
    },
    stop(why) {
      if (why) scribe.fail(why)
      const native = scribe.calls.count > 0
      const natural = endedWell(end?.reason) && !fault && tainted === undefined
      for (const run of runs) if (run.kind === 'text') run.end({ natural, native })
      // What was written as a call in the text and in the reasoning was only drafted in the reasoning.
      const made = scribe.calls.count > 0
      for (const run of runs) if (run.kind === 'reasoning') run.end({ natural, native: made })
      scribe.calls.end(end !== undefined)
      scribe.emit({ type: 'finish', ...finish() })
      return scribe.take()
    },
  }
  Object.assign(scribe, { calls: startCalls(scribe) })

  function finish(): Finish {
    const raw = end && end.raw !== '' ? { raw: end.raw } : {}
    // A server that could not read the model's call says so as an error; it is the model that must try again (T73).
    if (fault) return { reason: fault.written === undefined ? 'fault' : 'malformed-call', ...raw, fault }
    if (tainted !== undefined) return { reason: 'fault', ...raw, fault: { kind: 'decode', message: tainted } }
    if (!end) return { reason: 'fault', fault: BROKE_OFF }
    if (!endedWell(end.reason)) return { reason: end.reason, ...raw }
    const placeholder = runs.some((run) => run.kind === 'text' && PLACEHOLDERS.has(run.text.trim()))
    if (placeholder && scribe.calls.count === 0) return { reason: 'fault', ...raw, fault: DEGRADED }
    if (scribe.calls.unnamed) return { reason: 'malformed-call', ...raw }
    // Arguments that stop in the middle were cut, whatever the vendor says (T38).
    if (scribe.calls.unfinished) return { reason: 'length', ...raw }
    return { reason: scribe.calls.count > 0 ? 'calls' : 'stop', ...raw }
  }
  return scribe
}

function endedWell(reason: FinishReason | undefined): boolean {
  return reason === 'stop' || reason === 'calls'
}

const BROKE_OFF: Fault = { kind: 'transport', message: 'The answer ended without an end signal.' }

const DEGRADED: Fault = { kind: 'server', message: 'The endpoint answered with a placeholder instead of an answer.' }

/** Whole answers that gateways give instead of an error (T58). */
const PLACEHOLDERS = new Set(['(request timeout)', '(no response)', '(empty response)', '[request timeout]'])
