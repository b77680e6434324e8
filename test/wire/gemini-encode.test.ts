import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Profile } from '../../src/model/profile.ts'
import type { ModelRequest, ToolSpec } from '../../src/model/request.ts'
import type { AssistantTurn, CallPart, NativeData, ResultPart, Turn } from '../../src/model/turn.ts'
import { fromPlainConversation } from '../../src/wire/plain-conversation/from-plain.ts'
import { toPlainConversation } from '../../src/wire/plain-conversation/to-plain.ts'
import { gemini } from '../../src/wire/gemini/wire.ts'
import { toCorpusConversation } from '../support/corpus.ts'

const tools: ToolSpec[] = [
  { name: 'read_file', description: 'Reads.', schema: { type: 'object', properties: { path: { type: 'string' } } } },
  { name: 'ping', description: 'Pings.', schema: { type: 'object', properties: {} } },
]

interface Sent {
  readonly body: Record<string, unknown>
  readonly contents: { role: string; parts: Record<string, unknown>[] }[]
  readonly warnings: string[]
}

function encoded(turns: Turn[], profile: Partial<Profile> = {}, request: Partial<ModelRequest> = {}): Sent {
  const { body, warnings } = gemini.encodeRequest(
    { model: 'm', tools, turns, ...request },
    { ...gemini.profile, ...profile },
  )
  return { body, contents: body['contents'] as unknown as Sent['contents'], warnings: warnings.map(({ code }) => code) }
}

const own = (data?: NativeData['data'], id?: string): { native: NativeData } => ({
  native: { wire: 'gemini', signer: 'gemini', ...(id !== undefined && { id }), ...(data !== undefined && { data }) },
})

const signed = (thoughtSignature: string, id?: string) => own({ thoughtSignature }, id)

function call(id: string, more: Partial<CallPart> = {}): CallPart {
  return { kind: 'call', id, name: 'read_file', raw: `{"path":"${id}"}`, input: { path: id }, ...more }
}

function assistant(...parts: AssistantTurn['parts']): AssistantTurn {
  return { role: 'assistant', origin: { provider: 'x', wire: 'gemini', model: 'x' }, parts, finish: { reason: 'stop' } }
}

function result(id: string, more: Partial<ResultPart> = {}): ResultPart {
  return { kind: 'result', id, name: 'read_file', status: 'ok', content: [{ kind: 'text', text: `of ${id}` }], ...more }
}

const results = (...parts: ResultPart[]): Turn => ({ role: 'results', parts })
const user: Turn = { role: 'user', parts: [{ kind: 'text', text: 'hi' }] }
const png = { kind: 'media', mime: 'image/png', data: 'AAAA' } as const

/** The turns of one exchange with the given calls. */
const exchange = (...calls: CallPart[]): Turn[] => [
  user,
  assistant(...calls),
  results(...calls.map(({ id }) => result(id))),
]

/** The signatures on the parts of the model's first turn. */
const signatures = ({ contents }: Sent) => contents[1]?.parts.map((part) => part['thoughtSignature'])

const response = (sent: Sent, at = 0) => sent.contents[2]?.parts[at]?.['functionResponse'] as Record<string, unknown>

