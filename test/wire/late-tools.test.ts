import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { takeHistorySnapshot } from '../../src/model/history-snapshot.ts'
import { filterObjects, type JsonObject } from '../../src/model/json.ts'
import type { ModelRequest, ToolSpec } from '../../src/model/request.ts'
import type { AssistantTurn, ResultPart, Turn, WireId } from '../../src/model/turn.ts'
import { validate } from '../../src/schema/validate/validate.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
import { joinBodyPieces } from '../../src/wire/history/encoded-messages.ts'
import { createIncrementalBodyWriter } from '../../src/wire/history/incremental-body-writer.ts'
import { collectDeclaredTools } from '../../src/wire/late-tools.ts'
import { wires } from '../support/cases.ts'
import { RESPONSES_BODIES } from '../support/responses-bodies.ts'

const OBJECT = { type: 'object', properties: { path: { type: 'string' } } }
const tool = (name: string, more: Partial<ToolSpec> = {}): ToolSpec => ({
  name,
  description: name,
  schema: OBJECT,
  ...more,
})
const says = (...names: string[]): AssistantTurn => ({
  role: 'assistant',
  origin: { provider: 'x', wire: 'anthropic', model: 'm' },
  parts: names.map((name) => ({ kind: 'call', id: `id-${name}`, name, raw: '{}', input: {} })),
  finish: { reason: 'calls' },
})
const answers = (...names: string[]): Turn => ({ role: 'results', parts: names.map((name) => result(name)) })
const result = (name: string, more: Partial<ResultPart> = {}): ResultPart => ({
  kind: 'result',
  id: `id-${name}`,
  name,
  status: 'ok',
  content: [{ kind: 'text', text: `result of ${name}` }],
  ...more,
})
const user: Turn = { role: 'user', parts: [{ kind: 'text', text: 'Go.' }] }

const encode = (wire: WireId, request: ModelRequest, late: 'native' | 'none' = wires[wire].profile.lateTools) =>
  wires[wire].encodeRequest(request, { ...wires[wire].profile, lateTools: late }).body
const namesOf = (wire: WireId, body: JsonObject): string[] =>
  collectDeclaredTools(wires[wire].readRequest(body).request).current.map(({ name }) => name)
const ALL = Object.keys(wires) as WireId[]

describe('T171 tools that stand in the history', () => {
  const body = RESPONSES_BODIES['additional tools first']
  const { request } = wires['openai-responses'].readRequest(body)

  it('are read with their namespaces, grammars and whole descriptions', () => {
    const { known } = collectDeclaredTools(request)
    assert.deepEqual(
      known.map(({ name }) => name),
      ['tool_search', 'functions__exec', 'functions__lookup', 'crm__lookup', 'crm__dial'],
    )
    assert.equal(known.find(({ name }) => name === 'crm__lookup')?.deferred, true)
    const exec = known.find(({ name }) => name === 'functions__exec')
    assert.deepEqual([exec?.grammar?.syntax, exec?.freeform, exec?.description.length], ['lark', true, 14300])
  })

  it('go back as they came, byte for byte where it matters', () => {
    const again = encode('openai-responses', request)
    assert.deepEqual((again['input'] as JsonObject[])[0], body.input[0])
    assert.equal(again['tools'], undefined)
    const call = (again['input'] as JsonObject[]).find(({ type }) => type === 'custom_tool_call')
    assert.deepEqual([call?.['name'], call?.['namespace'], call?.['input']], ['exec', 'functions', 'ls'])
  })

  for (const wire of ALL)
    it(`are declared to ${wire} under flat names, uncut, and read again`, () => {
      const written = encode(wire, request, 'none')
      assert.deepEqual(namesOf(wire, written), [
        'tool_search',
        'functions__exec',
        'functions__lookup',
        'crm__lookup',
        'crm__dial',
      ])
      assert.ok(JSON.stringify(written).includes('Runs code. '.repeat(1300)))
      assert.ok(!JSON.stringify(written).includes('additional_tools'))
    })

  it('T172 a grammar that is a regular expression is checked where a wire has no free text', () => {
    const dial = collectDeclaredTools(request).known.find(({ name }) => name === 'crm__dial')
    assert.ok(dial)
    assert.deepEqual(validate(dial.schema, { input: '12345' }), [])
    assert.equal(validate(dial.schema, { input: '12345x' }).length, 1)
    assert.equal(validate(dial.schema, { input: 12345 }).length, 1)
    assert.ok(JSON.stringify(encode('anthropic', request)).includes('[0-9]{3,8}'))
  })
})

