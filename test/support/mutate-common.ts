import { parseCallArguments } from '../../src/wire/calls/parse-arguments.ts'
import { damageMutations } from './mutate-damage.ts'
import { cutText, type Random, riffle } from './mutate-random.ts'
import {
  copyEvent,
  endAt,
  insertAt,
  isOrderAll,
  type Keeps,
  type Mutation,
  type PieceShapes,
  placesOf,
  type Role,
  type Shapes,
  type Stream,
  type WireEvent,
} from './mutate-stream.ts'

/** The mutations that need to know nothing of a wire but its shapes. */
export function commonMutations(shapes: Shapes): Mutation[] {
  return [
    dropEvent('open', 'nothing', shapes.loose),
    repeatEvent('open'),
    ...shapes.roles.flatMap((role) => [dropEvent(role, ENDS.has(role) ? 'all' : 'runs'), repeatEvent(role)]),
    { kind: 'repeat', name: 'whole-call', keeps: 'runs', apply: repeatCall },
    { kind: 'reorder', name: 'neighbours', keeps: shapes.ordered ? 'all' : 'runs', apply: swapNeighbours },
    { kind: 'reorder', name: 'interleave', keeps: shapes.ordered ? 'all' : 'runs', apply: interleave },
    ...damageMutations(shapes),
  ]
}

/** The mutations of argument text, on wires where it comes in pieces. */
export function pieceMutations(shapes: PieceShapes): Mutation[] {
  const using = (change: (stream: Stream, random: Random, pieces: PieceShapes) => boolean): Mutation['apply'] => {
    return (stream, random) => change(stream, random, shapes)
  }
  return [
    { kind: 'drop', name: 'fragment', keeps: 'nothing', apply: using(dropFragment) },
    { kind: 'repeat', name: 'cumulative', keeps: 'runs', apply: using(cumulate) },
    { kind: 'repeat', name: 'consolidated', keeps: 'runs', apply: using(consolidate) },
    { kind: 'split', name: 'fragments', keeps: 'runs', apply: using(splitFragments) },
  ]
}

/** Events that have a name lose it, and must be known by their type. */
export const dropNames: Mutation = {
  kind: 'drop',
  name: 'event-names',
  keeps: 'runs',
  apply(stream) {
    const named = stream.events.filter((one) => one.name !== undefined)
    for (const one of named) delete one.name
    return named.length > 0
  },
}

/** The usage comes before the end instead of after it. */
export const usageFirst: Mutation = {
  kind: 'reorder',
  name: 'usage-first',
  keeps: 'runs',
  apply(stream) {
    const usage = stream.events.findIndex((one) => one.role === 'usage')
    const end = endAt(stream)
    if (usage < 0 || end < 0 || usage < end) return false
    insertAt(stream, end, ...stream.events.splice(usage, 1))
    return true
  },
}

/** A call comes with these. */
const MADE = new Set<Role>(['open', 'close'])

/** Without these, an answer has no end. */
const ENDS = new Set<Role>(['finish', 'end'])

function dropEvent(role: Role, keeps: Keeps, loose = false): Mutation {
  return {
    kind: 'drop',
    name: `${role}-event`,
    keeps,
    apply(stream, random) {
      const places = placesOf(stream, (one) => one.role === role && (role === 'end' || !one.end))
      if (places.length === 0 || (loose && stream.gone.has('index'))) return false
      if (role === 'open') stream.gone.add('opener')
      // Where pieces carry neither id nor index, only the end of one call and the name of the next tell the two apart.
      if (role === 'close' && stream.gone.has('name')) return false
      if (role === 'close') stream.gone.add('closer')
      const all = random.chance(0.3)
      const chosen = random.pick(places)
      stream.events = stream.events.filter((_one, at) => (all ? !places.includes(at) : at !== chosen))
      return true
    },
  }
}

/**
 * Drops a piece of arguments, where that can be noticed: what is left is no longer a whole. Where it still is one, and
 * the wire has neither checksum nor repetition, nobody can notice it; but frames do not get lost, they arrive damaged.
 */
function dropFragment(stream: Stream, random: Random, shapes: PieceShapes): boolean {
  const opened = new Set<number>()
  const goesOn = (call: number) => opened.size === opened.add(call).size
  const places = placesOf(stream, (one) => one.calls.map(goesOn).every(Boolean) && one.role === 'args' && !one.end)
  if (!stream.fresh || places.length === 0) return false
  const at = random.pick(places)
  const rest = stream.events.filter((_one, place) => place !== at)
  const left = (call: number) => rest.map((one) => shapes.argsOf(one, call)).join('')
  const noticed = stream.events[at]?.calls.every(
    (call) => left(call).trim() !== '' && !parseCallArguments(left(call)).ok,
  )
  if (!noticed) return false
  stream.events = rest
  stream.sealed = true
  return true
}

