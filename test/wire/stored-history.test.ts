import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { filterObjects, type JsonObject, stringOrEmpty } from '../../src/model/json.ts'
import type { ModelRequest } from '../../src/model/request.ts'
import type { AssistantTurn, Turn } from '../../src/model/turn.ts'
import { wires } from '../support/cases.ts'

const says = (...ids: string[]): AssistantTurn => ({
  role: 'assistant',
  origin: { provider: 'x', wire: 'openai-responses', model: 'm' },
  parts: ids.map((id) => ({ kind: 'call', id, name: 'read', raw: '{}', input: {} })),
  finish: { reason: 'calls' },
})
const answers = (...ids: string[]): Turn => ({
  role: 'results',
  parts: ids.map((id) => ({
    kind: 'result',
    id,
    name: 'read',
    status: 'ok',
    content: [{ kind: 'text', text: `of ${id}` }],
  })),
})
const user: Turn = { role: 'user', parts: [{ kind: 'text', text: 'Go.' }] }

const WIRES = ['openai-responses', 'interactions'] as const

/** The items of a request whose earlier turns the vendor stores, in a few words each. */
function encode(wire: (typeof WIRES)[number], turns: readonly Turn[]) {
  const request: ModelRequest = { model: 'm', tools: [], turns, previous: { wire, id: 'r1' } }
  const { body, warnings } = wires[wire].encodeRequest(request, { ...wires[wire].profile, signatures: 'optional' })
  const items = filterObjects(body['input']).map((item) => describeItem(item as JsonObject))
  return { items, warnings: warnings.map(({ code }) => code) }
}

function describeItem(item: JsonObject): string {
  const text = JSON.stringify(item)
  const id = stringOrEmpty(item['call_id'] ?? item['id'])
  if (item['type'] === 'function_call') return `call ${id}`
  if (/_(?:output|result)$/.test(stringOrEmpty(item['type'])) && id !== '')
    return `result ${id}${text.includes(`of ${id}`) ? '' : ' (other)'}`
  return text.includes('(continue)') ? 'filler' : 'message'
}

describe('T139 results of stored calls beside those of the calls in the request', () => {
  const rows: readonly (readonly [string, readonly Turn[], readonly string[]])[] = [
    ['in one turn', [says('a'), answers('s', 'a')], ['call a', 'result a', 'result s']],
    ['before the others', [says('a'), answers('s'), answers('a')], ['call a', 'result a', 'result s']],
    [
      'before a message and the others',
      [says('a'), answers('s'), user, answers('a')],
      ['call a', 'result a', 'message', 'result s'],
    ],
    [
      'twice, with the others in between',
      [says('a', 'b'), answers('s', 'a'), answers('t', 'b')],
      ['call a', 'call b', 'result a', 'result b', 'result s', 'result t'],
    ],
    ['before all calls', [answers('s'), says('a'), answers('a')], ['result s', 'call a', 'result a']],
    [
      'with an id that a later call has too',
      [answers('a'), says('a'), answers('a')],
      ['result a', 'call a', 'result a'],
    ],
    ['alone', [answers('s', 't')], ['result s', 'result t']],
    ['before a message', [answers('s'), user], ['result s', 'message']],
  ]
  for (const wire of WIRES)
    for (const [name, turns, expected] of rows)
      it(`${wire}: ${name}`, () => assert.deepEqual(encode(wire, turns), { items: expected, warnings: [] }))

  for (const wire of WIRES)
    it(`${wire}: a call that has no result is told, and the others keep theirs`, () => {
      const { items, warnings } = encode(wire, [says('a', 'b'), answers('s'), answers('a')])
      assert.deepEqual(items, ['call a', 'call b', 'result a', 'result b (other)', 'result s'])
      assert.deepEqual(warnings, ['unanswered-call'])
    })
})
