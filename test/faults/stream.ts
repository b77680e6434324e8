import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type {
  Misbehaviour,
  StreamPosition,
  SimpleMisbehaviourKind,
} from '../../src/rehearsal/misbehaviour/misbehaviour.ts'
import type { ScriptStep } from '../../src/rehearsal/script/script.ts'
import type { WireId } from '../../src/model/turn.ts'
import type { ModelOptions } from '../../src/provider/http/node-http-client.ts'
import { createHttpClient } from '../../src/provider/http/node-http-client.ts'
import { DEFAULT_TIMEOUTS } from '../../src/provider/http/timeouts.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { fakeClock, type FakeClock } from '../provider/support/clock.ts'
import { ANSWER, COUNT, type Outcome, type Staging, survive } from '../support/broken-stream.ts'
import type { FaultCase, Play, Plays } from '../support/faults.ts'
import { closing } from '../support/stage.ts'

/** Every fault of a stream, on every wire. */
export const streamPlays: Plays = {
  'fa-001': everywhere(async (fault, wire) => {
    checkAgain(await cut(fault, wire, 'start', 1), /broke off/)
    const given = await cut(fault, wire, 'start')
    assert.equal(closing(given.events).reason, 'fault')
    assert.equal(given.out, '', 'nothing was said')
    assert.match(given.err, /dragoman: \S+ .*broke off.*Gave up after 5 attempts.*--resume/)
  }),
  'fa-002': cutOnce('delimiter'),
  'fa-003': cutOnce('arguments'),
  'fa-004': cutOnce('after-call'),
  'fa-005': everywhere(async (fault, wire) => {
    const places: StreamPosition[] = [
      'start',
      'first-event',
      'thinking',
      'text',
      'arguments',
      'after-call',
      'before-end',
      'frame',
    ]
    const times = Number(fault.inject['times'])
    const some = places.sort(() => Math.random() - 0.5).slice(0, times)
    const misbehave = some.map((at, skip): Misbehaviour => ({ kind: 'cut', at, skip, times: 1 }))
    const outcome = await survive(fault, { wire, first: { ...ANSWER, misbehave } })
    checkAgain(outcome)
    assert.equal(outcome.attempts, times + 1)
    const [one = 0, two = 0, three = 0] = outcome.waits
    assert.ok(one > 0 && one <= two && two <= three, `waits ${outcome.waits.join(', ')}`)
  }),
  'fa-006': everywhere(async (fault, wire) => {
    const outcome = await cut(fault, wire, 'text')
    assert.equal(closing(outcome.events).reason, 'fault')
    assert.equal(outcome.attempts, 5)
    assert.ok(sum(outcome.waits) < 120_000, `${sum(outcome.waits)} ms`)
    assert.match(outcome.err, /--resume/)
    assert.deepEqual(outcome.ran, [])
  }),
  'fa-007': everywhere(async (fault, wire) => {
    const outcome = await cut(fault, wire, 'thinking', 1, { requires: 'signatures' })
    checkAgain(outcome)
    for (const thought of thoughts(outcome)) assert.equal(thought, ANSWER.think, 'half a thought was kept')
  }),
  'fa-008': everywhere(async (fault, wire) => {
    const misbehave: Misbehaviour[] = [{ kind: 'error', trouble: 'overloaded', times: 1 }]
    const outcome = await survive(fault, { wire, first: { ...ANSWER, misbehave } })
    checkAgain(outcome, /overloaded|unavailable|capacity/i)
    assert.doesNotMatch(outcome.out, /overloaded|error/i)
  }),
  'fa-009': everywhere(async (fault, wire) => {
    const outcome = await survive(fault, {
      wire,
      first: { ...ANSWER, misbehave: [{ kind: 'error', trouble: 'invalid' }] },
    })
    assert.equal(closing(outcome.events).reason, 'fault')
    assert.equal(outcome.server.requests.length, 1)
    assert.match(outcome.err, /invalid/i)
  }),
  'fa-010': everywhere(async (fault, wire) => {
    const clock = fakeClock()
    const outcome = await timed(fault, wire, clock, [{ kind: 'stall', at: 'first-event', times: 1 }])
    checkAgain(outcome, /went silent for 2 minutes/)
    assert.ok(DEFAULT_TIMEOUTS.idle <= 120_000)
  }),
  'fa-011': everywhere(async (fault, wire) => {
    const clock = fakeClock()
    const outcome = await timed(fault, wire, clock, [{ kind: 'drip', at: 'first-event', every: 10, times: 1 }])
    checkAgain(outcome, /said nothing for 5 minutes/)
    assert.ok(
      DEFAULT_TIMEOUTS.quiet > DEFAULT_TIMEOUTS.idle &&
        DEFAULT_TIMEOUTS.quiet < Number(fault.inject['minutes']) * 60_000,
    )
  }),
  'fa-012': everywhere(async (fault, wire) => {
    const clock = fakeClock()
    const post = inPieces(1, () => clock.advance(1000 / Number(fault.inject['bytesPerSecond'])))
    // An answer may take an hour in all; at this pace a wordy wire needs longer.
    const port = { clock, httpClient: post, timeouts: { lifetime: Infinity } }
    const outcome = await survive(fault, { wire, first: { say: 'Slowly.', pieces: 1 }, port })
    assert.equal(closing(outcome.events).text, 'Slowly.')
    assert.ok(clock.now() > 2 * DEFAULT_TIMEOUTS.idle, 'it took long')
  }),
  'fa-013': everywhere(async (fault, wire) => {
    const clock = fakeClock()
    const asleep = Number(fault.inject['suspendSeconds']) * 1000
    const outcome = await timed(fault, wire, clock, [{ kind: 'stall', at: 'text', times: 1 }], asleep)
    checkAgain(outcome)
  }),
  'fa-015': unchanged((fault) => ({ port: { httpClient: inPieces(Number(fault.inject['chunkBytes'])) } })),
  'fa-016': unchanged(() => ({ misbehave: [{ kind: 'framing', style: 'mixed' }] })),
  'fa-017': unchanged(() => ({ misbehave: [{ kind: 'framing', style: 'bom' }] })),
  'fa-018': unchanged(() => ({ misbehave: ['unknown-events', { kind: 'framing', style: 'fields' }] })),
  'fa-019': unchanged(() => ({ misbehave: [{ kind: 'framing', style: 'multi-line' }] })),
  'fa-020': everywhere(async (fault, wire) => {
    const call = [1, 2].map((n) => ({ name: 'count', args: { n } }))
    const outcome = await survive(fault, { wire, first: { call, misbehave: ['ids-same'] } })
    const calls = outcome.entries.flatMap((entry) => (entry.kind === 'turn' ? entry.turn.parts : []))
    const made = calls.flatMap((part) => (part.kind === 'call' ? [JSON.stringify(part.input)] : []))
    // On Gemini a call that comes again under its id is the same one, and its last word counts (T128).
    assert.ok(made.length === 2 || wire === 'gemini', `${made.length} calls`)
    assert.deepEqual(
      results(outcome),
      made.map((input) => `counted ${input}`),
    )
  }),
  'fa-021': everywhere(async (fault, wire) => {
    checkPlain(await survive(fault, { wire, first: { ...ANSWER, misbehave: ['ids-missing'] } }))
  }),
  'fa-022': everywhere(async (fault, wire) => {
    const outcome = await called(fault, wire, String(fault.inject['arguments']))
    assert.deepEqual(outcome.ran, [])
    assert.match(results(outcome)[0] ?? '', /object/)
  }),
  'fa-023': everywhere(async (fault, wire) => {
    const outcome = await called(fault, wire, String(fault.inject['arguments']))
    assert.equal(Reflect.get({}, 'allow'), undefined)
    for (const input of outcome.ran) assert.equal(Object.getPrototypeOf(input), Object.prototype)
  }),
  'fa-024': everywhere(async (fault, wire) => {
    const depth = Number(fault.inject['nesting'])
    const outcome = await called(fault, wire, `{"n":${'['.repeat(depth)}${']'.repeat(depth)}}`)
    assert.deepEqual(outcome.ran, [])
  }),
  'fa-025': everywhere(async (fault, wire) => {
    const digits = /\d+/.exec(String(fault.inject['arguments']))?.[0] ?? ''
    for (const name of ['n', 'path']) {
      const { ran } = await called(fault, wire, `{"${name}":${digits}}`)
      for (const input of ran)
        assert.equal(JSON.stringify(input[name]), JSON.stringify(digits), `${wire}: ${name} was changed silently`)
    }
  }),
  'fa-026': everywhere(async (fault, wire) => {
    const outcome = await survive(fault, { wire, first: { say: '', misbehave: ['empty'] } })
    assert.equal(closing(outcome.events).reason, 'fault')
    assert.ok(outcome.server.requests.length <= 3)
    assert.match(outcome.err, /empty responses/)
  }),
  'fa-028': everywhere(async (fault, wire) => {
    const outcome = await survive(fault, { wire, first: { ...ANSWER, misbehave: [{ kind: 'html' }] } })
    assert.equal(closing(outcome.events).reason, 'fault')
    assert.equal(outcome.out, '')
  }),
  'fa-029': everywhere(async (fault, wire) => {
    // Only these two have a word for it.
    const word = { 'openai-chat': 'tool_calls', anthropic: 'tool_use' }[wire as string]
    const misbehave: Misbehaviour[] = word === undefined ? [] : [{ kind: 'finish-wrong', word }]
    const outcome = await survive(fault, { wire, first: { say: 'No calls.', misbehave } })
    assert.equal(closing(outcome.events).text, 'No calls.')
    // The call may have been lost: the model is asked again, a little, and then the user is told.
    assert.equal(closing(outcome.events).reason, word === undefined ? 'done' : 'fault')
    assert.ok(outcome.server.requests.length <= 4)
    if (word !== undefined) assert.match(outcome.err, /announcing calls that are not there/)
  }),
}

