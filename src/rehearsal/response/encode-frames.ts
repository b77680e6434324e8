import type { TurnEvent } from '../../model/event.ts'
import { isObject, tryParseJson, type Json, type JsonObject } from '../../model/json.ts'
import type { AssistantPart, AssistantTurn, Finish, NativeData, WireId } from '../../model/turn.ts'
import type { WrittenResponseFrame, ResponseMetadata } from '../../wire/response-writer.ts'
import { markAsRawJson } from '../../wire/json/raw-json.ts'
import type { Wire } from '../../wire/wire.ts'
import {
  type ScriptedResponse,
  type ScriptedResponseCall,
  type ScriptedResponsePart,
  getResponseCalls,
  splitText,
} from './scripted-response.ts'
import { isGoogleWire } from '../is-google-wire.ts'
import { signContent } from './signatures.ts'
import { defined } from '../../model/defined.ts'

/** The part of a response that an event belongs to, so that a misbehaviour finds its position. */
export type StreamSection = 'open' | 'thinking' | 'text' | 'call' | 'arguments' | 'call-end' | 'end' | 'done'

export interface ScriptedFrame extends WrittenResponseFrame {
  readonly section: StreamSection
  /** The call of the response that it belongs to. */
  readonly callIndex?: number
}

export function encodeStreamFrames(response: ScriptedResponse, wire: Wire, request: JsonObject): ScriptedFrame[] {
  const stream = wire.responseWriter.startStream(toResponseHead(response, request))
  const frames: ScriptedFrame[] = []
  const startedCalls = new Set<number>()
  let calls = 0
  const write = (section: StreamSection, event: TurnEvent, call?: number): void => {
    for (const frame of stream.write(event)) {
      const isFirst = call !== undefined && !startedCalls.has(call)
      if (call !== undefined) startedCalls.add(call)
      const actualSection = frame.isTrailer ? 'done' : isFirst ? 'call' : section
      frames.push({ ...frame, section: actualSection, ...defined({ callIndex: call }) })
    }
  }
  write('open', { type: 'usage', usage: response.usage })
  write('open', { type: 'open' })
  for (const [index, one] of response.parts.entries()) {
    const part = toAssistantPart(one, response, wire.id)
    const call = one.kind === 'call' ? calls++ : undefined
    const [section, end]: [StreamSection, StreamSection] =
      one.kind === 'call' ? ['arguments', 'call-end'] : [SECTION_BY_PART_KIND[one.kind], SECTION_BY_PART_KIND[one.kind]]
    write(section, { type: 'part-open', index, ...(part.kind === 'call' ? part : { kind: part.kind }) }, call)
    for (const text of splitText(one.kind === 'call' ? one.raw : one.text, response.chunkCount))
      write(section, { type: 'part-delta', index, kind: part.kind, text }, call)
    write(end, { type: 'part-close', index, part }, call)
  }
  write('end', { type: 'finish', ...toFinish(response) })
  return applyRawChanges(frames, response, wire.id)
}

const SECTION_BY_PART_KIND = { text: 'text', reasoning: 'thinking' } as const

export function encodeWholeBody(response: ScriptedResponse, wire: Wire, request: JsonObject): JsonObject {
  const turn: AssistantTurn = {
    role: 'assistant',
    origin: { provider: 'rehearsal', wire: wire.id, model: response.model },
    parts: response.parts.map((part) => toAssistantPart(part, response, wire.id)),
    finish: toFinish(response),
    usage: response.usage,
  }
  const body = wire.responseWriter.writeWhole(turn, toResponseHead(response, request))
  const frame = applyRawChanges([{ data: body, section: 'end', callIndex: 0 }], response, wire.id)[0]
  return (frame?.data ?? body) as JsonObject
}

export function parseJsonOrText(raw: string): Json {
  const value = tryParseJson(raw)
  return value === undefined ? raw : (value as Json)
}

function toResponseHead({ id, model, created }: ScriptedResponse, request: JsonObject): ResponseMetadata {
  return { id, model, created, request }
}

