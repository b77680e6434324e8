import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import type { WireId } from '../../src/model/turn.ts'
import { findRequestError } from '../../src/rehearsal/request-checks/check-request.ts'
import { findSignatureError } from '../../src/rehearsal/request-checks/check-signatures.ts'
import { signContent } from '../../src/rehearsal/response/signatures.ts'

/** What a vendor refuses: a body, and the words of the refusal; null where it is accepted. */
type Refused = [what: string, body: JsonObject, says: RegExp | null]

const user = { role: 'user', content: 'Go.' }

const chatCall = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
})
const chatResult = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'x' })
const OPEN = { type: 'object', properties: { list: { type: 'array', items: { type: 'object', properties: {} } } } }
const CLOSED = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
const chatFormat = (schema: JsonObject, name = 'a') => ({
  type: 'json_schema',
  json_schema: { name, schema, strict: true },
})
const chat = (...messages: JsonObject[]): JsonObject => ({ model: 'm', messages })

const CHAT: Refused[] = [
  ['a whole exchange', chat(user, chatCall('a', 'b'), chatResult('b'), chatResult('a'), user), null],
  ['no messages', chat(), /empty array/],
  ['an unknown role', chat({ role: 'bot', content: 'x' }), /'bot'/],
  [
    'a call without a result',
    chat(user, chatCall('a', 'b'), chatResult('a'), user),
    /did not have response messages: b/,
  ],
  ['a result without a call', chat(user, chatResult('a')), /must be a response to a preceeding message/],
  ['a result that comes late', chat(user, chatCall('a'), user, chatResult('a')), /did not have response messages: a/],
  ['two results for one call', chat(user, chatCall('a'), chatResult('a'), chatResult('a')), /more than one response/],
  ['two calls with one id', chat(user, chatCall('a', 'a'), chatResult('a')), /Duplicate value/],
  ['an empty id', chat(user, chatCall(''), chatResult('')), /length between 1 and 40/],
  ['an answer that says nothing', chat(user, { role: 'assistant', content: null }), /expected a string, got null/],
  ['a response format', { ...chat(user), response_format: chatFormat(CLOSED) }, null],
  ['a strict one that is open', { ...chat(user), response_format: chatFormat(OPEN) }, /additionalProperties/],
  ['one with an illegal name', { ...chat(user), response_format: chatFormat(CLOSED, 'a b') }, /response_format\.name/],
  ['JSON mode without the word', { ...chat(user), response_format: { type: 'json_object' } }, /the word 'json'/],
  ['tools that are none', { ...chat(user), tools: [] }, /too short - 'tools'/],
  ['a choice without tools', { ...chat(user), tool_choice: 'auto' }, /only allowed when 'tools'/],
  [
    'arguments that are no JSON',
    chat(
      user,
      { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{' } }] },
      chatResult('a'),
    ),
    /not a JSON object/,
  ],
]

const item = (call: string) => ({ type: 'function_call', call_id: call, name: 'f', arguments: '{}' })
const output = (call: string) => ({ type: 'function_call_output', call_id: call, output: 'x' })
const thought = { type: 'reasoning', id: 'rs_1', summary: [] }
const responses = (...input: JsonObject[]): JsonObject => ({ model: 'm', input })

const RESPONSES: Refused[] = [
  ['a whole exchange', responses(user, thought, item('a'), item('b'), output('a'), output('b')), null],
  ['nothing', responses(), /empty array/],
  [
    'a response format that is not strict',
    { ...responses(user), text: { format: { type: 'json_schema', name: 'a', schema: OPEN, strict: false } } },
    null,
  ],
  ['one without a schema', { ...responses(user), text: { format: { type: 'json_schema', name: 'a' } } }, /JSON Schema/],
  ['a call without a result', responses(user, item('a')), /No tool output found for function call a\./],
  [
    'a result without a call',
    responses(user, output('a')),
    /No tool call found for function call output with call_id a\./,
  ],
  ['a result before its call', responses(user, output('a'), item('a')), /No tool call found/],
  ['a result for a call that the vendor keeps', { ...responses(output('a')), previous_response_id: 'resp_1' }, null],
  ['a call twice', responses(user, item('a'), item('a'), output('a')), /Duplicate item/],
  ['a thought that led to nothing', responses(user, thought, user), /without its required following item/],
  [
    'words of the wrong kind',
    responses({ role: 'user', content: [{ type: 'output_text', text: 'x' }] }),
    /'output_text'/,
  ],
]

const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'x' })
const says = (role: string, ...content: JsonObject[]) => ({ role, content })
const claude = (...messages: JsonObject[]): JsonObject => ({
  model: 'm',
  max_tokens: 9,
  messages,
  tools: [{ name: 'f', input_schema: { type: 'object' } }],
})

