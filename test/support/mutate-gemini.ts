import type { Json, JsonObject } from '../../src/model/json.ts'
import { codeAssist } from '../../src/wire/code-assist/wire.ts'
import { gemini } from '../../src/wire/gemini/wire.ts'
import { commonMutations } from './mutate-common.ts'
import { geminiMutations } from './mutate-gemini-parts.ts'
import type { Plan, PlannedCall } from './mutate-plan.ts'
import { cutText, type Random } from './mutate-random.ts'
import {
  cleanStream,
  event,
  type Kit,
  type Mutation,
  type Role,
  type Shapes,
  type Stream,
  under,
  type WireEvent,
} from './mutate-stream.ts'

/** How one server writes its frames. */
interface Habits {
  readonly ids: boolean
  /** Arguments come as values with paths (Vertex). */
  readonly pieces: boolean
  readonly oneFrame: boolean
  readonly usageEverywhere: boolean
}

function make(plan: Plan, random: Random): Stream {
  const twins = new Set(plan.calls.map((call) => JSON.stringify([call.name, call.input]))).size < plan.calls.length
  const habits: Habits = {
    // Without ids, the same call twice in a row could not be told from a frame that was sent twice.
    ids: twins || random.chance(0.6),
    pieces: random.chance(0.2) && plan.calls.every(inPieces),
    oneFrame: random.chance(0.3),
    usageEverywhere: random.chance(0.3),
  }
  const events: WireEvent[] = plan.thoughts.map((text) => frame('text', [{ text, thought: true }], { group: 'think' }))
  const listedCalls: JsonObject[] = []
  for (const [at, text] of plan.texts.entries()) {
    for (const piece of text === '' ? [] : cutText(random, text, 2))
      events.push(frame('text', [{ text: piece }], { group: 'text' }))
    const call = plan.calls[at]
    if (!call) continue
    if (habits.pieces) events.push(...callInPieces(call, at, habits, random))
    else if (habits.oneFrame) listedCalls.push(part(call, at, habits, random))
    else events.push(frame('open', [part(call, at, habits, random)], { calls: [at], group: `call ${at}` }))
  }
  if (listedCalls.length > 0) events.push(frame('open', listedCalls, { calls: plan.calls.map((_call, at) => at) }))
  finish(events, habits, random)
  return cleanStream(plan, events, random.chance(0.2) ? 'array' : 'sse')
}

/** The end comes with the last frame, or in one of its own. */
function finish(events: WireEvent[], habits: Habits, random: Random): void {
  const last = events.at(-1)
  const usage = { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 }
  if (!last || random.chance(0.6)) events.push(frame('end', random.pick([[], [{ text: '' }]])))
  const end = events.at(-1)
  if (!end) return
  under(end.data, 'candidates', 0)['finishReason'] = 'STOP'
  end.end = true
  delete end.group
  for (const one of events) if (one === end || habits.usageEverywhere) under(one.data)['usageMetadata'] = { ...usage }
}

function part(call: PlannedCall, at: number, habits: Habits, random: Random): JsonObject {
  const bare = Object.keys(call.input).length === 0 && random.chance(0.5)
  const signed = at === 0 && random.chance(0.5) ? { thoughtSignature: 'c2lnbmVk' } : {}
  const id = habits.ids ? { id: call.id } : {}
  return { functionCall: { ...id, name: call.name, ...(bare ? {} : { args: call.input }) }, ...signed }
}

/** Can these arguments come as values with paths: no empty list or object, whose path nothing would name? */
function inPieces(call: PlannedCall): boolean {
  return Object.values(call.input).every((value) => typeof value !== 'object' || value === null)
}

function callInPieces(call: PlannedCall, at: number, habits: Habits, random: Random): WireEvent[] {
  const id = habits.ids ? { id: call.id } : {}
  // Servers forget the last frame, so the next call ends this one (T128): their pieces cannot be mixed, and where they
  // break off, only the tool can know that some are missing.
  const more = { calls: [at], group: 'calls', joint: true }
  const values = Object.entries(call.input).flatMap(([key, value]) => valuePieces(`$.${key}`, value, random))
  return [
    frame('open', [{ functionCall: { ...id, name: call.name, willContinue: true } }], more),
    ...values.map((piece) =>
      frame('args', [{ functionCall: { ...id, partialArgs: [piece], willContinue: true } }], more),
    ),
    frame('close', [{ functionCall: { ...id } }], { ...more, joint: false }),
  ]
}

function valuePieces(jsonPath: string, value: Json, random: Random): JsonObject[] {
  if (typeof value === 'number') return [{ jsonPath, numberValue: value }]
  if (typeof value === 'boolean') return [{ jsonPath, boolValue: value }]
  if (typeof value !== 'string') return [{ jsonPath, nullValue: 'NULL_VALUE' }]
  const pieces = cutText(random, value, 3)
  return pieces.map((stringValue, at) => ({
    jsonPath,
    stringValue,
    ...(at < pieces.length - 1 && { willContinue: true }),
  }))
}

function frame(role: Role, parts: JsonObject[], more: Partial<WireEvent> = {}): WireEvent {
  const candidates = [{ index: 0, content: { role: 'model', parts } }]
  return event(role, { candidates, modelVersion: 'm', responseId: 'r1' }, more)
}

const shapes: Shapes = {
  roles: ['close'],
  ordered: true,
  text: (_stream, random) => frame('text', [{ text: random.pick(['Well, ', '{"a":']) }], { group: 'stray' }),
  noise: (_stream, random) =>
    random.pick([
      () => frame('noise', []),
      () => frame('noise', [{ text: '' }]),
      () => frame('noise', [{ functionCall: {} }]),
      () => event('noise', { candidates: [], usageMetadata: { promptTokenCount: 3 } }),
      () => event('noise', { candidates: [{ index: 0 }] }),
      () => event('noise', { somethingNew: true }),
    ])(),
  error: (random) =>
    random.pick([
      () => event('damage', { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }),
      () => event('damage', { candidates: [{ index: 0, finishReason: 'MALFORMED_FUNCTION_CALL' }] }),
      () => event('damage', { candidates: [{ index: 0, finishReason: 'OTHER' }] }),
      () => event('damage', { promptFeedback: { blockReason: 'SAFETY' } }),
    ])(),
  lie() {
    const end = frame('end', [], { end: true })
    under(end.data, 'candidates', 0)['finishReason'] = 'STOP'
    return [end]
  },
}

/** The frames of Gemini are whole calls, so that a repeat is found by the id, or by standing beside the first. */
const common = commonMutations(shapes)
  .filter(({ kind, name }) => !(kind === 'repeat' && ['whole-call', 'open-event'].includes(name)))
  // What comes between the pieces of a call ends it (T128).
  .map((one): Mutation => (['text-between', 'noise'].includes(one.name) ? { ...one, keeps: 'all' } : one))

/** Gemini. */
export const geminiKit: Kit = { wire: gemini, make, mutations: [...common, ...geminiMutations] }

/** Gemini in Code Assist's envelope: it is put on last, so that the mutations need not know of it. */
export const codeAssistKit: Kit = {
  wire: codeAssist,
  make,
  mutations: geminiKit.mutations,
  wrap: (data) => ({ response: data, traceId: 't1' }),
}
