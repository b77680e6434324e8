import { isObject } from '../../model/json.ts'
import type { ParsedVendorError } from './parse-error.ts'

export type HeaderMap = Readonly<Record<string, string>>

/** The retry hint of an error in milliseconds, without upper limit (T157). Dates are compared with the `date` header. */
export function parseRetryAfter(error: ParsedVendorError, headers: HeaderMap = {}): number | undefined {
  return parseRequestedWait(error, headers) ?? parseResetWait({ ...headers, ...getUpstreamHeaders(error, headers) })
}

/** Only explicit requests to wait, without the rate limit counters that some vendors send with every response. */
export function parseRequestedWait(error: ParsedVendorError, headers: HeaderMap = {}): number | undefined {
  return (
    parseHeaderWait(headers) ??
    parseHeaderWait(getUpstreamHeaders(error, headers)) ??
    parseDetailsWait(error.details, headers) ??
    parseMessageWait(error.message)
  )
}

function parseHeaderWait(headers: HeaderMap): number | undefined {
  return toMilliseconds(parseNumber(headers['retry-after-ms'])) ?? parseDelay(headers['retry-after'], headers)
}

/** When the last of the used-up limits resets; if none is marked as used up, the last of all limits. */
function parseResetWait(headers: HeaderMap): number | undefined {
  const waits: number[] = []
  const usedUp: number[] = []
  for (const [name, value] of Object.entries(headers)) {
    if (!RESET_HEADER.test(name)) continue
    const wait = parseDelay(value, headers)
    if (wait === undefined) continue
    waits.push(wait)
    if (parseNumber(headers[name.replace('reset', 'remaining')]) === 0) usedUp.push(wait)
  }
  const relevant = usedUp.length > 0 ? usedUp : waits
  return relevant.length === 0 ? undefined : Math.max(...relevant)
}

/** The headers of an upstream that a gateway put into the body. */
function getUpstreamHeaders(error: ParsedVendorError, headers: HeaderMap): HeaderMap {
  const inner = isObject(error.details) ? error.details['headers'] : undefined
  if (!isObject(inner)) return {}
  const named = Object.entries(inner)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([name, value]) => [name.toLowerCase(), String(value)])
  return { date: headers['date'] ?? '', ...Object.fromEntries(named) }
}

/** Google's RetryInfo and quota metadata, and plain fields of other vendors. */
function parseDetailsWait(details: unknown, headers: HeaderMap): number | undefined {
  const items: readonly unknown[] = Array.isArray(details) ? details : [details]
  for (const item of items) {
    if (!isObject(item)) continue
    const metadata = isObject(item['metadata']) ? item['metadata'] : {}
    const wait =
      parseDuration(item['retryDelay']) ??
      parseDuration(metadata['quotaResetDelay']) ??
      toMilliseconds(parseNumber(item['retry_after_ms'])) ??
      secondsToMs(
        item['retry_after'] ?? item['retryAfter'] ?? item['retry_after_seconds'] ?? item['resets_in_seconds'],
      ) ??
      parseDelay(item['resets_at'], headers)
    if (wait !== undefined) return wait
  }
  return undefined
}

function parseMessageWait(message: string): number | undefined {
  return parseDuration(WAIT_PHRASE.exec(message.slice(0, 4000))?.[1])
}

/** A number of seconds, a duration, or a point in time. */
function parseDelay(value: unknown, headers: HeaderMap): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const plain = parseNumber(value)
  if (plain !== undefined && plain < MIN_EPOCH_SECONDS) return secondsToMs(plain)
  const instant = plain === undefined ? undefined : plain < MIN_EPOCH_MS ? plain * 1000 : plain
  const span = instant === undefined ? parseDuration(value) : undefined
  return span ?? delayUntil(instant ?? parseDate(String(value)), headers)
}

function delayUntil(instant: number | undefined, headers: HeaderMap): number | undefined {
  const now = parseDate(headers['date'] ?? '')
  return instant === undefined || now === undefined ? undefined : toMilliseconds(instant - now)
}

/** Dates without a time zone are UTC. */
function parseDate(value: string): number | undefined {
  if (!/\d{4}/.test(value)) return undefined
  const zoned = /(?:GMT|UTC|Z|[+-]\d\d:?\d\d)\s*$/i.test(value)
    ? value
    : `${value.trim()}${value.includes('T') ? 'Z' : ' GMT'}`
  const instant = Date.parse(zoned)
  return Number.isNaN(instant) ? undefined : instant
}

/** `17s`, `2m59.56s`, `850 ms`, `1 hour 5 minutes`, or `{seconds, nanos}`. */
function parseDuration(value: unknown): number | undefined {
  if (isObject(value)) return secondsToMs(value['seconds'])
  if (typeof value !== 'string' || !WHOLE_DURATION.test(value)) return undefined
  let sum = 0
  for (const [, amount, unit] of value.matchAll(DURATION_PARTS)) sum += Number(amount) * getUnitMs(unit ?? '')
  return toMilliseconds(sum)
}

function getUnitMs(unit: string): number {
  if (/^(?:ms|milli)/i.test(unit)) return 1
  const letter = unit.charAt(0).toLowerCase()
  return letter === 's' ? 1000 : letter === 'm' ? 60_000 : letter === 'h' ? 3_600_000 : 86_400_000
}

function secondsToMs(value: unknown): number | undefined {
  const plain = parseNumber(value)
  return plain === undefined ? undefined : toMilliseconds(plain * 1000)
}

/** A time in the past is 0. */
function toMilliseconds(value: number | undefined): number | undefined {
  return value === undefined || !Number.isFinite(value) ? undefined : Math.max(0, Math.round(value))
}

function parseNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return typeof value === 'string' && /^\s*-?\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : undefined
}

const MIN_EPOCH_SECONDS = 1e9
const MIN_EPOCH_MS = 1e11
const RESET_HEADER = /ratelimit.*reset|reset-after-seconds$/
const UNIT = 'ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?'
const DURATION_PART = `\\d+(?:\\.\\d+)?\\s*(?:${UNIT})(?![a-z])`
const DURATION_PARTS = new RegExp(`(\\d+(?:\\.\\d+)?)\\s*(${UNIT})(?![a-z])`, 'gi')
const WHOLE_DURATION = new RegExp(`^\\s*${DURATION_PART}(?:(?:\\s|,|and)*${DURATION_PART})*\\s*$`, 'i')
const WAIT_PHRASE = new RegExp(
  `(?:try again|retry|retrying|resets?|wait|available again)[^\\d\\n]{0,40}(${DURATION_PART}(?:(?:\\s|,|and)*${DURATION_PART})*)`,
  'i',
)