const ANTHROPIC: Refused[] = [
  ['a response format', { ...claude(user), output_config: { format: { type: 'json_schema', schema: CLOSED } } }, null],
  [
    'one that is open',
    { ...claude(user), output_config: { format: { type: 'json_schema', schema: OPEN } } },
    /additionalProperties/,
  ],
  [
    'one with a keyword that is not enforced',
    {
      ...claude(user),
      output_config: { format: { type: 'json_schema', schema: { type: 'string', minLength: 1 } } },
    },
    /'minLength' is not supported/,
  ],
  [
    'a whole exchange',
    claude(user, says('assistant', use('a'), use('b')), says('user', result('a'), result('b'))),
    null,
  ],
  [
    'results in messages of their own',
    claude(user, says('assistant', use('a'), use('b')), says('user', result('a')), says('user', result('b'))),
    null,
  ],
  ['no limit', { model: 'm', messages: [user] }, /max_tokens: Field required/],
  [
    'the assistant first',
    claude(says('assistant', { type: 'text', text: 'x' })),
    /first message must use the "user" role/,
  ],
  [
    'a call without a result',
    claude(user, says('assistant', use('a')), user),
    /without `tool_result` blocks immediately after: a/,
  ],
  [
    'words before the result',
    claude(user, says('assistant', use('a')), says('user', { type: 'text', text: 'x' }, result('a'))),
    /immediately after: a/,
  ],
  ['a result without a call', claude(says('user', result('a'))), /unexpected `tool_use_id`/],
  ['two results', claude(user, says('assistant', use('a')), says('user', result('a'), result('a'))), /single result/],
  [
    'one id for two calls',
    claude(
      user,
      says('assistant', use('a')),
      says('user', result('a')),
      says('assistant', use('a')),
      says('user', result('a')),
    ),
    /ids must be unique/,
  ],
  ['empty text', claude(says('user', { type: 'text', text: '' })), /must be non-empty/],
  ['an empty message', claude(user, says('assistant'), user), /non-empty content/],
  [
    'an id with a dot',
    claude(user, says('assistant', use('a.b')), says('user', result('a.b'))),
    /String should match pattern/,
  ],
  [
    'calls, but no tools',
    { ...claude(user, says('assistant', use('a')), says('user', result('a'))), tools: [] },
    /must define tools/,
  ],
]

const content = (role: string, ...parts: JsonObject[]) => ({ role, parts })
const words = content('user', { text: 'Go.' })
const fc = (name: string, id?: string) => ({ functionCall: { name, args: {}, ...(id !== undefined && { id }) } })
const fr = (name: string, id?: string) => ({
  functionResponse: { name, response: {}, ...(id !== undefined && { id }) },
})
const gem = (...contents: JsonObject[]): JsonObject => ({ contents })

