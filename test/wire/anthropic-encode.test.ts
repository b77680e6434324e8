import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { splitRunnableCalls } from '../../src/model/fold.ts'
import type { Json } from '../../src/model/json.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { ModelRequest, ToolSpec } from '../../src/model/request.ts'
import type { AssistantPart, AssistantTurn, CallPart, NativeData, ResultPart, Turn } from '../../src/model/turn.ts'
import { anthropic } from '../../src/wire/anthropic/wire.ts'
import type { Wire } from '../../src/wire/wire.ts'
import { decodeRecording } from '../support/check-recording.ts'
import { recordings } from '../support/corpus.ts'
import { skipWithoutShared } from '../support/paths.ts'

const wire = anthropic as Wire

const tools: ToolSpec[] = [
  {
    name: 'read_file',
    description: 'Reads.',
    schema: {
      type: 'object',
      properties: { path: { type: 'string' } },
      required: ['path'],
      additionalProperties: false,
    },
  },
  { name: 'ping', description: 'Pings.', schema: { type: 'object', properties: { loud: { type: 'boolean' } } } },
]

const user: Turn = { role: 'user', parts: [{ kind: 'text', text: 'hi' }] }

type Block = Record<string, unknown>

function encoded(turns: readonly Turn[], request: Partial<ModelRequest> = {}, profile: Partial<Profile> = {}) {
  const { body, warnings } = wire.encodeRequest(
    { model: 'm', tools, turns, ...request },
    { ...wire.profile, ...profile },
  )
  const messages = body['messages'] as unknown as { role: string; content: Block[] }[]
  return { body, messages, codes: warnings.map(({ code }) => code) }
}

const native = (data?: Json, id?: string): NativeData => ({
  wire: 'anthropic',
  signer: 'anthropic',
  ...(id !== undefined && { id }),
  ...(data !== undefined && { data }),
})

const thinking = (signature = 'sig'): AssistantPart => {
  const data = { type: 'thinking', thinking: 'hm', signature }
  return { kind: 'reasoning', text: 'hm', native: native(data) }
}
const server = (data: Record<string, Json>): AssistantPart => ({ kind: 'text', text: '', native: native(data) })
const text = (words: string): AssistantPart => ({ kind: 'text', text: words })

function call(id: string, input: CallPart['input'] = { path: 'a' }, name = 'read_file'): CallPart {
  return {
    kind: 'call',
    id: `our-${id}`,
    name,
    raw: JSON.stringify(input),
    ...(input && { input }),
    native: native(undefined, id),
  }
}

function assistant(...parts: AssistantPart[]): AssistantTurn {
  const reason = parts.some((part) => part.kind === 'call') ? 'calls' : 'stop'
  return {
    role: 'assistant',
    origin: { provider: 'anthropic', wire: 'anthropic', model: 'm' },
    parts,
    finish: { reason },
  }
}

function result(id: string, words = 'done', extra: Partial<ResultPart> = {}): ResultPart {
  return { kind: 'result', id: `our-${id}`, name: '', status: 'ok', content: [{ kind: 'text', text: words }], ...extra }
}
const results = (...parts: ResultPart[]): Turn => ({ role: 'results', parts })
const types = (blocks: readonly Block[] | undefined) => blocks?.map((block) => block['type'])

