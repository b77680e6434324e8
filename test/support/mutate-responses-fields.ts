import type { JsonObject } from '../../src/model/json.ts'
import { isUnmarked } from './mutate-common.ts'
import { dropField, eachEvent, nullField } from './mutate-fields.ts'
import { letters, type Random } from './mutate-random.ts'
import {
  endAt,
  insertAt,
  listed,
  type Mutation,
  placesOf,
  type Role,
  type Stream,
  under,
  type WireEvent,
} from './mutate-stream.ts'

const isCall = (one: WireEvent) => one.calls.length > 0

/** What servers do to the fields of an event (T139–T143). */
export const responsesMutations: readonly Mutation[] = [
  { kind: 'drop', name: 'fragment', keeps: 'all', apply: dropFragment },
  { kind: 'reorder', name: 'fragments', keeps: 'all', apply: swapFragments },
  dropField(['output_index'], { gone: 'index' }),
  dropField(['item_id'], { gone: 'id' }),
  dropField(['item', 'id'], { gone: 'id' }),
  dropField(['item', 'call_id'], { gone: 'id' }),
  dropField(['item', 'status']),
  dropField(['item', 'arguments'], { keeps: 'names' }),
  dropField(['item', 'name'], { keeps: 'nothing' }),
  dropField(['type'], { on: (one) => one.name !== undefined }),
  eachEvent('drop', 'event-names', (one) => {
    if (one.name === undefined || !('type' in under(one.data))) return false
    delete one.name
    return true
  }),
  dropField(['sequence_number'], { everywhere: true }),
  dropField(['response', 'status']),
  dropField(['response', 'output']),
  dropField(['response', 'usage']),
  nullField(['output_index'], { gone: 'index' }),
  nullField(['item_id'], { gone: 'id', nothings: [null, ''] }),
  nullField(['item', 'id'], { gone: 'id', nothings: [null, ''] }),
  nullField(['item', 'call_id'], { gone: 'id', nothings: [null, ''] }),
  nullField(['item', 'arguments'], { keeps: 'names', nothings: [null, ''] }),
  nullField(['item', 'name'], { keeps: 'nothing', nothings: [null, ''] }),
  nullField(['arguments'], { keeps: 'names', nothings: [null, ''] }),
  nullField(['response', 'output']),
  nullField(['response', 'usage']),
  eachEvent('rotate', 'item-ids', (one, random) => {
    const data = one.data as JsonObject
    if ('item_id' in data) data['item_id'] = letters(random, 12)
    if ('id' in under(data['item'])) under(data['item'])['id'] = letters(random, 12)
    return 'item_id' in data || 'item' in data
  }),
  eachEvent('rotate', 'same-ids', (one, _random, { gone }) => {
    if (!('call_id' in under(one.data, 'item'))) return false
    gone.add('id')
    under(one.data, 'item')['call_id'] = 'call_same'
    return true
  }),
  eachEvent('rotate', 'zero-indexes', (one, _random, { gone }) => {
    const data = one.data as JsonObject
    if (typeof data['output_index'] !== 'number' || data['output_index'] === 0) return false
    gone.add('index')
    data['output_index'] = 0
    return true
  }),
  eachEvent('rotate', 'shifted-indexes', (one) => {
    const data = one.data as JsonObject
    if (typeof data['output_index'] !== 'number') return false
    data['output_index'] += 3
    return true
  }),
  eachEvent('rotate', 'same-numbers', (one) => {
    const data = one.data as JsonObject
    if (typeof data['sequence_number'] !== 'number' || data['sequence_number'] === 0) return false
    data['sequence_number'] = 0
    return true
  }),
  eachEvent('rotate', 'listed-ids', (one, random) => {
    const output = listed(under(one.data, 'response')['output'])
    for (const item of output) if ('id' in item) item['id'] = letters(random, 12)
    return output.length > 0
  }),
  { kind: 'drop', name: 'listed-item', keeps: 'runs', apply: dropListed },
  { kind: 'reorder', name: 'list', keeps: 'runs', apply: shuffleList },
  { kind: 'reorder', name: 'done-early', keeps: 'all', apply: (stream, random) => move(stream, random, 'close', -1) },
  { kind: 'reorder', name: 'added-late', keeps: 'all', apply: (stream, random) => move(stream, random, 'open', 1) },
  { kind: 'repeat', name: 'renumbered', keeps: 'runs', apply: repeatRenumbered },
  eachEvent('insert', 'early-arguments', (one, random, { plan }) => {
    const call = plan.calls[one.calls[0] ?? -1]
    if (one.role !== 'open' || !call || random.chance(0.5)) return false
    under(one.data, 'item')['arguments'] = call.text
    return true
  }),
]

/** Drops a piece: the numbers show the gap, or the whole arguments that follow make up for it. Nothing else may happen to these. */
function dropFragment(stream: Stream, random: Random): boolean {
  const places = placesOf(stream, (one) => one.role === 'args')
  if (!stream.fresh || places.length === 0) return false
  stream.events.splice(random.pick(places), 1)
  stream.sealed = true
  return true
}

/** Swaps two pieces of one call: their numbers show it, or the whole arguments that follow make up for it. */
function swapFragments(stream: Stream, random: Random): boolean {
  const { events } = stream
  const places = placesOf(stream, (one) => one.role === 'args').filter((at) => {
    const next = events[at + 1]
    return next?.role === 'args' && next.group === events[at]?.group
  })
  if (!stream.fresh || places.length === 0) return false
  const at = random.pick(places)
  events.splice(at, 2, ...events.slice(at, at + 2).reverse())
  stream.sealed = true
  return true
}

/** The list at the end forgets an item. */
function dropListed(stream: Stream, random: Random): boolean {
  const end = stream.events[endAt(stream)]
  const output = end && under(end.data, 'response')['output']
  if (!Array.isArray(output) || output.length === 0) return false
  output.splice(random.below(output.length), 1)
  return true
}

function shuffleList(stream: Stream, random: Random): boolean {
  const end = stream.events[endAt(stream)]
  const response = under(end?.data, 'response')
  if (!Array.isArray(response['output']) || response['output'].length < 2) return false
  response['output'] = random.shuffled(response['output'])
  return true
}

/** Moves an announcement or an end of a call over one of its own pieces (T140). */
function move(stream: Stream, random: Random, role: Role, by: 1 | -1): boolean {
  const places = placesOf(stream, (one) => one.role === role && isCall(one))
  if (places.length === 0) return false
  const at = random.pick(places)
  const moved = stream.events[at]
  const beside = stream.events[at + by]
  if (!moved || beside?.role !== 'args' || beside.group !== moved.group) return false
  stream.events[at] = beside
  stream.events[at + by] = moved
  return true
}

/** Sends an announcement or an end again under a number of its own, and counts on from there. */
function repeatRenumbered(stream: Stream, random: Random): boolean {
  const places = placesOf(stream, (one) => isCall(one) && one.role !== 'args')
  if (places.length === 0 || isUnmarked(stream)) return false
  stream.gone.add('repeat')
  const at = random.pick(places)
  const one = stream.events[at] as WireEvent
  insertAt(stream, at + 1, { ...one, data: structuredClone(one.data), calls: [...one.calls] })
  for (const later of stream.events.slice(at + 1)) {
    const data = under(later.data)
    if (typeof data['sequence_number'] === 'number') data['sequence_number']++
  }
  return true
}