function repeatEvent(role: Role): Mutation {
  return {
    kind: 'repeat',
    name: `${role}-event`,
    keeps: 'runs',
    apply(stream, random) {
      const places = placesOf(stream, (one) => one.role === role)
      if (places.length === 0 || (MADE.has(role) && isUnmarked(stream))) return false
      if (MADE.has(role)) stream.gone.add('repeat')
      const at = random.pick(places)
      const again = copyEvent(stream.events[at] as WireEvent)
      insertAt(stream, at + 1, again)
      return true
    },
  }
}

/** Without ids and indexes, a call that was sent again is one that was made again. */
export function isUnmarked({ gone }: Stream): boolean {
  return gone.has('id') && gone.has('index')
}

/** Sends all events of a call again, in a row: at once, or later on. */
function repeatCall(stream: Stream, random: Random): boolean {
  const { calls } = stream.plan
  if (calls.length === 0) return false
  const call = random.below(calls.length)
  const places = placesOf(stream, (one) => one.calls.length === 1 && one.calls[0] === call)
  if (isUnmarked(stream) || places.some((at) => stream.events[at]?.end)) return false
  stream.gone.add('repeat')
  const last = places.at(-1)
  if (last === undefined) return false
  const again = places.map((at) => copyEvent(stream.events[at] as WireEvent))
  const end = endAt(stream)
  const later = random.chance(0.5) && end > last ? random.range(last + 1, end) : last + 1
  insertAt(stream, later, ...again)
  return true
}

/** Makes each piece of the arguments repeat all before it (T20). */
function cumulate(stream: Stream, _random: Random, shapes: PieceShapes): boolean {
  const soFar = new Map<number, string>()
  let changed = false
  for (const one of stream.events)
    for (const call of one.calls) {
      const piece = shapes.argsOf(one, call)
      if (piece === '') continue
      const before = soFar.get(call) ?? ''
      soFar.set(call, before + piece)
      if (before === '') continue
      shapes.setArgs(one, call, before + piece)
      changed = true
    }
  return changed
}

/** Sends the whole arguments once more after their pieces (T21). */
function consolidate(stream: Stream, random: Random, shapes: PieceShapes): boolean {
  const { calls } = stream.plan
  if (calls.length === 0) return false
  const call = random.below(calls.length)
  const carries = (one: WireEvent) => one.calls.length === 1 && one.role === 'args' && shapes.argsOf(one, call) !== ''
  const at = placesOf(stream, carries).at(-1)
  if (at === undefined || stream.events[at]?.end) return false
  const again = copyEvent(stream.events[at] as WireEvent)
  shapes.setArgs(again, call, calls[call]?.text ?? '')
  insertAt(stream, at + 1, again)
  return true
}

function splitFragments(stream: Stream, random: Random, shapes: PieceShapes): boolean {
  let changed = false
  stream.events = stream.events.flatMap((one) => {
    const [call] = one.calls
    if (one.role !== 'args' || one.end || call === undefined || one.calls.length > 1) return [one]
    const text = shapes.argsOf(one, call)
    const pieces = text.length > 1 && random.chance(0.5) ? cutText(random, text, 4) : []
    if (pieces.length < 2) return [one]
    changed = true
    return pieces.map((piece) => {
      const part = copyEvent(one)
      shapes.setArgs(part, call, piece)
      return part
    })
  })
  return changed
}

/** Swaps events of different calls, or of calls and text, with each other. */
function swapNeighbours(stream: Stream, random: Random): boolean {
  const { events } = stream
  if (isOrderAll(stream)) return false
  let changed = false
  for (let left = random.range(1, 8); left > 0; left--) {
    const at = random.below(Math.max(1, events.length - 1))
    const [one, two] = [events[at], events[at + 1]]
    if (!one || !two || one.group === undefined || two.group === undefined || one.group === two.group) continue
    events.splice(at, 2, two, one)
    changed = true
  }
  return changed
}

/** Mixes the events of all calls and texts, each in its own order. */
function interleave(stream: Stream, random: Random): boolean {
  const { events } = stream
  const from = events.findIndex((one) => one.group !== undefined)
  if (from < 0 || isOrderAll(stream)) return false
  let to = from
  while (events[to]?.group !== undefined) to++
  const groups = new Map<string, WireEvent[]>()
  for (const one of events.slice(from, to)) {
    const group = groups.get(one.group ?? '') ?? []
    group.push(one)
    groups.set(one.group ?? '', group)
  }
  if (groups.size < 2) return false
  events.splice(from, to - from, ...riffle(random, [...groups.values()]))
  return true
}