function everywhere(play: (fault: FaultCase, wire: WireId) => Promise<void>): Play {
  return async (fault) => {
    await Promise.all(wireIds.map((wire) => play(fault, wire)))
  }
}

function cut(
  fault: FaultCase,
  wire: WireId,
  at: StreamPosition,
  times = Infinity,
  script: Staging['script'] = {},
): Promise<Outcome> {
  const misbehave: Misbehaviour[] = [{ kind: 'cut', at, ...(times < Infinity && { times }) }]
  return survive(fault, { wire, first: { ...ANSWER, misbehave }, script })
}

function cutOnce(at: StreamPosition): Play {
  return everywhere(async (fault, wire) => checkAgain(await cut(fault, wire, at, 1)))
}

/** The answer came at last, and the tool ran once, with all its arguments. */
function checkAgain(outcome: Outcome, told = /./): void {
  checkPlain(outcome)
  assert.match(outcome.err, /… .*Retrying( in \d+ s)?\./)
  assert.match(outcome.err, told)
}

function checkPlain(outcome: Outcome): void {
  assert.equal(closing(outcome.events).reason, 'done')
  assert.equal(closing(outcome.events).text, 'All is well.')
  assert.deepEqual(outcome.ran, [COUNT.args])
  assert.deepEqual(results(outcome), ['counted {"n":7}'])
}

