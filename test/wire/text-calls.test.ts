import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  parseTextCalls,
  type ParsedTextCalls,
  createTextCallParser,
  type TextCall,
} from '../../src/wire/text-calls/text-call-parser.ts'
import { BARE_FORMS, call, codes, FORMS, LS, NATURAL, TOOLS, watch } from './written.ts'

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
    '{"name":"bash"}',
    '{"name":"bash","arguments":{"command":"ls"},"version":1}',
    '{"name":"my-package","arguments":{}}',
    '{"name":"bash","parameters":{"type":"object","properties":{"command":{"type":"string"}}}}',
    '[{"type":"function","function":{"name":"bash","parameters":{"type":"object","properties":{}}}}]',
    'My tools:\n<tools>\n{"name":"bash","parameters":{"type":"object","properties":{}}}\n</tools>',
    '<tool_call>{"name":"bash","parameters":{"type":"object","properties":{}}}</tool_call>',
    '{"name":"bash","arguments":{"results":[1,2]}}',
    '{"name":"bash","arguments":"ls"}',
    '{"name":"list","input":5}',
    '{"tool_calls":[{"name":"list","arguments":{}}],"note":"an example"}',
    '{"tool_calls":[{"name":"list","arguments":{}}],"content":"An example."}',
    '{"function":{"name":"list","arguments":{}},"note":"an example"}',
    '{"id":"m","role":"assistant","tool_calls":[{"function":{"name":"list","arguments":{}}}]}',
    'list\n{"items":[1,2]}',
    '>>>list\n{}',
    'In Python:\n>>>list\n{}',
    '\\<tool_call>{"name":"list","arguments":{}}</tool_call>',
    'It is `<tool_call>{"name":"list","arguments":{}}</tool_call>',
    'So:\n\n    <tool_call>{"name":"list","arguments":{}}</tool_call>\n',
    'So:\n\n\tfirst\n\t<tool_call>{"name":"list","arguments":{}}</tool_call>\n',
    '```md\n- ```\n<tool_call>{"name":"list","arguments":{}}</tool_call>',
    '<function name="bash"><param name="command"><![CDATA[a]]></param><param name=""><![CDATA[b]]></param></function>',
    '{"name":"unheard_of"} {"name":"bash","arguments":{"command":"ls"}}',
    '{"name":"bash","arguments":{"command":"ls"}}\n</tool_call>',
    'I call {"name":"bash","arguments":{"command":"ls"}}',
    'So:\n[bash(command="ls")]',
    '[bash("ls")]',
    '[bash(command="ls")',
    '[bash](https://example.org)',
    '[list, bash]',
    'bash {"command":"ls"}',
    'list\n\nof things',
    '<user>list</user>',
    '<response>{"name":"bash","arguments":{"command":"ls"}}',
    '<json>{"name":"my-package","version":"1"}</json>',
    'functools.reduce(list, bash)',
    '>>> list\n{}',
    '<|tool_call_start|>[bash(command="ls", command="rm")]<|tool_call_end|>',
    '<|tool_call_start|>[bash("ls")]<|tool_call_end|>',
    '<|tool_call_start|>bash(command="a\\nb")<|tool_call_end|>',
    '<|tool_call_start|>[]<|tool_call_end|>',
    '<function name="bash"><param name="Command">ls</param></function>',
    ' to=user<|message|>Write <atem:invoke name="list"></atem:invoke>',
    '<tool_call>\n{"name":"bash","arguments":ls}\n</tool_call>',
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

