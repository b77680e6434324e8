import type { JsonObject } from '../model/json.ts'
import type { ResponseError } from './response.ts'

/** The body of an OpenAI error. */
export function openaiError({ status, message, code }: ResponseError): JsonObject {
  const [type, usual] = ERRORS.get(status) ?? (status >= 500 ? ['server_error', null] : ['invalid_request_error', null])
  return { error: { message, type, param: null, code: code ?? usual } }
}

const ERRORS: ReadonlyMap<number, readonly [type: string, code: string | null]> = new Map([
  [401, ['invalid_request_error', 'invalid_api_key']],
  [403, ['permission_error', null]],
  [404, ['invalid_request_error', 'model_not_found']],
  [408, ['timeout_error', null]],
  [429, ['requests', 'rate_limit_exceeded']],
  [503, ['server_error', 'service_unavailable']],
  [529, ['server_error', 'server_is_overloaded']],
])
