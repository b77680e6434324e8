import type { DeliveryPlan, DeliveryStep } from '../response/send-response.ts'
import type { MisbehaviourAt, StreamPosition } from './misbehaviour.ts'
import { resolveStreamPosition, type StreamCutPosition } from './stream-position.ts'

export function alterPlannedDelivery(plan: DeliveryPlan, misbehaviour: MisbehaviourAt<'delivery'>): DeliveryPlan {
  switch (misbehaviour.kind) {
    case 'cut':
      return endEarly(plan, misbehaviour.at ?? 'arguments', misbehaviour.how ?? 'close')
    case 'stall':
      return insertPause(plan, misbehaviour.at, { wait: misbehaviour.ms ?? Infinity })
    case 'drip': {
      // White space is ignored in JSON, as comments are in a stream of events.
      const keepAlive = /event-stream/.test(plan.headers['content-type'] ?? '') ? ': keep-alive\n\n' : '\n'
      const drip = { drip: Buffer.from(keepAlive), every: misbehaviour.every ?? 1000, for: misbehaviour.ms ?? Infinity }
      // The additional bytes are not in the announced length.
      const { 'content-length': _length, ...headers } = plan.headers
      return insertPause({ ...plan, headers }, misbehaviour.at, drip)
    }
    case 'trickle':
      return {
        ...plan,
        items: plan.items.flatMap((item) => splitIntoTrickle(item, misbehaviour.bytes ?? 1, misbehaviour.every ?? 0)),
      }
    case 'content-type':
      return { ...plan, headers: { ...plan.headers, 'content-type': misbehaviour.value } }
    default:
      return misbehaviour satisfies never
  }
}

/** A regular end must not announce more bytes than come. */
function endEarly(plan: DeliveryPlan, at: StreamPosition, ending: DeliveryPlan['ending']): DeliveryPlan {
  const { 'content-length': _length, ...headers } = plan.headers
  const [items] = splitItems(plan.items, at)
  return { ...plan, items, ending, headers: ending === 'end' ? headers : plan.headers }
}

/** What is sent before and after a position, which may be inside an item. */
function splitItems(items: readonly DeliveryStep[], at: StreamPosition): [DeliveryStep[], DeliveryStep[]] {
  const { index, portion } = findItemPosition(items, at)
  const before = items.slice(0, index)
  const next = items[index]
  if (portion === undefined || !next || !('bytes' in next)) return [before, items.slice(index)]
  const length = portion === 'half' ? Math.ceil(next.bytes.length / 2) : next.bytes.length - 1
  const rest = { ...next, bytes: next.bytes.subarray(length) }
  return [
    [...before, { ...next, bytes: next.bytes.subarray(0, length) }],
    [rest, ...items.slice(index + 1)],
  ]
}

function insertPause(plan: DeliveryPlan, at: StreamPosition = 'first-event', pause: DeliveryStep): DeliveryPlan {
  const [before, after] = splitItems(plan.items, at)
  return { ...plan, items: [...before, pause, ...after] }
}

/** A position among the items; pauses do not count. A whole body is one event, split in its middle. */
function findItemPosition(items: readonly DeliveryStep[], at: StreamPosition): StreamCutPosition {
  const events = items.flatMap((item, index) => ('bytes' in item ? [{ index, section: item.section }] : []))
  if (events.length === 1 && at !== 'start') return { index: events[0]?.index ?? 0, portion: 'half' }
  const position = resolveStreamPosition(events, at)
  return { ...position, index: events[position.index]?.index ?? items.length }
}

function splitIntoTrickle(item: DeliveryStep, size: number, every: number): DeliveryStep[] {
  if (!('bytes' in item)) return [item]
  const pieces: DeliveryStep[] = []
  for (let at = 0; at < item.bytes.length; at += size) {
    pieces.push({ ...item, bytes: item.bytes.subarray(at, at + size) }, { wait: every })
  }
  return pieces
}
