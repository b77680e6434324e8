import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { splitRunnableCalls } from '../../src/model/fold.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { ToolSpec } from '../../src/model/request.ts'
import type { AssistantTurn } from '../../src/model/turn.ts'
import { anthropic } from '../../src/wire/anthropic/wire.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
import type { DecodeContext, Wire } from '../../src/wire/wire.ts'

const wire = anthropic as Wire

const tools: ToolSpec[] = [
  {
    name: 'read_file',
    description: 'Reads.',
    schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
  { name: 'ping', description: 'Pings.', schema: { type: 'object', properties: {} } },
]

type Event = Record<string, unknown>

const begin = (id = 'msg_1'): Event => ({
  type: 'message_start',
  message: {
    id,
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [],
    usage: { input_tokens: 10, output_tokens: 1 },
  },
})
const open = (index: number, block: Event): Event => ({ type: 'content_block_start', index, content_block: block })
const delta = (index: number, type: string, piece: Event): Event => ({
  type: 'content_block_delta',
  index,
  delta: { type, ...piece },
})
const json = (index: number, partial: string) => delta(index, 'input_json_delta', { partial_json: partial })
const say = (index: number, text: string) => delta(index, 'text_delta', { text })
const close = (index: number): Event => ({ type: 'content_block_stop', index })
const reason = (word: string | null): Event => ({
  type: 'message_delta',
  delta: { stop_reason: word, stop_sequence: null },
  usage: { output_tokens: 20 },
})
const end: Event = { type: 'message_stop' }
const use = (id: string, input: unknown = {}, name = 'read_file'): Event => ({ type: 'tool_use', id, name, input })

const reading: DecodeContext = { turnKey: 'k'.repeat(20), profile: wire.profile, tools }

function answer(
  events: readonly (Event | string)[],
  more: Partial<DecodeContext> = {},
  profile: Partial<Profile> = {},
) {
  const lines = events.map((event) =>
    typeof event === 'string' ? event : `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`,
  )
  const how = { ...reading, ...more, profile: { ...wire.profile, ...profile } }
  return decodeResponse(wire, how, [Buffer.from(lines.join(''))], 'text/event-stream')
}

function whole(body: unknown, more: Partial<DecodeContext> = {}) {
  return decodeResponse(wire, { ...reading, ...more }, [Buffer.from(JSON.stringify(body))], 'application/json')
}

const inputs = (turn: AssistantTurn) => splitRunnableCalls(turn).calls.map((call) => call.input)
const words = (turn: AssistantTurn) => turn.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')

describe('how the anthropic wire reads an answer', () => {
  test('a stream and a whole body fold to the same turn', () => {
    const content = [
      { type: 'thinking', thinking: 'Let me see.', signature: 'sig==' },
      { type: 'redacted_thinking', data: 'enc==' },
      { type: 'text', text: 'I read it.' },
      use('toolu_1', { path: 'a' }),
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ type: 'web_search_result', url: 'u' }] },
      use('toolu_2', {}, 'ping'),
    ]
    const streamed = answer([
      begin(),
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, 'thinking_delta', { thinking: 'Let me ' }),
      delta(0, 'thinking_delta', { thinking: 'see.' }),
      delta(0, 'signature_delta', { signature: 'sig==' }),
      close(0),
      open(1, content[1] ?? {}),
      close(1),
      open(2, { type: 'text', text: '' }),
      { type: 'ping' },
      say(2, 'I read'),
      say(2, ' it.'),
      close(2),
      open(3, use('toolu_1')),
      json(3, ''),
      json(3, '{"pa'),
      json(3, 'th":"a"}'),
      close(3),
      open(4, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
      json(4, '{"query":"x"}'),
      close(4),
      open(5, content[5] ?? {}),
      close(5),
      open(6, use('toolu_2', {}, 'ping')),
      json(6, ''),
      close(6),
      reason('tool_use'),
      end,
    ])
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude',
      content,
      stop_reason: 'tool_use',
    }
    const read = whole({ ...message, usage: { input_tokens: 10, output_tokens: 20 } })
    assert.deepEqual(streamed, read)
    assert.deepEqual(inputs(read.turn), [{ path: 'a' }, {}])
    assert.equal(read.id, 'msg_1')
    assert.equal(read.turn.origin.model, 'claude')
    assert.equal(read.turn.finish.reason, 'calls')
    assert.deepEqual(read.turn.usage, { input: 10, cacheRead: 0, cacheWrite: 0, output: 20, reasoning: 0 })
    assert.deepEqual(read.turn.parts[0]?.native?.data, content[0], 'T80 the signed block is kept whole')
    assert.deepEqual(read.turn.parts[1]?.native?.data, content[1], 'T82')
    assert.deepEqual(read.turn.parts[4]?.native?.data, content[4], 'T137')
  })

  test('T18 the input of the start is a placeholder, and counts only if nothing else comes', () => {
    const asked = [
      begin(),
      open(0, use('a', { path: 'x' })),
      json(0, '{"path":"y"}'),
      close(0),
      reason('tool_use'),
      end,
    ]
    assert.deepEqual(inputs(answer(asked).turn), [{ path: 'y' }])
    const given = [begin(), open(0, use('a', { path: 'x' })), json(0, ''), close(0), reason('tool_use'), end]
    assert.deepEqual(inputs(answer(given).turn), [{ path: 'x' }])
    const none = [begin(), open(0, { type: 'tool_use', id: 'a', name: 'ping' }), close(0), reason('tool_use'), end]
    assert.deepEqual(inputs(answer(none).turn), [{}])
  })

  test('T53 T133 a stop reason without message_stop is no end: nothing runs', () => {
    const { turn } = answer([begin(), open(0, use('a')), json(0, '{"path":"x"}'), close(0), reason('tool_use')])
    assert.equal(turn.finish.reason, 'fault')
    assert.equal(turn.finish.fault?.kind, 'transport')
    assert.deepEqual(splitRunnableCalls(turn).calls, [])
    assert.equal(splitRunnableCalls(turn).rejected.length, 1)
  })

  test('T54 an unknown stop reason, or none, runs no calls but keeps text', () => {
    for (const word of ['wibble', null]) {
      const called = answer([begin(), open(0, use('a')), json(0, '{"path":"x"}'), close(0), reason(word), end]).turn
      assert.equal(called.finish.fault?.kind, 'decode')
      assert.deepEqual(splitRunnableCalls(called).calls, [])
      const spoken = answer([begin(), open(0, { type: 'text', text: '' }), say(0, 'hi'), close(0), reason(word), end])
      assert.equal(spoken.turn.finish.reason, 'stop')
      assert.equal(words(spoken.turn), 'hi')
      assert.ok(spoken.warnings.some(({ code }) => code === 'unknown-finish'))
    }
  })

  test('T56 what comes after the end is ignored, usage excepted', () => {
    const { turn, warnings } = answer([
      begin(),
      open(0, { type: 'text', text: '' }),
      say(0, 'hi'),
      close(0),
      reason('end_turn'),
      end,
      open(1, use('b', { path: 'x' })),
      { type: 'message_delta', delta: {}, usage: { output_tokens: 33 } },
      { type: 'error', error: { type: 'api_error', message: 'too late' } },
      'data: [DONE]\n\n',
    ])
    assert.equal(turn.finish.reason, 'stop')
    assert.equal(turn.parts.length, 1)
    assert.equal(turn.usage?.output, 33)
    assert.deepEqual(warnings.map(({ code }) => code).sort(), ['after-end', 'late-error'])
  })

  test('T63 a call without arguments takes those that were written as text', () => {
    const written =
      '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read_file">\n<｜DSML｜parameter name="path" string="true">a</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>'
    const { turn } = answer([
      begin(),
      open(0, { type: 'text', text: '' }),
      say(0, written),
      close(0),
      open(1, use('a')),
      close(1),
      reason('tool_use'),
      end,
    ])
    assert.deepEqual(inputs(turn), [{ path: 'a' }])
  })

  test('T71 thoughts inside the text are split off where the profile says so', () => {
    const events = [
      begin(),
      open(0, { type: 'text', text: '' }),
      say(0, '<think>hm</th'),
      say(0, 'ink>yes'),
      close(0),
      reason('end_turn'),
      end,
    ]
    const { turn } = answer(events, {}, { think: true })
    assert.deepEqual(
      turn.parts.map((part) => [part.kind, part.kind === 'call' || part.kind === 'media' ? '' : part.text]),
      [
        ['reasoning', 'hm'],
        ['text', 'yes'],
      ],
    )
  })

  test('T107 T133 an error in the stream is a fault, be it first or in the middle', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    const first = answer([error]).turn
    assert.equal(first.finish.fault?.kind, 'server')
    assert.equal(first.finish.fault?.code, 'overloaded_error')
    const middle = answer([
      begin(),
      open(0, { type: 'text', text: '' }),
      say(0, 'par'),
      error,
      reason('end_turn'),
      end,
    ]).turn
    assert.equal(middle.finish.reason, 'fault')
    assert.equal(words(middle), 'par')
    assert.equal(answer(['event: error\ndata: {"message":"quota gone"}\n\n']).turn.finish.fault?.message, 'quota gone')
  })

  test('T112 a web page, and an error that nobody explains', () => {
    const page = decodeResponse(
      wire,
      reading,
      [Buffer.from('<!DOCTYPE html><html><title>Sign in</title></html>')],
      'text/html',
    ).turn
    assert.equal(page.finish.fault?.kind, 'decode')
    assert.match(page.finish.fault?.message ?? '', /Sign in/)
    const refused = decodeResponse(
      wire,
      { ...reading, status: 503 },
      [Buffer.from('<html>down</html>')],
      'text/html',
    ).turn
    assert.equal(refused.finish.fault?.kind, 'server')
    assert.equal(refused.finish.fault?.status, 503)
    assert.equal(whole({ nothing: 'known' }, { status: 401 }).turn.finish.fault?.kind, 'auth')
    assert.equal(decodeResponse(wire, { ...reading, status: 500 }, [], undefined).turn.finish.fault?.kind, 'server')
  })

  test('T114 a frame that cannot be read taints the answer', () => {
    const { turn } = answer([
      begin(),
      open(0, use('a')),
      json(0, '{"path":'),
      'data: {"type":"content_block_del\n\n',
      json(0, '"x"}'),
      close(0),
      reason('tool_use'),
      end,
    ])
    assert.equal(turn.finish.fault?.kind, 'decode')
    assert.deepEqual(splitRunnableCalls(turn).calls, [])
    assert.equal(answer([begin(), 'event: ping\ndata: {oops\n\n', reason('end_turn'), end]).turn.finish.reason, 'stop')
  })

  test('T132 deltas before their start', () => {
    const { turn } = answer([
      begin(),
      say(0, 'He'),
      open(0, { type: 'text', text: '' }),
      say(0, 'llo'),
      close(0),
      json(1, '{"path":'),
      open(1, use('a')),
      json(1, '"x"}'),
      close(1),
      reason('tool_use'),
      end,
    ])
    assert.equal(words(turn), 'Hello')
    assert.deepEqual(inputs(turn), [{ path: 'x' }])
    const orphan = answer([begin(), json(0, '{"path":"x"}'), reason('tool_use'), end]).turn
    assert.equal(orphan.finish.reason, 'malformed-call')
    assert.deepEqual(splitRunnableCalls(orphan).calls, [])
  })

  test('T132 blocks that never stop, and blocks that come side by side', () => {
    const { turn } = answer([
      begin(),
      open(0, { type: 'thinking', thinking: '' }),
      delta(0, 'thinking_delta', { thinking: 'hm' }),
      delta(0, 'signature_delta', { signature: 's' }),
      open(1, use('a')),
      open(2, use('b')),
      json(2, '{"path":'),
      json(1, '{"path":"1"}'),
      json(2, '"2"}'),
      reason('tool_use'),
      end,
    ])
    assert.deepEqual(inputs(turn), [{ path: '1' }, { path: '2' }])
    assert.deepEqual(turn.parts[0]?.native?.data, { type: 'thinking', thinking: 'hm', signature: 's' })
  })

  test('T132 an empty message, no index, unknown events and deltas, pieces in the wrong block', () => {
    const { turn, warnings } = answer([
      { type: 'message_start', message: null },
      { type: 'content_block_start', content_block: { type: 'text', text: 'He' } },
      { type: 'content_block_delta', delta: { text: 'llo' } },
      delta(0, 'citations_delta', { citation: { cited_text: 'x' } }),
      delta(0, 'wiggle_delta', { wiggle: 1 }),
      { type: 'vibe_check', level: 3 },
      { type: 'content_block_stop' },
      close(7),
      { type: 'content_block_start', index: 1 },
      say(1, '!'),
      reason('end_turn'),
      end,
    ])
    assert.equal(words(turn), 'Hello!')
    assert.equal(turn.finish.reason, 'stop')
    assert.deepEqual(turn.parts[0]?.native?.data, { type: 'text', citations: [{ cited_text: 'x' }] })
    assert.deepEqual(warnings.map(({ code }) => code).sort(), [
      'unknown-block',
      'unknown-block',
      'unknown-delta',
      'unknown-event',
    ])
    const mixed = answer([
      begin(),
      open(0, { type: 'text', text: '' }),
      json(0, '{"path":"x"}'),
      close(0),
      reason('tool_use'),
      end,
    ])
    assert.equal(mixed.turn.finish.fault?.kind, 'decode')
    const late = answer([
      begin(),
      open(0, use('a')),
      json(0, '{"path":"x"}'),
      close(0),
      json(0, ',"y":1}'),
      reason('tool_use'),
      end,
    ])
    assert.deepEqual(splitRunnableCalls(late.turn).calls, [])
    const thought = answer([
      begin(),
      open(0, { type: 'thinking', thinking: '' }),
      say(0, 'aloud'),
      close(0),
      reason('end_turn'),
      end,
    ])
    assert.equal(words(thought.turn), 'aloud')
  })

  test('T132 blocks of a kind that is not known yet are kept whole, with their deltas, and are no calls', () => {
    const { turn } = answer([
      begin(),
      open(0, { type: 'compaction', content: null }),
      delta(0, 'compaction_delta', { content: 'In ' }),
      delta(0, 'compaction_delta', { content: null }),
      delta(0, 'compaction_delta', { content: 'short.' }),
      close(0),
      open(1, { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'read_file', server_name: 's', input: {} }),
      json(1, '{"path":"x"}'),
      close(1),
      reason('end_turn'),
      end,
    ])
    assert.deepEqual(
      turn.parts.map((part) => part.native?.data),
      [
        { type: 'compaction', content: 'In short.' },
        { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'read_file', server_name: 's', input: { path: 'x' } },
      ],
    )
    assert.deepEqual(splitRunnableCalls(turn), { calls: [], rejected: [] })
    const cut = answer([begin(), open(0, { type: 'server_tool_use', id: 'srvtoolu_1', input: {} }), json(0, '{"q":')])
    assert.deepEqual(cut.turn.parts, [])
    assert.ok(cut.warnings.some(({ code }) => code === 'cut-block'))
  })

  test('T134 a second answer in the middle of the first taints it; the same one again does not', () => {
    const spliced = answer([
      begin(),
      open(0, use('a')),
      json(0, '{"path":"x"}'),
      close(0),
      begin('msg_2'),
      reason('tool_use'),
      end,
    ])
    assert.equal(spliced.turn.finish.fault?.kind, 'decode')
    assert.deepEqual(splitRunnableCalls(spliced.turn).calls, [])
    const again = answer([
      begin(),
      begin(),
      open(0, use('a')),
      json(0, '{"path":"x"}'),
      close(0),
      reason('tool_use'),
      end,
    ])
    assert.deepEqual(inputs(again.turn), [{ path: 'x' }])
  })

  test('T135 the words for an end', () => {
    const finish = (word: string) =>
      answer([begin(), open(0, { type: 'text', text: 'hi' }), close(0), reason(word), end]).turn.finish
    for (const word of ['end_turn', 'stop_sequence', 'pause_turn', 'tool_use'])
      assert.deepEqual(finish(word), { reason: 'stop', raw: word })
    for (const word of ['max_tokens', 'model_context_window_exceeded'])
      assert.deepEqual(finish(word), { reason: 'length', raw: word })
    for (const word of ['refusal', 'sensitive']) assert.deepEqual(finish(word), { reason: 'filter', raw: word })
    assert.equal(finish('error').fault?.kind, 'server')
  })

  test('T55 no call of an answer that was cut off or refused runs, though it looks whole', () => {
    for (const word of ['max_tokens', 'refusal']) {
      const { turn } = answer([begin(), open(0, use('a')), json(0, '{"path":"x"}'), close(0), reason(word), end])
      assert.deepEqual(splitRunnableCalls(turn).calls, [])
      assert.equal(splitRunnableCalls(turn).rejected.length, 1)
    }
  })

  test('T136 thinking that says nothing and is not signed leaves nothing', () => {
    const { turn } = answer([
      begin(),
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      close(0),
      open(1, { type: 'text', text: '' }),
      close(1),
      reason('end_turn'),
      end,
    ])
    assert.deepEqual(turn.parts, [])
    const hidden = answer([
      begin(),
      open(0, { type: 'thinking', thinking: '', signature: 's' }),
      close(0),
      reason('end_turn'),
      end,
    ]).turn
    assert.deepEqual(hidden.parts[0]?.native?.data, { type: 'thinking', thinking: '', signature: 's' })
  })

  test('T138 arguments that nobody validated on the way are refused if they are no object', () => {
    for (const [raw, code] of [
      ['{"path":"x', 'unfinished'],
      ['["x"]', 'not-object'],
    ]) {
      const { turn } = answer([begin(), open(0, use('a')), json(0, raw ?? ''), close(0), reason('tool_use'), end])
      assert.deepEqual(splitRunnableCalls(turn).calls, [])
      const [call] = turn.parts
      assert.equal(call?.kind === 'call' && call.flaw?.code, code)
    }
  })

  test('calls of server code may stand at the head of the answer, once', () => {
    const caller = { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' }
    const call = { ...use('toolu_1', { path: 'x' }), caller }
    const start = { type: 'message_start', message: { id: 'm', content: [call] } }
    const { turn } = answer([start, open(0, call), close(0), reason('tool_use'), end])
    assert.deepEqual(inputs(turn), [{ path: 'x' }])
    assert.deepEqual(turn.parts[0]?.native, { wire: 'anthropic', signer: 'anthropic', id: 'toolu_1', data: { caller } })
  })

  test('counts come from the start and the end, the last that is given counting', () => {
    const { turn } = whole({
      type: 'message',
      content: [{ type: 'text', text: 'hi' }],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: 3,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 50,
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 4 },
      },
    })
    assert.deepEqual(turn.usage, { input: 3, cacheRead: 100, cacheWrite: 50, output: 5, reasoning: 4 })
    const counts = { input_tokens: null, cache_read_input_tokens: 7, output_tokens: 2 }
    const gaps = answer([begin(), { ...reason('end_turn'), usage: counts }, end])
    assert.deepEqual(gaps.turn.usage, { input: 10, cacheRead: 7, cacheWrite: 0, output: 2, reasoning: 0 })
  })
})
