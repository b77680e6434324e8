import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { ModelRequest, ToolSpec } from '../../src/model/request.ts'
import type { AssistantPart, AssistantTurn, CallPart, ResultPart, Turn } from '../../src/model/turn.ts'
import { openaiResponses } from '../../src/wire/openai-responses/wire.ts'

const wire = openaiResponses

const tools: ToolSpec[] = [
  {
    name: 'read',
    description: 'Reads.',
    schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
  { name: 'sql', description: 'Asks.', schema: { type: 'object', properties: {} }, freeform: true },
]

function encoded(turns: Turn[], profile: Partial<Profile> = {}, request: Partial<ModelRequest> = {}) {
  const { body, warnings } = wire.encodeRequest(
    { model: 'm', tools, turns, ...request },
    { ...wire.profile, ...profile },
  )
  return { body, warnings: warnings.map(({ code }) => code), input: body['input'] as JsonObject[] }
}

const user = (text = 'hi'): Turn => ({ role: 'user', parts: [{ kind: 'text', text }] })

function assistant(...parts: AssistantPart[]): AssistantTurn {
  return {
    role: 'assistant',
    origin: { provider: 'x', wire: 'openai-responses', model: 'x' },
    parts,
    finish: { reason: 'stop' },
  }
}

function call(id: string, more: Partial<CallPart> = {}): CallPart {
  return { kind: 'call', id, name: 'read', raw: '{"path": "a"}', input: { path: 'a' }, ...more }
}

const result = (id: string, more: Partial<ResultPart> = {}): ResultPart => ({
  kind: 'result',
  id,
  name: 'read',
  status: 'ok',
  content: [{ kind: 'text', text: 'done' }],
  ...more,
})
const results = (...parts: ResultPart[]): Turn => ({ role: 'results', parts })
const own = (data: JsonObject, id?: string) =>
  ({ native: { wire: 'openai-responses', signer: 'openai-responses', data, ...(id !== undefined && { id }) } }) as const
const SEALED = {
  type: 'reasoning',
  id: 'rs_1',
  status: 'completed',
  summary: [],
  content: [],
  encrypted_content: 'gAAA',
}
const thought = (data: JsonObject = SEALED): AssistantPart => ({ kind: 'reasoning', text: 'hm', ...own(data) })
const types = (items: JsonObject[]) => items.map((item) => item['role'] ?? item['type'])
const media = { kind: 'media', mime: 'image/png', data: 'AAAA' } as const

describe('a request on the Responses wire', () => {
  test('T92 the input comes last, and a longer history extends the bytes of a shorter one', () => {
    const turns = [
      user(),
      assistant(thought(), call('1'), call('2')),
      results(result('2'), result('1')),
      assistant({ kind: 'text', text: 'yes' }),
      user('go on'),
    ]
    const texts = [1, 3, 5].map((length) =>
      JSON.stringify(encoded(turns.slice(0, length), {}, { system: 'S', session: 's' }).body).slice(0, -2),
    )
    assert.ok(texts[1]?.startsWith(texts[0] ?? '-') && texts[2]?.startsWith(texts[1]))
    assert.equal(Object.keys(encoded(turns).body).at(-1), 'input')
  })

  test('T84 the server keeps nothing, and thoughts come sealed', () => {
    const { body } = encoded([user()])
    assert.deepEqual([body['store'], body['include'], body['stream']], [false, ['reasoning.encrypted_content'], true])
    assert.equal(encoded([user()], { encryptedReasoning: false }).body['include'], undefined)
  })

  test('T84 sealed thoughts go back in their place, without ids', () => {
    const { input } = encoded([user(), assistant(thought(), call('1', own({}, 'call_1'))), results(result('1'))])
    assert.deepEqual(input.slice(1), [
      { type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
      { type: 'function_call', call_id: 'call_1', name: 'read', arguments: '{"path": "a"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'done' },
    ])
  })

  test('T84 thoughts that are unsealed, of another signer, unwanted or at the end are left out', () => {
    const foreign: AssistantPart = {
      kind: 'reasoning',
      text: 'hm',
      native: { wire: 'openai-responses', signer: 'other', data: SEALED },
    }
    const open: AssistantPart = { kind: 'reasoning', text: 'hm' }
    const turns = (...parts: AssistantPart[]) => [user(), assistant(...parts), user()]
    const said = { kind: 'text', text: 'yes' } as const
    for (const part of [foreign, open])
      assert.deepEqual(types(encoded(turns(part, said)).input), ['user', 'assistant', 'user'])
    assert.deepEqual(types(encoded(turns(thought(), said), { replay: 'never' }).input), ['user', 'assistant', 'user'])
    assert.deepEqual(types(encoded(turns(thought(), said, thought())).input), [
      'user',
      'reasoning',
      'assistant',
      'user',
    ])
    const gateway = thought({ ...SEALED, format: 'google-gemini-v1' })
    assert.deepEqual(types(encoded(turns(said, gateway)).input), ['user', 'assistant', 'reasoning', 'user'])
  })

  test('what the vendor ran itself goes back only to it, whole, and with the thought that led to it', () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } }
    const item: AssistantPart = { kind: 'text', text: '', ...own(search) }
    const said = { kind: 'text', text: 'yes' } as const
    assert.deepEqual(encoded([user(), assistant(thought(), item, said), user()]).input[2], search)
    assert.deepEqual(types(encoded([user(), assistant({ kind: 'reasoning', text: 'hm' }, item, said), user()]).input), [
      'user',
      'assistant',
      'user',
    ])
    assert.deepEqual(types(encoded([user(), assistant(item, said), user()], { signer: 'other' }).input), [
      'user',
      'assistant',
      'user',
    ])
  })

  test('a built-in call goes back only with its output', () => {
    const shell: AssistantPart = {
      kind: 'text',
      text: '',
      ...own({ type: 'shell_call', call_id: 'x', action: { commands: [] } }),
    }
    const output: AssistantPart = {
      kind: 'text',
      text: '',
      ...own({ type: 'shell_call_output', call_id: 'x', output: [] }),
    }
    const said = { kind: 'text', text: 'yes' } as const
    assert.deepEqual(types(encoded([user(), assistant(shell, output, said), user()]).input).slice(1, 3), [
      'shell_call',
      'shell_call_output',
    ])
    assert.deepEqual(types(encoded([user(), assistant(shell, said), user()]).input).slice(1, 2), ['assistant'])
  })

  test('messages keep their phase and their place among the calls', () => {
    const { input } = encoded([
      user(),
      assistant({ kind: 'text', text: 'First.', ...own({ phase: 'commentary' }) }, call('1'), {
        kind: 'text',
        text: 'Then.',
      }),
      results(result('1')),
    ])
    assert.deepEqual(input[1], { type: 'message', role: 'assistant', content: 'First.', phase: 'commentary' })
    assert.deepEqual(types(input), ['user', 'assistant', 'function_call', 'assistant', 'function_call_output'])
  })

  test('T88 T89 T92 every call has one result, in the order of the calls', () => {
    const { input, warnings } = encoded([
      user(),
      assistant(call('1'), call('2')),
      results(result('2'), result('9')),
      user(),
    ])
    assert.deepEqual(
      input.slice(3, 5).map((item) => item['call_id']),
      ['1', '2'],
    )
    assert.match(JSON.stringify(input[3]), /interrupted/)
    assert.deepEqual([...new Set(warnings)].sort(), ['orphan-result', 'unanswered-call'])
  })

  test('T97 ids are legal and no two alike', () => {
    const long = 'toolu|'.repeat(80)
    const { input } = encoded([
      user(),
      assistant(call(long), call(`${long}x`)),
      results(result(long), result(`${long}x`)),
    ])
    const ids = input.slice(1).map((item) => item['call_id'] as string)
    for (const id of ids) assert.match(id, /^[A-Za-z0-9_-]{1,64}$/)
    assert.deepEqual([ids[0] !== ids[1], ids[0] === ids[2], ids[1] === ids[3]], [true, true, true])
  })

  test('T41 arguments that were broken go back as an object, and the model sees what it wrote', () => {
    const broken = call('1', { raw: '{"path": "a', flaw: { code: 'unfinished', message: 'Cut.' } })
    const { input: _, ...rest } = broken
    const { input } = encoded([user(), assistant(rest), user()])
    assert.equal(input[1]?.['arguments'], '{}')
    assert.match(input[2]?.['output'] as string, /\{"path": "a/)
  })

  test('T99 a result is never empty, and an error says that it is one', () => {
    const { input } = encoded([
      user(),
      assistant(call('1'), call('2')),
      results(result('1', { content: [] }), result('2', { status: 'error' })),
    ])
    assert.deepEqual(
      input.slice(3).map((item) => item['output']),
      ['(no output)', 'Error: done'],
    )
  })

  test('T100 pictures and files stand inside the result, or become a sentence', () => {
    const turns = [
      user(),
      assistant(call('1')),
      results(result('1', { content: [{ kind: 'text', text: 'See' }, media] })),
    ]
    const image = { type: 'input_image', detail: 'auto', image_url: 'data:image/png;base64,AAAA' }
    assert.deepEqual(encoded(turns).input[2]?.['output'], [{ type: 'input_text', text: 'See' }, image])
    assert.match(JSON.stringify(encoded(turns, { media: false }).input[2]), /See\\n\(image\/png was left out/)
    const pdf = { kind: 'media', mime: 'application/pdf', data: 'AAAA', name: 'a.pdf' } as const
    const said = encoded([{ role: 'user', parts: [media, pdf] }]).input[0]?.['content']
    assert.deepEqual(said, [
      image,
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
    ])
    assert.match(
      JSON.stringify(encoded([{ role: 'user', parts: [media] }], { media: false }).input),
      /image\/png was left out/,
    )
  })

  test('T103 halves of characters are mended', () => {
    assert.deepEqual(encoded([user('a\uD800')]).input[0]?.['content'], [{ type: 'input_text', text: 'a\uFFFD' }])
  })

  test('T30 free text goes back as free text, where the tool is declared so or the call came so', () => {
    const free = call('1', { name: 'sql', raw: 'SELECT 1', input: { input: 'SELECT 1' }, freeform: true })
    const turns = [user(), assistant(free), results(result('1'))]
    const { body, input } = encoded(turns)
    assert.deepEqual((body['tools'] as JsonObject[])[1], { type: 'custom', name: 'sql', description: 'Asks.' })
    assert.deepEqual(input[1], { type: 'custom_tool_call', call_id: '1', name: 'sql', input: 'SELECT 1' })
    assert.equal(input[2]?.['type'], 'custom_tool_call_output')
    const { freeform: _, ...json } = free
    assert.equal(encoded([user(), assistant(json), results(result('1'))]).input[1]?.['type'], 'custom_tool_call')
    const undeclared = encoded(turns, {}, { tools: [] }).input
    assert.deepEqual([undeclared[1]?.['type'], undeclared[1]?.['arguments']], ['function_call', '{"input":"SELECT 1"}'])
  })

  test('who called goes back with the call and its result', () => {
    const caller = { type: 'program', caller_id: 'call_p' }
    const { input } = encoded([user(), assistant(call('1', own({ caller }, 'c1'))), results(result('1'))])
    assert.deepEqual([input[1]?.['caller'], input[2]?.['caller']], [caller, caller])
  })

  test('T144 strict is always said', () => {
    const declared = (profile: Partial<Profile>) => (encoded([user()], profile).body['tools'] as JsonObject[])[0]
    assert.equal(declared({})?.['strict'], false)
    assert.equal(declared({ constrain: true })?.['strict'], true)
  })

  test('T98 without tools there is neither a list nor a choice', () => {
    const { body } = encoded([user()], {}, { tools: [], toolChoice: 'required', params: { parallelCalls: false } })
    for (const key of ['tools', 'tool_choice', 'parallel_tool_calls']) assert.ok(!(key in body))
  })

  test('T153 T154 the choice of tools', () => {
    const chosen = (toolChoice: NonNullable<ModelRequest['toolChoice']>) =>
      encoded([user()], {}, { toolChoice }).body['tool_choice']
    assert.equal(chosen('auto'), undefined)
    assert.equal(chosen('required'), 'required')
    assert.equal(chosen('none'), 'none')
    assert.deepEqual(chosen({ name: 'read' }), { type: 'function', name: 'read' })
    assert.deepEqual(chosen({ name: 'sql' }), { type: 'custom', name: 'sql' })
    assert.deepEqual(chosen({ only: ['read', 'gone'] }), {
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'function', name: 'read' }],
    })
    assert.equal(chosen({ only: ['gone'] }), 'none')
    assert.ok(!('parallel_tool_calls' in encoded([user()]).body))
    assert.equal(encoded([user()], {}, { params: { parallelCalls: false } }).body['parallel_tool_calls'], false)
  })

  test('T155 the other parameters, and those that the endpoint refuses', () => {
    const params = { effort: 'high', maxTokens: 5, temperature: 1, topP: 0.5, stop: ['x'], stream: false } as const
    const { body, warnings } = encoded([user()], {}, { params, session: 's1', system: 'S' })
    assert.deepEqual(body['reasoning'], { effort: 'high', summary: 'auto' })
    assert.deepEqual(
      [body['max_output_tokens'], body['temperature'], body['top_p'], body['stream']],
      [16, 1, 0.5, false],
    )
    assert.deepEqual([body['prompt_cache_key'], body['instructions'], warnings], ['s1', 'S', ['stop']])
    assert.deepEqual(encoded([user()], {}, { params: { effort: 'off' } }).body['reasoning'], { effort: 'none' })
    assert.ok(!('reasoning' in encoded([user()], { thinking: 'none' }, { params }).body))
    assert.ok(!('prompt_cache_key' in encoded([user()], { cache: 'none' }, { session: 's1' }).body))
    const refuses = ['temperature', 'reasoning.summary', 'tools.strict', 'nothing.at.all']
    const refused = encoded([user()], { refuses }, { params }).body
    assert.deepEqual(
      [refused['temperature'], refused['reasoning'], Object.keys(refused).at(-1)],
      [undefined, { effort: 'high' }, 'input'],
    )
    assert.ok(!('strict' in ((refused['tools'] as JsonObject[])[0] ?? {})))
  })

  test('T139 where the vendor keeps the history, results may answer calls that are not here', () => {
    const { body, input, warnings } = encoded(
      [user(), results(result('call_1'))],
      {},
      { previous: { wire: 'openai-responses', id: 'resp_1' } },
    )
    assert.equal(body['previous_response_id'], 'resp_1')
    assert.deepEqual(input[1], { type: 'function_call_output', call_id: 'call_1', output: 'done' })
    assert.deepEqual(warnings, [])
  })

  test('a model without native calls reads and writes them as text', () => {
    const { body, input } = encoded(
      [user(), assistant({ kind: 'text', text: 'So:' }, call('1')), results(result('1'))],
      { tools: 'text' },
      { system: 'S' },
    )
    assert.ok(!('tools' in body))
    assert.match(body['instructions'] as string, /^S\n\n[\s\S]*read/)
    assert.deepEqual(types(input), ['user', 'assistant', 'user'])
    assert.match(input[1]?.['content'] as string, /^So:\n[\s\S]*read/)
  })

  test('a request reads back as what was written', () => {
    const turns = [
      user(),
      assistant(
        thought(),
        { kind: 'text', text: 'Hm.', ...own({ phase: 'commentary' }) },
        call('1', own({ caller: { type: 'direct' } }, '1')),
      ),
      results(result('1', { content: [{ kind: 'text', text: 'See' }, media], name: '' })),
    ]
    const request = {
      system: 'S',
      session: 's',
      toolChoice: { only: ['read'] },
      params: { effort: 'off', maxTokens: 50, stream: false, store: false, parallelCalls: false },
    } as const
    const { body } = encoded(turns, {}, request)
    const back = wire.readRequest(body).request
    assert.deepEqual(wire.encodeRequest(back, wire.profile).body, body)
    assert.deepEqual(
      [back.system, back.session, back.toolChoice, back.params],
      [request.system, request.session, request.toolChoice, request.params],
    )
    const native = { wire: wire.id, signer: wire.id, data: { caller: { type: 'direct' } } } as const
    const [sent] = turns[2]?.role === 'results' ? turns[2].parts : []
    assert.deepEqual(back.turns[2], { role: 'results', parts: [{ ...sent, native }] })
  })
})
