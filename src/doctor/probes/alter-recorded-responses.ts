import { isObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import type { Frame } from '../../wire/framing/frame.ts'
import type { ProbeExchange } from '../probe-exchange.ts'
import { inspectFrames, parseTraceFrames } from '../inspect/inspect-frames.ts'
import type { FixedResponse } from '../probe-runner.ts'

export function getRecordedFrames(exchange: ProbeExchange): Frame[] {
  const trace = exchange.traces.at(-1)
  return trace ? parseTraceFrames(trace).filter(({ kind }) => kind !== 'comment') : []
}

/** Encodes frames as a response again, in chunks of `size` bytes. */
export function encodeResponse(exchange: ProbeExchange, frames: readonly Frame[], size = Infinity): FixedResponse {
  const wholeFrame = frames.length === 1 && !exchange.stream ? frames[0] : undefined
  const text = wholeFrame ? encodePayload(wholeFrame) : frames.map(encodeSseEvent).join('')
  const bytes = new TextEncoder().encode(text)
  const chunks: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size))
  return { status: 200, headers: { 'content-type': wholeFrame ? 'application/json' : 'text/event-stream' }, chunks }
}

export function errorResponse(status: number, body: unknown, headers: FixedResponse['headers'] = {}): FixedResponse {
  const chunks = [new TextEncoder().encode(JSON.stringify(body))]
  return { status, headers: { 'content-type': 'application/json', ...headers }, chunks }
}

/** The frames before the first one with a finish reason; half of them if there is none. */
export function takeFramesBeforeEnd(frames: readonly Frame[], wire: WireId): Frame[] {
  const end = frames.findIndex(
    (frame) => frame.kind === 'done' || inspectFrames(wire, [frame]).finishReasons.length > 0,
  )
  return frames.slice(0, end < 0 ? Math.ceil(frames.length / 2) : end)
}

/** The same frames with the finish reason of a content filter. */
export function simulateContentFilter(frames: readonly Frame[]): Frame[] {
  return editFrames(frames, (key, value, parent) => {
    if (key === 'finish_reason' && typeof value === 'string') return 'content_filter'
    if (key === 'stop_reason' && typeof value === 'string') return 'refusal'
    if (key === 'finishReason') return 'SAFETY'
    if (isObject(value) && (key === 'interaction' || value['object'] === 'interaction'))
      return value['status'] === 'in_progress' ? value : { ...value, status: 'failed', errors: [BLOCKED_ERROR] }
    if (value === 'response.completed') return 'response.incomplete'
    if (parent['object'] !== 'response') return value
    if (key === 'status' && value === 'completed') return 'incomplete'
    return key === 'incomplete_details' && parent['status'] !== 'in_progress' ? { reason: 'content_filter' } : value
  })
}

const BLOCKED_ERROR = { code: 'safety', message: 'The response was blocked.' }

/** The same frames with malformed arguments; for Gemini, its own finish reason for them and no call. */
export function simulateMalformedCall(frames: readonly Frame[]): Frame[] {
  return editFrames(frames, (key, value, parent) => {
    if (key === 'parts' && Array.isArray(value))
      return value.filter((part) => !(isObject(part) && 'functionCall' in part))
    if (key === 'finishReason') return 'MALFORMED_FUNCTION_CALL'
    const text =
      key === 'arguments' || key === 'partial_json' || (key === 'delta' && /arguments/.test(String(parent['type'])))
    if ((key === 'input' || key === 'arguments') && isObject(value) && Object.keys(value).length > 0)
      return MALFORMED_ARGUMENTS
    return text && typeof value === 'string' ? MALFORMED_ARGUMENTS : value
  })
}

const MALFORMED_ARGUMENTS = '{city=?}'

export function insertUnknownEvent(frames: readonly Frame[]): Frame[] {
  const unknownEvent: Frame = { kind: 'json', value: { type: 'doctor.note', note: 'An unknown event.' } }
  return [...frames.slice(0, 1), unknownEvent, ...frames.slice(1)]
}

/** An error as each wire sends it in mid-stream. */
export function createErrorFrame(wire: WireId): Frame {
  return {
    kind: 'json',
    value: wire === 'openai-responses' ? RESPONSES_ERROR_EVENT : createErrorBody(wire, 'Overloaded', 'overloaded'),
  }
}

/** The body of an error in each wire's own shape. */
export function createErrorBody(wire: WireId, message: string, errorKind: keyof typeof ERROR_FIELDS): unknown {
  const { status, chat, anthropic, google, interactions } = ERROR_FIELDS[errorKind]
  if (wire === 'interactions') return { error: { message, code: interactions }, event_type: 'error' }
  if (wire === 'anthropic') return { type: 'error', error: { type: anthropic, message } }
  if (wire === 'gemini' || wire === 'code-assist') return { error: { code: status, message, status: google } }
  return { error: { message, type: 'error', param: null, code: chat } }
}

const ERROR_FIELDS = {
  overloaded: {
    status: 503,
    chat: 'server_is_overloaded',
    anthropic: 'overloaded_error',
    google: 'UNAVAILABLE',
    interactions: 'service_unavailable',
  },
  rate: {
    status: 429,
    chat: 'rate_limit_exceeded',
    anthropic: 'rate_limit_error',
    google: 'RESOURCE_EXHAUSTED',
    interactions: 'rate_limit_exceeded',
  },
  overflow: {
    status: 400,
    chat: 'context_length_exceeded',
    anthropic: 'invalid_request_error',
    google: 'INVALID_ARGUMENT',
    interactions: 'invalid_request',
  },
} as const

const RESPONSES_ERROR_EVENT = { type: 'error', code: 'server_is_overloaded', message: 'Overloaded', param: null }

type FieldEdit = (key: string, value: unknown, parent: Record<string, unknown>) => unknown

function editFrames(frames: readonly Frame[], edit: FieldEdit): Frame[] {
  return frames.map((frame) => {
    if (frame.kind !== 'json') return frame
    const text = JSON.stringify(frame.value, function (this: Record<string, unknown>, key, value: unknown) {
      return edit(key, value, this)
    })
    return { ...frame, value: JSON.parse(text) as unknown }
  })
}

function encodeSseEvent(frame: Frame): string {
  if (frame.kind === 'done') return 'data: [DONE]\n\n'
  const name =
    frame.kind === 'json' && isObject(frame.value) && frame.event !== undefined
      ? (frame.value['type'] ?? frame.value['event_type'])
      : undefined
  return `${typeof name === 'string' ? `event: ${name}\n` : ''}data: ${encodePayload(frame)}\n\n`
}

function encodePayload(frame: Frame): string {
  return frame.kind === 'json' ? JSON.stringify(frame.value) : frame.kind === 'bad' ? frame.text : ''
}
