import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { handOverRequest } from '../../src/wire/hand-over/hand-over-request.ts'
import { wires } from '../support/cases.ts'
import { WIRES } from '../support/seals.ts'
import { listUnknownMembers, traceUnknownMember } from '../support/unknown-members.ts'

const chat = wires['openai-chat']
const USE = { tool_use_id: 't1', name: 'read', input: { path: 'a' } }

const BODY: JsonObject = {
  model: 'm',
  messages: [
    { role: 'user', content: 'Read a.' },
    {
      role: 'assistant',
      content_list: [
        { type: 'text', text: 'I read.' },
        { type: 'tool_use', tool_use: USE },
      ],
    },
    {
      role: 'user',
      content_list: [
        {
          type: 'tool_results',
          tool_results: { tool_use_id: 't1', name: 'read', content: [{ type: 'text', text: 'A is here.' }] },
        },
      ],
    },
  ],
}

describe('T202 messages of a request whose content is a content list', () => {
  it('texts, calls and results are read', () => {
    const { request, warnings } = chat.readRequest(BODY)
    assert.deepEqual(warnings, [])
    assert.deepEqual(
      request.turns.map(({ role }) => role),
      ['user', 'assistant', 'results'],
    )
    const text = JSON.stringify(chat.encodeRequest(request, chat.profile).body)
    for (const known of ['I read.', '{\\"path\\":\\"a\\"}', 'A is here.']) assert.ok(text.includes(known), text)
    assert.ok(!text.includes('content_list'), text)
  })

  for (const target of WIRES)
    it(`they are handed over to ${target}`, () => {
      const { request } = chat.readRequest(BODY)
      const { body, warnings } = handOverRequest(request, wires[target], wires[target].profile)
      const again = wires[target].readRequest(body).request.turns
      const parts = again.flatMap((turn): readonly Part[] => (turn.role === "note" ? [] : turn.parts))
      const call = parts.find((part) => part.kind === 'call')
      const result = parts.find((part) => part.kind === 'result')
      assert.deepEqual([call?.name, call?.input], ['read', { path: 'a' }])
      assert.ok(JSON.stringify(result).includes('A is here.'))
      assert.deepEqual(warnings, [])
    })

  it('a list that repeats the other fields does not count again', () => {
    const calls = [{ id: 't1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } }]
    const list = [
      { type: 'text', text: 'I read.' },
      { type: 'tool_use', tool_use: USE },
    ]
    const message = { role: 'assistant', content: 'I read.', content_list: list, tool_calls: calls }
    const { request, warnings } = chat.readRequest({ model: 'm', messages: [message] })
    assert.deepEqual(warnings, [])
    const [turn] = request.turns
    assert.deepEqual(turn?.role === 'assistant' && turn.parts.map(({ kind }) => kind), ['text', 'call'])
  })

  it('a text that is not that of the message is named', () => {
    const list = [{ type: 'text', text: 'ANOTHER' }]
    const message = { role: 'assistant', content: 'I read.', content_list: list }
    const { warnings } = chat.readRequest({ model: 'm', messages: [message] })
    assert.match(warnings.map(({ message: text }) => text).join(), /ANOTHER/)
  })

  it('what is not known of its entries is kept, or named', () => {
    const members = listUnknownMembers(BODY, { opaque: ['input'] })
    const dropped = members.filter((member) => traceUnknownMember(chat, member) === 'dropped')
    assert.deepEqual(
      dropped.map(({ path }) => path),
      [],
    )
  })
})
