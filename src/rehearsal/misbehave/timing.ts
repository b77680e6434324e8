import type { Delivery, Item } from '../deliver.ts'
import type { Misbehaviour, Place } from '../misbehaviour.ts'
import { locate } from './place.ts'

/** What goes wrong on the way: bytes that stop, wait or come one by one. */
export function alterDelivery(delivery: Delivery, one: Misbehaviour): Delivery {
  const { items } = delivery
  switch (one.kind) {
    case 'cut':
      return hungUp(delivery, cut(items, one.at ?? 'arguments'), one.how ?? 'close')
    case 'stall':
      return { ...delivery, items: insert(items, one.at ?? 'first-event', { wait: one.ms ?? Infinity }) }
    case 'drip': {
      // White space means nothing in JSON, as comments mean nothing among events.
      const sign = /event-stream/.test(delivery.headers['content-type'] ?? '') ? ': keep-alive\n\n' : '\n'
      const drip = { drip: Buffer.from(sign), every: one.every ?? 1000, for: one.ms ?? Infinity }
      // What comes besides is not in the length that was promised.
      const { 'content-length': _length, ...headers } = delivery.headers
      return { ...delivery, headers, items: insert(items, one.at ?? 'first-event', drip) }
    }
    case 'trickle':
      return { ...delivery, items: items.flatMap((item) => trickle(item, one.bytes ?? 1, one.every ?? 0)) }
    case 'content-type':
      return { ...delivery, headers: { ...delivery.headers, 'content-type': one.value } }
    default:
      return delivery
  }
}

/** Who ends in good order has not promised more. */
function hungUp(delivery: Delivery, items: Item[], end: Delivery['end']): Delivery {
  const { 'content-length': _length, ...headers } = delivery.headers
  return { ...delivery, items, end, headers: end === 'end' ? headers : delivery.headers }
}

function cut(items: readonly Item[], at: Place): Item[] {
  const { place, of } = find(items, at)
  const kept = items.slice(0, place)
  const next = items[place]
  if (of === undefined || !next || !('bytes' in next)) return kept
  const length = of === 'half' ? Math.ceil(next.bytes.length / 2) : next.bytes.length - 1
  return [...kept, { ...next, bytes: next.bytes.subarray(0, length) }]
}

function insert(items: readonly Item[], at: Place, pause: Item): Item[] {
  const { place, of } = find(items, at)
  const next = items[place]
  if (of === undefined || !next || !('bytes' in next)) return [...items.slice(0, place), pause, ...items.slice(place)]
  const length = of === 'half' ? Math.ceil(next.bytes.length / 2) : next.bytes.length - 1
  const [first, second] = [next.bytes.subarray(0, length), next.bytes.subarray(length)]
  const halves = [{ ...next, bytes: first }, pause, { ...next, bytes: second }]
  return [...items.slice(0, place), ...halves, ...items.slice(place + 1)]
}

/** A place among the items; pauses that are there already do not count as events. A whole body is one event, cut in its middle. */
function find(items: readonly Item[], at: Place): { place: number; of?: 'half' | 'all-but-one' } {
  const events = items.flatMap((item, place) => ('bytes' in item ? [{ place, spot: item.spot }] : []))
  if (events.length === 1 && at !== 'start') return { place: events[0]?.place ?? 0, of: 'half' }
  const { index, of } = locate(
    events.map(({ spot }) => spot),
    at,
  )
  return { place: events[index]?.place ?? items.length, ...(of && { of }) }
}

function trickle(item: Item, size: number, every: number): Item[] {
  if (!('bytes' in item)) return [item]
  const pieces: Item[] = []
  for (let at = 0; at < item.bytes.length; at += size) {
    pieces.push({ ...item, bytes: item.bytes.subarray(at, at + size) }, { wait: every })
  }
  return pieces
}
