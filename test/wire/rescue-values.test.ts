import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TextCall } from '../../src/wire/text-calls/text-call-parser.ts'
import { call, codes, LS, watch } from './written.ts'

describe('values', () => {
  const typed = (key: string, value: string): unknown => {
    const text = `<function=read_file><parameter=${key}>${value}</parameter></function>`
    const raw = watch([text]).calls[0]?.raw ?? 'null'
    return (JSON.parse(raw) as Record<string, unknown>)[key]
  }

  test('stay strings unless the schema says otherwise', () => {
    const cases: [key: string, value: string, expected: unknown][] = [
      ['path', '12', '12'],
      ['path', 'null', 'null'],
      ['path', '["a"]', '["a"]'],
      ['unknown', '12', '12'],
      ['free', '12', '12'],
      ['either', '12', '12'],
      ['lines', '12', 12],
      ['lines', '007', 7],
      ['lines', '1.5', '1.5'],
      ['lines', 'many', 'many'],
      ['ratio', '1.5', 1.5],
      ['ratio', '"1.5"', '"1.5"'],
      ['all', 'true', true],
      ['all', 'True', true],
      ['all', 'yes', 'yes'],
      ['tags', ' ["a", "b"] ', ['a', 'b']],
      ['tags', '{"a":1}', '{"a":1}'],
      ['options', '{"depth":2}', { depth: 2 }],
      ['options', 'null', null],
      ['options', 'None', null],
      ['options', "{'depth': 2, 'deep': True}", { depth: 2, deep: true }],
      ['options', "{'depth': 2", "{'depth': 2"],
      ['maybe', 'null', null],
      ['maybe', 'None', 'None'],
      ['maybe', '12', '12'],
      ['textOrList', '["a"]', ['a']],
      ['textOrList', '[a]', '[a]'],
      ['textOrList', '{"a":1}', '{"a":1}'],
      ['python', '1.5', 1.5],
      ['level', '2', 2],
      ['untyped', '{"a":1}', { a: 1 }],
      ['untypedList', '["a"]', ['a']],
    ]
    for (const [key, value, expected] of cases) assert.deepEqual(typed(key, value), expected, `${key}: ${value}`)
  })

  test('lose one line break at each end in Qwen3-Coder, if there are both, and nothing else', () => {
    assert.equal(typed('path', '\n\n  a\n\n'), '\n  a\n')
    assert.equal(typed('path', ' a '), ' a ')
    assert.equal(typed('path', 'a\n'), 'a\n')
    assert.equal(typed('path', '\r\na\r\nb\r\n'), 'a\r\nb')
    assert.equal(typed('path', '\na\r\n'), 'a\r')
    const text = '<invoke name="bash"><parameter name="command">\nls\n</parameter></invoke>'
    assert.deepEqual(watch([text]).calls, [call('bash', { command: '\nls\n' })])
  })

  test('may hold the tags that end them (T50)', () => {
    const value = 'a </parameter> b </function> c </invoke> <tool_call> `d` ```'
    assert.equal(typed('path', value), value)
    const glm = '<tool_call>bash<arg_key>command</arg_key><arg_value>say </arg_value> now</arg_value></tool_call>'
    assert.deepEqual(watch([glm]).calls, [call('bash', { command: 'say </arg_value> now' })])
  })

  test('are not guessed at', () => {
    const doubtful = [
      '<function=read_file><parameter=path>a<parameter=lines>1</parameter></function>',
      '<function=read_file><parameter=path>a</parameter><parameter=path>b</parameter></function>',
      '<function=read_file><parameter=path>a</parameter>',
      '<function=read_file><parameter=path>a</function>',
      '<tool_call>read_file<arg_key>path</arg_key><arg_value>a<arg_key>lines</arg_key><arg_value>1</tool_call>',
    ]
    for (const text of doubtful) {
      assert.deepEqual([watch([text]).text, watch([text]).calls], [text, []])
      assert.deepEqual(codes(watch([text])), ['unread-call'])
    }
  })

  test('DSML says itself what is a string, unless the schema has no string there', () => {
    const text =
      '<|DSML|invoke name="read_file"><|DSML|parameter name="lines" string="true">1</|DSML|parameter>' +
      '<|DSML|parameter name="tags" string="false">["a"]</|DSML|parameter>' +
      '<|DSML|parameter name="free" string="false">[1]</|DSML|parameter>' +
      '<|DSML|parameter name="path" string="false">a.ts</|DSML|parameter></|DSML|invoke>'
    assert.deepEqual(watch([text]).calls, [call('read_file', { lines: 1, tags: ['a'], free: [1], path: 'a.ts' })])
  })

  test('keep every digit, and keys that mean something elsewhere', () => {
    const long = '12345678901234567890'
    const tags = `<function=read_file><parameter=lines>${long}</parameter><parameter=__proto__>x</parameter></function>`
    assert.equal(watch([tags]).calls[0]?.raw, `{"lines":${long},"__proto__":"x"}`)
    const json = `<tool_call>{"name":"read_file","arguments":{ "lines": ${long} }}</tool_call>`
    assert.equal(watch([json]).calls[0]?.raw, `{ "lines": ${long} }`)
  })

  test('JSON arguments stand as they were written, good or bad, if they are closed', () => {
    const raws = ['{"command":"a\nb"}', '{"command": "C:\\dir"}', '"{\\"command\\":\\"ls\\"}"', '{command: 1,}', 'null']
    for (const raw of raws) {
      assert.deepEqual(watch([`<tool_call>{"name":"bash","arguments":${raw}}</tool_call>`]).calls, [
        { name: 'bash', raw },
      ])
    }
    assert.deepEqual(watch(['[TOOL_CALLS]bash{"command":"a\nb"}']).calls, [{ name: 'bash', raw: '{"command":"a\nb"}' }])
    assert.deepEqual(watch(['<tool_call>{"name":"bash","arguments":{"command":"ls"}']).calls, [])
  })

  test('names may carry the name of a namespace, and nothing else', () => {
    const named = (name: string): readonly TextCall[] =>
      watch([`<tool_call>{"name":"${name}","arguments":{"command":"ls"}}</tool_call>`]).calls
    for (const name of ['functions.bash', 'default_api.bash']) assert.deepEqual(named(name), [LS])
    for (const name of ['Bash', 'bash ', 'bas', 'tools.bash', '']) assert.deepEqual(named(name), [])
  })
})
