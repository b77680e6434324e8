import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { isObject, type JsonObject } from '../../src/model/json.ts'
import type { ModelRequest } from '../../src/model/request.ts'
import type { AssistantPart, Turn, WireId } from '../../src/model/turn.ts'
import { type Case, cases, wires } from '../support/cases.ts'
import { runs } from '../support/runs.ts'
import { type Spec, chatSpec, geminiSpec, responsesSpec, skipWithoutSpecs } from '../support/vendor-specs.ts'

const SPECS: [WireId, () => Spec][] = [
  ['gemini', geminiSpec],
  ['code-assist', geminiSpec],
  ['openai-chat', chatSpec],
  ['openai-responses', responsesSpec],
]

describe('every body of a plain endpoint is what its vendor publishes', { skip: skipWithoutSpecs }, () => {
  const { seed, options } = runs(1000)
  for (const [wire, make] of SPECS) {
    it(wire, () => {
      const check = make()
      fc.assert(
        fc.property(cases(wire, seed), ({ request }: Case) => {
          const turns = wire === 'openai-chat' ? request.turns.map(unsealed) : request.turns
          const { body } = wires[wire].encodeRequest({ ...request, turns }, wires[wire].profile)
          assert.deepEqual(check(published(wire, body)), [])
        }),
        options,
      )
    })

    it(`${wire}: an answer of a given schema, a choice of tools, and provider options`, () => {
      const check = make()
      const text = { type: 'string' }
      const schema = { type: 'object', properties: { a: text, b: { type: 'array', items: text } }, required: ['a'] }
      for (const toolChoice of ['auto', 'required', 'none', { name: 't' }, { only: ['t'] }] as const) {
        const request: ModelRequest = {
          model: 'm',
          tools: [{ name: 't', description: 'T.', schema: { type: 'object', properties: {} } }],
          turns: [{ role: 'user', parts: [{ kind: 'text', text: 'hi' }] }],
          toolChoice,
          params: { maxTokens: 100, temperature: 1, effort: 'low', cacheTtl: '1h', parallelCalls: false },
          output: { name: 'answer', schema },
          providerOptions: {
            gemini: { generationConfig: { topK: 3, seed: 1 } },
            'openai-chat': { seed: 1, verbosity: 'low' },
            'openai-responses': { truncation: 'auto', text: { verbosity: 'low' } },
          },
        }
        const { body } = wires[wire].encodeRequest(request, { ...wires[wire].profile, outputWithTools: true })
        assert.deepEqual(check(published(wire, body)), [])
        assert.match(JSON.stringify(body), /responseJsonSchema|json_schema/)
      }
    })

    it(`${wire}: a key that nobody knows is refused, also inside the history`, () => {
      const check = make()
      const { body } = wires[wire].encodeRequest({ model: 'm', tools: [], turns: [] }, wires[wire].profile)
      const sound = published(wire, body)
      const [history = ''] = Object.keys(sound).slice(-1)
      const harmed = (sound[history] as JsonObject[]).map((one) => ({ ...one, unheard_of: true }))
      assert.deepEqual(check(sound), [])
      assert.notDeepEqual(check({ ...sound, unheard_of: true }), [])
      assert.notDeepEqual(check({ ...sound, [history]: harmed }), [])
    })
  }
})

/** OpenAI's own chat seals nothing but ids; what compatible endpoints seal goes back in fields that OpenAI does not publish (T74–T77). */
function unsealed(turn: Turn): Turn {
  if (turn.role !== 'assistant') return turn
  const parts = turn.parts.map((part): AssistantPart => {
    if (!part.native) return part
    const { data: _data, ...native } = part.native
    return { ...part, native }
  })
  return { ...turn, parts }
}

/** The envelope of Code Assist and its session are not published; what it holds is a request of generateContent. */
function published(wire: WireId, body: JsonObject): JsonObject {
  if (wire !== 'code-assist' || !isObject(body['request'])) return body
  const { session_id: _session, ...request } = body['request']
  return request
}
