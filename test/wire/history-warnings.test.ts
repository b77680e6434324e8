import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { takeHistorySnapshot } from '../../src/model/history-snapshot.ts'
import type { ToolSpec } from '../../src/model/request.ts'
import type { AssistantTurn, CallPart, ResultPart, Turn, WireId } from '../../src/model/turn.ts'
import { createIncrementalBodyWriter } from '../../src/wire/history/incremental-body-writer.ts'
import { wires } from '../support/cases.ts'

const tools: ToolSpec[] = [{ name: 'read', description: 'Reads.', schema: { type: 'object', properties: {} } }]
const user: Turn = { role: 'user', parts: [{ kind: 'text', text: 'Go.' }] }
const call = (id: string, more: Partial<CallPart> = {}): CallPart => ({
  kind: 'call',
  id,
  name: 'read',
  raw: '{}',
  input: {},
  ...more,
})
const says = (...parts: AssistantTurn['parts']): AssistantTurn => ({
  role: 'assistant',
  origin: { provider: 'x', wire: 'openai-chat', model: 'm' },
  parts,
  finish: { reason: 'calls' },
})
/** As wires read them whose results do not name their tool. */
const result = (id: string, text: string, more: Partial<ResultPart> = {}): ResultPart => ({
  kind: 'result',
  id,
  name: '',
  status: 'ok',
  content: [{ kind: 'text', text }],
  ...more,
})
const results = (...parts: ResultPart[]): Turn => ({ role: 'results', parts })
const BROKEN: CallPart = { kind: 'call', id: 'b', name: 'read', raw: '{"path": "a' }
const FLAWED: CallPart = { ...BROKEN, flaw: { code: 'not-json', message: 'The arguments are cut off.' } }
const ids = Object.keys(wires) as WireId[]

const encode = (wire: WireId, turns: readonly Turn[]) =>
  wires[wire].encodeRequest({ model: 'm', tools, turns }, wires[wire].profile)

describe('what a history loses is named', () => {
  for (const wire of ids) {
    const warningsOf = (...turns: Turn[]) =>
      encode(wire, turns).warnings.map(({ code, message }) => `${code}: ${message}`)

    it(`${wire}: T90 the first of two results`, () => {
      const turns = [user, says(call('a')), results(result('a', 'one'), result('a', 'two')), user]
      assert.deepEqual(warningsOf(...turns), [
        'duplicate-result: The call of read has 2 results; only the last is sent (T90).',
      ])
      assert.ok(JSON.stringify(encode(wire, turns).body).includes('two'))
    })

    it(`${wire}: T90 an id that two calls share has a result for each`, () => {
      const turns = [user, says(call('a'), call('a')), results(result('a', 'one'), result('a', 'two')), user]
      assert.deepEqual(warningsOf(...turns), [])
    })

    it(`${wire}: T41 arguments that are sent as an empty object`, () => {
      assert.deepEqual(warningsOf(user, says(BROKEN), results(result('b', 'done')), user), [
        'invalid-arguments: The arguments of read are not a JSON object; {} is sent: "{\\"path\\": \\"a" (T41).',
      ])
    })

    it(`${wire}: T41 not those that their result tells the model of`, () => {
      assert.deepEqual(warningsOf(user, says(FLAWED), results(result('b', 'It was cut off.', { status: 'error' }))), [])
    })

    it(`${wire}: T200 the tool of a call without a result, or the id of a result without a call`, () => {
      assert.deepEqual(warningsOf(results(result('x', 'lost')), user, says(call('a')), results(result('y', 'lost'))), [
        'orphan-result: The result of the call x has no call and was left out (T89).',
        'unanswered-call: The call of read has no result; it is sent as not run (T88).',
        'orphan-result: The result of the call y has no call and was left out (T89).',
      ])
    })

    it(`${wire}: T200 a call without a name, once`, () => {
      const unnamed = call('n', { name: '', raw: '{"a":1}', input: { a: 1 } })
      assert.deepEqual(warningsOf(user, says(call('a'), unnamed), results(result('a', 'ok'), result('n', 'ok'))), [
        'unnamed-call: A call without a name was left out, with its result: "{\\"a\\":1}" (T08).',
      ])
    })

    it(`${wire}: T200 is told with the first request that has it, and not again`, () => {
      const { profile } = wires[wire]
      const write = createIncrementalBodyWriter(wires[wire])
      const history: Turn[] = [
        user,
        says(BROKEN),
        results(result('b', 'one'), result('b', 'two')),
        says(call('a')),
        user,
      ]
      const told: string[][] = []
      for (const id of ['c', 'd', 'e', 'f']) {
        const request = { model: 'm', tools, turns: takeHistorySnapshot(history) }
        told.push(write(request, profile).warnings.map(({ code }) => code))
        history.push(says(call(id)), results(...(id === 'd' ? [] : [result(id, 'ok')])), user)
      }
      assert.deepEqual(told, [
        ['duplicate-result', 'invalid-arguments', 'unanswered-call'],
        [],
        ['unanswered-call'],
        [],
      ])
    })
  }
})
