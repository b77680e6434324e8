import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { splitRunnableCalls } from '../../src/model/fold.ts'
import type { Turn, WireId } from '../../src/model/turn.ts'
import { type MisbehaviourKind, getAffectedWires } from '../../src/rehearsal/misbehaviour/misbehaviour.ts'
import type { ScriptStep } from '../../src/rehearsal/script/script.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { CASES } from './misbehaviours.ts'
import { answers, ask, BODIES, meaning, pathOf, post, rehearse, said, withStep } from './support.ts'

const STEP: ScriptStep = {
  think: 'Let me think about this for a while.',
  say: 'I do it, and I say so in several pieces.',
  call: [
    { name: 'read_file', args: { path: 'a/rather/long/path/to/some.txt' } },
    { name: 'write_file', args: { path: 'b.txt', content: 'words, and more words' } },
  ],
}

/** What may run is what was scripted, to the letter. */
const SCRIPTED = (STEP.call ?? []).map(({ name, args }) => ({ call: name, input: args }))

for (const [kind, cases] of Object.entries(CASES) as [MisbehaviourKind, (typeof CASES)[MisbehaviourKind]][]) {
  describe(kind, () => {
    for (const { one, seen, runs, finish, fault, warns } of cases) {
      for (const wire of getAffectedWires(kind)) {
        test(`${JSON.stringify(one)} on ${wire}`, async () => {
          const clean = await withStep(STEP, (rehearsal) => ask(rehearsal, wire))
          const profile = kind === 'think-in-text' ? { think: true } : {}
          const bent = await withStep({ ...STEP, misbehave: [one] }, (rehearsal) => ask(rehearsal, wire, { profile }))
          assert.ok(seen(bent.answered, clean.answered, wire), `not seen in\n${bent.answered.text}`)
          const { calls } = splitRunnableCalls(bent.turn)
          const want = typeof runs === 'function' ? runs(wire) : runs
          const run = calls.map((call) => ({ call: call.name, input: call.input }))
          assert.deepEqual(run, want ? SCRIPTED : [])
          assert.equal(bent.turn.finish.reason, typeof finish === 'function' ? finish(wire) : (finish ?? 'calls'))
          assert.equal(bent.turn.finish.fault?.kind, typeof fault === 'function' ? fault(wire) : fault)
          const codes = bent.warnings.map(({ code }) => code)
          if (warns !== undefined && wire === 'openai-chat') assert.ok(codes.includes(warns), codes.join())
        })
      }
    }
  })
}

describe('waits', () => {
  const hints = ['seconds', 'milliseconds', 'date', 'reset', 'details', 'prose'] as const
  for (const wire of wireIds) {
    for (const hint of hints) {
      test(`the hint “${hint}” is read on ${wire}`, async () => {
        const misbehave = [{ kind: 'status', status: 429, hint, wait: 5000 } as const]
        const { turn } = await withStep({ misbehave }, (rehearsal) => ask(rehearsal, wire))
        assert.equal(turn.finish.fault?.kind, 'rate')
        const wait: number = turn.finish.fault.retryAfter ?? -1
        // Dates have no fractions of a second.
        assert.ok(wait >= 3900 && wait <= 6100, String(wait))
      })
    }
  }

  test('a date in the past means now', async () => {
    const misbehave = [{ kind: 'status', status: 429, hint: 'past' } as const]
    const { turn } = await withStep({ misbehave }, (rehearsal) => ask(rehearsal, 'anthropic'))
    assert.equal(turn.finish.fault?.retryAfter, 0)
  })
})

describe('time', () => {
  test('a stall lasts until the client hangs up', async () => {
    const step: ScriptStep = { say: 'Never said to the end.', misbehave: [{ kind: 'stall' }] }
    await withStep(step, async (rehearsal) => {
      const { turn, answered } = await ask(rehearsal, 'openai-chat', { patience: 150 })
      assert.ok(answered.broke)
      assert.equal(turn.finish.fault?.kind, 'transport')
      assert.equal(answered.text.split('\n\n').length, 2)
    })
  })

  test('only comments come for as long as anybody listens', async () => {
    const step: ScriptStep = { say: 'Never said.', misbehave: [{ kind: 'drip', at: 'start', every: 5 }] }
    await withStep(step, async (rehearsal) => {
      const enough = (text: string) => text.split('keep-alive').length > 5
      const { answered } = await ask(rehearsal, 'openai-responses', { enough })
      assert.match(answered.text, /^(?:: keep-alive\n\n)+$/)
    })
  })

  test('a delay comes before the first byte, and a pace between events', async () => {
    const started = performance.now()
    await withStep({ say: 'Slowly now.', pieces: 5, delay: 60, pace: 10 }, async (rehearsal) => {
      const { turn, answered } = await ask(rehearsal, 'gemini')
      assert.deepEqual(meaning(turn), [{ text: 'Slowly now.' }])
      assert.ok(answered.chunks.length >= 4, String(answered.chunks.length))
    })
    assert.ok(performance.now() - started >= 90)
  })
})

