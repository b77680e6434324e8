import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import type { WireId } from '../../src/model/turn.ts'
import { handOverRequest } from '../../src/wire/hand-over/hand-over-request.ts'
import { wires } from '../support/cases.ts'

function handOver(source: WireId, body: JsonObject, target: WireId) {
  const { request } = wires[source].readRequest(body)
  const handed = handOverRequest(request, wires[target], wires[target].profile)
  return { body: handed.body, messages: handed.warnings.map(({ message }) => message) }
}

const CHAT = { model: 'm', messages: [{ role: 'user', content: 'Hi.' }] }

describe('settings that another API has under another name', () => {
  const contents = [{ role: 'user', parts: [{ text: 'Hi.' }] }]
  const rows: readonly (readonly [WireId, JsonObject, WireId, JsonObject])[] = [
    ['openai-chat', { ...CHAT, seed: 7 }, 'interactions', { generation_config: { seed: 7 } }],
    ['openai-chat', { ...CHAT, presence_penalty: 1 }, 'gemini', { generationConfig: { presencePenalty: 1 } }],
    ['gemini', { contents, generationConfig: { topK: 3 } }, 'anthropic', { top_k: 3 }],
    ['gemini', { contents, generation_config: { seed: 3 } }, 'openai-chat', { seed: 3 }],
    ['openai-chat', { ...CHAT, user: 'u' }, 'anthropic', { metadata: { user_id: 'u' } }],
    ['openai-chat', { ...CHAT, user: 'u' }, 'openai-responses', { user: 'u' }],
    [
      'openai-chat',
      { ...CHAT, response_format: { type: 'json_object' } },
      'openai-responses',
      { text: { format: { type: 'json_object' } } },
    ],
    [
      'openai-chat',
      { ...CHAT, response_format: { type: 'json_object' } },
      'gemini',
      { generationConfig: { responseMimeType: 'application/json' } },
    ],
    [
      'gemini',
      { contents, generationConfig: { responseMimeType: 'application/json' } },
      'interactions',
      { response_format: { type: 'text', mime_type: 'application/json' } },
    ],
    ['openai-chat', { ...CHAT, service_tier: 'default' }, 'gemini', { serviceTier: 'standard' }],
  ]
  for (const [source, body, target, expected] of rows)
    it(`${source} to ${target}: ${JSON.stringify(expected)}`, () => {
      const handed = handOver(source, body, target)
      assert.ok(contains(handed.body, expected), JSON.stringify(handed.body))
      assert.deepEqual(handed.messages, [])
    })

  it('what means something else is left out, with a warning', () => {
    const options = {
      logit_bias: { '5': 1 },
      service_tier: 'auto',
      seed: 2 ** 40,
      response_format: { type: 'json_object' },
    }
    const { body, messages } = handOver('openai-chat', { ...CHAT, ...options }, 'anthropic')
    assert.deepEqual(Object.keys(body), ['model', 'max_tokens', 'stream', 'cache_control', 'messages'])
    assert.deepEqual(messages, [
      'Fields of openai-chat that have no counterpart were left out: logit_bias.5, service_tier, seed, response_format.type.',
    ])
  })

  it('JSON is not asked for where that would keep the model from making calls', () => {
    const tools = [{ type: 'function', function: { name: 'a', parameters: { type: 'object' } } }]
    const { body, messages } = handOver(
      'openai-chat',
      { ...CHAT, tools, response_format: { type: 'json_object' } },
      'gemini',
    )
    assert.ok(!JSON.stringify(body).includes('application/json'))
    assert.match(messages.join(), /response_format/)
  })
})