describe('T173 a namespace', () => {
  const tools = [tool('crm__find', { namespace: { name: 'crm', description: 'Customers.' } }), tool('plain')]

  it('is on a call that another model made', () => {
    const body = encode('openai-responses', {
      model: 'm',
      tools,
      turns: [user, says('crm__find'), answers('crm__find')],
    })
    const [, call] = body['input'] as JsonObject[]
    assert.deepEqual([call?.['name'], call?.['namespace']], ['find', 'crm'])
    const [group] = body['tools'] as JsonObject[]
    assert.deepEqual(
      [group?.['type'], group?.['name'], filterObjects(group?.['tools'])[0]?.['name']],
      ['namespace', 'crm', 'find'],
    )
  })

  it('makes names that are different, whatever the tools are called', () => {
    const fn = (name: string) => ({ type: 'function', name, description: name, parameters: OBJECT, strict: false })
    const body = {
      model: 'm',
      tools: [fn('a__b'), { type: 'namespace', name: 'a', description: 'A', tools: [fn('b'), fn('c')] }],
      input: [{ type: 'function_call', call_id: 'c1', name: 'b', namespace: 'a', arguments: '{}' }],
    }
    const { request } = wires['openai-responses'].readRequest(body)
    assert.deepEqual(
      request.tools.map(({ name }) => name),
      ['a__b', 'a__b_2', 'a__c'],
    )
    const again = encode('openai-responses', request)
    assert.deepEqual(again['tools'], body.tools)
    const call = (again['input'] as JsonObject[]).find(({ type }) => type === 'function_call')
    assert.deepEqual([call?.['name'], call?.['namespace']], ['b', 'a'])
  })

  it('T174 is on the calls of a response that is written for the client, and comes back from it', () => {
    const wire = wires['openai-responses']
    const body = RESPONSES_BODIES['additional tools first']
    const { request } = wire.readRequest(body)
    const turn: AssistantTurn = {
      ...says('functions__lookup', 'tool_search'),
      parts: [
        ...says('functions__lookup', 'tool_search').parts,
        { kind: 'call', id: 'x', name: 'functions__exec', raw: '{"input":"ls"}', input: { input: 'ls' } },
      ],
    }
    const head = { id: '1', model: 'm', created: 1, request: body }
    const whole = wire.responseWriter.writeWhole(turn, head)
    const output = whole['output'] as JsonObject[]
    assert.deepEqual(
      output.map(({ type, name, namespace, input, execution }) => [type, name, namespace, input ?? execution]),
      [
        ['function_call', 'lookup', 'functions', undefined],
        ['tool_search_call', undefined, undefined, 'client'],
        ['custom_tool_call', 'exec', 'functions', 'ls'],
      ],
    )
    const context = { turnKey: 'k', profile: wire.profile, tools: collectDeclaredTools(request).known }
    const bytes = new TextEncoder().encode(JSON.stringify(whole))
    const read = decodeResponse(wire, context, [bytes], 'application/json').turn.parts
    assert.deepEqual(
      read.map((part) => part.kind === 'call' && [part.name, part.input]),
      [
        ['functions__lookup', {}],
        ['tool_search', {}],
        ['functions__exec', { input: 'ls' }],
      ],
    )
    const next = encode('openai-responses', { ...request, turns: [...request.turns, { ...turn, parts: read }] })
    const types = (next['input'] as JsonObject[]).map(({ type }) => type)
    assert.ok(types.includes('tool_search_call') && types.includes('tool_search_output'))
  })
})