describe('what the anthropic wire sends', () => {
  test('the keys of a request, and their order', () => {
    const { body } = encoded([user], {
      system: 'Be brief.',
      toolChoice: 'required',
      params: { temperature: 0.5, stop: ['END', ' '] },
    })
    assert.deepEqual(Object.keys(body), [
      'model',
      'max_tokens',
      'temperature',
      'stop_sequences',
      'stream',
      'tools',
      'tool_choice',
      'system',
      'cache_control',
      'messages',
    ])
    assert.equal(body['max_tokens'], 16384)
    assert.equal(body['stream'], true)
    assert.deepEqual(body['stop_sequences'], ['END'])
    assert.deepEqual(encoded([user], {}, { refuses: ['stream', 'cache_control'] }).body['stream'], undefined)
  })

  test('T92 a longer history extends the bytes of a shorter one', () => {
    const long = [
      user,
      assistant(thinking(), text('I look.'), call('a'), call('b')),
      results(result('b', 'B'), result('a', 'A')),
      assistant(text('Done.')),
      user,
      assistant(thinking(), call('c')),
      results(result('c')),
    ]
    const bytes = (turns: Turn[]) => JSON.stringify(encoded(turns, { params: { effort: 'high' } }).body)
    for (const length of [1, 3, 5]) {
      const short = bytes(long.slice(0, length)).replace(/\]\}\]\}$/, '')
      assert.ok(bytes(long).startsWith(short), `${length} turns`)
    }
  })

  test('where the cache is marked', () => {
    const turns = [user, assistant(call('a')), results(result('a')), assistant(text('ok')), user]
    const marks = (cache: Profile['cache']) => {
      const { body, messages } = encoded(turns, { system: 's' }, { cache })
      const on = (value: unknown) => JSON.stringify(value ?? null).includes('cache_control')
      return [body['cache_control'] !== undefined, on(body['tools']), on(body['system']), ...messages.map(on)]
    }
    assert.deepEqual(marks('auto'), [true, true, true, false, false, false, false, false])
    assert.deepEqual(marks('marks'), [false, true, true, false, false, true, false, true])
    assert.deepEqual(marks('none'), [false, false, false, false, false, false, false, false])
  })

  test('T80 thinking goes back in place, as it came', () => {
    const { messages } = encoded([
      user,
      assistant(thinking(), text('a'), thinking('two'), call('x')),
      results(result('x')),
    ])
    assert.deepEqual(messages[1]?.content, [
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'text', text: 'a' },
      { type: 'thinking', thinking: 'hm', signature: 'two' },
      { type: 'tool_use', id: 'x', name: 'read_file', input: { path: 'a' } },
    ])
  })

  test('T80 thinking goes if one of its siblings has to go or to change', () => {
    const broken: CallPart = { ...call('y'), raw: '{"path":', flaw: { code: 'unfinished', message: 'Cut.' } }
    const { input: _, ...unread } = broken
    const changed = encoded([user, assistant(thinking(), call('x'), unread), results(result('x'))]).messages[1]
    assert.deepEqual(types(changed?.content), ['tool_use', 'tool_use'])
    const nameless = encoded([user, assistant(thinking(), call('x'), { ...call('y'), name: '' }), results(result('x'))])
      .messages[1]
    assert.deepEqual(types(nameless?.content), ['tool_use'])
    const unmatched = assistant(
      thinking(),
      server({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
      text('so'),
    )
    assert.deepEqual(types(encoded([user, unmatched, user]).messages[1]?.content), ['text'])
    // Nothing may end in thinking, either.
    assert.deepEqual(types(encoded([user, assistant(text('a'), thinking()), user]).messages[1]?.content), ['text'])
    for (const turns of [
      [user, assistant(thinking(), call('x'), unread), results(result('x'))],
      // A turn that was sent before is not reported again.
      [user, { ...unmatched }, user],
      [user, assistant(text('a'), thinking()), user],
    ]) {
      assert.equal(encoded(turns).codes.filter((code) => code === 'thinking').length, 1)
    }
    assert.deepEqual(encoded([user, assistant(thinking(), call('x')), results(result('x'))]).codes, [])
  })

  test('T81 T82 what is not signed, or not ours, is dropped; redacted thinking goes back', () => {
    const redacted: AssistantPart = {
      kind: 'reasoning',
      text: '',
      native: native({ type: 'redacted_thinking', data: 'enc' }),
    }
    const unsigned: AssistantPart = { kind: 'reasoning', text: 'hm', native: native() }
    const foreign: AssistantPart = {
      kind: 'reasoning',
      text: 'hm',
      native: { ...native({ type: 'thinking' }), signer: 'other' },
    }
    const sent = (part: AssistantPart, profile: Partial<Profile> = {}) =>
      types(encoded([user, assistant(part, text('a')), user], {}, profile).messages[1]?.content)
    assert.deepEqual(sent(redacted), ['redacted_thinking', 'text'])
    assert.deepEqual(sent(unsigned), ['text'])
    assert.deepEqual(sent(unsigned, { signatures: 'optional' }), ['thinking', 'text'])
    assert.deepEqual(sent(foreign), ['text'])
    assert.deepEqual(sent({ kind: 'reasoning', text: 'hm' }, { signatures: 'optional' }), ['text'])
    assert.deepEqual(sent(thinking(), { replay: 'never' }), ['text'])
  })

  test('T83 a thinking model is not forced to call, and takes no sampling parameters', () => {
    const params = { effort: 'low', temperature: 0, topP: 0.9 } as const
    const { body, codes } = encoded([user], { params, toolChoice: 'required' })
    assert.deepEqual(body['thinking'], { type: 'enabled', budget_tokens: 4096 })
    for (const key of ['temperature', 'top_p', 'tool_choice']) assert.equal(body[key], undefined, key)
    assert.deepEqual(codes, ['sampling', 'tool-choice'])
    assert.deepEqual(encoded([user], { params, toolChoice: 'none' }).body['tool_choice'], { type: 'none' })
  })

  test('T155 a budget stays under the limit of the answer, and leaves room for it', () => {
    const asked = (params: ModelRequest['params'], profile: Partial<Profile> = {}) => {
      const { body, codes } = encoded([user], { ...(params && { params }) }, profile)
      return [body['max_tokens'], body['thinking'], body['output_config'], codes.length]
    }
    assert.deepEqual(asked({ effort: 'high' }), [24576, { type: 'enabled', budget_tokens: 16384 }, undefined, 0])
    assert.deepEqual(asked({ effort: 'high', maxTokens: 8000 }), [
      8000,
      { type: 'enabled', budget_tokens: 6000 },
      undefined,
      0,
    ])
    assert.deepEqual(asked({ effort: 9000, maxTokens: 8000 }), [
      8000,
      { type: 'enabled', budget_tokens: 7999 },
      undefined,
      0,
    ])
    assert.deepEqual(asked({ effort: 10 }), [16384, { type: 'enabled', budget_tokens: 1024 }, undefined, 0])
    assert.deepEqual(asked({ effort: 'low', maxTokens: 1000 }), [1000, undefined, undefined, 1])
    assert.deepEqual(asked({ effort: 'off' }), [16384, { type: 'disabled' }, undefined, 0])
    assert.deepEqual(asked({ effort: 'high' }, { thinking: 'none' }), [16384, undefined, undefined, 0])
    const adaptive = { thinking: 'adaptive' } as const
    assert.deepEqual(asked({ effort: 'minimal' }, adaptive), [16384, { type: 'adaptive' }, { effort: 'low' }, 0])
    assert.deepEqual(asked({ effort: 6000 }, adaptive), [16384, { type: 'adaptive' }, { effort: 'medium' }, 0])
    assert.deepEqual(asked({ effort: 'off' }, adaptive), [16384, undefined, undefined, 0])
  })

  test('a budget waits until calls that came without thinking are answered', () => {
    const params = { effort: 'high' } as const
    const foreign = [user, assistant(call('a')), results(result('a'))]
    assert.deepEqual(encoded(foreign, { params }).body['thinking'], undefined)
    assert.deepEqual(encoded(foreign, { params }).codes, ['thinking'])
    assert.ok(encoded(foreign, { params }, { thinking: 'adaptive' }).body['thinking'])
    assert.ok(encoded(foreign, { params }, { signatures: 'optional' }).body['thinking'])
    assert.ok(encoded([...foreign, assistant(text('ok')), user], { params }).body['thinking'])
    const own = [
      user,
      assistant(thinking(), call('a')),
      results(result('a')),
      assistant(call('b')),
      results(result('b')),
    ]
    assert.ok(encoded(own, { params }).body['thinking'])
  })

  test('the choice of tools', () => {
    const chosen = (toolChoice: ModelRequest['toolChoice'], params: ModelRequest['params'] = {}) =>
      encoded([user], { ...(toolChoice && { toolChoice }), params }).body['tool_choice']
    assert.equal(chosen(undefined), undefined)
    assert.equal(chosen('auto'), undefined)
    assert.deepEqual(chosen('auto', { parallelCalls: false }), { type: 'auto', disable_parallel_tool_use: true })
    assert.deepEqual(chosen('required'), { type: 'any' })
    assert.deepEqual(chosen('none', { parallelCalls: false }), { type: 'none' })
    assert.deepEqual(chosen({ name: 'ping' }, { parallelCalls: false }), {
      type: 'tool',
      name: 'ping',
      disable_parallel_tool_use: true,
    })
    assert.equal(chosen({ name: 'nothing' }), undefined)
    assert.equal(chosen({ only: ['ping'] }), undefined)
    assert.deepEqual(encoded([user], { toolChoice: { only: ['ping'] } }).codes, ['tool-choice'])
    assert.equal(encoded([user], { tools: [], toolChoice: 'required' }).body['tool_choice'], undefined)
  })

  test('T138 T150 how tools are declared', () => {
    const declared = (profile: Partial<Profile>) =>
      encoded([user], {}, { cache: 'none', ...profile }).body['tools'] as Block[]
    assert.deepEqual(Object.keys(declared({})[0] ?? {}), [
      'name',
      'description',
      'input_schema',
      'eager_input_streaming',
    ])
    assert.deepEqual(Object.keys(declared({ eagerArguments: false })[0] ?? {}), ['name', 'description', 'input_schema'])
    assert.deepEqual(
      declared({ constrain: true }).map((tool) => tool['strict']),
      [true, undefined],
    )
  })

  test('T88 T91 results come first, in the order of the calls, one for each', () => {
    const note: Turn = { role: 'note', text: 'Hurry.' }
    const { messages } = encoded([user, assistant(call('a'), call('b')), note, results(result('b', 'B')), user])
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'user'],
    )
    const last = messages[2]?.content ?? []
    assert.deepEqual(types(last), ['tool_result', 'tool_result', 'text', 'text'])
    assert.equal(last[0]?.['tool_use_id'], 'a')
    assert.equal(last[0]?.['is_error'], true)
    assert.deepEqual(last[1], { type: 'tool_result', tool_use_id: 'b', content: 'B' })
  })

  test('T97 ids that are not legal, or not alone, are replaced on both sides', () => {
    const odd: CallPart = { kind: 'call', id: 'functions.read:0', name: 'read_file', raw: '{}', input: {} }
    const { messages } = encoded([user, assistant(odd), results({ ...result('x'), id: odd.id })])
    const id = String(messages[1]?.content[0]?.['id'])
    assert.match(id, /^[a-zA-Z0-9_-]{1,64}$/)
    assert.equal(messages[2]?.content[0]?.['tool_use_id'], id)
  })

  test('T98 without tools, those of the history are declared, and closed', () => {
    const { body } = encoded([user, assistant(call('a')), results(result('a')), user], { tools: [] })
    assert.deepEqual(
      (body['tools'] as Block[]).map((tool) => tool['name']),
      ['read_file'],
    )
    assert.deepEqual(body['tool_choice'], { type: 'none' })
    assert.equal(encoded([user], { tools: [] }).body['tools'], undefined)
  })

  test('T99 T100 results: never empty, pictures inside, but beside the result of a failure', () => {
    const picture = { kind: 'media', mime: 'image/png', data: 'AAAA' } as const
    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' }
    const sent = (part: ResultPart, profile: Partial<Profile> = {}) =>
      encoded([user, assistant(call('a')), results(part)], {}, profile).messages[2]?.content ?? []
    assert.equal(sent(result('a', '  '))[0]?.['content'], '(no output)')
    assert.equal(sent(result('a', '', { content: [], data: { n: 1 } }))[0]?.['content'], '{"n":1}')
    const both = result('a', '', {
      content: [{ kind: 'text', text: 'See:' }, picture, { kind: 'media', mime: 'audio/wav', data: 'AA' }],
    })
    assert.deepEqual(sent(both)[0]?.['content'], [
      { type: 'text', text: 'See:' },
      { type: 'image', source },
      { type: 'text', text: '(audio/wav was left out: it cannot be shown to this model)' },
    ])
    assert.deepEqual(sent(result('a', '', { content: [picture] }))[0]?.['content'], [{ type: 'image', source }])
    assert.deepEqual(sent({ ...both, status: 'error' }), [
      {
        type: 'tool_result',
        tool_use_id: 'a',
        content: 'See:\n(audio/wav was left out: it cannot be shown to this model)',
        is_error: true,
      },
      { type: 'image', source },
    ])
    assert.equal(
      sent(result('a', '', { content: [picture] }), { media: false })[0]?.['content'],
      '(image/png was left out: this model takes text only)',
    )
    const empty = sent(result('a', '', { content: [{ ...picture, data: '' }] }))[0]?.['content']
    assert.match(String(empty), /left out/)
  })

  test('pictures and documents of the user', () => {
    const media = [
      { kind: 'media', mime: 'image/jpg', data: 'AAAA' },
      { kind: 'media', mime: 'image/*', uri: 'https://example.com/a.png' },
      { kind: 'media', mime: 'image/*', uri: 'data:image/webp;base64,BBBB' },
      { kind: 'media', mime: 'application/pdf', data: 'CCCC' },
      { kind: 'media', mime: 'video/mp4', uri: 'gs://bucket/a.mp4' },
    ] as const
    assert.deepEqual(encoded([{ role: 'user', parts: media }]).messages[0]?.content, [
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/webp', data: 'BBBB' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'CCCC' } },
      { type: 'text', text: '(video/mp4 at gs://bucket/a.mp4 was left out: it cannot be shown to this model)' },
    ])
  })

  test('T102 T135 a history never ends with the model, unless it only paused', () => {
    assert.equal(encoded([user, assistant(text('a'))]).messages.at(-1)?.role, 'user')
    const search = server({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} })
    const paused: Turn = { ...assistant(text('a'), search), finish: { reason: 'stop', raw: 'pause_turn' } }
    const { messages } = encoded([user, paused])
    assert.equal(messages.at(-1)?.role, 'assistant')
    assert.deepEqual(types(messages.at(-1)?.content), ['text', 'server_tool_use'])
    assert.deepEqual(types(encoded([user, paused, user]).messages[1]?.content), ['text'])
  })

  test('T103 half a character does not go out', () => {
    const { messages } = encoded([{ role: 'user', parts: [{ kind: 'text', text: 'a\uD83D' }] }])
    assert.equal(messages[0]?.content[0]?.['text'], 'a\uFFFD')
  })

  test('T136 empty text is left out', () => {
    const { messages } = encoded([user, assistant(thinking(), text(' \n'), call('a'), text('')), results(result('a'))])
    assert.deepEqual(types(messages[1]?.content), ['thinking', 'tool_use'])
  })

  test('T137 a server tool and its result go back together, or not at all', () => {
    const search = server({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} })
    const found = server({ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] })
    const sent = (...turns: Turn[]) =>
      encoded([user, ...turns, user])
        .messages.filter(({ role }) => role === 'assistant')
        .map(({ content }) => types(content))
    assert.deepEqual(sent(assistant(search, found, text('a'))), [['server_tool_use', 'web_search_tool_result', 'text']])
    assert.deepEqual(sent(assistant(found, text('a'))), [['text']])
    assert.deepEqual(sent(assistant(search)), [])
    // The result may come only after the client's own calls have been answered.
    const deferred = [assistant(call('a'), search), results(result('a'))]
    assert.deepEqual(sent(...deferred), [['tool_use', 'server_tool_use']])
    assert.deepEqual(sent(...deferred, assistant(found, text('a'))), [
      ['tool_use', 'server_tool_use'],
      ['web_search_tool_result', 'text'],
    ])
    assert.deepEqual(sent(...deferred, assistant(text('a'))), [['tool_use'], ['text']])
    const foreign: AssistantPart = {
      kind: 'text',
      text: '',
      native: { ...native({ type: 'server_tool_use' }), signer: 'other' },
    }
    assert.deepEqual(sent(assistant(foreign, text('a'))), [['text']])
  })

  test('a model without native calls gets tools, calls and results as text', () => {
    const { body, messages } = encoded(
      [user, assistant(call('a')), results(result('a', 'A'))],
      { system: 's' },
      { tools: 'text' },
    )
    assert.equal(body['tools'], undefined)
    assert.match(String((body['system'] as Block[])[0]?.['text']), /^s\n\n[\s\S]*read_file/)
    assert.match(String(messages[1]?.content[0]?.['text']), /<tool_call>/)
    assert.match(String(messages[2]?.content[0]?.['text']), /<tool_response name="read_file">\nA\n/)
  })
})

