import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTextCallParser } from '../../src/wire/text-calls/text-call-parser.ts'
import { assertCpuTime } from '../support/cpu-time.ts'
import { NATURAL, TOOLS } from './written.ts'

/** What a scanner could read again and again: openings, and what may close them at the end. */
const HOSTILE_REPEATS: [name: string, open: string, close?: string][] = [
  ['<', '<'],
  ['[', '['],
  ['names', '{"name":'],
  ['nested functions', '{"function":', '}'],
  ['nested lists', '[', ']'],
  ['markers', '<tool_call>'],
  ['nested markers', '<tool_call>', '</tool_call>'],
  ['quotes', '>'],
  ['headers', 'to=functions.list '],
  ['plain tags that do not close', '<tools>{"id":[', '}'],
  ['plain tags that close', '<tools>{"id":[', ']}'],
  ['Phi-4 lists', 'functools[{"id":[', ']}]'],
  ['thoughts', '</think>{"id":[', ']}'],
  ['calls and words', '<tool_call>list</tool_call>Done.'],
  ['drafts', '<tool_call>list</tool_call></think>'],
  ['parameters', '<function=bash><parameter=command>'],
  ['closing tags', '</parameter>'],
  ['elements', ']<]minimax[>[<a>', ']<]minimax[>[</a>'],
]

describe('the time to find calls in a text', () => {
  test('is linear for a long call in small pieces', () =>
    assertCpuTime(() => {
      const rescue = createTextCallParser(TOOLS)
      rescue.push('<function=bash><parameter=command>\n')
      for (let i = 0; i < 100_000; i++) rescue.push('abc\n')
      rescue.push('</parameter></function>')
      assert.equal(rescue.end(NATURAL).calls[0]?.raw.length, '{"command":""}'.length + 500_000 - 2)
      for (const piece of ['word ', '`', '<', 'a < b\n', ' ', '\n']) {
        const plain = createTextCallParser(TOOLS)
        plain.push('x')
        for (let i = 0; i < 100_000; i++) plain.push(piece)
        assert.deepEqual(plain.end(NATURAL).calls, [])
      }
    }, 10))

  for (const [name, open, close = ''] of HOSTILE_REPEATS)
    test(`is linear for 120,000 characters of ${name}`, () =>
      assertCpuTime(() => {
        const count = Math.floor(120_000 / (open.length + close.length))
        for (const before of ['', 'x ', '`', '<tool_call>list</tool_call>']) {
          const whole = before + open.repeat(count) + close.repeat(count)
          for (const size of [whole.length, 50]) {
            const parser = createTextCallParser(TOOLS)
            for (let at = 0; at < whole.length; at += size) parser.push(whole.slice(at, at + size))
            parser.end(NATURAL)
          }
        }
      }, 10))
})
