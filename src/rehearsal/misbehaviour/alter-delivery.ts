import type { ResponseDeliveryPlan, DeliveryStep } from '../response/send-response.ts'
import type { MisbehaviourAt, StreamPosition } from './misbehaviour.ts'
import { resolveStreamPosition } from './stream-position.ts'

export function alterPlannedDelivery(
  plan: ResponseDeliveryPlan,
  misbehaviour: MisbehaviourAt<'delivery'>,
): ResponseDeliveryPlan {
  const { items } = plan
  switch (misbehaviour.kind) {
    case 'cut':
      return endEarly(plan, truncateItems(items, misbehaviour.at ?? 'arguments'), misbehaviour.how ?? 'close')
    case 'stall':
      return {
        ...plan,
        items: insertPause(items, misbehaviour.at ?? 'first-event', { wait: misbehaviour.ms ?? Infinity }),
      }
    case 'drip': {
      // White space is ignored in JSON, as comments are in a stream of events.
      const keepAlive = /event-stream/.test(plan.headers['content-type'] ?? '') ? ': keep-alive\n\n' : '\n'
      const drip = { drip: Buffer.from(keepAlive), every: misbehaviour.every ?? 1000, for: misbehaviour.ms ?? Infinity }
      // The additional bytes are not in the announced length.
      const { 'content-length': _length, ...headers } = plan.headers
      return { ...plan, headers, items: insertPause(items, misbehaviour.at ?? 'first-event', drip) }
    }
    case 'trickle':
      return {
        ...plan,
        items: items.flatMap((item) => splitIntoTrickle(item, misbehaviour.bytes ?? 1, misbehaviour.every ?? 0)),
      }
    case 'content-type':
      return { ...plan, headers: { ...plan.headers, 'content-type': misbehaviour.value } }
    default:
      return misbehaviour satisfies never
  }
}

/** A regular end must not announce more bytes than come. */
function endEarly(
  plan: ResponseDeliveryPlan,
  items: DeliveryStep[],
  end: ResponseDeliveryPlan['ending'],
): ResponseDeliveryPlan {
  const { 'content-length': _length, ...headers } = plan.headers
  return { ...plan, items, ending: end, headers: end === 'end' ? headers : plan.headers }
}

function truncateItems(items: readonly DeliveryStep[], at: StreamPosition): DeliveryStep[] {
  const { itemIndex, portion } = findItemPosition(items, at)
  const itemsBefore = items.slice(0, itemIndex)
  const next = items[itemIndex]
  if (portion === undefined || !next || !('bytes' in next)) return itemsBefore
  const length = portion === 'half' ? Math.ceil(next.bytes.length / 2) : next.bytes.length - 1
  return [...itemsBefore, { ...next, bytes: next.bytes.subarray(0, length) }]
}

function insertPause(items: readonly DeliveryStep[], at: StreamPosition, pause: DeliveryStep): DeliveryStep[] {
  const { itemIndex, portion } = findItemPosition(items, at)
  const next = items[itemIndex]
  if (portion === undefined || !next || !('bytes' in next))
    return [...items.slice(0, itemIndex), pause, ...items.slice(itemIndex)]
  const length = portion === 'half' ? Math.ceil(next.bytes.length / 2) : next.bytes.length - 1
  const [first, second] = [next.bytes.subarray(0, length), next.bytes.subarray(length)]
  const halves = [{ ...next, bytes: first }, pause, { ...next, bytes: second }]
  return [...items.slice(0, itemIndex), ...halves, ...items.slice(itemIndex + 1)]
}

/** A position among the items; pauses do not count. A whole body is one event, split in its middle. */
function findItemPosition(
  items: readonly DeliveryStep[],
  at: StreamPosition,
): { itemIndex: number; portion?: 'half' | 'all-but-one' } {
  const events = items.flatMap((item, itemIndex) =>
    'bytes' in item ? [{ place: itemIndex, section: item.section }] : [],
  )
  if (events.length === 1 && at !== 'start') return { itemIndex: events[0]?.place ?? 0, portion: 'half' }
  const { index, portion } = resolveStreamPosition(
    events.map(({ section }) => section),
    at,
  )
  return { itemIndex: events[index]?.place ?? items.length, ...(portion && { portion }) }
}

function splitIntoTrickle(item: DeliveryStep, size: number, every: number): DeliveryStep[] {
  if (!('bytes' in item)) return [item]
  const pieces: DeliveryStep[] = []
  for (let at = 0; at < item.bytes.length; at += size) {
    pieces.push({ ...item, bytes: item.bytes.subarray(at, at + size) }, { wait: every })
  }
  return pieces
}
