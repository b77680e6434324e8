import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { anthropic } from '../../src/wire/anthropic/wire.ts'
import { openaiChat } from '../../src/wire/openai-chat/wire.ts'
import { openaiResponses } from '../../src/wire/openai-responses/wire.ts'
import { attachDetails } from '../../src/wire/plain-conversation/details.ts'
import { fromPlainConversation } from '../../src/wire/plain-conversation/from-plain.ts'
import type { CompleteConversation } from '../../src/wire/plain-conversation/plain-conversation.ts'
import { toPlainConversation } from '../../src/wire/plain-conversation/to-plain.ts'

const TEXT = { type: 'text', text: 'Hello.' }

describe('a conversation that a user wrote', () => {
  const mistakes: readonly (readonly [string, object, RegExp])[] = [
    ['no messages', {}, /^a conversation needs a list of messages$/],
    [
      'details of other messages',
      { messages: [], details: { messages: { 2: { parts: { 0: { native: {} } } } } } },
      /^details has message 2, which is missing; remove details after you edited the messages$/,
    ],
    ['a role', { messages: [{ role: 'robot', parts: [] }] }, /^message 0 has the unknown role "robot"$/],
    ['a part', { messages: [{ role: 'user', parts: [TEXT, { type: 'smell' }] }] }, /^message 0, part 1 .* "smell"/],
    ['a call of the user', { messages: [{ role: 'user', parts: [{ type: 'call' }] }] }, /^message 0, part 0 .* "call"/],
    ['a text of a tool', { messages: [{ role: 'tool', parts: [TEXT] }] }, /^message 0, part 0 .* only results$/],
    [
      'a text',
      { messages: [{ role: 'user', parts: [{ type: 'text', text: 5 }] }] },
      /part 0: text must be a string, not 5$/,
    ],
    [
      'arguments',
      { messages: [{ role: 'assistant', parts: [{ type: 'call', name: 'a', args: [1] }] }] },
      /part 0: args must be an object or a string, not \[1\]$/,
    ],
    ['a setting', { messages: [], params: { maxTokens: 'many' } }, /params: maxTokens must be a number, not "many"$/],
    [
      'an effort',
      { messages: [], params: { effort: 'huge' } },
      /effort must be a number or one of off, .*, not "huge"$/,
    ],
    ['a choice', { messages: [], toolChoice: 'maybe' }, /^toolChoice must be .*, not "maybe"$/],
    ['a tool', { messages: [], tools: [{ schema: {} }] }, /^tool 0 needs a name$/],
    ['a wire', { messages: [], previous: 'r', previousWire: 'x' }, /previousWire must be one of .*, not “x”$/],
    [
      'native data',
      { messages: [{ role: 'user', parts: [{ ...TEXT, native: { wire: 'x' } }] }] },
      /^message 0, part 0, native: wire must be one of/,
    ],
    [
      'a tool of a note',
      { messages: [{ role: 'user', parts: [], note: { addsTools: ['a'] } }] },
      /^message 0, note: the tool a is not among the tools/,
    ],
  ]
  for (const [name, conversation, message] of mistakes)
    it(`${name}: one sentence says what is wrong, and where`, () => {
      assert.throws(() => fromPlainConversation(conversation, { model: 'm' }), { message })
    })

  it('warns of unknown fields, and of items without their data', () => {
    const messages = [{ role: 'assistant', colour: 'red', parts: [{ type: 'item', kind: 'compaction' }] }]
    const { warnings } = fromPlainConversation({ messages, temperature: 1 }, { model: 'm' })
    assert.deepEqual(
      warnings.map(({ message }) => message),
      [
        'message 0, part 0: the item compaction has no native data and was left out',
        'message 0: the unknown field was left out: colour',
        'the conversation: the unknown field was left out: temperature',
      ],
    )
  })
})

describe('a conversation that was read', () => {
  it('has the model, notes, tools of notes, signatures and options', () => {
    const body = {
      model: 'claude-x',
      max_tokens: 100,
      top_k: 5,
      tools: [{ name: 'read', input_schema: { type: 'object' }, strict: true }],
      messages: [
        { role: 'user', content: 'Hi.' },
        {
          role: 'system',
          content: [
            { type: 'text', text: 'Be brief.' },
            { type: 'tool_addition', tool: { type: 'tool_definition', definition: { name: 'new', input_schema: {} } } },
          ],
        },
        { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: 'sig' }, TEXT] },
      ],
    }
    const shown = toPlainConversation(anthropic.readRequest(body).request)
    assert.deepEqual(shown.messages[1], { role: 'user', parts: [{ type: 'text', text: 'Be brief.' }] })
    const plain = attachDetails({ ...shown }) as unknown as CompleteConversation
    assert.equal(plain.model, 'claude-x')
    assert.deepEqual(plain.providerOptions, { anthropic: { top_k: 5 } })
    assert.deepEqual(
      plain.tools?.map(({ name, native }) => [name, native?.data]),
      [
        ['read', { strict: true }],
        ['new', undefined],
      ],
    )
    assert.deepEqual(plain.messages[1], {
      role: 'user',
      parts: [{ type: 'text', text: 'Be brief.' }],
      note: { trusted: true, addsTools: ['new'] },
    })
    assert.deepEqual(plain.messages[2]?.parts[0], {
      type: 'reasoning',
      text: 'Hm.',
      opaque: true,
      native: {
        wire: 'anthropic',
        signer: 'anthropic',
        data: { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
      },
    })
    const { request } = fromPlainConversation(JSON.parse(JSON.stringify(plain)), { model: '' })
    assert.deepEqual(
      request.tools.map(({ name }) => name),
      ['read'],
    )
  })

  it('has the arguments as they were written, and free text', () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{ "path" : "a" }' }
    const patch = { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'free' }
    const { request } = openaiResponses.readRequest({ model: 'm', input: [call, patch] })
    const plain = attachDetails({ ...toPlainConversation(request) }) as unknown as CompleteConversation
    const parts = plain.messages[0]?.parts
    assert.deepEqual(
      parts?.map((part) => part.type === 'call' && [part.args, part.raw, part.freeform]),
      [
        [{ path: 'a' }, '{ "path" : "a" }', undefined],
        [{ input: 'free' }, 'free', true],
      ],
    )
  })

  it('reasoning of a chat goes back in its field', () => {
    const assistant = { role: 'assistant', content: 'Yes.', reasoning_content: 'Hm.' }
    const messages = [{ role: 'user', content: 'Well?' }, assistant, { role: 'user', content: 'Why?' }]
    const { request } = openaiChat.readRequest({ model: 'm', messages })
    const { body } = openaiChat.encodeRequest(request, openaiChat.profile)
    assert.deepEqual((body['messages'] as unknown[])[1], assistant)
  })
})