describe('what the Gemini wire sends', () => {
  test('T92 each request extends the bytes of the one before it', () => {
    const turns: Turn[] = [
      user,
      assistant({ kind: 'text', text: 'ok' }, call('a', signed('s', 'n1')), call('b')),
      results(result('b'), result('a', { content: [png] })),
      assistant({ kind: 'text', text: 'done' }),
      user,
      { role: 'note', text: 'the date changed' },
      assistant(call('c')),
      results(result('c')),
      user,
    ]
    const whole = [1, 3, 5, 6, 8, 9].map((length) => {
      const { body } = encoded(turns.slice(0, length), {}, { system: 'S', params: { maxTokens: 9 } })
      assert.deepEqual(Object.keys(body), ['systemInstruction', 'tools', 'generationConfig', 'contents'])
      return JSON.stringify(body)
    })
    for (const [at, text] of whole.entries()) {
      const before = (whole[at - 1] ?? '').replace(/[\]}]*$/, '')
      assert.ok(text.startsWith(before), text)
    }
  })

  test('T117 T118 own signatures go back on the parts that carried them, and nowhere else', () => {
    const sent = encoded(exchange(call('a', signed('s1')), call('b', own())))
    assert.deepEqual(signatures(sent), ['s1', undefined])
  })

  test('T119 signed texts, empty ones too, and signed thoughts go back as they came; other thoughts stay here', () => {
    const turn = assistant(
      { kind: 'reasoning', text: 'a secret' },
      { kind: 'reasoning', text: 'hm', ...signed('s1') },
      { kind: 'text', text: 'yes', ...signed('s2') },
      { kind: 'text', text: '', ...signed('s3') },
    )
    assert.deepEqual(encoded([user, turn, user]).contents[1]?.parts, [
      { text: 'hm', thought: true, thoughtSignature: 's1' },
      { text: 'yes', thoughtSignature: 's2' },
      { text: '', thoughtSignature: 's3' },
    ])
    assert.doesNotMatch(JSON.stringify(encoded([user, turn, user], { replay: 'never' }).body), /hm|secret/)
  })

  test('T120 a foreign call gets the sentinel, the first of its turn only; never a foreign signature', () => {
    const foreign = { native: { wire: 'gemini', signer: 'vertex', data: { thoughtSignature: 'other' } } } as const
    const turns = exchange(call('a', foreign), call('b'))
    assert.deepEqual(signatures(encoded(turns)), ['skip_thought_signature_validator', undefined])
    assert.deepEqual(signatures(encoded(turns, { signatures: 'optional' })), [undefined, undefined])
    assert.deepEqual(signatures(encoded(exchange(call('a', signed('s'))), { signatures: 'never' })), [undefined])
    assert.deepEqual(
      signatures(encoded(exchange(call('a', own()), call('b', own())))),
      [undefined, undefined],
      'as the endpoint made them',
    )
  })

  test('T120 a call that is not sent as it came loses its signature', () => {
    const broken = call('a', { ...signed('s1'), flaw: { code: 'unfinished', message: 'Cut.' } })
    const { input: _, ...rest } = broken
    assert.deepEqual(signatures(encoded([user, assistant(rest)])), ['skip_thought_signature_validator'])
    const nameless = call('x', { name: '', ...signed('s1') })
    assert.deepEqual(signatures(encoded([user, assistant(nameless, call('b', own()))])), [
      'skip_thought_signature_validator',
    ])
    const half = assistant({ kind: 'text', text: 'a\uD83D', ...signed('s') })
    assert.deepEqual(encoded([user, half, user]).contents[1]?.parts, [{ text: 'a\uFFFD' }])
  })

  test('T121 exactly one answer for each call, in the order of the calls, before anything else', () => {
    const late: Turn = { role: 'user', parts: [{ kind: 'text', text: 'wait' }] }
    const turns = [
      user,
      assistant(call('a'), call('b'), call('c')),
      late,
      results(result('c'), result('a'), result('zz')),
    ]
    const sent = encoded(turns)
    const answers = sent.contents[2]?.parts.map(
      (part) => (part['functionResponse'] as { response: unknown } | undefined)?.response ?? part,
    )
    assert.equal(sent.contents.length, 3)
    assert.deepEqual(answers?.[0], { output: 'of a' })
    assert.match(JSON.stringify(answers?.[1]), /error.*interrupted/)
    assert.deepEqual(answers?.slice(2), [{ output: 'of c' }, { text: 'wait' }])
    assert.deepEqual([...new Set(sent.warnings)].sort(), ['orphan-result', 'unanswered-call'])
  })

  test('T122 two roles, user first, in turn', () => {
    const said = assistant({ kind: 'text', text: 'a' })
    const turns: Turn[] = [said, user, { role: 'note', text: 'n' }, user, ...exchange(call('a')).slice(1), user, said]
    const roles = encoded(turns).contents.map(({ role }) => role)
    assert.deepEqual(roles, ['user', 'model', 'user', 'model', 'user', 'model', 'user'])
  })

  test('T123 no content is ever without parts', () => {
    const empty = assistant({ kind: 'text', text: ' ' })
    const item = assistant({
      kind: 'text',
      text: '',
      ...own({ type: 'functionCall', part: { functionCall: { name: 'ping' } } }),
    })
    for (const turn of [empty, item])
      assert.deepEqual(encoded([user, turn, user]).contents, [
        { role: 'user', parts: [{ text: 'hi' }, { text: 'hi' }] },
      ])
  })

  test('T126 an id goes back only to the endpoint that gave it, on call and answer alike', () => {
    const turns = exchange(
      call('a', own(undefined, 'n1')),
      call('b', own()),
      call('c', { native: { wire: 'gemini', signer: 'vertex', id: 'v1' } }),
    )
    const { contents } = encoded(turns)
    const ids = (at: number, key: string) => contents[at]?.parts.map((part) => (part[key] as { id?: string }).id)
    assert.deepEqual(ids(1, 'functionCall'), ['n1', undefined, undefined])
    assert.deepEqual(ids(2, 'functionResponse'), ['n1', undefined, undefined])
  })

  test('T127 the response is an object: output, error, or the data as they are', () => {
    const sent = (more: Partial<ResultPart>) =>
      response(encoded([user, assistant(call('a')), results(result('a', more))]))['response']
    assert.deepEqual(sent({}), { output: 'of a' })
    assert.deepEqual(sent({ content: [] }), { output: '(no output)' })
    assert.deepEqual(sent({ status: 'denied' }), { error: 'of a' })
    assert.deepEqual(sent({ status: 'error', content: [], error: { message: 'boom' } }), { error: 'boom' })
    assert.deepEqual(sent({ content: [], data: { sum: 5 } }), { sum: 5 })
    assert.deepEqual(sent({ data: { sum: 5 } }), { output: 'of a' })
    assert.deepEqual(sent({ content: [], data: [1, 2] }), { output: '[1,2]' })
  })

  test('T100 media of a result are inside its answer, or follow all answers with a status', () => {
    const turns = (content: ResultPart['content']) => [
      user,
      assistant(call('a'), call('b')),
      results(result('a', { content }), result('b')),
    ]
    const nested = encoded(turns([png]))
    assert.deepEqual(response(nested)['parts'], [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }])
    const beside = (content: ResultPart['content']) => encoded(turns(content), { nestedMedia: false })
    const one = beside([png])
    assert.deepEqual(response(one)['response'], { output: 'Binary content of type image/png was processed.' })
    assert.deepEqual(Object.keys(one.contents[2]?.parts[2] ?? {}), ['inlineData'])
    const mixed = beside([{ kind: 'text', text: 'see' }, png])
    assert.deepEqual(response(mixed)['response'], { output: 'Tool execution succeeded.' })
    assert.deepEqual(mixed.contents[2]?.parts.slice(2), [
      { text: 'see' },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    ])
    assert.match(JSON.stringify(encoded(turns([png]), { media: false }).body), /takes text only/)
  })

  test('media of the user go inline or by address; those of a foreign model become a sentence', () => {
    const file = { kind: 'media', mime: 'video/mp4', uri: 'gs://x' } as const
    const sent = encoded([{ role: 'user', parts: [png, file] }, assistant(png), user])
    assert.deepEqual(
      sent.contents[0]?.parts.map((part) => Object.keys(part)[0]),
      ['inlineData', 'fileData'],
    )
    assert.deepEqual(sent.contents[1]?.parts, [{ text: '(image/png was shown here)' }])
    assert.deepEqual(
      encoded([user, assistant({ ...png, ...signed('s') }), user]).contents[1]?.parts[0]?.['thoughtSignature'],
      's',
    )
  })

  test('what the vendor did by itself goes back to it, but not a call that it answered (T121)', () => {
    const code = { executableCode: { code: '1', language: 'PYTHON' } }
    const server = {
      kind: 'text',
      text: '',
      ...own({ type: 'functionResponse', part: { functionResponse: { name: 'x' } } }),
    } as const
    const turn = assistant({ kind: 'text', text: '', ...own({ type: 'executableCode', part: code }) }, server, {
      kind: 'text',
      text: '2',
    })
    assert.deepEqual(encoded([user, turn, user]).contents[1]?.parts, [code, { text: '2' }])
  })

  test('T103 T104 half an emoji and a hallucinated name are made sendable', () => {
    const odd = call('a', { name: '$READ<|x|>', input: { path: '\uDE00' } })
    const sent = encoded([user, assistant(odd), results(result('a', { content: [{ kind: 'text', text: '\uD83D' }] }))])
    assert.doesNotMatch(JSON.stringify(sent.body), /\\ud[89a-f]|\$READ/)
    const echoed = sent.contents[1]?.parts[0]?.['functionCall'] as { name: string } | undefined
    assert.equal(response(sent)['name'], echoed?.name)
  })

  test('T129 declarations take the dialect of the endpoint', () => {
    const declared = (dialect: Profile['dialect']) =>
      (encoded([user], { dialect }).body['tools'] as { functionDeclarations: Record<string, unknown>[] }[])[0]
        ?.functionDeclarations
    assert.ok(declared('gemini-json')?.every((one) => 'parametersJsonSchema' in one))
    assert.match(JSON.stringify(declared('gemini')?.[0]?.['parameters']), /"OBJECT"/)
    assert.ok(!('parameters' in (declared('gemini')?.[1] ?? {})), 'no parameters for a tool that takes none')
  })

  test('T130 the tool configuration goes only beside declarations, and never forces a call unasked', () => {
    const config = (toolChoice: ModelRequest['toolChoice'], profile: Partial<Profile> = {}, given = tools) =>
      (
        encoded([user], profile, { toolChoice, tools: given } as Partial<ModelRequest>).body['toolConfig'] as
          | Record<string, unknown>
          | undefined
      )?.['functionCallingConfig']
    assert.equal(config(undefined), undefined)
    assert.equal(config('auto'), undefined)
    assert.equal(config('required', {}, []), undefined)
    assert.deepEqual(config('auto', { constrain: true }), { mode: 'VALIDATED' })
    assert.deepEqual(config('required'), { mode: 'ANY' })
    assert.deepEqual(config('none'), { mode: 'NONE' })
    assert.deepEqual(config({ name: 'ping' }), { mode: 'ANY', allowedFunctionNames: ['ping'] })
    assert.deepEqual(config({ only: ['ping', 'gone'] }), { mode: 'VALIDATED', allowedFunctionNames: ['ping'] })
    assert.deepEqual(config({ only: [] }), { mode: 'NONE' })
    assert.deepEqual(config('auto', { eagerArguments: true }), { streamFunctionCallArguments: true })
  })

  test('T98 calls of the history stay calls where no tool is declared', () => {
    const { body, contents } = encoded(exchange(call('a')), {}, { tools: [] })
    assert.ok(!('tools' in body))
    assert.ok(contents[1]?.parts[0]?.['functionCall'])
  })

  test('settings, and thinking by budget or level; what is absent is not sent', () => {
    const config = (params: ModelRequest['params'], profile: Partial<Profile> = {}) =>
      encoded([user], { thinking: 'none', ...profile }, { params } as Partial<ModelRequest>).body['generationConfig']
    assert.equal(config({}), undefined)
    assert.deepEqual(config({ maxTokens: 5, temperature: 0, topP: 1, stop: ['x'] }), {
      maxOutputTokens: 5,
      temperature: 0,
      topP: 1,
      stopSequences: ['x'],
    })
    assert.deepEqual(config({}, { thinking: 'budget' }), { thinkingConfig: { includeThoughts: true } })
    assert.deepEqual(config({ effort: 'off' }, { thinking: 'budget' }), { thinkingConfig: { thinkingBudget: 0 } })
    assert.deepEqual(config({ effort: 'low' }, { thinking: 'budget' }), {
      thinkingConfig: { thinkingBudget: 2048, includeThoughts: true },
    })
    assert.deepEqual(config({ effort: 77 }, { thinking: 'budget' }), {
      thinkingConfig: { thinkingBudget: 77, includeThoughts: true },
    })
    assert.deepEqual(config({ effort: 'high' }, { thinking: 'level' }), {
      thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true },
    })
    assert.deepEqual(config({ temperature: 1, maxTokens: 5 }, { refuses: ['temperature'] }), { maxOutputTokens: 5 })
  })

  test('a model without native calls is told of the tools in the prompt', () => {
    const sent = encoded(exchange(call('a', signed('s'))), { tools: 'text' }, { system: 'S' })
    assert.ok(!('tools' in sent.body))
    assert.match(JSON.stringify(sent.body['systemInstruction']), /S\\n\\n.*read_file/)
    assert.doesNotMatch(JSON.stringify(sent.contents), /functionCall|functionResponse|thoughtSignature/)
    assert.deepEqual(
      sent.contents.map(({ role }) => role),
      ['user', 'model', 'user'],
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
            { type: 'call', name: 'ping', args: {} },
          ],
        },
        { role: 'tool', parts: [{ type: 'result', name: 'ping', output: { n: 1 } }] },
      ],
      tools: tools.map((tool) => ({ ...tool })),
      toolChoice: 'required',
      params: { maxTokens: 5, effort: 99 },
    }
    const { body } = gemini.encodeRequest(fromPlainConversation(plain, { model: 'm' }).request, {
      ...gemini.profile,
      signatures: 'optional',
    })
    assert.deepEqual(toCorpusConversation(toPlainConversation(gemini.readRequest(body).request)), plain)
  })
})
