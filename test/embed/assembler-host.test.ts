import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { nativeToolCallAssembler, toApiHistory, toToolUse } from '../../src/embed/index.ts'
import { assemble, calls, piece, ran } from './assemble.ts'

const A = ['read_file', { a: 1 }]

describe('nativeToolCallAssembler rejects what must not run', () => {
  const whole = [calls(piece(0, 'x', 'read_file', '{"a":1}'))]

  test('a stream without an end', () => {
    for (const finish of [null, '']) {
      const { calls: may, rejected, finish: how } = assemble(whole, finish)
      assert.deepEqual(
        [may.length, rejected.map(({ id, name }) => [id, name]), how.reason],
        [0, [['x', 'read_file']], 'fault'],
      )
    }
  })

  test('an answer that was cut, honestly or not', () => {
    const cut = [calls(piece(0, 'x', 'write_file', '{"a":"rm -rf /srv/app/tmp/bu'))]
    for (const finish of ['length', 'stop', 'tool_calls']) {
      const { calls: may, rejected, finish: how } = assemble(cut, finish)
      assert.deepEqual([may.length, rejected.length, how.reason], [0, 1, 'length'], finish)
      assert.equal(rejected[0]?.arguments, '{"a":"rm -rf /srv/app/tmp/bu')
    }
    assert.equal(assemble(whole, 'length').calls.length, 0)
  })

  test('a filter, an error, an unknown word', () => {
    for (const finish of ['content_filter', 'error', 'whatever'])
      assert.equal(assemble(whole, finish).calls.length, 0, finish)
  })

  test('arguments that are no object', () => {
    for (const args of ['[1,2]', '3', 'hello'])
      assert.equal(assemble([calls(piece(0, 'x', 'read_file', args))]).calls.length, 0)
  })
})

describe('nativeToolCallAssembler and its host', () => {
  test('a call that was written as text is found, and the text is clean', () => {
    const text = 'I look.\n<tool_call>\n{"name": "read_file", "arguments": {"a": 1}}\n</tool_call>'
    const { calls: assembled, text: left } = assemble(
      text.split('').map((content) => ({ content })),
      'stop',
    )
    assert.deepEqual(
      assembled.map(({ function: called, input }) => [called.name, input]),
      [A],
    )
    assert.equal(left.trim(), 'I look.')
  })

  test('arguments are strict JSON, and as they came where they were that', () => {
    const args = (text: string) => assemble([calls(piece(0, 'x', 'read_file', text))]).calls[0]?.function.arguments
    assert.equal(args('{ "a" : 1 }'), '{ "a" : 1 }')
    assert.equal(args("{'a': True}"), '{"a":true}')
  })

  test('one id from the stream to the history', () => {
    const { blocks } = toToolUse(assemble([calls(piece(0, 'call_9', 'read_file', '{"a":1}'))]).calls)
    assert.deepEqual(toApiHistory(blocks), [{ type: 'tool_use', id: 'call_9', name: 'read_file', input: { a: 1 } }])
  })

  test('it ends once, and a delta after the end is told of', () => {
    const warnings: string[] = []
    const assembler = nativeToolCallAssembler({ onWarning: ({ code }) => warnings.push(code) })
    assembler.push(undefined)
    assembler.push(null)
    const first = assembler.end('stop')
    assembler.push({ content: 'late' })
    assert.equal(assembler.end('length'), first)
    assert.deepEqual(warnings, ['after-end'])
  })

  test('entities are decoded where the endpoint writes them', () => {
    const deltas = [calls(piece(0, 'x', 'read_file', '{"a":"x &amp;&amp; y"}'))]
    assert.deepEqual(ran(deltas, 'tool_calls', { entities: true }), [['read_file', { a: 'x && y' }]])
    assert.deepEqual(ran(deltas), [['read_file', { a: 'x &amp;&amp; y' }]])
  })
})
