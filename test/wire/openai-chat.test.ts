import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { splitRunnableCalls } from '../../src/model/fold.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { ModelRequest, ToolSpec } from '../../src/model/request.ts'
import type { AssistantTurn, CallPart, ResultPart, Turn } from '../../src/model/turn.ts'
import { fromPlainConversation } from '../../src/wire/plain-conversation/from-plain.ts'
import { toPlainConversation } from '../../src/wire/plain-conversation/to-plain.ts'
import { decodeResponse } from '../../src/wire/decode-response.ts'
import { openaiChat } from '../../src/wire/openai-chat/wire.ts'
import type { Wire } from '../../src/wire/wire.ts'
import { atLengths, bytewise, checkRecording, decodeRecording } from '../support/check-recording.ts'
import { recordings, toCorpusConversation } from '../support/corpus.ts'
import { skipWithoutShared } from '../support/paths.ts'

const wire = openaiChat as Wire

/** Recordings whose expectation we do not meet on purpose. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'openai-chat/copied--rubyllm_chat_lms_openai_gpt_oss_20b_can_use_tools-0.json':
    'the client offered a tool with an empty name; a call that names no tool is rejected, not run (T08)',
}

describe('the corpus on the chat wire', { skip: skipWithoutShared }, () => {
  for (const recording of recordings('openai-chat')) {
    test(recording.file, () => {
      const whole = decodeRecording(wire, recording)
      if (EXCEPTIONS[recording.file]) assert.throws(() => checkRecording(recording, whole))
      else checkRecording(recording, whole)
      assert.deepEqual(decodeRecording(wire, recording, bytewise), whole, 'byte by byte')
      const lengths = recording.response.chunkBytes
      if (lengths)
        assert.deepEqual(
          decodeRecording(wire, recording, (all) => atLengths(all, lengths)),
          whole,
          'as it came',
        )
      const conversation = recording.request?.conversation
      if (!conversation) return
      const { params: _, ...plain } = toCorpusConversation(
        toPlainConversation(wire.readRequest(recording.request?.body).request),
      ) as Record<string, unknown>
      const { params: __, ...wanted } = conversation
      assert.deepEqual(plain, wanted, 'the request reads as the corpus says')
    })
  }
})

const tools: ToolSpec[] = [
  {
    name: 'read_file',
    description: 'Reads.',
    schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
  { name: 'ping', description: 'Pings.', schema: { type: 'object', properties: {} } },
]

function encoded(turns: Turn[], profile: Partial<Profile> = {}, request: Partial<ModelRequest> = {}) {
  const body = wire.encodeRequest({ model: 'm', tools, turns, ...request }, { ...wire.profile, ...profile }).body
  return { body, messages: body['messages'] as Record<string, unknown>[] }
}

function call(id: string, name = 'read_file', path = 'a'): CallPart {
  return { kind: 'call', id, name, raw: JSON.stringify({ path }), input: { path } }
}

function assistant(...parts: AssistantTurn['parts']): AssistantTurn {
  return {
    role: 'assistant',
    origin: { provider: 'x', wire: 'anthropic', model: 'x' },
    parts,
    finish: { reason: 'stop' },
  }
}

function result(id: string, text = 'done', extra: Partial<ResultPart> = {}): ResultPart {
  return { kind: 'result', id, name: 'read_file', status: 'ok', content: [{ kind: 'text', text }], ...extra }
}

interface SentCall {
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
}

function toolCalls(messages: Record<string, unknown>[]): SentCall[] {
  return (messages[1] ?? {})['tool_calls'] as SentCall[]
}

const user: Turn = { role: 'user', parts: [{ kind: 'text', text: 'hi' }] }

function answer(chunks: unknown[], profile: Partial<Profile> = {}) {
  const text = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('')
  const reading = { turnKey: 'k'.repeat(20), profile: { ...wire.profile, ...profile }, tools }
  return decodeResponse(wire, reading, [Buffer.from(text)], 'text/event-stream').turn
}

const delta = (inner: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: inner, finish_reason: finish }],
})

describe('what the chat wire sends', () => {
  test('messages come last, so that a longer history extends the bytes (T92)', () => {
    assert.equal(Object.keys(encoded([user]).body).at(-1), 'messages')
  })

  test('T74 T76 reasoning goes back under its own field, to its own endpoint only', () => {
    const native = { wire: 'openai-chat', signer: 'deepseek', data: { field: 'reasoning_content' } } as const
    const turn = assistant({ kind: 'reasoning', text: 'hm', native }, { kind: 'text', text: 'yes' })
    assert.equal(encoded([user, turn], { signer: 'deepseek' }).messages[1]?.['reasoning_content'], 'hm')
    assert.equal(encoded([user, turn], { signer: 'groq' }).messages[1]?.['reasoning_content'], undefined)
  })

  test('T75 the reasoning field is there, empty, where the endpoint insists', () => {
    const sent = encoded([user, assistant(call('c1')), { role: 'results', parts: [result('c1')] }], {
      needsReasoning: 'reasoning_content',
    })
    assert.equal(sent.messages[1]?.['reasoning_content'], '')
  })

  test('T77 reasoning_details come together from pieces and go back whole', () => {
    const turn = answer([
      delta({ reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'a', id: 'r1' }] }),
      delta({ reasoning_details: [{ type: 'reasoning.text', index: 0, text: 'b', signature: 's' }] }),
      delta({ content: 'x' }, 'stop'),
    ])
    const sent = encoded([user, turn]).messages[1]
    assert.deepEqual(sent?.['reasoning_details'], [
      { type: 'reasoning.text', index: 0, text: 'ab', id: 'r1', signature: 's' },
    ])
  })

  test('T78 a refused parameter is left out', () => {
    const { body } = encoded([user], { refuses: ['stream_options', 'temperature'] }, { params: { temperature: 0.5 } })
    assert.ok(!('temperature' in body) && !('stream_options' in body))
  })

  test('T79 thoughts inside the text are split off to be shown, and go back as they came', () => {
    const turn = answer([delta({ content: '<think>hm' }), delta({ content: '</think>yes' }, 'stop')], { think: true })
    assert.deepEqual(
      turn.parts.map((part) => [part.kind, 'text' in part && part.text]),
      [
        ['reasoning', 'hm'],
        ['text', 'yes'],
      ],
    )
    assert.equal(encoded([user, turn], { think: true }).messages[1]?.['content'], '<think>hm</think>yes')
  })

  test('T85 a turn that says nothing is not sent', () => {
    assert.equal(encoded([user, assistant({ kind: 'reasoning', text: 'only thought' }), user]).messages.length, 2)
  })

  test('T86 content beside calls is null, empty or left out, as the endpoint likes', () => {
    const turns: Turn[] = [user, assistant(call('c1')), { role: 'results', parts: [result('c1')] }]
    assert.equal(encoded(turns).messages[1]?.['content'], null)
    assert.equal(encoded(turns, { emptyContent: 'empty' }).messages[1]?.['content'], '')
    assert.ok(!('content' in (encoded(turns, { emptyContent: 'omit' }).messages[1] ?? {})))
  })

  test('T88 a call without a result gets one that says so; T89 a result without a call is left out', () => {
    const { messages } = encoded([
      user,
      assistant(call('c1'), call('c2')),
      { role: 'results', parts: [result('c2'), result('cx')] },
      user,
    ])
    assert.deepEqual(
      messages.map((message) => message['role']),
      ['user', 'assistant', 'tool', 'tool', 'user'],
    )
    assert.match(String(messages[2]?.['content']), /interrupted/)
    assert.equal(messages[3]?.['content'], 'done')
  })

  test('T90 of two results for one call the last is sent', () => {
    const { messages } = encoded([
      user,
      assistant(call('c1')),
      { role: 'results', parts: [result('c1', 'old'), result('c1', 'new')] },
    ])
    assert.deepEqual(
      messages.slice(2).map((message) => message['content']),
      ['new'],
    )
  })

  test('T93 T94 strict templates get alternation, and a bridge after a tool message', () => {
    const turns: Turn[] = [user, user, assistant(call('c1')), { role: 'results', parts: [result('c1')] }, user]
    const roles = encoded(turns, { alternate: true, bridge: true }).messages.map((message) => message['role'])
    assert.deepEqual(roles, ['user', 'assistant', 'tool', 'assistant', 'user'])
  })

  test('T95 nine-character ids do not collide, and match in call and result', () => {
    const calls = ['functions.read:0', 'functions.write:1', 'toolu_01Abcdefgh1', 'toolu_01Abcdefgh2'].map((id) =>
      call(id),
    )
    const { messages } = encoded(
      [user, assistant(...calls), { role: 'results', parts: calls.map(({ id }) => result(id)) }],
      { ids: 'nine' },
    )
    const ids = toolCalls(messages).map(({ id }) => id)
    assert.equal(new Set(ids).size, 4)
    for (const id of ids) assert.match(id, /^[A-Za-z0-9]{9}$/)
    assert.deepEqual(
      messages.slice(2).map((message) => message['tool_call_id']),
      ids,
    )
  })

  test('T96 an endpoint gets its own ids back unchanged; foreign ones take its form', () => {
    const own = {
      ...call('ours'),
      native: { wire: 'openai-chat', signer: 'kimi', id: 'functions.read_file:0' },
    } as const
    const turns: Turn[] = [
      user,
      assistant(own),
      { role: 'results', parts: [result('ours')] },
      assistant(call('c2')),
      { role: 'results', parts: [result('c2')] },
    ]
    const { messages } = encoded(turns, { ids: 'functions', signer: 'kimi' })
    assert.equal(messages[2]?.['tool_call_id'], 'functions.read_file:0')
    assert.equal(messages[4]?.['tool_call_id'], 'functions.read_file:1')
  })

  test('T97 an id that is too long or illegal is replaced in both places', () => {
    const long = 'x'.repeat(450)
    const { messages } = encoded([user, assistant(call(long)), { role: 'results', parts: [result(long)] }])
    const id = toolCalls(messages)[0]?.id ?? ''
    assert.ok(id.length <= 40)
    assert.equal(messages[2]?.['tool_call_id'], id)
  })

  test('T98 without tools neither tools nor tool_choice is sent', () => {
    const { body } = encoded([user], {}, { tools: [], toolChoice: 'none', params: { parallelCalls: false } })
    assert.ok(!('tools' in body) && !('tool_choice' in body) && !('parallel_tool_calls' in body))
  })

  test('T99 an empty result says so', () => {
    const { messages } = encoded([user, assistant(call('c1')), { role: 'results', parts: [result('c1', '')] }], {
      resultName: true,
    })
    assert.equal(messages[2]?.['content'], '(no output)')
    assert.equal(messages[2]?.['name'], 'read_file')
  })

  test('T100 media of a result follow all tool messages in a user message', () => {
    const shown = result('c1', 'see', { content: [{ kind: 'media', mime: 'image/png', data: 'AAAA' }] })
    const turns: Turn[] = [user, assistant(call('c1'), call('c2')), { role: 'results', parts: [shown, result('c2')] }]
    const { messages } = encoded(turns)
    assert.deepEqual(
      messages.slice(2).map((message) => message['role']),
      ['tool', 'tool', 'user'],
    )
    assert.match(JSON.stringify(messages[4]), /data:image\/png;base64,AAAA/)
    assert.match(JSON.stringify(encoded(turns, { media: false }).messages[4]), /takes text only/)
  })

  test('T101 one system message, at the start; notes are user messages', () => {
    const { messages } = encoded(
      [user, { role: 'note', text: 'the date changed' }],
      { systemRole: 'developer' },
      { system: 'be brief' },
    )
    assert.deepEqual(
      messages.map((message) => message['role']),
      ['developer', 'user', 'user'],
    )
  })

  test('T102 a history never begins or ends with an assistant message', () => {
    const { messages } = encoded([assistant({ kind: 'text', text: 'a' }), assistant({ kind: 'text', text: 'b' })])
    assert.deepEqual(
      messages.map((message) => message['role']),
      ['user', 'assistant', 'user', 'assistant', 'user'],
    )
  })

  test('T103 half an emoji never leaves the house', () => {
    const { body } = encoded([
      { role: 'user', parts: [{ kind: 'text', text: 'a\uD83D' }] },
      assistant(call('c1', 'read_file', '\uDE00b')),
      { role: 'results', parts: [result('c1', '\uD83D')] },
    ])
    assert.doesNotMatch(JSON.stringify(body), /\\ud[89a-f]/)
  })

  test('T104 a hallucinated name is made legal when it is echoed', () => {
    const { messages } = encoded([
      user,
      assistant(call('c1', '$READ<|channel|>')),
      { role: 'results', parts: [result('c1')] },
    ])
    const name = toolCalls(messages)[0]?.function.name ?? ''
    assert.match(name, /^[A-Za-z0-9_-]{1,64}$/)
  })

  test('T41 a call that could not be read is echoed with an object, and the result shows what was written', () => {
    const broken: CallPart = {
      kind: 'call',
      id: 'c1',
      name: 'read_file',
      raw: '{"path": "a',
      flaw: { code: 'unfinished', message: 'Cut off.' },
    }
    const { messages } = encoded([user, assistant(broken)])
    assert.equal(toolCalls(messages)[0]?.function.arguments, '{}')
    assert.match(String(messages[2]?.['content']), /Cut off.*\{"path": "a/)
  })

  test('T153 T154 auto is the default and left out; the rest is asked for by name', () => {
    assert.ok(!('tool_choice' in encoded([user], {}, { toolChoice: 'auto' }).body))
    assert.equal(encoded([user], {}, { toolChoice: 'required' }).body['tool_choice'], 'required')
    assert.deepEqual(encoded([user], {}, { toolChoice: { name: 'ping' } }).body['tool_choice'], {
      type: 'function',
      function: { name: 'ping' },
    })
    assert.ok(!('parallel_tool_calls' in encoded([user]).body))
  })

  test('a model without native calls is told of the tools in the prompt, and its calls are read from the text', () => {
    const sent = encoded(
      [user, assistant(call('c1')), { role: 'results', parts: [result('c1')] }],
      { tools: 'text' },
      { system: 'S' },
    )
    assert.ok(!('tools' in sent.body))
    assert.match(String(sent.messages[0]?.['content']), /^S\n\n[^]*read_file/)
    assert.deepEqual(
      sent.messages.map((message) => message['role']),
      ['system', 'user', 'assistant', 'user'],
    )
    const turn = answer(
      [
        delta(
          { content: `Let me look.\n<tool_call>{"name":"read_file","arguments":{"path":"a"}}</tool_call>` },
          'stop',
        ),
      ],
      { tools: 'text' },
    )
    assert.deepEqual(
      splitRunnableCalls(turn).calls.map(({ name, input }) => [name, input]),
      [['read_file', { path: 'a' }]],
    )
  })

  test('a conversation in the plain form goes out and comes back the same', () => {
    const plain = {
      system: 'S',
      messages: [
        { role: 'user', parts: [{ type: 'text', text: 'hi' }] },
        {
          role: 'assistant',
          parts: [
            { type: 'text', text: 'ok' },
            { type: 'call', id: 'c1', name: 'ping', args: {} },
          ],
        },
        { role: 'tool', parts: [{ type: 'result', id: 'c1', output: 'pong' }] },
      ],
      tools: tools.map((tool) => ({ ...tool })),
    }
    const { body } = wire.encodeRequest(fromPlainConversation(plain, { model: 'm' }).request, wire.profile)
    const { params: _, ...back } = toCorpusConversation(toPlainConversation(wire.readRequest(body).request)) as Record<
      string,
      unknown
    >
    assert.deepEqual(back, plain)
  })
})

describe('what the chat wire writes for a client', () => {
  test('T119 every piece of a call has a function, also one with only its signature', () => {
    const stream = wire.responseWriter.startStream({ id: '1', model: 'm', created: 1, request: {} })
    const data = { extra_content: { google: { thought_signature: 'sig' } } }
    const native = { wire: 'openai-chat', signer: 'openai-chat', id: 'call_1', data } as const
    const part: CallPart = { kind: 'call', id: 'call_1', name: 'read', raw: '{"a":1}', input: { a: 1 }, native }
    const frames = [
      ...stream.write({ type: 'part-open', index: 0, kind: 'call', id: 'call_1', name: 'read' }),
      ...stream.write({ type: 'part-delta', index: 0, kind: 'call', text: '{"a":1}' }),
      ...stream.write({ type: 'part-close', index: 0, part }),
    ]
    const pieces = frames.flatMap((frame) => {
      const { choices } = frame.data as { choices: { delta: { tool_calls?: Record<string, unknown>[] } }[] }
      return choices[0]?.delta.tool_calls ?? []
    })
    assert.deepEqual(
      pieces.map((piece) => typeof piece['function']),
      pieces.map(() => 'object'),
    )
    assert.deepEqual(pieces.at(-1)?.['extra_content'], data.extra_content)
  })
})
