import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { nativeToolCallAssembler } from '../../src/embed/index.ts'
import { assemble, calls, KEY, piece, ran, TOOLS } from './assemble.ts'

const A = ['read_file', { a: 1 }]
const B = ['write_file', { b: 2 }]

const BOTH: Record<string, unknown[]> = {
  'T01 no index': [
    calls(piece(undefined, 'x', 'read_file', '{"a":1}')),
    calls(piece(null, 'y', 'write_file', '{"b":2}')),
  ],
  'T02 every index 0, ids differ': [
    calls(piece(0, 'x', 'read_file', '{"a":1}')),
    calls(piece(0, 'y', 'write_file', '{"b":2}')),
  ],
  'T03 every index 0, no id': [
    calls(piece(0, '', 'read_file', '{"a":1}')),
    calls(piece(0, '', 'write_file', '{"b":2}')),
  ],
  'T04 index from 1, sparse': [
    calls(piece(1, 'x', 'read_file', '{"a":1}')),
    calls(piece(7, 'y', 'write_file', '{"b":2}')),
  ],
  'T05 interleaved': [
    calls(piece(0, 'x', 'read_file', ''), piece(1, 'y', 'write_file', '')),
    calls(piece(0, undefined, undefined, '{"a"')),
    calls(piece(1, undefined, undefined, '{"b"')),
    calls(piece(0, undefined, undefined, ':1}')),
    calls(piece(1, undefined, undefined, ':2}')),
  ],
  'T07 empty id and name on continuations': [
    calls(piece(0, 'x', 'read_file', '')),
    calls(piece(0, '', '', '{"a":1}')),
    calls(piece(1, 'y', 'write_file', '')),
    calls(piece(1, '', '', '{"b":2}')),
  ],
  'T10 one id for two calls': [calls(piece(0, 'x', 'read_file', '{"a":1}'), piece(1, 'x', 'write_file', '{"b":2}'))],
  'T12 the name in every delta': [
    calls(piece(0, 'x', 'read_file', '{"a"')),
    calls(piece(0, 'x', 'read_file', ':1}')),
    calls(piece(1, 'y', 'write_file', '{"b":2}')),
  ],
  'T15 no type, empty role': [
    {
      role: '',
      tool_calls: [{ index: 0, id: 'x', type: null, function: { name: 'read_file', arguments: '{"a":1}' } }],
    },
    calls({ index: 1, id: 'y', function: { name: 'write_file', arguments: '{"b":2}' } }),
  ],
  'T16 arguments as objects': [calls(piece(0, 'x', 'read_file', { a: 1 }), piece(1, 'y', 'write_file', { b: 2 }))],
  'T20 cumulative arguments': [
    calls(piece(0, 'x', 'read_file', '{"a"')),
    calls(piece(0, 'x', undefined, '{"a":')),
    calls(piece(0, 'x', undefined, '{"a":1}')),
    calls(piece(1, 'y', 'write_file', '{"b":2}')),
  ],
  'T21 the whole again at the end': [
    calls(piece(0, 'x', 'read_file', '{"a":')),
    calls(piece(0, undefined, undefined, '1}')),
    calls(piece(1, 'y', 'write_file', '{"b":2}')),
    calls(piece(0, 'x', 'read_file', '{"a":1}'), piece(1, 'y', 'write_file', '{"b":2}')),
  ],
  'T24 text among the pieces': [
    { content: 'Let me', ...calls(piece(0, 'x', 'read_file', '{"a"')) },
    { content: ' see.' },
    calls(piece(0, undefined, undefined, ':1}')),
    calls(piece(1, 'y', 'write_file', '{"b":2}')),
    { content: ' Done.' },
  ],
  'T28 phantom slots': [
    calls(piece(0, 'x', 'read_file', '{"a":1}'), piece(1, 'y', 'write_file', '{"b":2}')),
    calls({ index: 2, function: {} }),
    calls(),
  ],
}