/** Says the same as without the fault. */
function unchanged(
  how: (fault: FaultCase) => { misbehave?: readonly (Misbehaviour | SimpleMisbehaviourKind)[]; port?: ModelOptions },
): Play {
  return everywhere(async (fault, wire) => {
    const { misbehave = [], port } = how(fault)
    const plain = await survive(fault, { wire, first: ANSWER })
    const odd = await survive(fault, { wire, first: { ...ANSWER, misbehave }, ...(port && { port }) })
    checkPlain(odd)
    assert.equal(odd.out, plain.out)
    assert.equal(odd.err, plain.err)
    assert.deepEqual(said(odd), said(plain))
  })
}

/** A run on a clock that moves a second with every millisecond, after it was asleep if it was. */
function timed(
  fault: FaultCase,
  wire: WireId,
  clock: FakeClock,
  misbehave: Misbehaviour[],
  asleep = 0,
): Promise<Outcome> {
  const meanwhile: Staging['meanwhile'] = async (server, over) => {
    while (server.requests.length === 0) await pause(5)
    await pause(60)
    clock.advance(asleep)
    while (!over()) {
      clock.advance(1000)
      await pause(1)
    }
  }
  return survive(fault, { wire, first: { ...ANSWER, misbehave }, port: { clock }, meanwhile })
}

/** Hands on what comes over HTTP in pieces of so many bytes. */
function inPieces(size: number, between: () => void = () => undefined): ReturnType<typeof createHttpClient> {
  const post = createHttpClient({})
  return async (letter, signal) => {
    const reply = await post(letter, signal)
    async function* pieces(): AsyncGenerator<Uint8Array> {
      for await (const chunk of reply.body)
        for (let at = 0; at < chunk.length; at += size) {
          between()
          yield chunk.subarray(at, at + size)
        }
    }
    return { ...reply, body: pieces() }
  }
}

/** A run in which the model calls with this text as arguments. */
async function called(fault: FaultCase, wire: WireId, raw: string): Promise<Outcome> {
  const first: ScriptStep = { say: 'Calling.', call: [{ name: 'count', raw }] }
  const outcome = await survive(fault, { wire, first })
  const { reason } = closing(outcome.events)
  assert.ok(reason === 'done' || reason === 'fault', reason)
  return outcome
}

function results({ entries }: Outcome): string[] {
  return entries.flatMap((entry) => {
    if (entry.kind !== 'result') return []
    const [part] = entry.result.content
    return part?.kind === 'text' ? [part.text] : []
  })
}

/** What was said, without what differs from run to run. */
function said({ entries }: Outcome): unknown {
  return entries.flatMap((entry) =>
    entry.kind === 'turn'
      ? [entry.turn.parts.map((part) => ('text' in part ? part.text : part.kind === 'call' ? part.raw : part.kind))]
      : [],
  )
}

function thoughts({ entries }: Outcome): string[] {
  const parts = entries.flatMap((entry) => (entry.kind === 'turn' ? entry.turn.parts : []))
  return parts.flatMap((part) => (part.kind === 'reasoning' && part.text !== '' ? [part.text] : []))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}
