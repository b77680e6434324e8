import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { examineEndpoint } from '../../src/doctor/examine-endpoint.ts'
import { createTurnKey } from '../../src/model/ids.ts'
import { createModel, createHttpClient } from '../../src/provider/http/node-http-client.ts'
import { withAdaptation } from '../../src/provider/middleware/adaptation/with-adaptation.ts'
import { withRetry } from '../../src/provider/middleware/retry.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { createIncrementalBodyWriter } from '../../src/wire/history/incremental-body-writer.ts'
import { aimed } from '../provider/support/ask.ts'
import { agentOf, closing, play } from '../support/stage.ts'

/**
 * A real model behind a real llama.cpp server, on the three wires that it speaks: `npm run real-model -- URL`. The model
 * may be as weak as it likes: what is tried is the wires, not its wits.
 */
const URL = process.env['DRAGOMAN_LLAMA_URL'] ?? ''
const skip = URL === '' && 'set DRAGOMAN_LLAMA_URL to the address of a llama.cpp server'
const MODEL = process.env['DRAGOMAN_LLAMA_MODEL'] ?? 'local'

const DOORS = [
  [`llamacpp/${MODEL}`, `${URL}/v1`],
  [`anthropic/${MODEL}`, URL],
  [`openai/${MODEL}`, `${URL}/v1`],
] as const

describe('a real model', { skip }, () => {
  for (const [name, url] of DOORS) {
    for (const stream of [true, false]) {
      test(`${name}: a tool round trip, ${stream ? 'streaming' : 'whole'}`, async (t) => {
        const ran: unknown[] = []
        const weather = tool({
          name: 'get_weather',
          description: 'Get the current weather for a city',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          effects: () => [],
          execute: (input) => {
            ran.push(input)
            return 'It is 18 degrees and cloudy.'
          },
        })
        const target = aimed(name, url)
        const post = createHttpClient({})
        const bent = stream ? target : { ...target, profile: { ...target.profile, stream: false as const } }
        const model = withRetry(
          withAdaptation(bent, (one) =>
            createModel(one, { createBodyWriter: createIncrementalBodyWriter, httpClient: post }),
          ),
        )
        const agent = agentOf(model, [weather], {
          system: 'You are a helpful assistant.',
          params: { maxTokens: 80, temperature: 0 },
          limits: { turns: 3 },
        })
        const end = closing(await play(agent, 'What is the weather in Paris?'))
        t.diagnostic(`${JSON.stringify(ran)} → ${end.reason}: ${end.text.slice(0, 200)}`)
        assert.notEqual(end.reason, 'fault', JSON.stringify(end.fault))
        assert.ok(ran.length > 0, 'no call was made')
        const results = agent.session.entries.filter(({ kind }) => kind === 'result')
        assert.ok(results.length >= ran.length, 'every call has a result')
      })
    }
  }

  // One wire is enough: a real model takes its time for thirty behaviours.
  test('the doctor', async (t) => {
    const [[name, url]] = DOORS
    const mint = () => createTurnKey(randomBytes(20))
    const limits = { firstByte: 300_000, idle: 300_000, quiet: 300_000, lifetime: 600_000 }
    const report = await examineEndpoint(aimed(name, url), {
      newId: mint,
      timeouts: limits,
      concurrency: 1,
      maxResponseTokens: 48,
    })
    for (const { id, title, status, said, seconds } of report.behaviours)
      t.diagnostic(`${id} ${title}: ${status}, ${seconds.toFixed(1)} s. ${said}`)
    for (const { said } of report.findings) t.diagnostic(said)
    t.diagnostic(`${JSON.stringify(report.learnt)}, ${report.tokens} tokens, ${report.seconds.toFixed(0)} s`)
    assert.equal(report.dead, undefined)
    assert.ok(report.usable)
    // Whatever a weak model does, what is tried here on its bytes must hold.
    assert.deepEqual(
      report.behaviours.filter(({ how, status }) => how === 'drill' && status === 'fails'),
      [],
    )
  })
})
