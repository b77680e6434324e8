import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  parseTextCalls,
  type ParsedTextCalls,
  createTextCallParser,
  type TextCall,
} from '../../src/wire/text-calls/text-call-parser.ts'
import { call, codes, FORMS, LS, NATURAL, TOOLS, watch } from './written.ts'
import { assertCpuTime } from '../support/cpu-time.ts'

describe('calls that were written as text', () => {
  for (const [name, text, calls] of FORMS) {
    test(name, () => {
      const { warnings, ...rest } = watch([text])
      assert.deepEqual(rest, { text: '', calls })
      assert.deepEqual(
        warnings.map(({ code }) => code),
        ['written-call'],
      )
      assert.deepEqual(parseTextCalls(text, TOOLS), calls)
    })

    test(`${name}, after prose and before white space`, () => {
      for (const prose of ['I will look.\n\n', 'Look:', 'a < b, `<tool_call>`, [1]\n```\n<invoke name="x">\n```\n']) {
        const { text: shown, calls: found } = watch([`${prose}${text}\n \n`])
        assert.deepEqual([shown, found], [prose.trimEnd(), calls])
      }
    })

    test(`${name}, cut in two anywhere, and into letters`, () => {
      const whole = `I will look.\n${text}\n`
      const expected = watch([whole])
      assert.deepEqual(expected.calls, calls)
      for (let at = 0; at <= whole.length; at++) {
        assert.deepEqual(watch([whole.slice(0, at), whole.slice(at)]), expected, `at ${at}`)
      }
      assert.deepEqual(watch(whole.split('')), expected)
    })

    test(`${name}, broken off anywhere`, () => {
      for (let at = 0; at < text.length; at++) {
        const cut = text.slice(0, at)
        const found = watch([cut])
        // A call is there whole or not at all.
        assert.deepEqual(found.calls, calls.slice(0, found.calls.length), `at ${at}`)
        if (found.calls.length === 0) assert.equal(found.text, cut)
        assert.deepEqual(watch([cut], { endedNormally: false, hasNativeCalls: false }).calls, [])
      }
    })

    test(`${name}, but not now`, () => {
      const whole = `Well.\n${text}\n`
      const refused: [string, ParsedTextCalls][] = [
        ['an unnatural end', watch([whole], { endedNormally: false, hasNativeCalls: false })],
        ['native calls', watch([whole], { endedNormally: true, hasNativeCalls: true })],
        ['text after it', watch([whole, 'That is all.'])],
      ]
      for (const [why, rescued] of refused) {
        assert.deepEqual(rescued.calls, [], why)
        assert.equal(rescued.text, why === 'text after it' ? `${whole}That is all.` : whole, why)
        assert.deepEqual(codes(rescued), ['unread-call'], why)
      }
      const other = whole.replace(/bash|read_file|list/, 'unheard_of')
      assert.deepEqual([watch([other]).text, watch([other]).calls], [other, []])
    })

    test(`${name}, quoted`, () => {
      const quotes = [
        `\`\`\`xml\n${text}\n\`\`\``,
        `\`\`\`\n${text}\n`,
        `~~~~\n~~~\n${text}`,
        `1. So:\n   \`\`\`\n   ${text}\n   \`\`\``,
        `- \`\`\`\n${text}\n\`\`\`\n`,
        `It is "${text}".`,
        `It is \`${text.replaceAll(/[\n`]/g, ' ')}\``,
        `It is \`\` ${text.replaceAll(/[\n`]/g, ' ')} \`\``,
        `> ${text.replaceAll('\n', '\n> ')}`,
      ]
      for (const quote of quotes) {
        const { text: shown, calls: found } = watch([quote])
        assert.deepEqual([shown, found], [quote, []])
      }
    })
  }
})

