import type { JsonObject } from '../../src/model/json.ts'
import { dropField, eachEvent, nullField } from './mutate-fields.ts'
import type { Random } from './mutate-random.ts'
import {
  copyEvent,
  endAt,
  insertAt,
  listed,
  type Mutation,
  placesOf,
  type Stream,
  under,
  type WireEvent,
} from './mutate-stream.ts'

/** The calls in a frame. */
function callsIn(one: WireEvent): JsonObject[] {
  if (typeof one.data === 'string') return []
  const parts = listed(under(one.data, 'candidates', 0, 'content')['parts'])
  return parts.flatMap((part) => ('functionCall' in part ? [under(part, 'functionCall')] : []))
}

/** Changes every call of the stream, or every other. */
function calls(
  kind: Mutation['kind'],
  name: string,
  change: (call: JsonObject, random: Random, stream: Stream) => boolean,
  keeps: Mutation['keeps'] = 'runs',
): Mutation {
  return eachEvent(
    kind,
    name,
    (one, random, stream) => {
      let changed = false
      for (const call of callsIn(one)) if (change(call, random, stream)) changed = true
      return changed
    },
    keeps,
  )
}

/** What servers do to the parts of a frame (T123–T128). */
export const geminiMutations: readonly Mutation[] = [
  calls('drop', 'id', (call, _random, { gone }) => {
    if (!('id' in call)) return false
    gone.add('id')
    delete call['id']
    return true
  }),
  calls('null', 'id', (call, random, { gone }) => {
    if (!('id' in call)) return false
    gone.add('id')
    call['id'] = random.pick([null, '', ' '])
    return true
  }),
  calls(
    'drop',
    'name',
    (call, random, { gone }) => {
      if (!('name' in call) || gone.has('closer') || random.chance(0.5)) return false
      gone.add('name')
      delete call['name']
      return true
    },
    'nothing',
  ),
  calls(
    'null',
    'name',
    (call, random, { gone }) => {
      if (!('name' in call) || gone.has('closer') || random.chance(0.5)) return false
      gone.add('name')
      call['name'] = random.pick([null, ''])
      return true
    },
    'nothing',
  ),
  calls(
    'null',
    'args',
    (call, random) => {
      if (!('args' in call) || random.chance(0.5)) return false
      call['args'] = null
      return true
    },
    'names',
  ),
  calls(
    'rotate',
    'same-ids',
    (call) => {
      if (!('id' in call)) return false
      call['id'] = 'same'
      return true
    },
    // The same id means the same call, whose last word counts.
    'names',
  ),
  calls('insert', 'text-args', (call, random) => {
    if (typeof call['args'] !== 'object' || call['args'] === null || random.chance(0.5)) return false
    call['args'] = JSON.stringify(call['args'])
    return true
  }),
  dropField(['candidates', 0, 'content', 'role']),
  dropField(['candidates', 0, 'index']),
  dropField(['candidates', 0, 'content'], { on: (one) => one.calls.length === 0 }),
  nullField(['candidates', 0, 'content'], { on: (one) => one.calls.length === 0 }),
  dropField(['usageMetadata']),
  nullField(['usageMetadata']),
  dropField(['responseId']),
  dropField(['modelVersion']),
  eachEvent('drop', 'finishReason', (one) => spoilEnd(one, undefined), 'all'),
  eachEvent(
    'null',
    'finishReason',
    (one, random) => spoilEnd(one, random.pick([null, '', 'FINISH_REASON_UNSPECIFIED'])),
    'all',
  ),
  { kind: 'repeat', name: 'call-frame', keeps: 'runs', apply: repeatFrame },
  { kind: 'repeat', name: 'growing-args', keeps: 'runs', apply: growArgs },
  { kind: 'repeat', name: 'end-event', keeps: 'runs', apply: repeatEnd },
  { kind: 'split', name: 'frames', keeps: 'runs', apply: splitFrame },
  { kind: 'split', name: 'empty-part', keeps: 'runs', apply: emptyPart },
]

function spoilEnd(one: WireEvent, word: string | null | undefined): boolean {
  const candidate = under(one.data, 'candidates', 0)
  if (!('finishReason' in candidate)) return false
  delete one.end
  if (word === undefined) delete candidate['finishReason']
  else candidate['finishReason'] = word
  return true
}

/** A frame with calls comes again: anywhere if ids tell that it is a repeat, else at once. Nothing else may happen to it. */
function repeatFrame(stream: Stream, random: Random): boolean {
  const places = placesOf(stream, (one) => callsIn(one).length > 0 && one.role === 'open')
  if (places.length === 0) return false
  const at = random.pick(places)
  const one = stream.events[at] as WireEvent
  const isPartial = callsIn(one).some((call) => 'willContinue' in call)
  if (isPartial) return false
  const ids = callsIn(one).every((call) => typeof call['id'] === 'string' && call['id'].trim() !== '')
  const later = ids && random.chance(0.6) ? random.range(at + 1, stream.events.length) : at + 1
  insertAt(stream, later, copyEvent(one))
  stream.sealed = true
  return true
}

/** A call comes with some of its arguments first, and again with all; its id tells that it is the same. */
function growArgs(stream: Stream, random: Random): boolean {
  const places = placesOf(stream, (one) => callsIn(one).length === 1 && one.role === 'open')
  const at = places.length === 0 ? -1 : random.pick(places)
  const one = stream.events[at]
  const [call] = one ? callsIn(one) : []
  const args = Object.entries(under(call?.['args']))
  if (!one || !call || typeof call['id'] !== 'string' || call['id'].trim() === '' || args.length === 0) return false
  const early = copyEvent(one)
  const [first] = callsIn(early)
  if (first) first['args'] = Object.fromEntries(args.slice(0, random.below(args.length)))
  delete early.end
  delete under(early.data, 'candidates', 0)['finishReason']
  insertAt(stream, random.range(0, at), early)
  stream.sealed = true
  return true
}

/** The end comes again; if it carries calls, then at once. */
function repeatEnd(stream: Stream): boolean {
  const at = endAt(stream)
  const end = stream.events[at]
  if (!end) return false
  insertAt(stream, at + 1, copyEvent(end))
  if (callsIn(end).length > 0) stream.sealed = true
  return true
}

/** The parts of one frame come in frames of their own. */
function splitFrame(stream: Stream): boolean {
  const at = stream.events.findIndex((one) => callsIn(one).length > 1 && !one.end)
  const one = stream.events[at]
  if (!one) return false
  const parts = listed(under(one.data, 'candidates', 0, 'content')['parts'])
  const ordinals = [...one.calls]
  const split = parts.map((part) => {
    const call = 'functionCall' in part ? ordinals.shift() : undefined
    const own = copyEvent({ ...one, calls: call === undefined ? [] : [call], group: `call ${call}` })
    under(own.data, 'candidates', 0, 'content')['parts'] = [part]
    return own
  })
  stream.events.splice(at, 1, ...split)
  return true
}

/** A sign of life between parts. */
function emptyPart(stream: Stream, random: Random): boolean {
  const one = stream.events[random.below(stream.events.length)]
  const parts = under(one?.data, 'candidates', 0, 'content')['parts']
  if (one?.role === 'damage' || !Array.isArray(parts)) return false
  parts.splice(random.range(0, parts.length), 0, { text: '' })
  return true
}