describe('what another API cannot say is named', () => {
  it('items, citations, signatures, files, tool changes and fields of tools of Anthropic', () => {
    const body: JsonObject = {
      model: 'm',
      max_tokens: 10,
      tools: [{ name: 'read', input_schema: { type: 'object' }, strict: true }],
      messages: [
        { role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'f1' } }] },
        {
          role: 'system',
          content: [{ type: 'tool_addition', tool: { type: 'mcp_toolset', name: 'x' } }],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
            { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
            { type: 'server_tool_use', id: 's2', name: 'web_search', input: {} },
            { type: 'text', text: 'So.', citations: [{ type: 'char_location' }] },
          ],
        },
      ],
    }
    for (const target of ['openai-chat', 'openai-responses', 'gemini', 'interactions'] as const)
      assert.deepEqual(handOver('anthropic', body, target).messages, [
        'Details of tools that only anthropic understands were left out: strict, in the tool read.',
        'Content that only anthropic understands was left out: document, server_tool_use (2 times), first in message 0, part 0.',
        'Details of system messages that only anthropic understands were left out: tool_addition, in message 1.',
        'Reasoning of anthropic was left out, because only the model that made it can read it: signed or encrypted, in message 2, part 0.',
        'Details that only anthropic understands were left out: citations, in message 2, part 3.',
      ])
    assert.deepEqual(handOver('anthropic', { ...body, messages: [] }, 'anthropic').messages, [])
  })

  it('a response that only its vendor stores goes to that vendor only', () => {
    const input = [{ type: 'function_call_output', call_id: 'c1', output: 'done' }]
    const body = { model: 'm', previous_response_id: 'resp_1', input }
    const own = handOver('openai-responses', body, 'openai-responses')
    assert.equal(own.body['previous_response_id'], 'resp_1')
    assert.deepEqual(own.messages, [])
    const { body: other, messages } = handOver('openai-responses', body, 'interactions')
    assert.ok(!JSON.stringify(other).includes('resp_1'))
    assert.match(messages.join('\n'), /The earlier turns are stored by openai-responses .*: resp_1\./)
  })

  it('a system message inside the history that becomes a message of the user', () => {
    const messages = [...CHAT.messages, { role: 'system', content: 'Be brief.' }, { role: 'user', content: 'So?' }]
    assert.deepEqual(handOver('openai-chat', { ...CHAT, messages }, 'openai-chat').messages, [
      'openai-chat takes no system messages inside the history here; sent as a message of the user: system message, in message 1.',
    ])
  })
})

describe('small things that a wire keeps of its own requests', () => {
  const encodeAgain = (wire: WireId, body: JsonObject) => {
    const { request, warnings } = wires[wire].readRequest(body)
    return { text: JSON.stringify(wires[wire].encodeRequest(request, wires[wire].profile).body), warnings, request }
  }

  const answer = (more: JsonObject, content: JsonObject[]): JsonObject => ({
    model: 'm',
    max_tokens: 10,
    messages: [
      { role: 'user', content: 'Hi.' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'n', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', ...more, content }] },
    ],
  })

  it('the title of a document in a result of Anthropic, also of a failure', () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'words' }
    const content = [
      { type: 'text', text: 'See.' },
      { type: 'document', title: 'TITLE', source },
    ]
    assert.match(encodeAgain('anthropic', answer({}, content)).text, /TITLE/)
    assert.match(encodeAgain('anthropic', answer({ is_error: true }, content)).text, /TITLE/)
  })

  it('a reference to a tool that is not declared', () => {
    const reference = { type: 'tool_reference', tool_name: 'nowhere' }
    assert.match(encodeAgain('anthropic', answer({}, [reference])).text, /"tool_name":"nowhere"/)
    assert.match(handOver('anthropic', answer({}, [reference]), 'openai-chat').messages.join(), /tool_reference/)
    const failed = encodeAgain('anthropic', answer({ is_error: true }, [reference]))
    assert.match(failed.warnings.map(({ message }) => message).join(), /nowhere/)
  })

  it('a schema that is not an object is warned of', () => {
    const { warnings } = encodeAgain('openai-chat', {
      ...CHAT,
      tools: [{ type: 'function', function: { name: 'a', parameters: 'p' } }],
    })
    assert.deepEqual(warnings, [
      {
        code: 'wrong-type',
        message: 'tools.0.function.parameters is not of the type object, and may be left out: "p"',
      },
    ])
  })

  it('a response of Gemini that is not an object is its output', () => {
    const contents = [
      { role: 'model', parts: [{ functionCall: { name: 'a', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'a', response: 'just text' } }] },
    ]
    const { text, warnings } = encodeAgain('gemini', { contents })
    assert.match(text, /\{"output":"just text"\}/)
    assert.equal(warnings.length, 1)
  })
})

/** Does the value have these fields, at any depth? */
function contains(value: unknown, expected: unknown): boolean {
  if (typeof expected !== 'object' || expected === null) return value === expected
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(expected).every(([key, inner]) => contains((value as JsonObject)[key], inner))
}