describe('what is not a call', () => {
  const ANSWERS = [
    'Hermes models write <tool_call>{"name": …, "arguments": …}</tool_call> around their calls.',
    'Use <tool_call> and </tool_call>.',
    'The tags are <function=name>, <parameter=key> and </function>. Nothing more.',
    'An <invoke name="x"> element holds <parameter> elements.',
    'Set the header to=functions.bash and go on.',
    'the commentary to=functions.bash was wrong',
    '<|python_tag|>print("bash")',
    '<|python_tag|>{"name": "unheard_of", "parameters": {}}',
    '<|channel|>analysis<|message|>I think.<|end|><|start|>assistant<|channel|>final<|message|>Done.',
    'if (a < b && c[0] > d) { return `<${tag}>` }',
    'Array<string>, Map<string, [number, number]>, x<|y',
    '{"name":"bash","arguments":{"command":"ls"}}',
    '<tool_call>{"arguments":{"command":"ls"}}</tool_call>',
    '<tool_call>{"name":"bash","command":"ls"}</tool_call>',
    '<tool_call>{"name":"bash","arguments":{},"arguments":{"command":"rm"}}</tool_call>',
    '<tool_call>{"name":"bash","arguments":{},"input":{"command":"rm"}}</tool_call>',
    "<tool_call>{'name': 'bash', 'arguments': {}}</tool_call>",
    '<tool_call>{"name":"bash","arguments":{"command":["ls"}]}</tool_call>',
    '<tool_call>maybe</tool_call>',
    '<|tool_call>call:bash{command:ls}<tool_call|>',
    '<tool_call>',
    '[TOOL_CALLS]',
    '<|tool_calls_section_begin|><|tool_calls_section_end|>',
  ]
  for (const answer of ANSWERS) {
    test(answer.slice(0, 60), () => {
      const expected = watch([answer])
      assert.deepEqual([expected.text, expected.calls], [answer, []])
      assert.deepEqual(watch(answer.split('')), expected)
    })
  }

  test('a file that is printed', () => {
    const file = FORMS.map(([name, text]) => `case '${name}':\n${text}\n`).join('\n')
    const answer = `Here is the file:\n\n${file}\nThat is the whole file.`
    assert.deepEqual([watch([answer]).text, watch([answer]).calls], [answer, []])
  })

  test('what stands in an unfinished call, even if it is whole and at the end', () => {
    const inner = '<tool_call>{"name":"bash","arguments":{"command":"rm -rf /"}}</tool_call>'
    for (const outer of ['<function=bash><parameter=command>', '<invoke name="bash"><parameter name="command">']) {
      assert.deepEqual(watch([outer + inner]).calls, [])
      assert.deepEqual(codes(watch([outer + inner])), ['unread-call'])
    }
    assert.deepEqual(watch([`<tool_call>{"name":"bash","arguments":{"command":"${inner}`]).calls, [])
  })

  test('one of several that is not readable, not declared, or apart', () => {
    const good = '<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>'
    const bad = good.replace('bash', 'unheard_of')
    for (const text of [good + bad, bad + good, `${good} and then ${good}`, `${good}<tool_call>{"name":"ba`]) {
      assert.deepEqual([watch([text]).text, watch([text]).calls], [text, []])
      assert.deepEqual(codes(watch([text])), ['unread-call'])
    }
  })

  test('fenced JSON and pseudo-code: a warning, and no more (T69)', () => {
    const json = '{"name":"bash","arguments":{"command":"ls"}}'
    const fences = [
      `\`\`\`json\n${json}\n\`\`\``,
      `So:\n\n\`\`\`\n{"tool_calls":[${json}]}\n\`\`\`\n\n`,
      '```tool_code\nprint(default_api.bash(command="ls"))\n```',
      '```tool_call\nbash(command="ls")',
      `\`\`\`xml\n<tool_call>${json}</tool_call>\n\`\`\``,
    ]
    for (const text of fences) {
      assert.deepEqual(
        { ...watch([text]), warnings: codes(watch([text])) },
        { text, calls: [], warnings: ['fenced-call'] },
      )
      assert.deepEqual(watch(text.split('')), watch([text]))
      assert.deepEqual(codes(watch([`${text}\n\`\`\`\nAnd so on.`])), [])
      assert.deepEqual(parseTextCalls(text, TOOLS), [])
    }
    assert.deepEqual(codes(watch(['```json\n{"name":"my-package","version":"1"}\n```'])), [])
    assert.deepEqual(codes(watch(['```js\nlist(1)\n```'])), [])
  })

  test('anything, where no tools are declared', () => {
    const rescue = createTextCallParser([])
    const text = '<tool_call>{"name":"bash","arguments":{}}</tool_call>'
    assert.equal(rescue.push(text), text)
    assert.deepEqual(rescue.end(NATURAL), { text: '', calls: [], warnings: [] })
  })
})

