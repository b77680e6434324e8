import { isObject } from '../model/json.ts'
import type { ErrorSighting } from './sighting.ts'

type Headers = Readonly<Record<string, string>>

/**
 * Every form of a retry hint, in milliseconds (T157); undefined if there is none. Points in time are measured against
 * the response's own `date` header. Nothing is capped: whoever waits must decide what is too long.
 */
export function retryAfter(error: ErrorSighting, headers: Headers = {}): number | undefined {
  return askedWait(error, headers) ?? resetWait({ ...headers, ...passedOn(error, headers) })
}

/** Only the hints that ask us to wait, without the counters that some vendors send with every answer. */
export function askedWait(error: ErrorSighting, headers: Headers = {}): number | undefined {
  return (
    fromHeaders(headers) ??
    fromHeaders(passedOn(error, headers)) ??
    fromDetails(error.details, headers) ??
    fromProse(error.message)
  )
}

function fromHeaders(headers: Headers): number | undefined {
  return milliseconds(number(headers['retry-after-ms'])) ?? moment(headers['retry-after'], headers)
}

/** When the limits are full again: of those that are used up the last, or of all if none says so. */
function resetWait(headers: Headers): number | undefined {
  const waits: number[] = []
  const usedUp: number[] = []
  for (const [name, value] of Object.entries(headers)) {
    if (!RESET.test(name)) continue
    const wait = moment(value, headers)
    if (wait === undefined) continue
    waits.push(wait)
    if (number(headers[name.replace('reset', 'remaining')]) === 0) usedUp.push(wait)
  }
  const relevant = usedUp.length > 0 ? usedUp : waits
  return relevant.length === 0 ? undefined : Math.max(...relevant)
}

/** The headers of an upstream that a gateway put into the body. */
function passedOn(error: ErrorSighting, headers: Headers): Headers {
  const inner = isObject(error.details) ? error.details['headers'] : undefined
  if (!isObject(inner)) return {}
  const named = Object.entries(inner)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([name, value]) => [name.toLowerCase(), String(value)])
  return { date: headers['date'] ?? '', ...Object.fromEntries(named) }
}

/** Google's RetryInfo and quota metadata, and plain fields of other vendors. */
function fromDetails(details: unknown, headers: Headers): number | undefined {
  const items: readonly unknown[] = Array.isArray(details) ? details : [details]
  for (const item of items) {
    if (!isObject(item)) continue
    const metadata = isObject(item['metadata']) ? item['metadata'] : {}
    const wait =
      duration(item['retryDelay']) ??
      duration(metadata['quotaResetDelay']) ??
      milliseconds(number(item['retry_after_ms'])) ??
      seconds(item['retry_after'] ?? item['retryAfter'] ?? item['retry_after_seconds'] ?? item['resets_in_seconds']) ??
      moment(item['resets_at'], headers)
    if (wait !== undefined) return wait
  }
  return undefined
}

function fromProse(message: string): number | undefined {
  return duration(PROSE.exec(message.slice(0, 4000))?.[1])
}

/** A number of seconds, a duration, or a point in time. */
function moment(value: unknown, headers: Headers): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const plain = number(value)
  if (plain !== undefined && plain < EPOCH_SECONDS) return seconds(plain)
  const instant = plain === undefined ? undefined : plain < EPOCH_MILLISECONDS ? plain * 1000 : plain
  const span = instant === undefined ? duration(value) : undefined
  return span ?? untilMoment(instant ?? date(String(value)), headers)
}

function untilMoment(instant: number | undefined, headers: Headers): number | undefined {
  const now = date(headers['date'] ?? '')
  return instant === undefined || now === undefined ? undefined : milliseconds(instant - now)
}

/** Dates without a zone are Greenwich's, not those of this machine. */
function date(value: string): number | undefined {
  if (!/\d{4}/.test(value)) return undefined
  const zoned = /(?:GMT|UTC|Z|[+-]\d\d:?\d\d)\s*$/i.test(value)
    ? value
    : `${value.trim()}${value.includes('T') ? 'Z' : ' GMT'}`
  const instant = Date.parse(zoned)
  return Number.isNaN(instant) ? undefined : instant
}

/** `17s`, `2m59.56s`, `850 ms`, `1 hour 5 minutes`, or `{seconds, nanos}`. */
function duration(value: unknown): number | undefined {
  if (isObject(value)) return seconds(value['seconds'])
  if (typeof value !== 'string' || !WHOLE_DURATION.test(value)) return undefined
  let sum = 0
  for (const [, amount, unit] of value.matchAll(SPAN)) sum += Number(amount) * unitLength(unit ?? '')
  return milliseconds(sum)
}

function unitLength(unit: string): number {
  if (/^(?:ms|milli)/i.test(unit)) return 1
  const letter = unit.charAt(0).toLowerCase()
  return letter === 's' ? 1000 : letter === 'm' ? 60_000 : letter === 'h' ? 3_600_000 : 86_400_000
}

function seconds(value: unknown): number | undefined {
  const plain = number(value)
  return plain === undefined ? undefined : milliseconds(plain * 1000)
}

/** What lies in the past is over now. */
function milliseconds(value: number | undefined): number | undefined {
  return value === undefined || !Number.isFinite(value) ? undefined : Math.max(0, Math.round(value))
}

function number(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return typeof value === 'string' && /^\s*-?\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : undefined
}

const EPOCH_SECONDS = 1e9
const EPOCH_MILLISECONDS = 1e11
const RESET = /ratelimit.*reset|reset-after-seconds$/
const UNIT = 'ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?'
const PIECE = `\\d+(?:\\.\\d+)?\\s*(?:${UNIT})(?![a-z])`
const SPAN = new RegExp(`(\\d+(?:\\.\\d+)?)\\s*(${UNIT})(?![a-z])`, 'gi')
const WHOLE_DURATION = new RegExp(`^\\s*${PIECE}(?:(?:\\s|,|and)*${PIECE})*\\s*$`, 'i')
const PROSE = new RegExp(
  `(?:try again|retry|retrying|resets?|wait|available again)[^\\d\\n]{0,40}(${PIECE}(?:(?:\\s|,|and)*${PIECE})*)`,
  'i',
)
