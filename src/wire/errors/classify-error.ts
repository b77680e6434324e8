import type { Fault, FaultKind } from '../../model/fault.ts'
import { filterObjects } from '../../model/json.ts'
import { isContextOverflow } from './context-overflow.ts'
import { type HeaderMap, parseRequestedWait, parseRetryAfter } from './retry-after.ts'
import type { ParsedVendorError } from './parse-error.ts'
import { defined } from '../../model/defined.ts'

interface ErrorContext {
  readonly status?: number | undefined
  readonly headers?: HeaderMap | undefined
}

/** Decides the kind of an error by its message first, and by its status second (T158). */
export function classifyVendorError(error: ParsedVendorError, context: ErrorContext = {}): Fault {
  const http = context.status !== undefined && context.status >= 300 ? context.status : undefined
  // A gateway that responds with 200 or 500 often gives the real status in the body.
  const status = error.status ?? http ?? findStatusByLabel(error.type) ?? findStatusByLabel(error.code)
  const kind = chooseFaultKind(error, status, context.headers ?? {})
  const wait = chooseRetryDelay(kind, error, context.headers)
  const code = error.code ?? error.type
  const reportedStatus = http ?? status
  const isUnexplained = error.message.trim() === ''
  return {
    kind,
    message: isUnexplained ? `The server responded with ${reportedStatus ?? 'an error'}.` : error.message,
    ...(isUnexplained && { isUnexplained }),
    ...defined({
      retryAfter: wait,
      shouldRetry: readShouldRetry(context.headers),
      status: reportedStatus,
      code,
      param: error.param,
      written: error.written,
    }),
  }
}

function chooseFaultKind(error: ParsedVendorError, status: number | undefined, headers: HeaderMap): FaultKind {
  const labels = [error.code, error.type, ...listGoogleReasons(error.details)].join(' ')
  // Long messages quote the request, which may contain anything.
  const searchText = `${labels} ${error.message.slice(0, 600)}`
  // If the request itself is invalid, a message about limits does not mean rate limits.
  const limits = status === 400 || status === 404 || status === 422 ? labels : searchText
  if (error.written !== undefined || /tool_use_failed/.test(searchText)) return 'invalid'
  if (isContextOverflow(error, status)) return 'overflow'
  if (status === 401 || AUTH_PHRASE.test(searchText)) return 'auth'
  if (status === 402 || HARD_QUOTA_PHRASE.test(searchText)) return 'quota'
  if (status === 451 || POLICY_PHRASE.test(searchText)) return 'policy'
  if (OVERLOADED_PHRASE.test(limits)) return 'server'
  if (SOFT_QUOTA_PHRASE.test(limits)) {
    // "Quota" may also mean a limit that resets soon; a long wait is treated as a used-up quota (T131).
    const wait = parseRequestedWait(error, headers)
    const isShort =
      wait === undefined ? RATE_LIMIT_PHRASE.test(limits) && !LONG_TERM_PHRASE.test(limits) : wait <= LONG_WAIT_MS
    return isShort ? 'rate' : 'quota'
  }
  if (status === 429 || RATE_LIMIT_PHRASE.test(limits)) return 'rate'
  if (status === 403)
    return MODEL_ACCESS_PHRASE.test(searchText) && !CREDENTIALS_PHRASE.test(searchText) ? 'invalid' : 'auth'
  if (INVALID_REQUEST_PHRASE.test(searchText)) return 'invalid'
  if (status === undefined || (status >= 500 && status !== 501) || RETRYABLE_STATUSES.has(status)) return 'server'
  return 'invalid'
}

/** Anthropic and OpenAI say it in a header, which their own clients obey. */
function readShouldRetry(headers: HeaderMap = {}): boolean | undefined {
  const value = headers['x-should-retry']
  return value === 'true' ? true : value === 'false' ? false : undefined
}

/** Rate limit counters are sent with every response; they matter only for errors about limits. */
function chooseRetryDelay(
  kind: FaultKind,
  error: ParsedVendorError,
  headers: ErrorContext['headers'],
): number | undefined {
  if (kind === 'rate' || kind === 'quota') return parseRetryAfter(error, headers)
  return kind === 'server' ? parseRequestedWait(error, headers) : undefined
}