describe('nativeToolCallAssembler puts calls together', () => {
  for (const [name, deltas] of Object.entries(BOTH)) test(name, () => assert.deepEqual(ran(deltas), [A, B]))

  test('T06 no id, or a late one', () => {
    const late = assemble([calls(piece(0, undefined, 'read_file', '{"a"')), calls(piece(0, 'x', undefined, ':1}'))])
    assert.equal(late.calls[0]?.id, 'x')
    const never = assemble([calls(piece(0, undefined, 'now', ''), piece(1, undefined, 'now', '{}'))])
    assert.deepEqual(
      never.calls.map(({ id }) => id),
      [`${KEY}0000`, `${KEY}0001`],
    )
  })

  test('T08 a ghost is no call', () => {
    const {
      calls: whole,
      rejected,
      warnings,
    } = assemble([calls({ id: '', type: 'function' }), calls(piece(0, 'x', 'now', ''))])
    assert.deepEqual([whole.length, rejected.length, warnings], [1, 0, []])
  })

  test('T09 the id changes between pieces', () => {
    const deltas = [
      calls(piece(0, 'x', 'read_file', '{"a"')),
      calls(piece(0, 'y', undefined, ':')),
      calls(piece(0, 'z', undefined, '1}')),
    ]
    assert.deepEqual(ran(deltas), [A])
    assert.equal(assemble(deltas).calls[0]?.id, 'x')
  })

  test('T10 an id that came twice stays with the first', () => {
    const ids = assemble(BOTH['T10 one id for two calls'] ?? []).calls.map(({ id }) => id)
    assert.deepEqual(ids, ['x', `${KEY}0001`])
  })

  test('T11 own ids do not repeat over responses', () => {
    const one = [calls(piece(0, 'functions.now:0', 'now', '{}'))]
    const id = (key?: string) => assemble(one, 'tool_calls', { ids: 'own', ...(key && { key }) }).calls[0]?.id
    assert.notEqual(id('BBBBBBBBBBBBBBBBBBBB'), id('CCCCCCCCCCCCCCCCCCCC'))
    const random = () => nativeToolCallAssembler({ ids: 'own' })
    const ids = [random(), random()].map((assembler) => {
      assembler.push(one[0])
      return assembler.end('tool_calls').calls[0]?.id
    })
    assert.notEqual(ids[0], ids[1])
  })

  test('T13 the name in pieces, or ever longer', () => {
    const split = [calls(piece(0, 'x', 'edit_ex', '')), calls(piece(0, undefined, 'isting_file', '{}'))]
    assert.deepEqual(ran(split), [['edit_existing_file', {}]])
    const longer = [calls(piece(0, 'x', 'read_', '')), calls(piece(0, 'x', 'read_file', '{"a":1}'))]
    assert.deepEqual(ran(longer), [A])
  })

  test('T14 the name after the arguments', () => {
    assert.deepEqual(ran([calls(piece(0, 'x', undefined, '{"a":1}')), calls(piece(0, 'x', 'read_file', ''))]), [A])
  })

  test('T17 no arguments', () => {
    for (const none of [undefined, null, '']) assert.deepEqual(ran([calls(piece(0, 'x', 'now', none))]), [['now', {}]])
  })

  test('T18 a placeholder before the arguments', () => {
    assert.deepEqual(ran([calls(piece(0, 'x', 'read_file', '{}')), calls(piece(0, undefined, undefined, '{"a":1}'))]), [
      A,
    ])
  })

  test('T19 a prefix that parses is not the end', () => {
    const deltas = [calls(piece(0, 'x', 'read_file', '{"a":1')), calls(piece(0, undefined, undefined, '2}'))]
    assert.deepEqual(ran(deltas), [['read_file', { a: 12 }]])
  })

  test('T22 two objects under one call', () => {
    const deltas = [calls(piece(0, 'x', 'read_file', '{"a":1}{"a":2}'))]
    assert.deepEqual(ran(deltas), [A, ['read_file', { a: 2 }]])
    assert.deepEqual(new Set(assemble(deltas).calls.map(({ id }) => id)).size, 2)
  })

  test('T25 a call in another choice', () => {
    const assembler = nativeToolCallAssembler({ tools: TOOLS })
    assembler.push({ content: 'Hm.' }, 0)
    assembler.push(calls(piece(0, 'x', 'read_file', '{"a":1}')), 1)
    assert.deepEqual(
      assembler.end('stop').calls.map(({ input }) => input),
      [{ a: 1 }],
    )
  })

  test('T27 the legacy function_call', () => {
    const deltas = [
      { function_call: { name: 'read_file', arguments: '{"a"' } },
      { function_call: { arguments: ':1}' } },
    ]
    assert.deepEqual(ran(deltas, 'function_call'), [A])
  })

  test('T29 two responses share nothing', () => {
    const [one, two] = [nativeToolCallAssembler(), nativeToolCallAssembler()]
    const push = (to: typeof one, value: ReturnType<typeof calls>) => to.push(value)
    push(one, calls(piece(0, 'x', 'read_file', '{"a"')))
    push(two, calls(piece(0, 'x', 'write_file', '{"b"')))
    push(one, calls(piece(0, undefined, undefined, ':1}')))
    push(two, calls(piece(0, undefined, undefined, ':2}')))
    assert.deepEqual([one.end('stop').calls[0]?.input, two.end('stop').calls[0]?.input], [{ a: 1 }, { b: 2 }])
  })

  test('T30 a call with free text', () => {
    const custom = { index: 0, id: 'x', type: 'custom', custom: { name: 'patch', input: '*** Begin' } }
    const [call] = assemble([calls(custom)]).calls
    assert.deepEqual(
      [call?.type, call?.input, call?.function.arguments],
      ['custom', { input: '*** Begin' }, '{"input":"*** Begin"}'],
    )
  })
})
