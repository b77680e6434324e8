import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import type { WireId } from '../../src/model/turn.ts'
import { findRequestError } from '../../src/rehearsal/request-checks/check-request.ts'
import { handOverRequest } from '../../src/wire/hand-over/hand-over-request.ts'
import { wires } from '../support/cases.ts'
import { listExchanges } from '../support/hand-over.ts'
import { WIRES } from '../support/seals.ts'

type Id = string | undefined

/** Two calls under ids that somebody else wrote into a history, and their results. */
const HISTORIES: Readonly<Record<WireId, (ids: readonly Id[]) => JsonObject>> = {
  'openai-chat': (ids) => ({
    model: 'm',
    messages: [
      { role: 'user', content: 'Start.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: ids.map((id) => ({
          ...withId('id', id),
          type: 'function',
          function: { name: 'n', arguments: '{}' },
        })),
      },
      ...ids.map((id, at) => ({ role: 'tool', ...withId('tool_call_id', id), content: `result ${at}` })),
    ],
    tools: [{ type: 'function', function: { name: 'n', parameters: { type: 'object' } } }],
  }),
  'openai-responses': (ids) => ({
    model: 'm',
    input: [
      { role: 'user', content: 'Start.' },
      ...ids.map((id) => ({ type: 'function_call', ...withId('call_id', id), name: 'n', arguments: '{}' })),
      ...ids.map((id, at) => ({ type: 'function_call_output', ...withId('call_id', id), output: `result ${at}` })),
    ],
    tools: [{ type: 'function', name: 'n', parameters: { type: 'object' } }],
  }),
  anthropic: (ids) => ({
    model: 'm',
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'Start.' },
      {
        role: 'assistant',
        content: ids.map((id) => ({ type: 'tool_use', ...withId('id', id), name: 'n', input: {} })),
      },
      {
        role: 'user',
        content: ids.map((id, at) => ({ type: 'tool_result', ...withId('tool_use_id', id), content: `result ${at}` })),
      },
    ],
    tools: [{ name: 'n', input_schema: { type: 'object' } }],
  }),
  gemini: createGeminiHistory,
  'code-assist': (ids) => ({ model: 'm', project: 'p', request: createGeminiHistory(ids) }),
  interactions: (ids) => ({
    model: 'm',
    input: [
      { type: 'user_input', content: [{ type: 'text', text: 'Start.' }] },
      ...ids.map((id) => ({ type: 'function_call', ...withId('id', id), name: 'n', arguments: {} })),
      ...ids.map((id, at) => ({
        type: 'function_result',
        ...withId('call_id', id),
        name: 'n',
        result: `result ${at}`,
      })),
    ],
    tools: [{ type: 'function', name: 'n', parameters: { type: 'object' } }],
  }),
}

function createGeminiHistory(ids: readonly Id[]): JsonObject {
  return {
    contents: [
      { role: 'user', parts: [{ text: 'Start.' }] },
      { role: 'model', parts: ids.map((id) => ({ functionCall: { ...withId('id', id), name: 'n', args: {} } })) },
      {
        role: 'user',
        parts: ids.map((id, at) => ({
          functionResponse: { ...withId('id', id), name: 'n', response: { output: `result ${at}` } },
        })),
      },
    ],
    tools: [{ functionDeclarations: [{ name: 'n', parametersJsonSchema: { type: 'object' } }] }],
  }
}

function withId(field: string, id: Id): JsonObject {
  return id === undefined ? {} : { [field]: id }
}

const IDS: Readonly<Record<string, readonly Id[]>> = {
  'no ids': [undefined, undefined],
  'empty ids': ['', ''],
  'one empty id': ['a', ''],
  'the same id twice': ['a', 'a'],
  'long ids': [`${'x'.repeat(90)}1`, `${'x'.repeat(90)}2`],
  'ids with spaces and signs': ['a b', 'ü/€|\n'],
  'ids with lone surrogates': ['\ud800a', 'b\udc00'],
  'names of properties': ['__proto__', 'constructor'],
}

describe('a history with ids that its own API rejects is sent under others', () => {
  for (const [label, ids] of Object.entries(IDS))
    for (const from of WIRES)
      it(`${label}, from ${from} to all`, () => {
        const { request } = wires[from].readRequest(HISTORIES[from](ids))
        for (const to of WIRES) {
          const { body } = handOverRequest({ ...request, model: 'm' }, wires[to], wires[to].profile)
          const text = JSON.stringify(body)
          assert.equal(findRequestError(to, JSON.parse(text) as JsonObject), undefined, text)
          assert.doesNotMatch(text, /\\ud[89a-f]/i)
          const exchanges = listExchanges(wires[to].readRequest(JSON.parse(text) as JsonObject).request)
          const results = exchanges.map(({ result }) => /result \d/.exec(JSON.stringify(result))?.[0])
          assert.deepEqual(results, ['result 0', 'result 1'], `${to}: ${text}`)
        }
      })

  it('other servers of an API get the ids that they assigned', () => {
    const { request } = wires['openai-chat'].readRequest(
      HISTORIES['openai-chat'](['chatcmpl-tool-'.padEnd(46, 'f'), 'b']),
    )
    const signer = 'some-server'
    const turns = request.turns.map((turn) =>
      turn.role === 'assistant'
        ? {
            ...turn,
            parts: turn.parts.map((part) => (part.native ? { ...part, native: { ...part.native, signer } } : part)),
          }
        : turn,
    )
    const profile = { ...wires['openai-chat'].profile, signer }
    const { body } = wires['openai-chat'].encodeRequest({ ...request, turns }, profile)
    assert.match(JSON.stringify(body), /"id":"chatcmpl-tool-f+"/)
  })
})