describe('recorded answers go back as they came', { skip: skipWithoutShared }, () => {
  for (const recording of recordings('anthropic')) {
    if (recording.streaming || recording.response.status >= 400 || recording.file.includes('rubyllm')) continue
    test(recording.file, () => {
      const { content } = JSON.parse(recording.response.body) as { content: Block[] }
      const { turn } = decodeRecording(wire, recording)
      const { calls, rejected } = splitRunnableCalls(turn)
      const answers = [...calls, ...rejected.map((one) => one.call)].map(({ id, name }): ResultPart => ({
        ...result(''),
        id,
        name,
      }))
      const { messages } = encoded([user, turn, results(...answers), user], {}, { signatures: 'optional' })
      const direct = (block: Block) => {
        const { caller, citations, ...rest } = block
        const runsCode = (caller as { type?: string } | undefined)?.type !== 'direct'
        return {
          ...rest,
          ...(caller !== undefined && (runsCode || block['type'] !== 'tool_use') && { caller }),
          ...(Array.isArray(citations) && citations.length > 0 && { citations }),
        }
      }
      // Thinking alone is nothing to repeat (T85).
      const wanted = content.every((block) => block['type'] === 'thinking') ? [] : [content.map(direct)]
      assert.deepEqual(
        messages.filter(({ role }) => role === 'assistant').map((message) => message.content),
        wanted,
      )
    })
  }
})

describe('a recorded stream that is cut anywhere', { skip: skipWithoutShared }, () => {
  for (const recording of recordings('anthropic')) {
    if (!recording.streaming || recording.expect.toolCalls.length === 0) continue
    test(recording.file, () => {
      const bytes = Buffer.from(recording.response.body)
      const end = bytes.indexOf('"message_stop"')
      const step = Math.max(1, Math.floor(bytes.length / 400))
      for (let at = 0; at < end; at += step) {
        const { turn } = decodeRecording(wire, recording, (all) => [all.subarray(0, at)])
        assert.deepEqual(splitRunnableCalls(turn).calls, [], `cut at ${at}`)
        assert.equal(turn.finish.reason, 'fault', `cut at ${at}`)
      }
    })
  }
})