function toFinish(response: ScriptedResponse): Finish {
  const raw = typeof response.finishReasonOverride === 'string' ? { raw: response.finishReasonOverride } : {}
  if (response.finish !== 'malformed-call') return { reason: response.finish, ...raw }
  // What a model writes that leaves its own format.
  const message = `Malformed function call: print(default_api.${response.id.replace(/_.*/, '')}(`
  return { reason: response.finish, ...raw, fault: { kind: 'decode', message } }
}

function toAssistantPart(part: ScriptedResponsePart, response: ScriptedResponse, wire: WireId): AssistantPart {
  const data = createSignatureData(part, response, wire)
  const native: { native?: NativeData } = data ? { native: { wire, signer: 'rehearsal', data } } : {}
  if (part.kind !== 'call') return { ...part, ...native }
  const { id = ABSENT_ID, name, raw } = part
  const flaw =
    part.isTruncated && response.finish === 'length' ? { flaw: { code: 'unfinished', message: '' } as const } : {}
  return { kind: 'call', id, name, raw, ...flaw, ...native }
}

/** The native data of a part; Gemini signs only the first call of a response. */
function createSignatureData(part: ScriptedResponsePart, response: ScriptedResponse, wire: WireId) {
  if (part.kind === 'call' && getResponseCalls(response)[0] === part)
    return { thoughtSignature: signContent([part.name, parseJsonOrText(part.raw)]) }
  if (part.kind !== 'reasoning' || isGoogleWire(wire)) return undefined
  // Each wire uses its own field.
  return { signature: signContent(part.text), encrypted_content: signContent(part.text) }
}

/** Marks an id that is not sent. */
const ABSENT_ID = '\u0001absent'

/** What no wire encodes: calls without ids, arguments as objects, no finish reason. */
function applyRawChanges(frames: readonly ScriptedFrame[], response: ScriptedResponse, wire: WireId): ScriptedFrame[] {
  const calls = getResponseCalls(response)
  let altered = calls.some((call) => call.sendsObject)
    ? frames.flatMap((one) => sendArgumentsAsObjects(one, calls, wire))
    : frames
  if (calls.some(({ id }) => id === undefined))
    altered = altered.map((frame) => ({ ...frame, data: omitDeep(frame.data, (value) => isAbsentId(value)) }))
  if (response.finishReasonOverride === null)
    altered = altered.map((frame) => ({ ...frame, data: omitDeep(frame.data, (_value, key) => FINISH_KEYS.has(key)) }))
  return [...altered]
}

function isAbsentId(value: unknown): boolean {
  return typeof value === 'string' && value.endsWith(ABSENT_ID)
}

const FINISH_KEYS = new Set(['finish_reason', 'stop_reason', 'finishReason', 'status'])

function omitDeep(data: Json, isUnwanted: (value: unknown, key: string) => boolean): Json {
  if (Array.isArray(data)) return data.map((one) => omitDeep(one, isUnwanted))
  if (!isObject(data)) return data
  const kept = Object.entries(data).filter(([key, value]) => !isUnwanted(value, key))
  return Object.fromEntries(kept.map(([key, value]) => [key, omitDeep(value, isUnwanted)]))
}

/** The arguments are an object at the start of the call, and no fragments follow. */
function sendArgumentsAsObjects(frame: ScriptedFrame, calls: ScriptedResponseCall[], wire: WireId): ScriptedFrame[] {
  const data = isObject(frame.data) ? frame.data : {}
  if (frame.section === 'arguments' || data['type'] === 'response.function_call_arguments.done') return []
  const isStart = frame.section === 'call'
  let at = isStart || frame.section === 'call-end' ? (frame.callIndex ?? 0) : 0
  const replace = (value: Json, key: string): Json => {
    const isArguments = wire === 'anthropic' ? key === 'input' : key === 'arguments'
    if (isArguments && !(wire === 'openai-responses' && isStart)) return markAsRawJson(calls[at++]?.raw ?? '')
    if (Array.isArray(value)) return value.map((one) => replace(one, ''))
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, replace(one, name)]))
      : value
  }
  const isAboutCalls = isStart || frame.section === 'call-end' || frame.section === 'end'
  return [isAboutCalls ? { ...frame, data: replace(frame.data, '') } : frame]
}
