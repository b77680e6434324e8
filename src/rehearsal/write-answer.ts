import type { TurnEvent } from '../model/event.ts'
import { isObject, type Json, type JsonObject } from '../model/json.ts'
import type { AssistantPart, AssistantTurn, Finish, Native, WireId } from '../model/turn.ts'
import type { ResponseFrame, ResponseHead } from '../wire/response.ts'
import { verbatim } from '../wire/verbatim.ts'
import type { Wire } from '../wire/wire.ts'
import { type Answer, type AnswerCall, type AnswerPart, callsOf, cutUp } from './answer.ts'
import { sign } from './marks.ts'

/** What an event of a stream is about, so that things can go wrong in the right place. */
export type Spot = 'open' | 'thinking' | 'text' | 'call' | 'arguments' | 'call-end' | 'end' | 'done'

/** One event of a stream, and what it is about. */
export interface Frame extends ResponseFrame {
  readonly spot: Spot
  /** Which call of the answer it is about. */
  readonly call?: number
}

/** Writes an answer as the events of a stream. */
export function streamFrames(answer: Answer, wire: Wire, request: JsonObject): Frame[] {
  const stream = wire.response.stream(headOf(answer, request))
  const frames: Frame[] = []
  const begun = new Set<number>()
  let calls = 0
  const write = (spot: Spot, event: TurnEvent, call?: number): void => {
    for (const frame of stream.write(event)) {
      const isFirst = call !== undefined && !begun.has(call)
      if (call !== undefined) begun.add(call)
      frames.push({
        ...frame,
        spot: frame.isTrailer ? 'done' : isFirst ? 'call' : spot,
        ...(call !== undefined && { call }),
      })
    }
  }
  write('open', { type: 'usage', usage: answer.usage })
  write('open', { type: 'open' })
  for (const [index, one] of answer.parts.entries()) {
    const part = partOf(one, answer, wire.id)
    const call = one.kind === 'call' ? calls++ : undefined
    const [spot, end]: [Spot, Spot] =
      one.kind === 'call' ? ['arguments', 'call-end'] : [SPOTS[one.kind], SPOTS[one.kind]]
    write(spot, { type: 'part-open', index, ...(part.kind === 'call' ? part : { kind: part.kind }) }, call)
    for (const text of cutUp(one.kind === 'call' ? one.raw : one.text, answer.pieces))
      write(spot, { type: 'part-delta', index, text }, call)
    write(end, { type: 'part-close', index, part }, call)
  }
  write('end', { type: 'finish', ...finishOf(answer) })
  return alterWritten(frames, answer, wire.id)
}

const SPOTS = { text: 'text', reasoning: 'thinking' } as const

/** Writes an answer as one body. */
export function wholeBody(answer: Answer, wire: Wire, request: JsonObject): JsonObject {
  const turn: AssistantTurn = {
    role: 'assistant',
    origin: { provider: 'rehearsal', wire: wire.id, model: answer.model },
    parts: answer.parts.map((part) => partOf(part, answer, wire.id)),
    finish: finishOf(answer),
    usage: answer.usage,
  }
  const body = wire.response.whole(turn, headOf(answer, request))
  const frame = alterWritten([{ data: body, spot: 'end', call: 0 }], answer, wire.id)[0]
  return (frame?.data ?? body) as JsonObject
}

/** The arguments as JSON, or as the text that they are where they are not JSON. */
export function parsed(raw: string): Json {
  try {
    return JSON.parse(raw) as Json
  } catch {
    return raw
  }
}

function headOf({ id, model, created }: Answer, request: JsonObject): ResponseHead {
  return { id, model, created, request }
}

function finishOf(answer: Answer): Finish {
  const raw = typeof answer.word === 'string' ? { raw: answer.word } : {}
  if (answer.finish !== 'malformed-call') return { reason: answer.finish, ...raw }
  // What a model writes that falls out of its own format.
  const message = `Malformed function call: print(default_api.${answer.id.replace(/_.*/, '')}(`
  return { reason: answer.finish, ...raw, fault: { kind: 'decode', message } }
}

function partOf(part: AnswerPart, answer: Answer, wire: WireId): AssistantPart {
  const data = signatureOf(part, answer, wire)
  const native: { native?: Native } = data ? { native: { wire, signer: 'rehearsal', data } } : {}
  if (part.kind !== 'call') return { ...part, ...native }
  const { id = ABSENT, name, raw } = part
  const flaw = part.cut && answer.finish === 'length' ? { flaw: { code: 'unfinished', message: '' } as const } : {}
  return { kind: 'call', id, name, raw, ...flaw, ...native }
}

/** The vendor data with which a part is signed; Gemini signs only the first call of an answer. */
function signatureOf(part: AnswerPart, answer: Answer, wire: WireId): JsonObject | undefined {
  if (part.kind === 'text') return undefined
  if (part.kind === 'call')
    return callsOf(answer)[0] === part ? { thoughtSignature: sign([part.name, parsed(part.raw)]) } : undefined
  // Each wire takes what is its own.
  return wire === 'gemini' || wire === 'code-assist'
    ? undefined
    : { signature: sign(part.text), encrypted_content: sign(part.text) }
}

/** Marks an id that is not to be sent. */
const ABSENT = '\u0001absent'

/** What no codec writes: calls without ids, arguments as objects where they should be text, an end that is not named. */
function alterWritten(frames: readonly Frame[], answer: Answer, wire: WireId): Frame[] {
  const calls = callsOf(answer)
  let altered = calls.some((call) => call.asObject) ? frames.flatMap((one) => withObjects(one, calls, wire)) : frames
  if (calls.some(({ id }) => id === undefined))
    altered = altered.map((frame) => ({ ...frame, data: without(frame.data, (value) => isAbsent(value)) }))
  if (answer.word === null)
    altered = altered.map((frame) => ({ ...frame, data: without(frame.data, (_value, key) => FINISH_KEYS.has(key)) }))
  return [...altered]
}

function isAbsent(value: unknown): boolean {
  return typeof value === 'string' && value.endsWith(ABSENT)
}

const FINISH_KEYS = new Set(['finish_reason', 'stop_reason', 'finishReason', 'status'])

function without(data: Json, isUnwanted: (value: unknown, key: string) => boolean): Json {
  if (Array.isArray(data)) return data.map((one) => without(one, isUnwanted))
  if (!isObject(data)) return data
  const kept = Object.entries(data).filter(([key, value]) => !isUnwanted(value, key))
  return Object.fromEntries(kept.map(([key, value]) => [key, without(value, isUnwanted)]))
}

/** Arguments go as an object with the start of their call, and no pieces of them follow. */
function withObjects(frame: Frame, calls: readonly AnswerCall[], wire: WireId): Frame[] {
  const data = isObject(frame.data) ? frame.data : {}
  if (frame.spot === 'arguments' || data['type'] === 'response.function_call_arguments.done') return []
  const isStart = frame.spot === 'call'
  let at = isStart || frame.spot === 'call-end' ? (frame.call ?? 0) : 0
  const replace = (value: Json, key: string): Json => {
    const isArguments = wire === 'anthropic' ? key === 'input' : key === 'arguments'
    if (isArguments && !(wire === 'openai-responses' && isStart)) return verbatim(calls[at++]?.raw ?? '')
    if (Array.isArray(value)) return value.map((one) => replace(one, ''))
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replace(one, name)]))
      : value
  }
  const isAboutCalls = isStart || frame.spot === 'call-end' || frame.spot === 'end'
  return [isAboutCalls ? { ...frame, data: replace(frame.data, '') } : frame]
}