describe('attempts', () => {
  test('a step may fail in other ways from attempt to attempt, and then not at all', async () => {
    const misbehave: ScriptStep['misbehave'] = [
      { kind: 'cut', at: 'start', times: 1 },
      { kind: 'status', status: 503, skip: 1, times: 1 },
      { kind: 'corrupt', skip: 2, times: 1 },
    ]
    const rehearsal = await rehearse([{ ...STEP, misbehave }])
    try {
      const kinds: (string | undefined)[] = []
      for (let n = 0; n < 5; n++) kinds.push((await ask(rehearsal, 'anthropic')).turn.finish.fault?.kind)
      assert.deepEqual(kinds, ['transport', 'server', 'decode', undefined, undefined])
    } finally {
      await rehearsal.close()
    }
  })

  test('a step with a condition is counted wherever in the conversation it answers', async () => {
    const misbehave: ScriptStep['misbehave'] = [{ kind: 'status', status: 503, times: 1 }]
    const rehearsal = await rehearse([{ ...STEP, when: { resultCount: 0 }, misbehave }])
    // A client that has kept half an answer, and asks for the rest of it.
    const messages = [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: 'Half' },
      { role: 'user', content: 'You were cut off.' },
    ]
    try {
      const path = pathOf('anthropic', 'script', false)
      const statuses: number[] = []
      for (const body of [BODIES.anthropic, { ...BODIES.anthropic, messages }])
        statuses.push((await post(rehearsal.url + path, { ...body, model: 'script' })).status)
      assert.deepEqual(statuses, [503, 200])
    } finally {
      await rehearsal.close()
    }
  })

  test('an error event and then a plain close', async () => {
    const misbehave: ScriptStep['misbehave'] = [{ kind: 'error' }, { kind: 'cut', at: 'before-end' }]
    const play = (wire: WireId) => withStep({ ...STEP, misbehave }, (rehearsal) => ask(rehearsal, wire))
    const played = await Promise.all(wireIds.map(play))
    assert.deepEqual(
      played.map(({ turn }) => turn.finish.fault?.kind),
      wireIds.map(() => 'server'),
    )
  })
})

describe('arguments as they are written', () => {
  const raws: [raw: string, runs: boolean][] = [
    ['[1,2]', false],
    ['{"path":"half', false],
    ['{"path":"a","__proto__":{"allow":true}}', true],
    ['{"path":123456789012345678901234567890}', true],
  ]
  for (const [raw, runs] of raws) {
    test(raw, async () => {
      for (const wire of wireIds) {
        for (const stream of [true, false]) {
          const step: ScriptStep = { call: [{ name: 'read_file', raw }] }
          const { turn, answered } = await withStep(step, (rehearsal) => ask(rehearsal, wire, { stream }))
          assert.equal(splitRunnableCalls(turn).calls.length > 0, runs, `${wire}, stream ${stream}`)
          if (!stream) assert.ok(answered.text.replaceAll('\\', '').includes(raw), answered.text)
        }
      }
    })
  }

  test('ten thousand levels', async () => {
    const raw = `{"path":${'['.repeat(10_000)}${']'.repeat(10_000)}}`
    for (const wire of wireIds) {
      await withStep({ call: [{ name: 'read_file', raw }] }, async (rehearsal) => {
        const { model, ...body } = BODIES[wire]
        const answered = await post(rehearsal.url + pathOf(wire, model, false), wire === 'gemini' ? body : BODIES[wire])
        assert.ok(answered.text.replaceAll('\\', '').includes(raw), wire)
      })
    }
  })
})

test('no call runs of an answer that was cut, wherever it was cut', async () => {
  const places = Array.from({ length: 24 }, (_none, at) => at)
  const steps = places.map((at) => ({ ...STEP, misbehave: [{ kind: 'cut', at, how: 'end' } as const] }))
  for (const wire of wireIds) {
    const whole = await withStep(STEP, (other) => ask(other, wire))
    const rehearsal = await rehearse(steps)
    try {
      const turns: Turn[] = [said('Go.')]
      for (const at of places) {
        const { turn, answered } = await ask(rehearsal, wire, { turns })
        const ended = /"finish_reason":"|message_stop|response\.completed|interaction\.completed|finishReason/.test(
          answered.text,
        )
        assert.equal(splitRunnableCalls(turn).calls.length, ended ? 2 : 0, `${wire} after ${at} events`)
        // The next step is that of a history in which this answer was given.
        turns.push(whole.turn, answers(whole.turn))
      }
    } finally {
      await rehearsal.close()
    }
  }
})
