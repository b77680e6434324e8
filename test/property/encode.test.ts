import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject } from '../../src/model/json.ts'
import type { ModelRequest, ToolSpec } from '../../src/model/request.ts'
import type { CallPart, Turn } from '../../src/model/turn.ts'
import { type Case, cases, wires } from '../support/cases.ts'
import { runs } from '../support/runs.ts'
import { WIRES } from '../support/seals.ts'
import { validateTranscript } from '../support/transcript-validator.ts'

describe('any history, on every wire', () => {
  const { seed, options } = runs(2000)
  for (const wire of WIRES) {
    it(`${wire}: is accepted, and written the same way twice`, () => {
      let count = 0
      fc.assert(
        fc.property(cases(wire, seed), ({ request, profile }: Case) => {
          const before = JSON.stringify(request)
          const { body } = wires[wire].encodeRequest(request, profile)
          assert.deepEqual(validateTranscript(wire, body, profile), [])
          // Declaring tools is dear, and mostly their business; so they are declared afresh only now and then.
          const fresh = JSON.parse(before) as Case['request']
          const again = wires[wire].encodeRequest(
            count++ % 10 === 0 ? fresh : { ...fresh, tools: request.tools },
            profile,
          )
          assert.equal(JSON.stringify(again.body), JSON.stringify(body))
          assert.equal(JSON.stringify(request), before)
        }),
        options,
      )
    })
  }
})

describe('particular histories', () => {
  const patch: ToolSpec = {
    name: 'patch',
    description: 'Patches.',
    schema: { type: 'object', properties: { input: { type: 'string' } } },
    freeform: true,
  }
  const call: CallPart = { kind: 'call', id: 'a', name: 'patch', raw: 'x', input: { input: 'x' }, freeform: true }
  const origin = { provider: 'p', wire: 'openai-responses', model: 'm' } as const

  it('T30 a call of free text is a plain call to whoever knows no such tool', () => {
    const made = (tools: ToolSpec[], part: CallPart = call) => {
      const turns: Turn[] = [{ role: 'assistant', origin, parts: [part], finish: { reason: 'calls' } }]
      const { body } = wires['openai-chat'].encodeRequest({ model: 'm', tools, turns }, wires['openai-chat'].profile)
      return (body['messages'] as JsonObject[])[1]?.['tool_calls']
    }
    const plain = (text: string) => ({ id: 'a', type: 'function', function: { name: 'patch', arguments: text } })
    assert.deepEqual(made([]), [plain('{"input":"x"}')])
    assert.deepEqual(made([patch]), [{ id: 'a', type: 'custom', custom: { name: 'patch', input: 'x' } }])
    // What free text cannot say is not left out.
    const { freeform: _freeform, ...json } = call
    const more = { ...json, raw: '{"input":"x","dry":true}', input: { input: 'x', dry: true } }
    assert.deepEqual(made([patch], more), [plain('{"input":"x","dry":true}')])
  })

  it('T139 results that answer what the vendor keeps stand alone', () => {
    const content = [{ kind: 'text', text: 'Done.' }] as const
    const answer = { kind: 'result', id: 'call_1', name: 'patch', status: 'ok', content } as const
    const kept: ModelRequest = {
      model: 'm',
      tools: [],
      previous: { wire: 'openai-responses', id: 'resp_1' },
      turns: [{ role: 'results', parts: [answer] }],
    }
    const { body } = wires['openai-responses'].encodeRequest(kept, wires['openai-responses'].profile)
    assert.deepEqual(body['input'], [{ type: 'function_call_output', call_id: 'call_1', output: 'Done.' }])
  })
})
