import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type FoldedTurn, fold, splitRunnableCalls } from '../../src/model/fold.ts'
import type { TurnEvent } from '../../src/model/event.ts'
import { toCanonicalJson } from '../../src/model/json.ts'
import { decodeResponse, decodeResponseEvents } from '../../src/wire/decode-response.ts'
import type { Frame } from '../../src/wire/framing/frame.ts'
import { createFramer } from '../../src/wire/framing/framer.ts'
import type { DecodeContext, Wire } from '../../src/wire/wire.ts'
import { loadWire, wireIds } from '../../src/wire/wires.ts'
import { bytewise } from '../support/check-recording.ts'
import { checkFixture } from '../support/fixture-check.ts'
import { type Fixture, fixtures, numbersWithoutFixture } from '../support/fixture.ts'

const all = fixtures()
const wires = new Map(await Promise.all(wireIds.map(async (id) => [id, await loadWire(id)] as const)))
const SEED = Number(process.env['SEED'] ?? 20240)

/** Streams up to this length are cut at every offset. */
const SMALL = 4096
const SAMPLES = 500

console.log(`${all.length} fixtures, seed ${SEED}`)

describe('every fixture means what it should, however its bytes come', () => {
  for (const fixture of all) {
    test(fixture.name, () => {
      const { bytes } = fixture
      const read = reader(fixture)
      const whole = read([bytes])
      checkFixture(fixture, whole)
      const expected = JSON.stringify(whole)
      const same = (pieces: Iterable<Uint8Array>, how: () => string): void => {
        const again = read(pieces)
        // The text is compared first, because it is much faster; only a difference is worth showing well.
        if (JSON.stringify(again) === expected) return
        assert.deepEqual(again, whole, how())
        assert.fail(how())
      }

      same(bytewise(bytes), () => 'byte by byte')
      const frames = framesOf(fixture, [bytes])
      for (const at of offsets(bytes, fixture.name)) {
        const halves = [bytes.subarray(0, at), bytes.subarray(at)]
        // A wire sees nothing but frames; only where these differ can the turn differ, and most of the time is saved.
        if (framesOf(fixture, halves) !== frames) same(halves, () => `split at ${at}`)
      }
      for (const [how, variant] of variants(bytes)) {
        same([variant], () => how)
        // A line end of two bytes may come in two pieces.
        if (variant.includes(CR)) same(bytewise(variant), () => `${how}, byte by byte`)
      }
    })
  }
})

test('T11: the same bytes in two turns give calls with different ids', () => {
  const fixture = named('T11-id-restarts')
  const ids = ['a', 'b'].flatMap((letter) => splitRunnableCalls(reader(fixture, letter)([fixture.bytes]).turn).calls)
  assert.equal(ids.length, 4)
  assert.equal(new Set(ids.map(({ id }) => id)).size, 4)
})

test('T29: streams that are read at the same time share nothing', () => {
  const two = [named('T29-stream-a'), named('T29-stream-b')]
  checkInterleaved(two)
  // The tools are shared by all streams of an agent, so the same list must do for every stream.
  const { tools } = two[0]?.given ?? {}
  assert.ok(tools)
  checkInterleaved(two.map((fixture) => ({ ...fixture, given: { ...fixture.given, tools } })))
  checkInterleaved(all.filter(({ bytes }) => bytes.length < SMALL))
})

test('T108: an answer that is cut anywhere runs nothing that the whole one would not run', () => {
  for (const fixture of all) {
    const { bytes, name } = fixture
    const read = reader(fixture)
    const allowed = new Set(ran(read([bytes])))
    // Here the first end is a good one, and the bytes after it take that back.
    if (name === 'T56-worse-finish-later') continue
    for (const at of new Set([...lineEnds(bytes), ...sample(bytes, name, 20)])) {
      for (const call of ran(read([bytes.subarray(0, at)])))
        assert.ok(allowed.has(call), `${name} cut at ${at}: ${call}`)
    }
  }
})

test('every number about decoding has a fixture, or a line in the README that says why not', () => {
  const covered = new Set(all.map(({ number }) => number))
  const excused = new Set(numbersWithoutFixture())
  const due = [range(1, 73), range(105, 128), range(132, 144), range(181, 198)].flat()
  assert.deepEqual(
    due.filter((number) => !covered.has(number) && !excused.has(number)),
    [],
    'neither a fixture nor a line',
  )
  assert.deepEqual(
    [...excused].filter((number) => covered.has(number)),
    [],
    'a line, though there is a fixture',
  )
})

function named(name: string): Fixture {
  const found = all.find((fixture) => fixture.name === name)
  assert.ok(found, name)
  return found
}

function wireOf(fixture: Fixture): Wire {
  const wire = wires.get(fixture.given.wire)
  assert.ok(wire, `${fixture.name}: there is no wire ${fixture.given.wire}`)
  return wire
}

