import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { splitRunnableCalls } from '../../src/model/fold.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { Turn } from '../../src/model/turn.ts'
import type { ScriptStep } from '../../src/rehearsal/script/script.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { answers, ask, meaning, rehearse, said, withStep } from './support.ts'

const USAGE = { input: 90, cacheRead: 10, cacheWrite: 0, output: 20, reasoning: 0 }

const CASES: Record<string, { step: ScriptStep; means: JsonObject[]; finish: string }> = {
  text: {
    step: { say: 'Grüße, 世界 🌍, and some more words.', usage: USAGE },
    means: [{ text: 'Grüße, 世界 🌍, and some more words.' }],
    finish: 'stop',
  },
  'a thought and text': {
    step: { think: 'First I think about it for a while.', say: 'Then I speak.', usage: { ...USAGE, reasoning: 8 } },
    means: [{ reasoning: 'First I think about it for a while.' }, { text: 'Then I speak.' }],
    finish: 'stop',
  },
  'one call': {
    step: { call: [{ name: 'read_file', args: { path: 'a "quoted" ü🌍.txt' } }], usage: USAGE },
    means: [{ call: 'read_file', input: { path: 'a "quoted" ü🌍.txt' } }],
    finish: 'calls',
  },
  'parallel calls': {
    step: {
      think: 'Three at once.',
      say: 'Reading.',
      call: ['a', 'b', 'c'].map((path) => ({ name: 'read_file', args: { path } })),
      usage: USAGE,
    },
    means: [
      { reasoning: 'Three at once.' },
      { text: 'Reading.' },
      ...['a', 'b', 'c'].map((path) => ({ call: 'read_file', input: { path } })),
    ],
    finish: 'calls',
  },
}

for (const wire of wireIds) {
  describe(`${wire}: what is scripted is what is read`, () => {
    const google = wire === 'gemini' || wire === 'code-assist'
    const ways = [
      { way: 'as a stream', stream: true, sse: true },
      { way: 'whole', stream: false, sse: false },
      ...(google ? [{ way: 'as a JSON array', stream: true, sse: false }] : []),
    ]
    for (const { way, stream, sse } of ways) {
      for (const [name, { step, means, finish }] of Object.entries(CASES)) {
        test(`${name}, ${way}`, async () => {
          await withStep(step, async (rehearsal) => {
            const { turn, warnings, answered } = await ask(rehearsal, wire, { stream, sse })
            assert.equal(answered.status, 200, answered.text)
            assert.deepEqual(warnings, [])
            assert.deepEqual(meaning(turn), means)
            assert.equal(turn.finish.reason, finish)
            assert.deepEqual(turn.usage, { ...USAGE, ...step.usage })
            assert.equal(turn.origin.model, 'script')
            assert.deepEqual(rehearsal.failures, [])
          })
        })
      }
    }

    test('the same request gets the same bytes', async () => {
      await withStep(CASES['parallel calls']?.step ?? {}, async (rehearsal) => {
        const [one, two] = [await ask(rehearsal, wire), await ask(rehearsal, wire)]
        assert.equal(one.answered.text, two.answered.text)
      })
    })

    test('a conversation goes on step by step, and what the vendor sealed comes back', async () => {
      const call = [{ name: 'read_file', args: { path: 'a{n}' } }]
      const rehearsal = await rehearse([{ think: 'Hm.', say: 'On.', call, repeat: 3 }, { say: 'Done.' }], {
        requires: 'signatures',
      })
      try {
        const turns: Turn[] = [said('Go.')]
        const seen: JsonObject[][] = []
        for (let turn = 0; turn < 5; turn++) {
          const answer = await ask(rehearsal, wire, { turns })
          assert.equal(answer.answered.status, 200, answer.answered.text)
          seen.push(meaning(answer.turn))
          turns.push(
            answer.turn,
            ...(splitRunnableCalls(answer.turn).calls.length > 0 ? [answers(answer.turn)] : [said('More.')]),
          )
        }
        const inputs = seen.flat().flatMap((part) => ('input' in part ? [part['input']] : []))
        assert.deepEqual(inputs, [{ path: 'a0' }, { path: 'a1' }, { path: 'a2' }])
        assert.deepEqual(seen[3], [{ text: 'Done.' }])
        assert.match(JSON.stringify(seen[4]), /scripted rehearsal, not a model/)
        assert.deepEqual(rehearsal.failures, [])
        assert.deepEqual(
          rehearsal.requests.map(({ position }) => position),
          [0, 1, 2, 3, 4],
        )
      } finally {
        await rehearsal.close()
      }
    })
  })
}
