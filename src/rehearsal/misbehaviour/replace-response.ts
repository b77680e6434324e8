import { isObject, type JsonObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import { stringifyWithRawJson } from '../../wire/json/raw-json.ts'
import { type ScriptedResponse, type ScriptedResponseOptions, getResponseCalls } from '../response/scripted-response.ts'
import { type DeliveryPlan, planJsonResponse, planTextResponse } from '../response/send-response.ts'
import type { RetryHintFormat, MisbehaviourAt, MisbehaviourOfKind } from './misbehaviour.ts'
import { encodeWholeBody } from '../response/encode-frames.ts'
import { isGoogleWire } from '../is-google-wire.ts'
import { formatTextCall } from './format-text-call.ts'
import { defined } from '../../model/defined.ts'

export function planReplacement(
  misbehaviour: MisbehaviourAt<'replacement'>,
  response: ScriptedResponse,
  options: ScriptedResponseOptions,
): DeliveryPlan {
  switch (misbehaviour.kind) {
    case 'status':
      return planErrorStatus(misbehaviour, options)
    case 'html':
      return planTextResponse(misbehaviour.status ?? 200, 'text/html; charset=utf-8', SIGN_IN_PAGE)
    case 'half-json': {
      const body = stringifyWithRawJson(encodeWholeBody(response, options.wire, options.requestBody))
      return planTextResponse(200, 'application/json', body.slice(0, Math.ceil(body.length / 2)))
    }
    case 'redirect':
      return planTextResponse(misbehaviour.status ?? 307, 'text/plain', 'Moved.', {
        location: misbehaviour.location ?? REDIRECT_URL,
      })
    case 'rejected-call':
      return planJsonResponse(400, createRejectedCallError(response))
    default:
      return misbehaviour satisfies never
  }
}

function planErrorStatus(
  misbehaviour: MisbehaviourOfKind<'status'>,
  { wire, wrapsErrorsInArray }: ScriptedResponseOptions,
): DeliveryPlan {
  const { status, code, wait: waitMs = 1000 } = misbehaviour
  const isGoogle = isGoogleWire(wire.id)
  const hint = misbehaviour.hint ?? (status === 429 ? (isGoogle ? 'details' : 'seconds') : 'none')
  const prose = hint === 'prose' ? ` Please try again in ${waitMs / 1000}s.` : ''
  const message = (misbehaviour.message ?? STATUS_MESSAGES.get(status) ?? `The server answers ${status}.`) + prose
  const headers = createRetryHeaders(hint, waitMs, wire.id)
  if (misbehaviour.body === 'html') return planTextResponse(status, 'text/html; charset=utf-8', SIGN_IN_PAGE, headers)
  if (misbehaviour.body === 'text') return planTextResponse(status, 'text/plain', message, headers)
  if (misbehaviour.body === 'empty') return planTextResponse(status, 'text/plain', '', headers)
  const body = wire.responseWriter.writeError({ status, message, ...defined({ code }) })
  const full = hint === 'details' ? addRetryDetails(body, waitMs, isGoogle) : body
  return planJsonResponse(status, wrapsErrorsInArray ? [full] : full, headers)
}

/** Retry hints that are headers (T157). */
function createRetryHeaders(hint: RetryHintFormat, waitMs: number, wire: WireId): DeliveryPlan['headers'] {
  if (hint === 'seconds') return { 'retry-after': String(waitMs / 1000) }
  if (hint === 'milliseconds') return { 'retry-after-ms': String(waitMs) }
  if (hint === 'date') return { 'retry-after': new Date(Date.now() + waitMs).toUTCString() }
  if (hint === 'past') return { 'retry-after': new Date(Date.now() - 60_000).toUTCString() }
  if (hint !== 'reset') return {}
  if (wire !== 'anthropic')
    return { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': `${waitMs / 1000}s` }
  return {
    'anthropic-ratelimit-requests-remaining': '0',
    'anthropic-ratelimit-requests-reset': new Date(Date.now() + waitMs).toISOString(),
  }
}

function addRetryDetails(body: JsonObject, waitMs: number, isGoogle: boolean): JsonObject {
  const error = isObject(body['error']) ? body['error'] : {}
  const details = Array.isArray(error['details']) ? error['details'] : []
  const info = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${waitMs / 1000}s` }
  const hint = isGoogle ? { details: [...details, info] } : { retry_after: waitMs / 1000 }
  return { ...body, error: { ...error, ...hint } }
}

/** A server that cannot parse the model's call rejects the request (T73). */
function createRejectedCallError(response: ScriptedResponse): JsonObject {
  const [call] = getResponseCalls(response)
  return {
    error: {
      message: "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
      type: 'invalid_request_error',
      code: 'tool_use_failed',
      failed_generation: call ? formatTextCall('hermes', call.name, call.raw) : '',
    },
  }
}

const REDIRECT_URL = 'https://rehearsal.invalid/'

const SIGN_IN_PAGE =
  '<!doctype html>\n<html><head><title>Sign in to this network</title></head>\n<body><h1>Sign in to this network</h1></body></html>\n'

const STATUS_MESSAGES: ReadonlyMap<number, string> = new Map([
  [400, 'The request is invalid.'],
  [401, 'Incorrect API key provided.'],
  [402, 'Insufficient credits.'],
  [403, 'The API key has no permission for this.'],
  [404, 'Model not found.'],
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