function readingOf({ given }: Fixture, wire: Wire, letter = 'k'): DecodeContext {
  const { tools, toolChoice, status, headers } = given
  return {
    turnKey: letter.repeat(20),
    profile: { ...wire.profile, ...given.profile },
    tools,
    ...(toolChoice !== undefined && { toolChoice }),
    ...(status !== undefined && { status }),
    ...(headers && { headers }),
  }
}

/** Reads the bytes of a fixture, in whatever pieces they come. */
function reader(fixture: Fixture, letter?: string): (pieces: Iterable<Uint8Array>) => FoldedTurn {
  const wire = wireOf(fixture)
  const reading = readingOf(fixture, wire, letter)
  return (pieces) => decodeResponse(wire, reading, pieces, fixture.given.contentType)
}

/** The frames of an answer, as text that can be compared. */
function framesOf({ given }: Fixture, pieces: Iterable<Uint8Array>): string {
  const cutter = createFramer(given.contentType)
  const frames: Frame[] = []
  for (const piece of pieces) frames.push(...cutter.push(piece))
  return JSON.stringify([...frames, ...cutter.end()])
}

/** Reads several answers at once, a byte of each in turn, and checks each. */
function checkInterleaved(some: readonly Fixture[]): void {
  const open = some.map((fixture) => {
    const wire = wireOf(fixture)
    const state = wire.startDecoding(readingOf(fixture, wire))
    return { fixture, wire, state, frames: createFramer(fixture.given.contentType), events: [] as TurnEvent[] }
  })
  const longest = Math.max(...some.map(({ bytes }) => bytes.length))
  for (let at = 0; at < longest; at++) {
    for (const { fixture, wire, state, frames, events } of open) {
      for (const frame of frames.push(fixture.bytes.subarray(at, at + 1)))
        events.push(...wire.decodeFrame(state, frame))
    }
  }
  for (const { fixture, wire, state, frames, events } of open) {
    for (const frame of frames.end()) events.push(...wire.decodeFrame(state, frame))
    events.push(...wire.finishDecoding(state))
    const origin = { provider: '', wire: wire.id, model: '' }
    checkFixture(fixture, fold(events, origin))
    const alone = [...decodeResponseEvents(wire, readingOf(fixture, wire), [fixture.bytes], fixture.given.contentType)]
    assert.deepEqual(fold(events, origin), fold(alone, origin), fixture.name)
  }
}

/** The calls that run, as text that can be compared. */
function ran({ turn }: FoldedTurn): string[] {
  return splitRunnableCalls(turn).calls.map(({ name, input }) => `${name} ${toCanonicalJson(input)}`)
}

/** Where to cut a stream in two. */
function offsets(bytes: Uint8Array, name: string): Iterable<number> {
  if (bytes.length <= SMALL) return range(1, bytes.length - 1)
  return new Set([...lineEnds(bytes), ...sample(bytes, name, SAMPLES)])
}

/** The places where framing decides something: before, inside and after line ends. */
function lineEnds(bytes: Uint8Array): number[] {
  const near = (at: number): boolean =>
    [bytes[at - 1], bytes[at], bytes[at + 1]].some((byte) => byte === LF || byte === CR)
  return range(1, bytes.length - 1).filter(near)
}

/** Random places, the same for the same seed. */
function sample(bytes: Uint8Array, name: string, count: number): number[] {
  const random = generator(SEED + name.length)
  return Array.from({ length: count }, () => 1 + Math.floor(random() * (bytes.length - 1)))
}

/** The same stream as another server would frame it: these must make no difference. */
function* variants(bytes: Uint8Array): Generator<[how: string, bytes: Uint8Array]> {
  // Byte for byte, so that nothing but the framing is touched, whatever the encoding.
  const text = Buffer.from(bytes).toString('latin1')
  const bom = Buffer.from('\uFEFF').toString('latin1')
  const bare = text.startsWith(bom) ? text.slice(bom.length) : text
  const lines = bare.replace(/\r\n?/g, '\n')
  const made: [string, string][] = []
  if (SSE.test(bare)) {
    made.push(['with CRLF', lines.replaceAll('\n', '\r\n')])
    made.push(['with lone CR', lines.replaceAll('\n', '\r')])
    made.push(['with a byte order mark', bom + bare])
    made.push(['with comments', `: keep-alive\n\n${lines.replace(/\n\n+/g, '$&: keep-alive\n\n:\n')}`])
    made.push(['with comments inside events', lines.replace(/^(?=data)/gm, ': keep-alive\n')])
    made.push(['with blank lines', `\n\n${lines.replace(/\n\n+/g, '$&\n\n')}`])
  } else if (/^[{[]/.test(bare)) {
    made.push(['with CRLF', lines.replaceAll('\n', '\r\n')])
    made.push(['with a byte order mark', bom + bare])
    made.push(['with white space around', `\n \r\n${bare}\n\n`])
  }
  for (const [how, variant] of made) yield [how, Buffer.from(variant, 'latin1')]
}

/** Every whole number between two, both included. */
function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at)
}

/** Random numbers that a seed repeats (mulberry32). */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const LF = 10
const CR = 13
const SSE = /^\s*(?:data|event|id|retry)?:/
