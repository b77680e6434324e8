import { isObject, type JsonObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import { stringify } from '../../wire/verbatim.ts'
import { type Answer, callsOf } from '../answer.ts'
import { type Delivery, jsonDelivery, plainDelivery } from '../deliver.ts'
import type { Hint, Misbehaviour, Of } from '../misbehaviour.ts'
import type { Performance } from '../performance.ts'
import { wholeBody } from '../write-answer.ts'
import { writeCall } from './written-call.ts'

/** What a server answers in place of the answer; undefined where this is no such misbehaviour. */
export function instead(one: Misbehaviour, answer: Answer, performance: Performance): Delivery | undefined {
  switch (one.kind) {
    case 'status':
      return refused(one, performance)
    case 'html':
      return plainDelivery(one.status ?? 200, 'text/html; charset=utf-8', PAGE)
    case 'half-json': {
      const body = stringify(wholeBody(answer, performance.wire, performance.request))
      return plainDelivery(200, 'application/json', body.slice(0, Math.ceil(body.length / 2)))
    }
    case 'redirect':
      return plainDelivery(one.status ?? 307, 'text/plain', 'Moved.', { location: one.location ?? ELSEWHERE })
    case 'rejected-call':
      return jsonDelivery(400, rejectedCall(answer))
    default:
      return undefined
  }
}

function refused(one: Of<'status'>, { wire, arrayed }: Performance): Delivery {
  const hint = one.hint ?? (one.status === 429 ? (isGoogle(wire.id) ? 'details' : 'seconds') : 'none')
  const wait = one.wait ?? 1000
  const prose = hint === 'prose' ? ` Please try again in ${wait / 1000}s.` : ''
  const message = (one.message ?? MESSAGES.get(one.status) ?? `The server answers ${one.status}.`) + prose
  const headers = hintHeaders(hint, wait, wire.id)
  if (one.body === 'html') return plainDelivery(one.status, 'text/html; charset=utf-8', PAGE, headers)
  if (one.body === 'text') return plainDelivery(one.status, 'text/plain', message, headers)
  if (one.body === 'empty') return plainDelivery(one.status, 'text/plain', '', headers)
  const body = wire.response.error({ status: one.status, message, ...(one.code !== undefined && { code: one.code }) })
  const full = hint === 'details' ? withDetails(body, wait, isGoogle(wire.id)) : body
  return jsonDelivery(one.status, arrayed ? [full] : full, headers)
}

function isGoogle(wire: WireId): boolean {
  return wire === 'gemini' || wire === 'code-assist'
}

/** The forms in which servers ask to wait, as far as they are headers (T157). */
function hintHeaders(hint: Hint, wait: number, wire: WireId): Delivery['headers'] {
  if (hint === 'seconds') return { 'retry-after': String(wait / 1000) }
  if (hint === 'milliseconds') return { 'retry-after-ms': String(wait) }
  if (hint === 'date') return { 'retry-after': new Date(Date.now() + wait).toUTCString() }
  if (hint === 'past') return { 'retry-after': new Date(Date.now() - 60_000).toUTCString() }
  if (hint !== 'reset') return {}
  if (wire !== 'anthropic')
    return { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': `${wait / 1000}s` }
  return {
    'anthropic-ratelimit-requests-remaining': '0',
    'anthropic-ratelimit-requests-reset': new Date(Date.now() + wait).toISOString(),
  }
}

function withDetails(body: JsonObject, wait: number, google: boolean): JsonObject {
  const error = isObject(body['error']) ? body['error'] : {}
  const details = Array.isArray(error['details']) ? error['details'] : []
  const info = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${wait / 1000}s` }
  return { ...body, error: google ? { ...error, details: [...details, info] } : { ...error, retry_after: wait / 1000 } }
}

/** A server that could not read the model's call refuses the request for it (T73). */
function rejectedCall(answer: Answer): JsonObject {
  const [call] = callsOf(answer)
  return {
    error: {
      message: "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
      type: 'invalid_request_error',
      code: 'tool_use_failed',
      failed_generation: call ? writeCall('hermes', call.name, call.raw) : '',
    },
  }
}

const ELSEWHERE = 'https://rehearsal.invalid/'

const PAGE =
  '<!doctype html>\n<html><head><title>Sign in to this network</title></head>\n<body><h1>Sign in to this network</h1></body></html>\n'

const MESSAGES: ReadonlyMap<number, string> = new Map([
  [400, 'The request is invalid.'],
  [401, 'Incorrect API key provided.'],
  [402, 'Insufficient credits.'],
  [403, 'The key has no permission for this.'],
  [404, 'There is no such model.'],
  [408, 'The request took too long.'],
  [409, 'The request conflicts with another.'],
  [413, 'The request is too large.'],
  [422, 'The request cannot be processed.'],
  [429, 'Rate limit reached.'],
  [451, 'Unavailable for legal reasons.'],
  [500, 'The server had an error while processing your request.'],
  [502, 'Bad gateway.'],
  [503, 'The service is temporarily unavailable.'],
  [504, 'The gateway timed out.'],
  [529, 'Overloaded'],
])
