import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import type { ModelRequest } from '../../src/model/request.ts'
import type { AssistantPart, Turn } from '../../src/model/turn.ts'
import { formatTime } from '../../src/wire/interactions/format-time.ts'
import { interactions } from '../../src/wire/interactions/wire.ts'

const { profile } = interactions
const ASKED: Turn = { role: 'user', parts: [{ kind: 'text', text: 'Look.' }] }
const RESULT: Turn = {
  role: 'results',
  parts: [{ kind: 'result', id: 'c1', name: 'run', status: 'error', content: [{ kind: 'text', text: 'No.' }] }],
}
const CALL = { kind: 'call', id: 'c1', name: 'run', raw: '{}', input: {} } as const
const native = (data?: JsonObject, id?: string) =>
  ({ wire: 'interactions', signer: 'interactions', ...(id !== undefined && { id }), ...(data && { data }) }) as const

function answered(...parts: AssistantPart[]): Turn[] {
  const origin = { provider: 'x', wire: 'interactions', model: 'm' } as const
  return [ASKED, { role: 'assistant', origin, parts, finish: { reason: 'calls' } }, RESULT]
}

function encode(request: Partial<ModelRequest>, flags: Partial<typeof profile> = {}) {
  return interactions.encodeRequest({ model: 'm', tools: [], turns: [ASKED], ...request }, { ...profile, ...flags })
}

const stepsOf = ({ body }: { body: JsonObject }) => body['input'] as JsonObject[]

describe('T189 a call always has a signed thought before it', () => {
  const sentinel = { type: 'thought', signature: 'skip_thought_signature_validator' }
  const call = { type: 'function_call', id: 'c1', name: 'run', arguments: {} }
  const result = {
    type: 'function_result',
    call_id: 'c1',
    name: 'run',
    result: [{ type: 'text', text: 'No.' }],
    is_error: true,
  }

  test('a call of another model, and a thought without a signature: the placeholder', () => {
    for (const parts of [[CALL], [{ kind: 'reasoning', text: 'Hm.', native: native() } as const, CALL]])
      assert.deepEqual(stepsOf(encode({ turns: answered(...parts) })).slice(1), [sentinel, call, result])
  })

  test('a signed thought goes back as it came, and needs no placeholder', () => {
    const step = { type: 'thought', summary: [{ type: 'text', text: 'Hm.' }], signature: 'sig', new_field: 1 }
    const signed = { kind: 'reasoning', text: 'Hm.', native: native({ step }) } as const
    assert.deepEqual(stepsOf(encode({ turns: answered(signed, CALL) })).slice(1), [step, call, result])
    // The endpoint rejected its own signature.
    const without = encode({ turns: answered(signed, CALL) }, { replay: 'never' })
    assert.deepEqual(stepsOf(without).slice(1), [sentinel, call, result])
  })

  test('models that need no signature get none', () => {
    assert.deepEqual(stepsOf(encode({ turns: answered(CALL) }, { signatures: 'optional' })).slice(1), [call, result])
  })
})

describe('requests', () => {
  test('nothing is stored unless the caller wants it, and a stored history is continued by its id', () => {
    assert.equal(encode({}).body['store'], false)
    const { body } = encode({
      params: { store: true },
      previous: { wire: 'interactions', id: 'v1_7' },
      turns: [RESULT],
    })
    assert.deepEqual([body['store'], body['previous_interaction_id']], [true, 'v1_7'])
    assert.deepEqual(
      stepsOf({ body }).map(({ type, call_id: id }) => [type, id]),
      [['function_result', 'c1']],
    )
    assert.equal(interactions.readRequest(body).request.previous?.id, 'v1_7')
  })

  test('tools of the vendor are declared, those of another API are not, and it is said', () => {
    const mcp = { type: 'mcp_server', name: 'docs', url: 'https://example.com/mcp' }
    const { body, warnings } = encode({
      serverTools: ['google_search'],
      hostedTools: [
        { wire: 'interactions', declaration: mcp },
        { wire: 'openai-responses', declaration: { type: 'web_search' } },
      ],
    })
    assert.deepEqual(body['tools'], [{ type: 'google_search' }, mcp])
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['hosted-tool'],
    )
    const { request } = interactions.readRequest(body)
    assert.deepEqual(request.serverTools, ['google_search'])
    assert.deepEqual(request.hostedTools, [{ wire: 'interactions', declaration: mcp }])
  })

  test('a body of anybody is read without loss: what is not understood is kept, or is a warning', () => {
    const body = {
      model: 'models/gemini-3.8-flash',
      system_instruction: 'Be brief.',
      service_tier: 'flex',
      labels: { team: 'a' },
      generation_config: { thinking_level: 'high', seed: 7, tool_choice: { allowed_tools: { mode: 'new' } } },
      response_format: [{ type: 'audio' }],
      tools: [
        { type: 'function', name: 'run', description: 'Runs.', parameters: { type: 'object' }, behaviour: 'async' },
        { type: 'google_search', search_types: ['web'] },
        { type: 'code_execution' },
      ],
      store: false,
      stream: true,
      input: [
        {
          type: 'user_input',
          content: [
            { type: 'text', text: 'Look.' },
            { type: 'image', mime_type: 'image/png', data: 'iVBO', resolution: 'low' },
          ],
        },
        { type: 'thought', signature: 'sig' },
        { type: 'google_search_call', id: 's1', arguments: { queries: ['x'] } },
        { type: 'google_search_result', call_id: 's1', result: [] },
        { type: 'model_output', content: [{ type: 'text', text: 'Hm.', annotations: [{ type: 'url_citation' }] }] },
        { type: 'function_call', id: 'c1', name: 'run', arguments: {}, signature: 'old' },
        { type: 'function_result', call_id: 'c1', name: 'run', result: { ok: true } },
        { type: 'new_step', secret: 1 },
        { type: 'user_input', content: [{ type: 'text', text: 'And?' }], role: 'user' },
      ],
    }
    const { request, warnings } = interactions.readRequest(body)
    assert.deepEqual(
      warnings.map(({ code, message }) => [code, message]),
      [['unread-field', 'user_input: role was dropped.']],
    )
    const again = JSON.stringify(interactions.encodeRequest(request, profile).body)
    for (const kept of ['flex', '"seed":7', 'allowed_tools', '"audio"', '"async"', 'search_types', 'code_execution'])
      assert.ok(again.includes(kept), kept)
    for (const kept of [
      '"resolution":"low"',
      '"sig"',
      'google_search_result',
      'url_citation',
      '"old"',
      '"ok":true',
      'secret',
    ])
      assert.ok(again.includes(kept), kept)
  })

  test('the input may be a text or contents', () => {
    const text = { type: 'text', text: 'Hi.' }
    for (const input of ['Hi.', text, [text]])
      assert.deepEqual(interactions.readRequest({ model: 'm', input }).request.turns, [
        { role: 'user', parts: [{ kind: 'text', text: 'Hi.' }] },
      ])
  })
})

test('times are written as the calendar has them', () => {
  for (const seconds of [0, 951_782_399, 951_782_400, 1_709_164_800, 1_798_761_599, 4_107_542_400, 13_569_465_599])
    assert.equal(formatTime(seconds), new Date(seconds * 1000).toISOString().replace('.000', ''))
})
