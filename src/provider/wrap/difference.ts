import { canonical, isObject, stringOf } from '../../model/json.ts'
import type { Cassette } from './record.ts'

/** The first place where two requests differ, and what stands there in each. */
export interface Difference {
  /** `system`, `tools`, `turn 3`, or the name of a field or a header. */
  readonly place: string
  readonly recorded: string
  readonly now: string
}

type Sent = Cassette['request']

/** Where two requests differ: in the order in which a vendor's cache reads them, system, tools, turns; undefined if nowhere. */
export function firstDifference(recorded: Sent, now: Sent): Difference | undefined {
  if (recorded.body !== now.body) {
    const difference = bodies(parsed(recorded.body), parsed(now.body))
    // The same fields in another order are other bytes, and another prefix for a cache.
    return difference ?? differing('order of the fields', recorded.body, now.body)
  }
  if (recorded.method !== now.method) return differing('method', recorded.method, now.method)
  if (recorded.url !== now.url) return differing('url', recorded.url, now.url)
  const names = [...new Set([...Object.keys(recorded.headers), ...Object.keys(now.headers)])]
  const name = names.find((one) => !OF_ITS_TIME.test(one) && recorded.headers[one] !== now.headers[one])
  return name === undefined ? undefined : differing(`header ${name}`, recorded.headers[name], now.headers[name])
}

/** Headers that say when and by whom a request was sent, and not what it is. */
const OF_ITS_TIME =
  /^(?:user-agent|content-length|authorization|x-api-key|x-goog-api-key|x-goog-user-project|x-gemini-api-privileged-user-id)$/

function bodies(recorded: unknown, now: unknown): Difference | undefined {
  if (!isObject(recorded) || !isObject(now)) return differing('body', recorded, now)
  const [a, b] = [sections(recorded), sections(now)]
  const sorted = [...new Set([...a.keys(), ...b.keys()])].toSorted((one, other) => rank(one) - rank(other))
  const place = sorted.find((one) => canonical(a.get(one)) !== canonical(b.get(one)))
  return place === undefined ? undefined : differing(place, a.get(place), b.get(place))
}

/** The parts of a body by the names that a person knows, on any wire. */
function sections(body: Record<string, unknown>): Map<string, unknown> {
  const found = new Map<string, unknown>()
  const inner = isObject(body['request']) ? body['request'] : {}
  let turns = 0
  for (const [key, value] of [...Object.entries(body), ...Object.entries(inner)]) {
    if (value === inner) continue
    if (/^(?:system|systemInstruction|instructions)$/.test(key)) found.set('system', value)
    else if (key === 'tools') found.set('tools', value)
    else if (/^(?:messages|contents|input)$/.test(key) && Array.isArray(value)) {
      for (const message of value as unknown[]) {
        const role = isObject(message) ? stringOf(message['role']) : ''
        if (turns === 0 && /^(?:system|developer)$/.test(role)) found.set('system', message)
        else found.set(`turn ${++turns}`, message)
      }
    } else found.set(key, value)
  }
  return found
}

function rank(place: string): number {
  if (place === 'system') return 0
  if (place === 'tools') return 1
  return place.startsWith('turn ') ? 2 + Number(place.slice(5)) : Infinity
}

/** How much of each side is shown, from a little before the first letter that differs. */
const SHOWN = 160

function differing(place: string, recorded: unknown, now: unknown): Difference {
  const [a, b] = [written(recorded), written(now)]
  let same = 0
  while (same < a.length && a[same] === b[same]) same++
  const from = Math.max(0, same - 40)
  const shown = (text: string): string =>
    `${from > 0 ? '…' : ''}${text.slice(from, from + SHOWN)}${text.length > from + SHOWN ? '…' : ''}`
  return { place, recorded: shown(a), now: shown(b) }
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? 'nothing' : JSON.stringify(value)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