describe('T175 tools that arrive late', () => {
  const tools = [tool('search_tools'), tool('deferred_one', { deferred: true })]
  const found: Turn = { role: 'results', parts: [result('search_tools', { foundTools: ['deferred_one'] })] }
  const note: Turn = { role: 'note', text: 'New tools.', tools: [tool('late')] }
  const turns: Turn[] = [
    user,
    says('search_tools'),
    found,
    says('deferred_one'),
    answers('deferred_one'),
    note,
    says('late'),
    answers('late'),
  ]

  it('extend the bytes of the last request where the API can add tools', () => {
    const bodies = [1, 3, 5, 6, 8].map((end) =>
      JSON.stringify(encode('openai-responses', { model: 'm', tools, turns: turns.slice(0, end) })),
    )
    for (const [at, longer] of bodies.entries()) {
      const shorter = bodies[at - 1]?.slice(0, -2)
      if (shorter !== undefined) assert.equal(longer.slice(0, shorter.length), shorter)
    }
    const items = (JSON.parse(bodies.at(-1) ?? '') as { input: JsonObject[] }).input
    const added = items
      .filter(({ type }) => type === 'additional_tools')
      .map((item) => (item['tools'] as JsonObject[]).map(({ name }) => name))
    assert.deepEqual(added, [['late']])
  })

  it('are declared with the others once they are there, where it cannot', () => {
    const declared = [1, 3, 6].map((end) =>
      namesOf('openai-chat', encode('openai-chat', { model: 'm', tools, turns: turns.slice(0, end) })),
    )
    assert.deepEqual(declared, [
      ['search_tools', 'deferred_one'],
      ['search_tools', 'deferred_one'],
      ['search_tools', 'deferred_one', 'late'],
    ])
  })

  it('are gone where a note says so', () => {
    const gone: Turn = { role: 'note', text: '', removedTools: ['search_tools'] }
    assert.deepEqual(
      namesOf('anthropic', encode('anthropic', { model: 'm', tools, turns: [...turns, gone] }, 'none')),
      ['deferred_one', 'late'],
    )
  })

  it('are collected once: the same history gives the same object', () => {
    const one = collectDeclaredTools({ tools, turns })
    assert.equal(collectDeclaredTools({ tools, turns: [...turns, user] }), one)
    assert.equal(collectDeclaredTools({ tools, turns: takeHistorySnapshot(turns) }), one)
    const plain = [tool('a')]
    assert.equal(collectDeclaredTools({ tools: plain, turns: [user] }).current, plain)
  })

  for (const wire of ALL)
    it(`${wire}: a body that is written piece by piece is the same, also with results that come late`, () => {
      const history: Turn[] = []
      const write = createIncrementalBodyWriter(wires[wire])
      const { profile } = wires[wire]
      for (const turn of [...turns, says('a1'), says('b1'), answers('a1', 'b1'), says('c1'), user, answers('c1')]) {
        history.push(turn)
        const request = { model: 'm', tools, turns: takeHistorySnapshot(history) }
        assert.equal(
          joinBodyPieces(write(request, profile).pieces),
          JSON.stringify(wires[wire].encodeRequest(request, profile).body),
        )
      }
    })
})