test('the warning names the dialects', () => {
  const cases: [text: string, dialects: string[]][] = [
    [
      '<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call><tool_call>list</tool_call>',
      ['tool_call', 'glm'],
    ],
    ['<function_calls><invoke name="list"></invoke></function_calls>', ['invoke']],
    ['<function_calls>list()</function_calls>', ['pythonic']],
    ['[list()]', ['pythonic']],
    ['{"name":"list","arguments":{}}', ['json']],
    ['<longcat_tool_call>{"name":"list","arguments":{}}</longcat_tool_call> so.', ['longcat']],
  ]
  for (const [text, dialects] of cases) assert.deepEqual(watch([text]).warnings[0]?.dialects, dialects, text)
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

describe('calls without a marker (T183)', () => {
  for (const [name, text, calls] of BARE_FORMS) {
    test(name, () => {
      for (const whole of [text, `\n ${text}\n`, `${text}<|eot_id|>`]) {
        const expected = watch([whole])
        assert.deepEqual([expected.text.trim(), expected.calls], ['', calls])
        assert.deepEqual(watch(whole.split('')), expected)
        for (let at = 0; at <= whole.length; at++) {
          assert.deepEqual(watch([whole.slice(0, at), whole.slice(at)]), expected, `at ${at}`)
        }
      }
      const thought = watch([`<think>Hm.</think>${text}`])
      assert.deepEqual([thought.text, thought.calls], ['<think>Hm.</think>', calls])
    })

    test(`${name}, with something around it`, () => {
      const around = [
        `So: ${text}`,
        `So:\n${text}`,
        `${text} So.`,
        `${text}\nSo.`,
        `"${text}"`,
        `\`${text}\``,
        `> ${text}`,
      ]
      for (const whole of around) {
        assert.deepEqual([watch([whole]).text, watch([whole]).calls], [whole, []])
        assert.deepEqual(watch(whole.split('')), watch([whole]))
      }
      for (let at = 0; at < text.length; at++) {
        const { calls: found } = watch([text.slice(0, at)])
        assert.deepEqual(found, calls.slice(0, found.length), `at ${at}`)
      }
    })
  }

  test('other JSON is shown as it comes', () => {
    const parser = createTextCallParser(TOOLS)
    assert.equal(parser.push('{"answer":'), '{"answer":')
    const named = createTextCallParser(TOOLS)
    assert.equal(named.push('{"name": "bas'), '')
    assert.equal(named.push('s", "age": 3'), '{"name": "bass", "age": 3')
    const list = createTextCallParser(TOOLS)
    assert.equal(list.push('[1'), '[1')
    const word = createTextCallParser(TOOLS)
    assert.equal(word.push('lis'), '')
    assert.equal(word.push('ten'), 'listen')
  })

  test('after a marker between two parts of a message', () => {
    const { text, calls } = watch(['all\nHello. What is up?>>>bash\n{"command":"ls"}\n>>>list\n{}'])
    assert.deepEqual([text, calls], ['all\nHello. What is up?', [LS, call('list', {})]])
  })
})

describe('text after a call', () => {
  const one = '<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>'
  const both = (whole: string): [string, readonly TextCall[]] => {
    assert.deepEqual(watch(whole.split('')), watch([whole]))
    return [watch([whole]).text, watch([whole]).calls]
  }

  test('is another part of the message if it sticks to the closing marker (T186)', () => {
    assert.deepEqual(both(`${one}Done.`), ['Done.', [LS]])
    assert.deepEqual(both(`So.\n${one}Done.\n`), ['So.\nDone.', [LS]])
    assert.deepEqual(both(`${one}✅ Done. ${one}`), ['✅ Done.', [LS, LS]])
    assert.deepEqual(both('So.<tool_call>list</tool_call>完了'), ['So.\n完了', [call('list', {})]])
    assert.deepEqual(both('so<tool_call>list</tool_call>and so on'), ['so\nand so on', [call('list', {})]])
    assert.deepEqual(
      both(
        `<|START_RESPONSE|>A<|END_RESPONSE|><|START_ACTION|>${one.slice(11, -12)}<|END_ACTION|>\n<|START_TEXT|>B<|END_TEXT|>`,
      ),
      ['<|START_RESPONSE|>A<|END_RESPONSE|>\nB<|END_TEXT|>', [LS]],
    )
  })

  test('means that the call is an example otherwise', () => {
    for (const after of [' Done.', '\nDone.', '.', '", he said.', ')', ', and', '`', '</parameter>', '<b>']) {
      assert.deepEqual(both(`${one}${after}`), [`${one}${after}`, []], after)
      assert.deepEqual(both(`${one}Done. ${one}${after}`), [`${one}Done. ${one}${after}`, []], after)
    }
    assert.deepEqual(both('[TOOL_CALLS]bash{"command":"ls"}Done.')[1], [])
    const sentences = [
      `Models write ${one}s.`,
      `${one}s are written by models.`,
      `Use ${one}tags.`,
      `请写${one}来调用。`,
      `${one}のように書きます。`,
      `${one}를 쓰세요.`,
      `[12:00] ${one}OK`,
      `text = '${one}Done.'`,
      `| ${one}Done. |`,
    ]
    for (const sentence of sentences) assert.deepEqual(both(sentence), [sentence, []])
    assert.deepEqual(both(`${one}Done.\n\`\`\`\n${one}\n\`\`\``)[1], [LS])
  })

  test('that ends a thought makes the call a draft (T187)', () => {
    const draft = one.replace('ls', 'rm')
    for (const end of ['</think>', '</seed:think>', '[/THINK]', '<|END_THINKING|>', '<|inner_suffix|>']) {
      assert.deepEqual(both(`Maybe ${draft} hm.${end}\n${one}`), [`Maybe ${draft} hm.${end}`, [LS]], end)
      assert.deepEqual(both(`Maybe ${draft} hm.${end}\nNo.`), [`Maybe ${draft} hm.${end}\nNo.`, []], end)
      for (const answer of ['No.', '\n\nNo.', 'No, not that.\n'])
        assert.deepEqual(both(`Maybe ${draft}${end}${answer}`), [`Maybe ${draft}${end}${answer}`, []], end)
      assert.deepEqual(both(`${draft}Hm.${end}No.`), [`${draft}Hm.${end}No.`, []], end)
      assert.deepEqual(both(`Maybe ${draft}${end}\n${one}`), [`Maybe ${draft}${end}`, [LS]], end)
      assert.deepEqual(both(`Maybe ${one}${end}\n<|im_end|>`), ['Maybe', [LS]], end)
      const undeclared = draft.replace('bash', 'unheard_of')
      assert.deepEqual(both(`${undeclared}${end}${one}`)[1], [LS], end)
      const quoted = `Maybe ${draft} hm.\n\`\`\`\n${end}${one}\n\`\`\``
      assert.deepEqual(both(quoted), [quoted, []], end)
      const open = `<function=bash><parameter=command>${end}${one}`
      assert.deepEqual(both(open), [open, []], end)
    }
  })
})

describe('Python notation (T182)', () => {
  const read = (args: string): unknown => {
    const [found] = watch([`<|tool_call_start|>[read_file(${args})]<|tool_call_end|>`]).calls
    return found && JSON.parse(found.raw)
  }

  test('has its own literals', () => {
    const cases: [args: string, expected: unknown][] = [
      ['', {}],
      ['path="a"', { path: 'a' }],
      ["path = 'it\\'s', all=True ,", { path: "it's", all: true }],
      ['a=None, b=False, c=true, d=null', { a: null, b: false, c: true, d: null }],
      ['a=1, b=-2.5, c=1e3', { a: 1, b: -2.5, c: 1000 }],
      ["a=[1, 'x', [True]], b=(1, 2), c=(3,), d=(4)", { a: [1, 'x', [true]], b: [1, 2], c: [3], d: 4 }],
      ["a={'k': {'l': [1]}, 2: 3}, b={'x', 'y'}, c={}", { a: { k: { l: [1] }, '2': 3 }, b: ['x', 'y'], c: {} }],
      ['a="\\d\\n\\x41\\u00e9\\U0001F600\\101\\\\"', { a: '\\d\nAé😀A\\' }],
      ['a="""say "x\ny""", b=\'\'', { a: 'say "x\ny', b: '' }],
      ['a="C:\\Users\\UFFFFFFFF\\\r\nb"', { a: 'C:\\Users\\UFFFFFFFFb' }],
      ['a="<|tool_call_end|>)]"', { a: '<|tool_call_end|>)]' }],
    ]
    for (const [args, expected] of cases) assert.deepEqual(read(args), expected, args)
  })

  test('is not guessed at', () => {
    const doubtful = [
      "path='a'b'",
      'path=a',
      "'a'",
      'path=',
      'path="a" lines=1',
      'path=f(1)',
      'a=1+1',
      'a={1: 2, 3}',
      'a=constructor',
      'a="\\N{DASH}"',
      'a={(1, 2): 3}',
    ]
    for (const args of doubtful) assert.equal(read(args), undefined, args)
  })
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
})
