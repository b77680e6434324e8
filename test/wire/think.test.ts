import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { assertCpuTime } from '../support/cpu-time.ts'
import { createReasoningSplitter } from '../../src/wire/turn/reasoning-splitter.ts'

const SEED = Number(process.env['FC_SEED'] ?? Date.now() % 0x7fffffff)

/** What was said and what was thought, however it came. */
function split(pieces: readonly string[], inside = false): [text: string, reasoning: string] {
  const think = createReasoningSplitter(inside)
  const all = [...pieces.flatMap((piece) => think.push(piece)), ...think.end()]
  assert.ok(all.every(({ text }) => text !== ''))
  const of = (channel: string): string =>
    all.flatMap((piece) => (piece.channel === channel ? [piece.text] : [])).join('')
  return [of('text'), of('reasoning')]
}

const CALL = '<tool_call>\n{"name":"bash","arguments":{"command":"ls"}}\n</tool_call>'

const ANSWERS: [name: string, whole: string, text: string, reasoning: string][] = [
  ['plain text', 'Hello.', 'Hello.', ''],
  ['a thought', '<think>\nHm.\n</think>\n\nHello.', 'Hello.', 'Hm.\n'],
  ['another tag', '<thinking>Hm.</thinking>Hello.', 'Hello.', 'Hm.'],
  ['a tag with a namespace', '<mm:think>Hm.</mm:think>\nHello.', 'Hello.', 'Hm.'],
  ['an empty thought', '<think>\n\n</think>\n\nHello.', 'Hello.', ''],
  ['an unclosed thought (T71)', '<think>Hm. And then', '', 'Hm. And then'],
  ['a thought after white space', '\n <think>Hm.</think>Hello.', '\n Hello.', 'Hm.'],
  ['two thoughts', '<think>A</think>B\n<think>C</think>D', 'B\nD', 'AC'],
  ['half of a closing tag', '<think>a </thi b</think>c', 'c', 'a </thi b'],
  ['half of an opening tag', '<thin', '<thin', ''],
  ['the closing tag of another', '<think>a</thinking>b</think>c', 'c', 'a</thinking>b'],
  ['a closing tag in a fence', '<think>```\na</think>b', 'b', '```\na'],
  [
    'the tag in prose',
    'The <think> tag opens it, </think> closes it.',
    'The <think> tag opens it, </think> closes it.',
    '',
  ],
  ['the tag in a code span', '`<think>` opens it.', '`<think>` opens it.', ''],
  ['the tag in a fence', '```\n<think>a</think>\n```', '```\n<think>a</think>\n```', ''],
  ['a call in a thought (T70)', `<think>Hm.\n${CALL}`, CALL, 'Hm.\n'],
  [
    'a call in a thought that is closed later',
    `<think>Hm.\n${CALL}\n</think>\nYes.`,
    `${CALL}\n</think>\nYes.`,
    'Hm.\n',
  ],
  [
    'the closing tag in an argument of a call',
    `<think>Hm.\n${CALL.replace('ls', 'a</think>b')}`,
    CALL.replace('ls', 'a</think>b'),
    'Hm.\n',
  ],
  ['special tokens in a thought', '<think>Hm.[TOOL_CALLS]bash{"a":1}', '[TOOL_CALLS]bash{"a":1}', 'Hm.'],
  ['an unfinished call in a thought', '<think>Hm.\n<tool_call>{"name":', '<tool_call>{"name":', 'Hm.\n'],
  [
    'a tag of calls in a thought',
    '<think>So\n<tool_call> is the tag.</think>Yes.',
    'Yes.',
    'So\n<tool_call> is the tag.',
  ],
  [
    'a call in a thought, quoted',
    `<think>So \`${CALL.replaceAll('\n', '')}\`</think>Yes.`,
    'Yes.',
    `So \`${CALL.replaceAll('\n', '')}\``,
  ],
]

describe('thoughts in a text', () => {
  for (const [name, whole, text, reasoning] of ANSWERS) {
    test(name, () => {
      assert.deepEqual(split([whole]), [text, reasoning])
      assert.deepEqual(split(whole.split('')), [text, reasoning])
      for (let at = 0; at <= whole.length; at++) {
        assert.deepEqual(split([whole.slice(0, at), whole.slice(at)]), [text, reasoning], `at ${at}`)
      }
    })
  }

  test('a thought that the prompt opened', () => {
    assert.deepEqual(split(['Hm.</think>\nHello.'], true), ['Hello.', 'Hm.'])
    assert.deepEqual(split(['\nHm.'], true), ['', 'Hm.'])
  })

  test('come in order, and as soon as they can', () => {
    const think = createReasoningSplitter()
    assert.deepEqual(think.push('<think>Hm'), [{ channel: 'reasoning', text: 'Hm' }])
    assert.deepEqual(think.push('. </'), [{ channel: 'reasoning', text: '. ' }])
    assert.deepEqual(think.push('think>'), [])
    assert.deepEqual(think.push('\nYes.\n<think>No'), [
      { channel: 'text', text: 'Yes.\n' },
      { channel: 'reasoning', text: 'No' },
    ])
    assert.deepEqual(think.end(), [])
  })

  test('anything at all: the same however it is cut, and nothing lost but tags and the space after them', (t) => {
    t.diagnostic(`seed ${SEED}`)
    const tags = [
      '<think>',
      '</think>',
      '<thinking>',
      '</thinking>',
      CALL,
      '<tool_call>',
      '<|channel|>',
      '[TOOL_CALLS]',
    ]
    const part = fc.constantFrom(...tags, '\n', ' ', 'a', '`', '```', '<', '</', '> ', '{', 'bash')
    const whole = fc.array(part, { maxLength: 14 }).map((parts) => parts.join(''))
    const bare = (text: string): string => text.replace(/<\/?think(?:ing)?>|\s/g, '')
    const property = fc.property(whole, fc.nat({ max: 200 }), fc.boolean(), (text, at, inside) => {
      const expected = split([text], inside)
      assert.deepEqual(split([text.slice(0, at), text.slice(at)], inside), expected)
      assert.deepEqual(split(text.split(''), inside), expected)
      const sorted = (all: string): string => bare(all).split('').sort().join('')
      assert.equal(sorted(expected.join('')), sorted(text))
    })
    fc.assert(property, { seed: SEED, numRuns: 2000 })
  })

  test('cost time linear in the length of the text', () =>
    assertCpuTime(() => {
      for (const piece of ['```', '`', '<', '<think>', ' ', '<tool_call>{']) {
        const think = createReasoningSplitter(true)
        for (let i = 0; i < 50_000; i++) think.push(piece)
        think.end()
      }
    }, 10))
})