const GEMINI: Refused[] = [
  ['a whole exchange', gem(words, content('model', fc('f'), fc('g')), content('user', fr('f'), fr('g'))), null],
  ['nothing', gem(), /contents is not specified/],
  [
    'a response schema without its type',
    { ...gem(words), generationConfig: { responseJsonSchema: CLOSED } },
    /only allowed when mime_type/,
  ],
  ['an empty content', gem(content('user')), /must not be empty/],
  ['an unknown role', gem(content('function', { text: 'x' })), /valid role/],
  ['a call first', gem(content('model', fc('f')), content('user', fr('f'))), /immediately after a user turn/],
  [
    'too few results',
    gem(words, content('model', fc('f'), fc('g')), content('user', fr('f'))),
    /number of function response parts is equal/,
  ],
  ['a result without a call', gem(content('user', fr('f'))), /immediately after a function call turn/],
  [
    'the result of another',
    gem(words, content('model', fc('f')), content('user', fr('g'))),
    /names of the function call parts/,
  ],
  [
    'an id of another',
    gem(words, content('model', fc('f', 'a')), content('user', fr('f', 'b'))),
    /belongs to no function call/,
  ],
  ['the model last', gem(words, content('model', { text: 'x' })), /end with a user role/],
  ['two things in one part', gem(content('user', { text: 'x', ...fr('f') })), /oneof field/],
  [
    'a config without tools',
    { ...gem(words), toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
    /without function_declarations/,
  ],
]

const steps = (...input: JsonObject[]): JsonObject => ({ model: 'm', input })
const asked = { type: 'user_input', content: [{ type: 'text', text: 'Go.' }] }
const madeCall = (id: string) => ({ type: 'function_call', id, name: 'f', arguments: {} })
const gaveResult = (id: string) => ({ type: 'function_result', call_id: id, name: 'f', result: 'x' })

const INTERACTIONS: Refused[] = [
  ['a whole exchange', steps(asked, madeCall('a'), madeCall('b'), gaveResult('a'), gaveResult('b')), null],
  ['a text', { model: 'm', input: 'Go.' }, null],
  ['no model', { input: 'Go.' }, /'model'/],
  ['nothing', steps(), /'input'/],
  ['an unknown parameter', { ...steps(asked), tool_choice: 'auto' }, /Unknown parameter 'tool_choice'/],
  ['a call without a result', steps(asked, madeCall('a')), /has no function result/],
  ['words before a result', steps(asked, madeCall('a'), asked, gaveResult('a')), /has no function result/],
  ['a result without a call', steps(asked, gaveResult('a')), /belongs to no function call/],
  [
    'a call twice',
    steps(asked, madeCall('a'), gaveResult('a'), madeCall('a'), gaveResult('a')),
    /Duplicate function call id/,
  ],
  ['arguments as text', steps(asked, { ...madeCall('a'), arguments: '{}' }, gaveResult('a')), /arguments/],
  ['an unsigned thought', steps(asked, { type: 'thought', signature: '' }), /invalid argument/],
  ['an empty step', steps({ type: 'user_input', content: [] }), /must not be empty/],
  ['an unknown content', steps({ type: 'user_input', content: [{ type: 'picture' }] }), /not supported for 'type'/],
  [
    'two tools of one name',
    { ...steps(asked), tools: [1, 2].map(() => ({ type: 'function', name: 'f' })) },
    /Duplicate/,
  ],
  [
    'a schema without its type',
    { ...steps(asked), response_format: { type: 'text', schema: CLOSED } },
    /only allowed with the mime type/,
  ],
]

const TABLES: [WireId, Refused[]][] = [
  ['interactions', INTERACTIONS],
  ['openai-chat', CHAT],
  ['openai-responses', RESPONSES],
  ['anthropic', ANTHROPIC],
  ['gemini', GEMINI],
  ['code-assist', GEMINI.map(([what, body, why]) => [what, { model: 'm', request: body }, why])],
]

for (const [wire, table] of TABLES) {
  describe(`${wire} refuses`, () => {
    for (const [what, body, why] of table) {
      test(what, () => {
        if (why) assert.match(findRequestError(wire, body) ?? 'accepted', why)
        else assert.equal(findRequestError(wire, body), undefined)
      })
    }
  })
}

describe('what the vendor sealed', () => {
  const gemini = (...parts: JsonObject[]) => findSignatureError('gemini', gem(words, content('model', ...parts)))

  test('Gemini wants the signature of the first call, over that very call', () => {
    const signed = { ...fc('f'), thoughtSignature: signContent(['f', {}]) }
    assert.equal(gemini(signed, fc('g')), undefined)
    assert.match(gemini(fc('f')) ?? '', /missing a thought_signature/)
    assert.equal(gemini({ ...signed, functionCall: { name: 'f', args: { a: 1 } } }), 'Thought signature is not valid.')
    assert.equal(gemini({ ...fc('f'), thoughtSignature: 'skip_thought_signature_validator' }), undefined)
  })

  test('Anthropic wants thinking unmodified, and first', () => {
    const block = { type: 'thinking', thinking: 'hm', signature: signContent('hm') }
    const turn = (...blocks: JsonObject[]) =>
      findSignatureError('anthropic', claude(user, says('assistant', ...blocks)))
    assert.equal(turn(block, use('toolu_s_0t_0')), undefined)
    assert.match(turn({ ...block, thinking: 'h' }, use('toolu_s_0t_0')) ?? '', /Invalid `signature`/)
    assert.match(turn(use('toolu_s_0t_0')) ?? '', /Expected `thinking`/)
    assert.equal(turn(use('toolu_s_0_0')), undefined)
  })

  test('chat and Responses want the reasoning of a call', () => {
    const made = chatCall('call_s_2t_0')
    assert.match(findSignatureError('openai-chat', chat(user, made)) ?? '', /must be passed back/)
    assert.equal(findSignatureError('openai-chat', chat(user, { ...made, reasoning_content: 'hm' })), undefined)
    const sealed = { ...thought, summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: signContent('hm') }
    const called = item('call_s_2t_0')
    assert.equal(findSignatureError('openai-responses', responses(user, sealed, called)), undefined)
    assert.match(
      findSignatureError('openai-responses', responses(user, called)) ?? '',
      /without its required 'reasoning' item/,
    )
    const forged = { ...sealed, encrypted_content: 'x' }
    assert.match(findSignatureError('openai-responses', responses(user, forged, called)) ?? '', /could not be verified/)
  })
})
