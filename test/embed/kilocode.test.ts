import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type OpenAI from 'openai'
import {
  addNativeToolCallsToParams,
  nativeToolCallsFromGeminiPart,
  processNativeToolCallsFromDelta,
  toApiHistory,
  toFunctionCall,
  toFunctionResponse,
  toRejectedExchange,
  toToolUse,
  type Warning,
} from '../../src/embed/index.ts'

const READ: OpenAI.Chat.ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'read_file',
    description: 'Reads a file.',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
}

/** A delta as servers really send it, which the SDK's types do not allow for. */
function delta(value: unknown): OpenAI.Chat.ChatCompletionChunk.Choice.Delta {
  return value as OpenAI.Chat.ChatCompletionChunk.Choice.Delta
}

describe('addNativeToolCallsToParams', () => {
  const params = { model: 'm', messages: [], stream: true } as const satisfies Record<string, unknown>
  const base = (): OpenAI.Chat.ChatCompletionCreateParamsStreaming => ({ ...params, messages: [] })

  test('adds the documented three, to a copy', () => {
    const given = Object.freeze(base())
    const out = addNativeToolCallsToParams(given, { toolStyle: 'json' }, { allowedTools: [READ] })
    assert.deepEqual(out, { ...base(), tools: [READ], tool_choice: 'required', parallel_tool_calls: false })
    assert.deepEqual(given, base())
    assert.equal(out.stream, true)
  })

  test('adds nothing for another style, and nothing without tools', () => {
    for (const toolStyle of ['xml', undefined] as const) {
      assert.deepEqual(addNativeToolCallsToParams(base(), { toolStyle }, { allowedTools: [READ] }), base())
    }
    for (const metadata of [undefined, {}, { allowedTools: [] }]) {
      assert.deepEqual(addNativeToolCallsToParams(base(), { toolStyle: 'json' }, metadata), base())
    }
  })

  test('the defaults can be changed, or left out', () => {
    const add = (settings: Parameters<typeof addNativeToolCallsToParams>[3], more = {}) =>
      addNativeToolCallsToParams({ ...base(), ...more }, { toolStyle: 'json' }, { allowedTools: [READ] }, settings)
    const auto = add({ toolChoice: 'auto', parallel: true })
    assert.deepEqual([auto.tool_choice, auto.parallel_tool_calls], ['auto', true])
    assert.deepEqual(Object.keys(add({ toolChoice: 'omit', parallel: 'omit' })), [...Object.keys(base()), 'tools'])
    const own = add({}, { tool_choice: 'none', parallel_tool_calls: true })
    assert.deepEqual([own.tool_choice, own.parallel_tool_calls], ['none', true])
  })
})

describe('processNativeToolCallsFromDelta', () => {
  function run(value: unknown, style: 'json' | 'xml' | 'unset' = 'json') {
    const warnings: Warning[] = []
    const chunks = [
      ...processNativeToolCallsFromDelta(delta(value), style === 'unset' ? undefined : style, (warning) =>
        warnings.push(warning),
      ),
    ]
    return { chunks, codes: warnings.map(({ code }) => code) }
  }

  test('passes on a first piece and its continuation', () => {
    const first = { index: 0, id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '' } }
    assert.deepEqual(run({ tool_calls: [first] }).chunks, [{ type: 'native_tool_calls', toolCalls: [first] }])
    assert.deepEqual(run({ tool_calls: [{ index: 0, function: { arguments: '{"pa' } }] }).chunks, [
      { type: 'native_tool_calls', toolCalls: [{ index: 0, function: { name: '', arguments: '{"pa' } }] },
    ])
  })

  test('gives nothing for a delta without calls', () => {
    for (const value of [undefined, null, {}, { content: 'hi' }, { tool_calls: [] }, { tool_calls: null }]) {
      assert.deepEqual(run(value), { chunks: [], codes: [] })
    }
  })

  test('tells of a call in the wrong style, and of one without a function', () => {
    const call = { index: 0, function: { name: 'a', arguments: '{}' } }
    assert.deepEqual(run({ tool_calls: [call] }, 'xml'), { chunks: [], codes: ['tool-style'] })
    assert.deepEqual(run({ tool_calls: [call] }, 'unset').codes, ['tool-style'])
    const mixed = run({ tool_calls: [{ index: 1, id: 'x' }, null, call] })
    assert.deepEqual(mixed.codes, ['no-function', 'no-function'])
    assert.deepEqual(mixed.chunks[0]?.toolCalls, [call])
    assert.deepEqual(run({ tool_calls: [{ index: 1 }] }).chunks, [])
  })

  test('takes what servers send instead of text', () => {
    const { chunks } = run({
      tool_calls: [{ index: null, id: null, type: null, function: { name: null, arguments: { a: 1 } } }],
    })
    assert.deepEqual(chunks[0]?.toolCalls, [{ function: { name: '', arguments: '{"a":1}' } }])
  })
})

