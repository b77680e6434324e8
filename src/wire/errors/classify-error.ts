import type { Fault, FaultKind } from '../../model/fault.ts'
import { isObject } from '../../model/json.ts'
import { isContextOverflow } from './context-overflow.ts'
import { parseRequestedWait, parseRetryAfter } from './retry-after.ts'
import type { ParsedError } from './parse-error.ts'
import { defined } from '../../model/defined.ts'

export { parseRetryAfter } from './retry-after.ts'
export { type ParsedError, parseError } from './parse-error.ts'

interface ErrorContext {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Says which kind of trouble an error is, by its words first and its status second (T158). */
export function classifyError(error: ParsedError, context: ErrorContext = {}): Fault {
  const http = context.status !== undefined && context.status >= 300 ? context.status : undefined
  // A gateway that answers 200 or 500 often names the true status inside.
  const status = error.status ?? http ?? findStatusByLabel(error.type) ?? findStatusByLabel(error.code)
  const kind = chooseFaultKind(error, status, context.headers ?? {})
  const wait = chooseRetryDelay(kind, error, context.headers)
  const code = error.code ?? error.type
  const reportedStatus = http ?? status
  const isUnexplained = error.message.trim() === ''
  return {
    kind,
    message: isUnexplained ? `The server answered ${reportedStatus ?? 'with an error'}.` : error.message,
    ...(isUnexplained && { isUnexplained }),
    ...defined({ retryAfter: wait, status: reportedStatus, code, param: error.param, written: error.written }),
  }
}

function chooseFaultKind(
  error: ParsedError,
  status: number | undefined,
  headers: Readonly<Record<string, string>>,
): FaultKind {
  const labels = [error.code, error.type, ...listGoogleReasons(error.details)].join(' ')
  // Long messages quote the request, which may talk about anything.
  const searchText = `${labels} ${error.message.slice(0, 600)}`
  // Where the request itself is wrong, a message that talks of limits means other ones than ours.
  const limits = status === 400 || status === 404 || status === 422 ? labels : searchText
  if (error.written !== undefined || /tool_use_failed/.test(searchText)) return 'invalid'
  if (isContextOverflow(error, status)) return 'overflow'
  if (status === 401 || AUTH_PHRASE.test(searchText)) return 'auth'
  if (status === 402 || HARD_QUOTA_PHRASE.test(searchText)) return 'quota'
  if (status === 451 || POLICY_PHRASE.test(searchText)) return 'policy'
  if (OVERLOADED_PHRASE.test(limits)) return 'server'
  if (SOFT_QUOTA_PHRASE.test(limits)) {
    // "Quota" is also said of limits that are full again in a moment; a long wait is as good as none (T131).
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

/** The counters of a limit say nothing about an error that is not about limits. */
function chooseRetryDelay(kind: FaultKind, error: ParsedError, headers: ErrorContext['headers']): number | undefined {
  if (kind === 'rate' || kind === 'quota') return parseRetryAfter(error, headers)
  return kind === 'server' ? parseRequestedWait(error, headers) : undefined
}

/** The fixed words in Google's error details: reasons and the names of quotas. */
function listGoogleReasons(details: unknown): string[] {
  if (!Array.isArray(details)) return []
  const searchText: string[] = []
  for (const item of details) {
    if (!isObject(item)) continue
    if (typeof item['reason'] === 'string') searchText.push(item['reason'])
    for (const violation of Array.isArray(item['violations']) ? item['violations'] : []) {
      if (isObject(violation) && typeof violation['quotaId'] === 'string') searchText.push(violation['quotaId'])
    }
  }
  return searchText
}

function findStatusByLabel(word: string | undefined): number | undefined {
  return word === undefined ? undefined : STATUS_BY_LABEL.get(word.toLowerCase())
}

const LONG_WAIT_MS = 5 * 60_000
/** Besides 5xx: timeouts, conflicts, a client that was said to have gone, and capacity at Groq. */
const RETRYABLE_STATUSES = new Set([408, 409, 425, 498, 499])

const AUTH_PHRASE =
  /api[ _]?key (?:is |was )?(?:not valid|invalid|missing|required|expired|not found)|(?:invalid|incorrect|missing|no|wrong)[ _](?:x-)?api[ _-]?key|api_key_invalid|authentication_error|authentication fails|unauthenticated|invalid (?:bearer|access|authentication|auth) token|credentials_missing|access_token_(?:expired|type_unsupported)|invalid_grant|login fail/i
const CREDENTIALS_PHRASE =
  /\b(?:key|token|credentials?|permission|permission_denied|authori[sz]\w*|forbidden|billing)\b/i
const MODEL_ACCESS_PHRASE = /\b(?:model|endpoint|feature|not allowed|not supported)\b/i
/** Money is out, or the day's share: waiting a while does not help. */
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

/** llama.cpp says 500 of requests that can never work. */
const INVALID_REQUEST_PHRASE =
  /(?:image|audio|video) input is not supported|requires --jinja|failed to parse (?:tools|messages|grammar)|cannot use both/i

/** Statuses for errors that come inside a 200 and say only a word. */
const STATUS_BY_LABEL = new Map<string, number>([
  ...Object.entries({
    invalid_request_error: 400,
    authentication_error: 401,
    billing_error: 402,
    permission_error: 403,
    not_found_error: 404,
    model_not_found: 404,
    timeout_error: 504,
    request_too_large: 413,
    rate_limit_error: 429,
    rate_limit_exceeded: 429,
    insufficient_quota: 429,
    api_error: 500,
    server_error: 500,
    internal_server_error: 500,
    overloaded_error: 529,
    server_is_overloaded: 503,
  }),
  ...Object.entries({
    invalid_argument: 400,
    failed_precondition: 400,
    out_of_range: 400,
    unauthenticated: 401,
    permission_denied: 403,
    not_found: 404,
    aborted: 409,
    resource_exhausted: 429,
    cancelled: 499,
    internal: 500,
    unknown: 500,
    unimplemented: 501,
    unavailable: 503,
    deadline_exceeded: 504,
  }),
])
