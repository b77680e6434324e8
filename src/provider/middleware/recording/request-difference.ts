import { toCanonicalJson, isObject, stringOrEmpty, tryParseJson } from '../../../model/json.ts'
import type { RecordedExchange } from './record-exchanges.ts'

/** The first place where two requests differ, with an excerpt of each. */
export interface RequestDifference {
  /** `system`, `tools`, `turn 3`, or the name of a field or a header. */
  readonly place: string
  readonly recorded: string
  readonly now: string
}

type RecordedRequest = RecordedExchange['request']

/** Compares in the order in which a vendor's cache reads a request: system, tools, turns. */
export function findFirstDifference(recorded: RecordedRequest, now: RecordedRequest): RequestDifference | undefined {
  if (recorded.body !== now.body) {
    const difference = compareBodies(tryParseJson(recorded.body) ?? recorded.body, tryParseJson(now.body) ?? now.body)
    // Another order of the same fields is another prefix for a cache.
    return difference ?? createDifference('order of the fields', recorded.body, now.body)
  }
  if (recorded.method !== now.method) return createDifference('method', recorded.method, now.method)
  if (recorded.url !== now.url) return createDifference('url', recorded.url, now.url)
  const names = [...new Set([...Object.keys(recorded.headers), ...Object.keys(now.headers)])]
  const name = names.find((one) => !VOLATILE_HEADER.test(one) && recorded.headers[one] !== now.headers[one])
  return name === undefined ? undefined : createDifference(`header ${name}`, recorded.headers[name], now.headers[name])
}

/** Headers that say when and by whom a request was sent. */
const VOLATILE_HEADER =
  /^(?:user-agent|content-length|authorization|x-api-key|x-goog-api-key|x-goog-user-project|x-gemini-api-privileged-user-id)$/

function compareBodies(recorded: unknown, now: unknown): RequestDifference | undefined {
  if (!isObject(recorded) || !isObject(now)) return createDifference('body', recorded, now)
  const [a, b] = [splitSections(recorded), splitSections(now)]
  const ranks = new Map([...a, ...b].map(([place, { rank }]) => [place, rank]))
  const sorted = [...ranks].toSorted(([, one], [, other]) => one - other).map(([place]) => place)
  const place = sorted.find((one) => toCanonicalJson(a.get(one)?.value) !== toCanonicalJson(b.get(one)?.value))
  return place === undefined ? undefined : createDifference(place, a.get(place)?.value, b.get(place)?.value)
}

/** The parts of a body by names that a user knows, on any wire. Sections are compared in the order of their `rank`. */
function splitSections(body: Record<string, unknown>) {
  const found = new Map<string, { readonly rank: number; readonly value: unknown }>()
  const inner = isObject(body['request']) ? body['request'] : {}
  let turns = 0
  for (const [key, value] of [...Object.entries(body), ...Object.entries(inner)]) {
    if (value === inner) continue
    if (/^(?:system|systemInstruction|system_instruction|instructions)$/.test(key))
      found.set('system', { rank: 0, value })
    else if (key === 'tools') found.set('tools', { rank: 1, value })
    else if (/^(?:messages|contents|input)$/.test(key) && Array.isArray(value)) {
      for (const message of value as unknown[]) {
        const role = isObject(message) ? stringOrEmpty(message['role']) : ''
        if (turns === 0 && /^(?:system|developer)$/.test(role)) found.set('system', { rank: 0, value: message })
        else found.set(`turn ${++turns}`, { rank: 1 + turns, value: message })
      }
    } else found.set(key, { rank: Infinity, value })
  }
  return found
}

/** From shortly before the first difference. */
const MAX_SHOWN_CHARS = 160

function createDifference(section: string, recorded: unknown, now: unknown): RequestDifference {
  const [a, b] = [toText(recorded), toText(now)]
  let commonLength = 0
  while (commonLength < a.length && a[commonLength] === b[commonLength]) commonLength++
  const from = Math.max(0, commonLength - 40)
  const shown = (text: string): string =>
    `${from > 0 ? '…' : ''}${text.slice(from, from + MAX_SHOWN_CHARS)}${text.length > from + MAX_SHOWN_CHARS ? '…' : ''}`
  return { place: section, recorded: shown(a), now: shown(b) }
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? 'nothing' : JSON.stringify(value)
}
