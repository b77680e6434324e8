import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { formatResultText } from '../../src/model/text.ts'
import type { ModelRequest, WireId } from '../../src/index.ts'
import { wires } from '../support/cases.ts'

/** A message of a history: the calls of a response as name and argument, results as name and text, or a user message. */
type Message = { readonly calls: readonly string[] } | { readonly results: readonly string[] } | 'user'

const asContents = (messages: readonly Message[]): JsonObject => ({
  contents: messages.map((message) => {
    if (message === 'user') return { role: 'user', parts: [{ text: 'Go on.' }] }
    if ('calls' in message)
      return { role: 'model', parts: message.calls.map((name) => ({ functionCall: { name, args: {} } })) }
    const parts = message.results.map((text) => {
      const [name = '', output = ''] = text.split('=')
      return { functionResponse: { name, response: { output } } }
    })
    return { role: 'user', parts }
  }),
})

const asMessages = (messages: readonly Message[]): JsonObject => ({
  model: 'm',
  messages: messages.flatMap((message): JsonObject[] => {
    if (message === 'user') return [{ role: 'user', content: 'Go on.' }]
    if ('calls' in message) {
      const calls = message.calls.map((name) => ({ type: 'function', function: { name, arguments: '{}' } }))
      return [{ role: 'assistant', content: null, tool_calls: calls }]
    }
    return message.results.map((text) => {
      const [name = '', content = ''] = text.split('=')
      return { role: 'tool', name, content }
    })
  }),
})

const WRITERS: Partial<Record<WireId, (messages: readonly Message[]) => JsonObject>> = {
  gemini: asContents,
  'code-assist': (messages) => ({ model: 'm', request: asContents(messages) }),
  'openai-chat': asMessages,
}

/** The text of the result of each call, in the order of the calls. */
function pair({ turns }: ModelRequest): (string | undefined)[] {
  const results = turns.flatMap((turn) => (turn.role === 'results' ? turn.parts : []))
  const calls = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
  return calls.map((call) => {
    const found = results.find(({ id }) => call.kind === 'call' && id === call.id)
    return found && formatResultText(found)
  })
}

const CASES: readonly [string, readonly Message[], readonly (string | undefined)[]][] = [
  ['after two responses', [{ calls: ['a'] }, { calls: ['b'] }, { results: ['b=2', 'a=1'] }], ['1', '2']],
  [
    'of the same tool, after two responses',
    [{ calls: ['a'] }, { calls: ['a'] }, { results: ['a=1', 'a=2'] }],
    ['1', '2'],
  ],
  [
    'after three responses, in two messages',
    [
      { calls: ['a'] },
      { calls: ['b', 'a'] },
      { calls: ['c'] },
      { results: ['c=4', 'a=1'] },
      { results: ['a=3', 'b=2'] },
    ],
    ['1', '2', '3', '4'],
  ],
  [
    'one for two calls: it belongs to the last response',
    [{ calls: ['a'] }, 'user', { calls: ['a'] }, { results: ['a=2'] }, 'user'],
    [undefined, '2'],
  ],
  [
    'that come when the next response has its own',
    [{ calls: ['a', 'b'] }, { results: ['b=2'] }, 'user', { calls: ['b'] }, { results: ['b=3', 'a=1'] }],
    ['1', '2', '3'],
  ],
  ['of parallel calls of one tool', [{ calls: ['a', 'a'] }, { results: ['a=1', 'a=2'] }], ['1', '2']],
]

describe('T201 results without ids belong to their calls', () => {
  for (const [wire, write] of Object.entries(WRITERS) as [WireId, (messages: readonly Message[]) => JsonObject][])
    for (const [name, messages, expected] of CASES)
      it(`${wire}: ${name}`, () => {
        const { request } = wires[wire].readRequest(write(['user', ...messages]))
        assert.deepEqual(pair(request), expected)
        const { warnings } = wires.anthropic.encodeRequest(request, wires.anthropic.profile)
        const unanswered = expected.filter((text) => text === undefined).map(() => 'unanswered-call')
        assert.deepEqual(
          warnings.map(({ code }) => code),
          unanswered,
        )
      })

  it('openai-chat: without a name too, in the order of the calls', () => {
    const body = asMessages(['user', { calls: ['a'] }, { calls: ['b'] }, { results: ['=1', '=2'] }])
    assert.deepEqual(pair(wires['openai-chat'].readRequest(body).request), ['1', '2'])
  })

  it('openai-chat: an id that no call has is not that of another call', () => {
    const body = asMessages(['user', { calls: ['a'] }, { results: ['a=1'] }])
    const [question, call, result] = body['messages'] as JsonObject[]
    const messages = [question, call, { ...result, tool_call_id: 'unknown' }] as JsonObject[]
    assert.deepEqual(pair(wires['openai-chat'].readRequest({ ...body, messages }).request), [undefined])
  })
})
