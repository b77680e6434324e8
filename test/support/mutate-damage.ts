import {
  copyEvent,
  endAt,
  event,
  insertAt,
  type Keeps,
  type Mutation,
  placesOf,
  type Shapes,
  type Stream,
  type WireEvent,
} from './mutate-stream.ts'
import type { Random } from './mutate-random.ts'

/** What breaks off, what is put in, and what arrives unreadable. */
export function damageMutations(shapes: Shapes): Mutation[] {
  return [
    { kind: 'truncate', name: 'bytes', keeps: 'nothing', apply: cutBytes },
    { kind: 'truncate', name: 'events', keeps: 'nothing', apply: cutEvents },
    { kind: 'truncate', name: 'lying', keeps: 'nothing', apply: (stream, random) => lie(stream, random, shapes) },
    putting('split', 'text-between', 'runs', (stream, random) => shapes.text(stream, random)),
    putting('insert', 'noise', 'runs', (stream, random) => shapes.noise(stream, random)),
    // An error ends the answer: what comes after it need not be looked at.
    putting('insert', 'error', 'nothing', (_stream, random) => shapes.error(random)),
    putting('insert', 'garbage', 'all', (_stream, random) => event('damage', random.pick(GARBAGE))),
    { kind: 'corrupt', name: 'frame', keeps: 'nothing', apply: corrupt },
  ]
}

function putting(
  kind: 'split' | 'insert',
  name: string,
  keeps: Keeps,
  make: (stream: Stream, random: Random) => WireEvent,
): Mutation {
  return {
    kind,
    name,
    keeps,
    apply(stream, random) {
      insertAt(stream, random.range(0, stream.events.length), make(stream, random))
      return true
    },
  }
}

function cutBytes(stream: Stream, random: Random): boolean {
  stream.cut = Math.min(stream.cut ?? 1, random.next())
  return true
}

function cutEvents(stream: Stream, random: Random): boolean {
  if (stream.events.length < 2) return false
  stream.events.length = random.range(1, stream.events.length - 1)
  return true
}

/** Breaks off, and says that all is well (T38). */
function lie(stream: Stream, random: Random, shapes: Shapes): boolean {
  const end = endAt(stream)
  if (end < 1) return false
  stream.events.length = random.below(end)
  const last = () => stream.events.findLastIndex((one) => one.calls.length > 0)
  while (stream.events[last()]?.joint) stream.events.splice(last(), 1)
  stream.events.push(...shapes.lie(stream))
  return true
}

/** Makes a frame unreadable (T114). */
function corrupt(stream: Stream, random: Random): boolean {
  // A ping that nobody can read says as much as one that everybody can.
  const places = placesOf(stream, (one) => typeof one.data !== 'string' && one.name !== 'ping')
  if (places.length === 0) return false
  const at = random.pick(places)
  const text = JSON.stringify(stream.events[at]?.data)
  const middle = random.range(1, text.length - 1)
  const spoiled = random.pick([
    text.slice(0, middle),
    text.slice(middle),
    text.slice(0, middle) + text.slice(middle + random.range(1, 8)),
    `${text.slice(0, middle)}\uFFFD${text.slice(middle)}`,
    // In an array, the object before a bracket too many is whole.
    stream.framing === 'array' ? text.slice(1) : `${text}}`,
  ])
  const { name } = copyEvent(stream.events[at] as WireEvent)
  stream.events[at] = event('damage', isReadable(spoiled) ? text.slice(0, -1) : spoiled, {
    ...(name !== undefined && { name }),
  })
  return true
}

function isReadable(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return text.trim() === ''
  }
}

const GARBAGE = [
  '{"choices":[{"delta":{"tool_c',
  'upstream connect error',
  '{"a":1}}',
  '<html>',
  'undefined',
  '{',
  "{'a': 1}",
]