describe('toToolUse', () => {
  test('keeps the id, and never throws', () => {
    const call = (id: string | undefined, name: string, args: string) => ({
      ...(id && { id }),
      function: { name, arguments: args },
    })
    const { blocks, rejected } = toToolUse([
      call('a', 'read_file', '{"path":"x"}'),
      call('b', 'read_file', '{"path":"x'),
      call('c', 'read_file', 'no json'),
      call('d', '', '{}'),
      call('e', 'read_file', ''),
      call('f', 'read_file', '{"path":"x"}{"path":"y"}'),
      call('g', 'read_file', '[1]'),
      call(undefined, 'read_file', '{}'),
    ])
    assert.deepEqual(blocks.slice(0, 2), [
      { type: 'tool_use', id: 'a', name: 'read_file', params: { path: 'x' }, partial: false },
      { type: 'tool_use', id: 'e', name: 'read_file', params: {}, partial: false },
    ])
    assert.match(blocks[2]?.id ?? '', /^toolu_read_file_[a-z0-9]{16}$/)
    assert.deepEqual(
      rejected.map(({ id }) => id),
      ['b', 'c', 'd', 'f', 'g'],
    )
    assert.ok(rejected.every(({ reason }) => reason.length > 10))
  })
})

describe('toApiHistory', () => {
  test('saves text and calls, under the ids that the calls have', () => {
    const { blocks } = toToolUse([{ id: 'call_1', function: { name: 'read_file', arguments: '{"path":"x"}' } }])
    assert.deepEqual(toApiHistory([{ type: 'text', content: 'I look.', partial: false }, ...blocks]), [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'call_1', name: 'read_file', input: { path: 'x' } },
    ])
  })

  test('never gives an empty message, an empty text or half a call', () => {
    assert.deepEqual(toApiHistory([], 'said'), [{ type: 'text', text: 'said' }])
    assert.deepEqual(toApiHistory([{ type: 'text', content: ' ', partial: false }]), [
      { type: 'text', text: '(no answer)' },
    ])
    const half = { type: 'tool_use', id: 'a', name: 'b', params: {}, partial: true } as const
    assert.deepEqual(toApiHistory([half], 'x'), [{ type: 'text', text: 'x' }])
  })

  test('a signature goes along only where it is wanted, and back to Gemini', () => {
    const [chunk] = nativeToolCallsFromGeminiPart({
      functionCall: { id: 'g', name: 'a', args: { b: 1 } },
      thoughtSignature: 'sig',
    })
    const { blocks } = toToolUse(chunk?.toolCalls ?? [])
    assert.deepEqual(toApiHistory(blocks), [{ type: 'tool_use', id: 'g', name: 'a', input: { b: 1 } }])
    const [stored] = toApiHistory(blocks, '', { signatures: true })
    assert.ok(stored?.type === 'tool_use')
    assert.deepEqual(toFunctionCall(stored), {
      functionCall: { id: 'g', name: 'a', args: { b: 1 } },
      thoughtSignature: 'sig',
    })
  })

  test('a rejected call becomes a pair that every vendor takes', () => {
    const { toolUse, toolResult } = toRejectedExchange({ id: 'a', name: '', arguments: '{"x', reason: 'It broke off.' })
    assert.deepEqual(toolUse, { type: 'tool_use', id: 'a', name: 'unknown', input: {} })
    assert.equal(toolResult.tool_use_id, 'a')
    assert.equal(toolResult.is_error, true)
    assert.ok(typeof toolResult.content === 'string')
    assert.match(toolResult.content, /It broke off\..*\{"x/)
  })
})

describe('toFunctionResponse', () => {
  const answer = (content: Parameters<typeof toFunctionResponse>[0]['content'], more = {}) =>
    toFunctionResponse(
      { type: 'tool_result', tool_use_id: 'call_1', ...(content !== undefined && { content }), ...more },
      'read_file',
    ).functionResponse

  test('carries id, name and output', () => {
    assert.deepEqual(answer('text'), { id: 'call_1', name: 'read_file', response: { output: 'text' } })
    const two = answer([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ])
    assert.deepEqual(two?.response, { output: 'a\nb' })
  })

  test('is never empty, and tells errors from output', () => {
    for (const empty of ['', '  ', [], undefined]) assert.deepEqual(answer(empty)?.response, { output: '(no output)' })
    assert.deepEqual(answer('bad', { is_error: true })?.response, { error: 'bad' })
  })

  test('pictures go inside, or leave a word', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'AAAA' } as const
    const content = [{ type: 'image', source } as const]
    assert.deepEqual(answer(content)?.response, { output: '(content of type image was left out)' })
    const nested = toFunctionResponse({ type: 'tool_result', tool_use_id: 'a', content }, 'b', { nested: true })
    assert.deepEqual(nested.functionResponse?.parts, [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }])
  })
})
