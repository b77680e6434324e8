import type { JsonObject } from '../../model/json.ts'
import type { VendorErrorReport } from '../response-writer.ts'

export function createOpenaiErrorBody({ status, message, code }: VendorErrorReport): JsonObject {
  const [type, usual] =
    ERROR_LABELS_BY_STATUS.get(status) ?? (status >= 500 ? ['server_error', null] : ['invalid_request_error', null])
  return { error: { message, type, param: null, code: code ?? usual } }
}

const ERROR_LABELS_BY_STATUS: ReadonlyMap<number, readonly [type: string, code: string | null]> = new Map([
  [401, ['invalid_request_error', 'invalid_api_key']],
  [403, ['permission_error', null]],
  [404, ['invalid_request_error', 'model_not_found']],
  [408, ['timeout_error', null]],
  [429, ['requests', 'rate_limit_exceeded']],
  [503, ['server_error', 'service_unavailable']],
  [529, ['server_error', 'server_is_overloaded']],
])
