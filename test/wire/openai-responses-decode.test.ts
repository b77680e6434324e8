import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type FoldedTurn, splitRunnableCalls } from '../../src/model/fold.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { ToolSpec } from '../../src/model/request.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
import { openaiResponses } from '../../src/wire/openai-responses/wire.ts'
import type { Wire } from '../../src/wire/wire.ts'
import { decodeRecording } from '../support/check-recording.ts'
import { recordings } from '../support/corpus.ts'
import { skipWithoutShared } from '../support/paths.ts'

const wire = openaiResponses as Wire

const tools: ToolSpec[] = [
  { name: 'read', description: 'Reads.', schema: { type: 'object', properties: { path: { type: 'string' } } } },
  { name: 'ping', description: 'Pings.', schema: { type: 'object', properties: {} } },
  { name: 'sql', description: 'Asks.', schema: { type: 'object', properties: {} }, freeform: true },
]

type Fields = Record<string, unknown>

function decoded(text: string, type: string, status = 200, profile: Partial<Profile> = {}): FoldedTurn {
  const reading = { turnKey: 'k'.repeat(20), profile: { ...wire.profile, ...profile }, tools, status }
  return decodeResponse(wire, reading, [Buffer.from(text)], type)
}

function streamed(events: readonly (Fields | string)[]): FoldedTurn {
  const frames = events.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`)
  return decoded(frames.join(''), 'text/event-stream')
}

function whole(response: Fields): FoldedTurn {
  return decoded(JSON.stringify({ object: 'response', status: 'completed', ...response }), 'application/json')
}

const item = (data: Fields, index?: number) => ({ item: data, ...(index !== undefined && { output_index: index }) })
const added = (data: Fields, index?: number) => ({ type: 'response.output_item.added', ...item(data, index) })
const done = (data: Fields, index?: number) => ({ type: 'response.output_item.done', ...item(data, index) })
const args = (delta: string, where: Fields = { output_index: 0 }) => ({
  type: 'response.function_call_arguments.delta',
  delta,
  ...where,
})
const argsDone = (text: string, index = 0) => ({
  type: 'response.function_call_arguments.done',
  arguments: text,
  output_index: index,
})
const said = (delta: string, index = 0) => ({
  type: 'response.output_text.delta',
  delta,
  output_index: index,
  content_index: 0,
})
const completed = (output: unknown = [], more: Fields = {}) => ({
  type: 'response.completed',
  response: { id: 'resp_1', status: 'completed', output, ...more },
})
const call = (id: string, path: string, more: Fields = {}) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'read',
  arguments: path === '' ? '' : JSON.stringify({ path }),
  ...more,
})
const message = (text: string, more: Fields = {}) => ({
  type: 'message',
  role: 'assistant',
  id: 'msg_1',
  content: [{ type: 'output_text', text }],
  ...more,
})

/** The calls that may run, as id on the wire, name and arguments. */
function calls({ turn }: FoldedTurn) {
  return splitRunnableCalls(turn).calls.map((one) => [one.native?.id, one.name, one.input])
}

const text = ({ turn }: FoldedTurn) => turn.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
const codes = ({ warnings }: FoldedTurn) => warnings.map(({ code }) => code)

const ONE = [['c1', 'read', { path: 'a' }]]

describe('an answer on the Responses wire', () => {
  test('T139 a call is named by its call_id, not by the id of its item', () => {
    assert.deepEqual(calls(whole({ output: [call('c1', 'a')] })), ONE)
  })

  test('T140 deltas, both kinds of done and the final list are one call', () => {
    const events = [
      added(call('c1', '')),
      args('{"path"'),
      args(':"a"}'),
      argsDone('{"path":"a"}'),
      done(call('c1', 'a'), 0),
    ]
    assert.deepEqual(calls(streamed([...events, completed([call('c1', 'a')])])), ONE)
    assert.deepEqual(calls(streamed([...events, done(call('c1', 'a'), 0), completed()])), ONE)
  })

  test('T140 a call may come only in its done event, only in the done of its item, or only in the final list', () => {
    assert.deepEqual(calls(streamed([added(call('c1', ''), 0), argsDone('{"path":"a"}'), completed()])), ONE)
    assert.deepEqual(calls(streamed([done(call('c1', 'a'), 0), completed()])), ONE)
    assert.deepEqual(calls(streamed([completed([call('c1', 'a')])])), ONE)
  })

  test('T140 the final arguments count, whatever the deltas said', () => {
    const events = [added(call('c1', ''), 0), args('{"path":"b'), done(call('c1', 'a'), 0), completed()]
    assert.deepEqual(calls(streamed(events)), ONE)
  })

  test('T140 deltas may come before their item', () => {
    const events = [args('{"path"'), added(call('c1', ''), 0), args(':"a"}'), completed()]
    assert.deepEqual(calls(streamed(events)), ONE)
  })

  test('T140 arguments in the announcement count only if no others come', () => {
    assert.deepEqual(calls(streamed([added(call('c1', 'a'), 0), completed()])), ONE)
    assert.deepEqual(calls(streamed([added(call('c1', 'a'), 0), args('{"path":"a"}'), completed()])), ONE)
  })

  test('T140 what the final list holds beyond the events is added, and nothing twice', () => {
    const seen = [added(message(''), 0), said('Hi'), done(message('Hi'), 0), done(call('c1', 'a'), 1)]
    const answer = streamed([...seen, completed([message('Hi'), call('c1', 'a'), call('c2', 'b')])])
    assert.deepEqual(calls(answer), [...ONE, ['c2', 'read', { path: 'b' }]])
    assert.equal(text(answer), 'Hi')
  })

  test('T140 a call that was only announced, and that the final list does not know, does not run', () => {
    const answer = streamed([added(call('c1', ''), 0), done(call('c2', 'b'), 1), completed([call('c2', 'b')])])
    assert.deepEqual(calls(answer), [['c2', 'read', { path: 'b' }]])
    assert.ok(codes(answer).includes('ghost-call'))
  })

  test('T141 ids rotate; the place tells which item it is', () => {
    const rotated = (id: string) => call('c1', 'a', { id })
    const events = [
      added(call('c1', '', { id: 'x1' }), 0),
      args('{"path":', { output_index: 0, item_id: 'x2' }),
      args('"a"}', { output_index: 0, item_id: 'x3' }),
      done(rotated('x4'), 0),
      completed([rotated('x5')]),
    ]
    assert.deepEqual(calls(streamed(events)), ONE)
    const spoken = [
      added(message('', { id: 'm1' }), 0),
      { ...said('Hi'), item_id: 'm2' },
      done(message('Hi', { id: 'm3' }), 0),
    ]
    assert.equal(text(streamed([...spoken, completed([message('Hi', { id: 'm4' })])])), 'Hi')
  })

  test('T05 interleaved calls go by their place', () => {
    const events = [added(call('c1', ''), 0), added(call('c2', ''), 1)]
    const pieces = [
      args('{"path":'),
      args('{"path":', { output_index: 1 }),
      args('"a"}'),
      args('"b"}', { output_index: 1 }),
    ]
    assert.deepEqual(calls(streamed([...events, ...pieces, completed()])), [...ONE, ['c2', 'read', { path: 'b' }]])
  })

  test('pieces that may belong to either of two calls let neither run, until the whole arguments come', () => {
    const events = [added(call('c1', '')), added(call('c2', '')), args('{"path":"a"}', {}), args('{"path":"b"}', {})]
    assert.deepEqual(calls(streamed([...events, completed()])), [])
    const whole_ = [done(call('c1', 'a')), done(call('c2', 'b'))]
    assert.deepEqual(calls(streamed([...events, ...whole_, completed()])), [...ONE, ['c2', 'read', { path: 'b' }]])
  })

  test('T10 two calls may have one id', () => {
    const twice = [['c1', 'read', { path: 'a' }], ['c1', 'read', { path: 'b' }]] // prettier-ignore
    assert.deepEqual(calls(whole({ output: [call('c1', 'a'), call('c1', 'b')] })), twice)
    assert.deepEqual(calls(streamed([done(call('c1', 'a'), 0), done(call('c1', 'b'), 1), completed()])), twice)
    const ids = whole({ output: [call('c1', 'a'), call('c1', 'b')] }).turn.parts.map(
      (part) => part.kind === 'call' && part.id,
    )
    assert.equal(new Set(ids).size, 2)
  })

  test('T16 T17 arguments may be an object, or missing', () => {
    assert.deepEqual(calls(whole({ output: [call('c1', '', { arguments: { path: 'a' } })] })), ONE)
    assert.deepEqual(calls(whole({ output: [call('c1', '', { name: 'ping' })] })), [['c1', 'ping', {}]])
  })

  test('T30 a custom tool takes free text, in pieces or whole', () => {
    const custom = (input: string) => ({ type: 'custom_tool_call', id: 'ct_1', call_id: 'c1', name: 'sql', input })
    const piece = (delta: string) => ({ type: 'response.custom_tool_call_input.delta', delta, output_index: 0 })
    const wanted = [['c1', 'sql', { input: 'SELECT 1' }]]
    const pieces = [added(custom(''), 0), piece('SELECT'), piece(' 1')]
    assert.deepEqual(calls(streamed([...pieces, completed()])), wanted)
    assert.deepEqual(calls(streamed([...pieces, done(custom('SELECT 1'), 0), completed()])), wanted)
    assert.deepEqual(calls(whole({ output: [custom('SELECT 1')] })), wanted)
    assert.deepEqual(
      whole({ output: [custom('SELECT 1')] }).turn.parts.map((part) => part.kind === 'call' && part.freeform),
      [true],
    )
  })

  test('T142 the internal wrapper around parallel calls is taken apart', () => {
    const uses = ['a', 'b'].map((path) => ({ recipient_name: 'functions.read', parameters: { path } }))
    const answer = whole({
      output: [call('c1', '', { name: 'multi_tool_use.parallel', arguments: JSON.stringify({ tool_uses: uses }) })],
    })
    assert.deepEqual(calls(answer).map(([, name, input]) => [name, input]), [['read', { path: 'a' }], ['read', { path: 'b' }]]) // prettier-ignore
  })

  test('T143 a failed answer is a fault with its waiting time, and its calls do not run', () => {
    const error = { code: 'rate_limit_exceeded', message: 'Rate limit reached. Please try again in 11.054s.' }
    const answer = streamed([
      done(call('c1', 'a'), 0),
      { type: 'response.failed', response: { status: 'failed', error } },
    ])
    assert.deepEqual(calls(answer), [])
    const { finish } = answer.turn
    assert.deepEqual([finish.reason, finish.raw, finish.fault?.kind], ['fault', 'failed', 'rate'])
    assert.ok(Math.abs((finish.fault?.retryAfter ?? 0) - 11_054) <= 1)
  })

  test('T143 a bare error event is a fault', () => {
    const answer = streamed([said('Hi'), { type: 'error', code: 'server_error', message: 'Boom', param: null }])
    assert.deepEqual([answer.turn.finish.reason, answer.turn.finish.fault?.message], ['fault', 'Boom'])
    assert.equal(text(answer), 'Hi')
  })

  test('T143 an incomplete answer says why, and its calls do not run', () => {
    const reason = (why: string) => {
      const response = { status: 'incomplete', incomplete_details: { reason: why }, output: [call('c1', 'a')] }
      const answer = streamed([{ type: 'response.incomplete', response }])
      assert.deepEqual(calls(answer), [])
      assert.deepEqual(whole(response).turn.finish, answer.turn.finish)
      return [answer.turn.finish.reason, answer.turn.finish.raw]
    }
    assert.deepEqual(reason('max_output_tokens'), ['length', 'incomplete:max_output_tokens'])
    assert.deepEqual(reason('content_filter'), ['filter', 'incomplete:content_filter'])
  })

  test('T143 output null, usage null, status missing', () => {
    const events = [done(call('c1', 'a'), 0), completed(null, { usage: null, status: undefined })]
    assert.deepEqual(calls(streamed(events)), ONE)
    assert.deepEqual(calls(whole({ output: [call('c1', 'a')], status: undefined })), ONE)
    assert.deepEqual(calls(streamed([done(call('c1', 'a'), 0), { type: 'response.completed' }])), ONE)
  })

  test('T143 a cancelled or unfinished answer does not run, nor one that ends with a word nobody knows', () => {
    assert.equal(whole({ output: [call('c1', 'a')], status: 'cancelled' }).turn.finish.reason, 'aborted')
    assert.equal(whole({ output: [call('c1', 'a')], status: 'in_progress' }).turn.finish.fault?.kind, 'transport')
    assert.deepEqual(calls(whole({ output: [call('c1', 'a')], status: 'expired' })), [])
  })

  test('T38 an item that the vendor calls incomplete was cut, whatever the answer says', () => {
    const answer = whole({ output: [call('c1', 'a', { status: 'incomplete' })] })
    assert.deepEqual(calls(answer), [])
    assert.equal(answer.turn.finish.reason, 'length')
  })

  test('T53 T111 without an end, not even [DONE] makes a call run', () => {
    const answer = streamed([done(call('c1', 'a'), 0), '[DONE]'])
    assert.deepEqual(calls(answer), [])
    assert.equal(answer.turn.finish.fault?.kind, 'transport')
    assert.deepEqual(calls(streamed([done(call('c1', 'a'), 0), completed(), '[DONE]'])), ONE)
  })

  test('T56 the first end counts', () => {
    const answer = streamed([done(call('c1', 'a'), 0), completed(), completed([call('c2', 'b')]), args('{}')])
    assert.deepEqual(calls(answer), ONE)
    assert.ok(codes(answer).includes('late-event'))
  })

  test('T112 an error page is a fault by its status', () => {
    const answer = decoded('<html>Bad gateway</html>', 'text/html', 502)
    assert.deepEqual([answer.turn.finish.fault?.kind, answer.turn.finish.fault?.status], ['server', 502])
  })

  test('T114 after an unreadable frame no call runs, but the text goes on', () => {
    const answer = streamed([said('Hi'), '{"type":', done(call('c1', 'a'), 1), completed()])
    assert.deepEqual(calls(answer), [])
    assert.equal(text(answer), 'Hi')
    assert.equal(answer.turn.finish.fault?.kind, 'decode')
  })

  test('T114 a gap in the numbering lets no call run, unless the final list makes up for it', () => {
    const numbered = (...events: Fields[]) =>
      events.map((one, at) => ({ ...one, sequence_number: at === 0 ? 0 : at + 5 }))
    assert.deepEqual(calls(streamed(numbered(added(call('c1', ''), 0), done(call('c1', 'a'), 0), completed()))), [])
    const mended = streamed(numbered(added(call('c1', ''), 0), completed([call('c1', 'a')])))
    assert.deepEqual(calls(mended), ONE)
    assert.deepEqual(codes(mended), ['missing-events'])
  })

  test('an event that comes again under its number is dropped; numbers that are all alike mean nothing', () => {
    const again = [said('Hi'), said('Hi'), completed()].map((one, at) => ({ ...one, sequence_number: at < 2 ? 0 : 1 }))
    assert.equal(text(streamed(again)), 'Hi')
    const alike = [added(message(''), 0), said('Hi'), said('Hi'), completed()].map((one) => ({
      ...one,
      sequence_number: 0,
    }))
    assert.equal(text(streamed(alike)), 'HiHi')
  })

  test('T107 unknown events are told of once, progress not at all', () => {
    const odd = { type: 'response.brand_new' }
    const answer = streamed([
      odd,
      odd,
      { type: '__proto__' },
      { type: 'keepalive' },
      { type: 'response.web_search_call.searching' },
      completed(),
    ])
    assert.deepEqual(codes(answer), ['unknown-event', 'unknown-event'])
  })

  test('text that deltas left out or had otherwise is what the finished item says', () => {
    const all = (shown: string) =>
      streamed([added(message(''), 0), said(shown), done(message('Hello world'), 0), completed()])
    assert.equal(text(all('Hello')), 'Hello world')
    assert.equal(text(all('Bye')), 'Hello world')
    const parts = [
      said('a'),
      { ...said('b'), content_index: 1 },
      { type: 'response.output_text.done', text: 'A', output_index: 0, content_index: 0 },
    ]
    assert.equal(text(streamed([...parts, completed()])), 'Ab')
  })

  test('T92 the phase of a message is kept', () => {
    const [part] = whole({ output: [message('Let me see.', { phase: 'commentary' })] }).turn.parts
    assert.deepEqual(part?.native?.data, { phase: 'commentary' })
  })

  test('a refusal is told apart from text', () => {
    const [part] = whole({ output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] }] }).turn.parts
    assert.deepEqual(part, { kind: 'text', text: 'No.', refusal: true })
  })

  test('T84 a thought is kept whole if the vendor sealed it, and its summaries are paragraphs', () => {
    const summary = ['One', 'Two'].map((one) => ({ type: 'summary_text', text: one }))
    const thought = { type: 'reasoning', id: 'rs_1', summary, encrypted_content: 'gAAA' }
    const piece = (delta: string, at: number) => ({
      type: 'response.reasoning_summary_text.delta',
      delta,
      output_index: 0,
      summary_index: at,
    })
    const answer = streamed([
      added({ type: 'reasoning', id: 'rs_1', summary: [] }, 0),
      piece('One', 0),
      piece('Tw', 1),
      done(thought, 0),
      completed(),
    ])
    assert.deepEqual(answer.turn.parts, whole({ output: [thought] }).turn.parts)
    assert.deepEqual(answer.turn.parts[0], {
      kind: 'reasoning',
      text: 'One\n\nTwo',
      native: { wire: 'openai-responses', signer: 'openai-responses', data: thought },
    })
    const open = whole({
      output: [{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm' }] }],
    })
    assert.deepEqual(open.turn.parts, [{ kind: 'reasoning', text: 'Hm' }])
  })

  test('what the vendor ran itself is kept for it, and is not a call', () => {
    const search = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } }
    const answer = whole({ output: [search, { ...search, status: 'failed' }, message('Found.')] })
    assert.deepEqual(answer.turn.parts[0], {
      kind: 'text',
      text: '',
      native: { wire: 'openai-responses', signer: 'openai-responses', id: 'ws_1', data: search },
    })
    assert.equal(answer.turn.parts.length, 2)
    assert.deepEqual(answer.turn.finish, { reason: 'stop', raw: 'completed' })
  })

  test('a call from a program of the vendor keeps who called', () => {
    const caller = { type: 'program', caller_id: 'call_p' }
    assert.deepEqual(
      whole({ output: [call('c1', 'a', { caller, status: 'in_progress' })] }).turn.parts[0]?.native?.data,
      { caller },
    )
  })

  test('T116 the buckets of usage do not overlap', () => {
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 5 },
    }
    assert.deepEqual(whole({ output: [], usage }).turn.usage, {
      input: 6,
      cacheRead: 4,
      cacheWrite: 0,
      output: 2,
      reasoning: 5,
    })
    assert.equal(whole({ output: [], usage: { input_tokens: 'many', output_tokens: -1 } }).turn.usage?.input, 0)
  })

  test('a constrained profile reads what it declared', () => {
    const answer = decoded(
      JSON.stringify({
        object: 'response',
        status: 'completed',
        output: [call('c1', '', { arguments: '{"path":null}' })],
      }),
      'application/json',
      200,
      { constrain: true },
    )
    assert.deepEqual(calls(answer), [['c1', 'read', {}]])
  })
})

describe('a stream and its final response mean the same', { skip: skipWithoutShared }, () => {
  for (const recording of recordings('openai-responses').filter(
    (one) => one.streaming && one.response.status === 200,
  )) {
    const last =
      recording.response.body.split('\n').findLast((line) => /^data: *\{.*"response":/.test(line)) ?? 'data: {}'
    const { response } = JSON.parse(last.slice('data:'.length)) as { response?: { output?: unknown[] } }
    if (!response?.output?.length) continue
    test(recording.file, () => {
      const body = JSON.stringify(response)
      const alone = decodeRecording(wire, {
        ...recording,
        response: { status: 200, contentType: 'application/json', body },
      })
      assert.deepEqual(unsealed(alone), unsealed(decodeRecording(wire, recording)))
    })
  }
})

/** Without sealed data, which vendors seal anew each time they send it, and without what only an event has. */
function unsealed({ turn, id }: FoldedTurn) {
  const parts = turn.parts.map((part) => ({
    ...part,
    native: part.native && { ...part.native, data: part.native.data !== undefined },
  }))
  const { reason, raw } = turn.finish
  return { ...turn, parts, finish: { reason, raw }, id: id?.startsWith('capture-id') ? 'rotates' : id }
}

describe('a damaged stream', { skip: skipWithoutShared }, () => {
  const strip = (line: string) => line.replace(/"sequence_number": ?\d+,?/, '').replace(/,\s*\}$/, '}')
  for (const recording of recordings('openai-responses').filter(
    (one) => one.streaming && one.tags.includes('tool-call'),
  )) {
    const lines = recording.response.body.split(/\r?\n/).filter((line) => /^data: *\{/.test(line))
    const run = (some: string[]) => {
      const body = some.map((line) => `${line}\n\n`).join('')
      return calls(decodeRecording(wire, { ...recording, response: { ...recording.response, body } }))
    }
    test(`${recording.file} never runs anything else`, () => {
      for (const all of [lines, lines.map(strip)]) {
        const clean = run(all)
        for (const at of all.keys()) {
          assert.deepEqual(run(all.slice(0, at)), [], `cut before event ${at}`)
          for (const one of run(all.toSpliced(at, 1)))
            assert.ok(JSON.stringify(clean).includes(JSON.stringify(one)), `without event ${at}`)
          const twice = run(all.toSpliced(at, 0, all[at] ?? ''))
          for (const one of twice) assert.ok(JSON.stringify(clean).includes(JSON.stringify(one)), `event ${at} twice`)
          assert.ok(twice.length <= clean.length, `event ${at} twice`)
        }
      }
    })
  }
})