/** The identifiers in Google's error details: reasons and the names of quotas. */
function listGoogleReasons(details: unknown): string[] {
  const reasons = filterObjects(details).flatMap((item) => [
    item['reason'],
    ...filterObjects(item['violations']).map((violation) => violation['quotaId']),
  ])
  return reasons.filter((reason) => typeof reason === 'string')
}

function findStatusByLabel(label: string | undefined): number | undefined {
  return label === undefined ? undefined : STATUS_BY_LABEL.get(label.toLowerCase())
}

const LONG_WAIT_MS = 5 * 60_000
/** Besides 5xx: timeouts, conflicts, client closed request, and Groq's 498 (no capacity). */
const RETRYABLE_STATUSES = new Set([408, 409, 425, 498, 499])

const AUTH_PHRASE =
  /api[ _]?key (?:is |was )?(?:not valid|invalid|missing|required|expired|not found)|(?:invalid|incorrect|missing|no|wrong)[ _](?:x-)?api[ _-]?key|api_key_invalid|authentication_error|authentication fails|unauthenticated|invalid (?:bearer|access|authentication|auth) token|credentials_missing|access_token_(?:expired|type_unsupported)|invalid_grant|login fail/i
const CREDENTIALS_PHRASE =
  /\b(?:key|token|credentials?|permission|permission_denied|authori[sz]\w*|forbidden|billing)\b/i
const MODEL_ACCESS_PHRASE = /\b(?:model|endpoint|feature|not allowed|not supported)\b/i
/** No credit left, or the daily quota is used up: waiting a while does not help. */
const HARD_QUOTA_PHRASE =
  /insufficient[_ ]quota|exceeded_current_quota|insufficient[_ ](?:balance|credits?|funds)|credit balance|(?:out of|used all available|not enough|requires more|no) credits|spending limit|billing_(?:error|hard_limit|not_active)|payment required|usage_limit_reached|usage_not_included|arrearage|PerDay(?:Per|$|[^a-z])/i
const LONG_TERM_PHRASE = /per[ _-]?day|\b[TR]PD\b|daily|monthly/i
const SOFT_QUOTA_PHRASE = new RegExp(`quota|billing|${LONG_TERM_PHRASE.source}`, 'i')
const POLICY_PHRASE =
  /content[_ ]?(?:filter|policy|management)|responsible_?ai|usage (?:polic|guideline)|safety (?:system|check|filter)|violat\w+ .{0,60}(?:polic|terms|guideline)|moderation|\bflagged (?:as|by|for)|data_?inspection|prohibited_content|sensitive (?:content|words|information)|unsupported_country|location is not supported|not (?:available|supported) in your (?:country|region)/i
const OVERLOADED_PHRASE =
  /overloaded|model_capacity_exhausted|capacity_exceeded|no capacity|at capacity|slow_down|temporarily unavailable/i
const RATE_LIMIT_PHRASE =
  /rate.?limit|too many (?:requests|tokens)|throttl|resource (?:has been )?exhausted|per[ _-]?(?:second|minute|min)|\b[TR]PM\b/i

/** llama.cpp responds with 500 to requests that can never work. */
const INVALID_REQUEST_PHRASE =
  /(?:image|audio|video) input is not supported|requires --jinja|failed to parse (?:tools|messages|grammar)|cannot use both/i

/** The statuses of errors inside a 200 response that have only a label. */
const STATUS_BY_LABEL: ReadonlyMap<string, number> = new Map(
  Object.entries({
    400: 'invalid_request_error invalid_request parameter_unknown invalid_argument failed_precondition out_of_range',
    401: 'authentication_error authentication unauthenticated',
    402: 'billing_error payment_required',
    403: 'permission_error permission_denied',
    404: 'not_found_error model_not_found not_found',
    409: 'aborted',
    413: 'request_too_large',
    429: 'rate_limit_error rate_limit_exceeded quota_exceeded too_many_requests insufficient_quota resource_exhausted',
    499: 'cancelled',
    500: 'api_error server_error internal_server_error internal unknown',
    501: 'unimplemented',
    503: 'server_is_overloaded service_unavailable unavailable',
    504: 'timeout_error deadline_exceeded',
    529: 'overloaded_error',
  }).flatMap(([status, labels]) => labels.split(' ').map((label) => [label, Number(status)] as const)),
)