describe('T199 a deferred tool stays deferred only where the model can find it', () => {
  const later = tool('later', { deferred: true })
  const found: Turn = { role: 'results', parts: [result('find', { content: [], foundTools: ['later'] })] }
  const turns: Turn[] = [user, says('find'), found, says('later'), answers('later')]
  const hosted = (wire: WireId, type: string) => ({ hostedTools: [{ wire, declaration: { type } }] })
  const search = tool('tool_search', {
    native: {
      wire: 'openai-responses',
      signer: 'openai-responses',
      data: { type: 'tool_search', execution: 'client' },
    },
  })
  const CASES: readonly [string, Partial<ModelRequest>, Record<'openai-responses' | 'anthropic', boolean>][] = [
    ['a search of the client', {}, { 'openai-responses': false, anthropic: true }],
    [
      'OpenAI’s search, run by the server',
      hosted('openai-responses', 'tool_search'),
      { 'openai-responses': true, anthropic: false },
    ],
    [
      'OpenAI’s search, run by the client',
      { tools: [search, tool('find'), later] },
      { 'openai-responses': true, anthropic: true },
    ],
    [
      'Anthropic’s search',
      hosted('anthropic', 'tool_search_tool_regex_20251119'),
      { 'openai-responses': false, anthropic: true },
    ],
  ]
  const encodeWith = (wire: WireId, more: Partial<ModelRequest>, end: number, late: 'native' | 'none') => {
    const codec = wires[wire]
    const request = { model: 'm', tools: [tool('find'), later], ...more, turns: turns.slice(0, end) }
    return codec.encodeRequest(request, { ...codec.profile, lateTools: late, systemNotes: late === 'native' }).body
  }
  for (const [name, more, expected] of CASES)
    for (const wire of ALL)
      for (const late of ['native', 'none'] as const)
        it(`${name}, on ${wire} (${late})`, () => {
          const bodies = [1, 3, 5].map((end) => encodeWith(wire, more, end, late))
          for (const body of bodies) {
            assert.equal(namesOf(wire, body).filter((one) => one === 'later').length, 1, 'it is declared once')
            assert.deepEqual(declarationsOf(body), declarationsOf(bodies[0]), 'the prefix stays')
          }
          const isLate = wire === 'anthropic' || wire === 'openai-responses'
          const isDeferred = late === 'native' && isLate && expected[wire]
          assert.equal(JSON.stringify(declarationsOf(bodies[0])).includes('defer_loading'), isDeferred)
          const last = JSON.stringify(bodies.at(-1))
          assert.equal(/additional_tools|tool_reference/.test(last), isDeferred)
          if (!isDeferred) assert.match(last, /These tools were found: later/)
        })

  it('a removed one is gone, also where a search of another wire is declared', () => {
    const gone: Turn = { role: 'note', text: '', removedTools: ['later'] }
    const more = hosted('anthropic', 'tool_search_tool_regex_20251119')
    const body = encode('openai-chat', { model: 'm', tools: [tool('find'), later], ...more, turns: [user, gone] })
    assert.deepEqual(namesOf('openai-chat', body), ['find'])
  })

  it('one that the history declares stays where it stood when it is found', () => {
    const wire = wires['openai-responses']
    const note: Turn = { role: 'note', text: '', tools: [search, later] }
    const history: Turn[] = [note, user, says('tool_search'), { role: 'results', parts: [foundBySearch] }, user]
    const [before, after] = [2, 5].map((end) =>
      JSON.stringify(wire.encodeRequest({ model: 'm', tools: [], turns: history.slice(0, end) }, wire.profile).body),
    )
    assert.ok(before?.includes('defer_loading'))
    assert.equal(after?.slice(0, (before?.length ?? 0) - 2), before?.slice(0, -2))
  })
  const foundBySearch = result('tool_search', { content: [], foundTools: ['later'] })

  it('one that a search returned is declared once, also if no search is declared', () => {
    const body = {
      ...RESPONSES_BODIES['a search that the client runs'],
      tools: RESPONSES_BODIES['a search that the client runs'].tools.slice(1),
    }
    const { request } = wires['openai-responses'].readRequest(body)
    const again = encode('openai-responses', request)
    assert.equal(JSON.stringify(again).split('"crm"').length, JSON.stringify(body).split('"crm"').length)
    assert.ok(!JSON.stringify(again).includes('additional_tools'))
  })
})

/** What a body declares beside its history. */
function declarationsOf(body: JsonObject | undefined): unknown {
  const inner = body?.['request'] ?? body
  return (inner as JsonObject)['tools']
}

describe('T169 results that stand after a later response', () => {
  const tools = [tool('one'), tool('two')]
  const turns: Turn[] = [user, says('one'), says('two'), answers('two', 'one'), user]
  for (const wire of ALL)
    it(`${wire}: belong to their calls by id`, () => {
      const { body, warnings } = wires[wire].encodeRequest({ model: 'm', tools, turns }, wires[wire].profile)
      const text = JSON.stringify(body)
      assert.deepEqual(warnings, [])
      assert.ok(!text.includes('interrupted'))
      assert.ok(text.indexOf('result of one') < text.indexOf('result of two'), text)
    })

  it('an id that is used again belongs to the last call', () => {
    const again: Turn[] = [user, says('one'), says('one'), answers('one')]
    const { warnings } = wires['openai-chat'].encodeRequest(
      { model: 'm', tools, turns: again },
      wires['openai-chat'].profile,
    )
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['unanswered-call'],
    )
  })
})