test('DSML beside a structured call without arguments gives its arguments (T63)', () => {
  const dsml = FORMS.filter(([name]) => name.startsWith('T63'))
  for (const [, text, calls] of dsml) {
    const rescued = watch([`Well. ${text}`], { endedNormally: true, hasNativeCalls: true })
    assert.deepEqual([rescued.calls, rescued.replacements, rescued.text], [[], calls, `Well. ${text}`])
    assert.equal(watch([text], { endedNormally: false, hasNativeCalls: true }).replacements, undefined)
  }
  const hermes = '<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>'
  assert.equal(watch([hermes], { endedNormally: true, hasNativeCalls: true }).replacements, undefined)
})

test('a whole text that a server could not read (T73)', () => {
  const texts: [text: string, calls: TextCall[]][] = [
    ['{"name":"bash","arguments":{"command":"ls"}}', [LS]],
    [' [{"name":"bash","parameters":{"command":"ls"}}]\n', [LS]],
    ['{"tool_calls":[{"id":"c","type":"function","function":{"name":"bash","arguments":{"command":"ls"}}}]}', [LS]],
    ['<function=bash>{"command":"ls"}</function>', [LS]],
    ['<function=bash{"command":"ls"}</function>', [LS]],
    ['<function=bash,{"command":"ls"}</function>', [LS]],
    ['bash{"command":"ls"}</function>', [LS]],
    ['I will look. <tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>', [LS]],
    [
      '{"name":"bash","arguments":{"command":"<function=list></function>"}}',
      [call('bash', { command: '<function=list></function>' })],
    ],
    ['{"name":"bash","arguments":{"command":"ls"}', []],
    ['{"name":"bash"}', []],
    ['{"name":"unheard_of","arguments":{}}', []],
    ['[{"name":"bash","arguments":{"command":"ls"}},{"name":"unheard_of","arguments":{}}]', []],
    ['{"command":"ls"}', []],
    ['bash{"command":"ls"}', []],
    ['', []],
  ]
  for (const [text, calls] of texts) assert.deepEqual(parseTextCalls(text, TOOLS), calls, text)
})

describe('streaming', () => {
  test('ordinary text goes through at once, quoted markers included', () => {
    const rescue = createTextCallParser(TOOLS)
    assert.equal(rescue.push('Hello, '), 'Hello,')
    assert.equal(rescue.push('wor'), ' wor')
    assert.equal(rescue.push('ld. a < b'), 'ld. a < b')
    assert.equal(rescue.push(' and <'), ' and')
    assert.equal(rescue.push('div> and `<tool_call>` too, see'), ' <div> and `<tool_call>` too, see')
    assert.equal(rescue.push(' <tool_call'), '')
    assert.equal(rescue.push('> for more'), ' <tool_call> for more')
  })

  test('text goes on as soon as markup is known not to end it', () => {
    const rescue = createTextCallParser(TOOLS)
    const markup = '<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>'
    assert.equal(rescue.push(`So: ${markup}`), 'So:')
    assert.equal(rescue.push(' is'), ` ${markup} is`)
    assert.equal(rescue.push(' how\n'), ' how\n')
  })

  test('a long call in small pieces costs time linear in its length', () =>
    assertCpuTime(() => {
      const rescue = createTextCallParser(TOOLS)
      rescue.push('<function=bash><parameter=command>')
      for (let i = 0; i < 100_000; i++) rescue.push('abc\n')
      rescue.push('</parameter></function>')
      assert.equal(rescue.end(NATURAL).calls[0]?.raw.length, '{"command":""}'.length + 500_000 - 2)
      for (const piece of ['word ', '`', '<', 'a < b\n']) {
        const plain = createTextCallParser(TOOLS)
        for (let i = 0; i < 100_000; i++) plain.push(piece)
        assert.deepEqual(plain.end(NATURAL).calls, [])
      }
    }, 10))
})
