import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import type { Turn } from '../../src/model/turn.ts'
import type { Gateway } from '../../src/gateway/gateway.ts'
import type { RehearsalServer } from '../../src/rehearsal/server.ts'
import type { ScriptStep } from '../../src/rehearsal/script/script.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { answers, meaning, rehearse, said } from '../rehearsal/support.ts'
import { askGateway, gatewayTo } from './support.ts'

const USAGE = { input: 90, cacheRead: 10, cacheWrite: 0, output: 20, reasoning: 0 }

const CASES: Record<string, { step: ScriptStep; means: JsonObject[]; finish: string }> = {
  text: {
    step: { say: 'Grüße, 世界 🌍, and some more words.', usage: USAGE },
    means: [{ text: 'Grüße, 世界 🌍, and some more words.' }],
    finish: 'stop',
  },
  'a thought, text and parallel calls': {
    step: {
      think: 'Three at once.',
      say: 'Reading.',
      call: ['a "quoted" ü🌍', 'b', 'c'].map((path) => ({ name: 'read_file', args: { path } })),
      usage: { ...USAGE, reasoning: 8 },
    },
    means: [
      { reasoning: 'Three at once.' },
      { text: 'Reading.' },
      ...['a "quoted" ü🌍', 'b', 'c'].map((path) => ({ call: 'read_file', input: { path } })),
    ],
    finish: 'calls',
  },
}

for (const upstream of wireIds) {
  describe(`a model on ${upstream}`, () => {
    for (const [name, { step, means, finish }] of Object.entries(CASES)) {
      describe(name, () => {
        let rehearsal: RehearsalServer
        let gateway: Gateway
        before(async () => {
          rehearsal = await rehearse([step])
          gateway = await gatewayTo(rehearsal, [upstream])
        })
        after(async () => {
          await gateway.close()
          await rehearsal.close()
        })
        for (const client of wireIds) {
          const google = client === 'gemini' || client === 'code-assist'
          const ways = [
            { way: 'streamed', stream: true, sse: true },
            { way: 'whole', stream: false, sse: false },
            ...(google ? [{ way: 'as a JSON array', stream: true, sse: false }] : []),
          ]
          for (const { way, stream, sse } of ways)
            test(`for a client of ${client}, ${way}`, async () => {
              const { turn, warnings, answered } = await askGateway(gateway, client, { stream, sse })
              assert.equal(answered.status, 200, answered.text)
              assert.deepEqual(warnings, [])
              assert.deepEqual(meaning(turn).filter(isVisible), means)
              assert.equal(turn.finish.reason, finish)
              assert.deepEqual(turn.usage, { ...USAGE, ...step.usage })
              assert.deepEqual(rehearsal.failures, [])
            })
        }
      })
    }

    for (const client of wireIds)
      test(`five turns with tools for a client of ${client}, with signatures`, async () => {
        const call = ['a', 'b'].map((path) => ({ name: 'read_file', args: { path: `${path}{n}` } }))
        const steps = [{ think: 'Hm {n}.', say: 'On.', call, repeat: 5 }, { say: 'Done.' }]
        const rehearsal = await rehearse(steps, { requires: 'signatures' })
        const gateway = await gatewayTo(rehearsal, [upstream])
        try {
          const turns: Turn[] = [said('Go.')]
          for (let round = 0; round < 5; round++) {
            const { turn, answered } = await askGateway(gateway, client, { turns })
            assert.equal(answered.status, 200, answered.text)
            assert.deepEqual(meaning(turn).filter(isVisible), [
              { reasoning: `Hm ${round}.` },
              { text: 'On.' },
              { call: 'read_file', input: { path: `a${round}` } },
              { call: 'read_file', input: { path: `b${round}` } },
            ])
            turns.push(turn, answers(turn, 'content'))
          }
          const { turn, answered } = await askGateway(gateway, client, { turns })
          assert.deepEqual(meaning(turn).filter(isVisible), [{ text: 'Done.' }], answered.text)
          assert.deepEqual(rehearsal.failures, [])
          const messages = rehearsal.requests.at(-1)?.conversation.messages ?? []
          const calls = messages.flatMap(({ parts }) => parts.filter(({ type }) => type === 'call'))
          assert.equal(calls.length, 10)
        } finally {
          await gateway.close()
          await rehearsal.close()
        }
      })
  })
}

/** Reasoning without text only carries signatures. */
function isVisible(part: JsonObject): boolean {
  return part['reasoning'] !== ''
}