describe('T176 what else a response says', () => {
  const wire = wires['openai-responses']
  const read = (response: JsonObject) =>
    decodeResponse(
      wire,
      { turnKey: 'k', profile: wire.profile, tools: [] },
      [
        new TextEncoder().encode(
          JSON.stringify({ id: 'r', object: 'response', status: 'completed', output: [], ...response }),
        ),
      ],
      'application/json',
    )

  const decodeEvents = (response: JsonObject) => {
    const state = wire.startDecoding({ turnKey: 'k', profile: wire.profile, tools: [] })
    const value = { object: 'response', status: 'completed', output: [], ...response }
    return [...wire.decodeFrame(state, { kind: 'json', value }), ...wire.finishDecoding(state)]
  }

  it('citations are kept and sent back; unknown fields are kept', () => {
    const annotations = [{ type: 'url_citation', url: 'https://example.com' }]
    const content = [{ type: 'output_text', text: 'Yes.', annotations, logprobs: [] }]
    const { turn, warnings } = read({ output: [{ type: 'message', id: 'm', role: 'assistant', content }], x_new: 1 })
    assert.deepEqual(warnings, [])
    assert.deepEqual(turn.finish.native?.data, { response: { x_new: 1 } })
    const body = wire.encodeRequest({ model: 'm', tools: [], turns: [user, turn, user] }, wire.profile).body
    assert.deepEqual((body['input'] as JsonObject[])[1]?.['content'], [
      { type: 'output_text', text: 'Yes.', annotations },
    ])
    const whole = wire.responseWriter.writeWhole(turn, { id: '1', model: 'm', created: 1, request: {} })
    assert.deepEqual(filterObjects(filterObjects(whole['output'])[0]?.['content'])[0]?.['annotations'], annotations)
  })

  it('the reason for a cache miss is on the usage event', () => {
    const events = [
      ...decodeEvents({
        usage: { input_tokens: 9, output_tokens: 1 },
        prompt_cache_diagnostics: { type: 'cache_miss', reason: 'tools_changed', cache_missed_tokens: 7 },
      }),
    ]
    const usage = events.find((event) => event.type === 'usage')
    assert.deepEqual(usage?.type === 'usage' && usage.cacheDiagnosis, { reason: 'tools_changed', missedTokens: 7 })
  })

  it('the reason for a cache miss is asked for, of models that have the options of the cache', () => {
    const cacheOptionsOf = (profile: object, more: Partial<ModelRequest>) =>
      wire.encodeRequest({ model: 'm', tools: [], turns: [user], ...more }, { ...wire.profile, ...profile }).body[
        'prompt_cache_options'
      ]
    const capable = { cacheDiagnosis: true, cacheTtlField: 'prompt_cache_options', cache: 'key' }
    const diagnoseCache = { previous: 'resp_1' }
    assert.deepEqual(cacheOptionsOf(capable, { diagnoseCache }), { comparison_response_id: 'resp_1' })
    assert.deepEqual(cacheOptionsOf(capable, { diagnoseCache, params: { cacheTtl: '1h' } }), {
      ttl: '12h',
      comparison_response_id: 'resp_1',
    })
    assert.equal(cacheOptionsOf(capable, { diagnoseCache: {} }), undefined)
    assert.equal(cacheOptionsOf({ ...capable, cacheDiagnosis: false }, { diagnoseCache }), undefined)
    assert.equal(cacheOptionsOf({ cacheDiagnosis: true }, { diagnoseCache }), undefined)
  })

  it('an item of another kind is kept, sent back, and written for a client', () => {
    const item = { type: 'x_new_item', id: 'x', status: 'completed', value: 7 }
    const { turn } = read({ output: [item] })
    const body = wire.encodeRequest({ model: 'm', tools: [], turns: [user, turn, user] }, wire.profile).body
    assert.deepEqual((body['input'] as JsonObject[])[1], item)
    const head = { id: '1', model: 'm', created: 1, request: {} }
    assert.deepEqual((wire.responseWriter.writeWhole(turn, head)['output'] as JsonObject[])[0], item)
    const stream = wire.responseWriter.startStream(head)
    const frames = turn.parts.flatMap((part, index) => [
      ...stream.write({ type: 'part-open', index, kind: part.kind }),
      ...stream.write({ type: 'part-close', index, part }),
    ])
    const done = frames.find(({ event }) => event === 'response.output_item.done')?.data as JsonObject
    assert.deepEqual(done['item'], item)
  })
})
