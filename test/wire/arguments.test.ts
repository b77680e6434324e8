import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject } from '../../src/model/json.ts'
import { decodeEntities } from '../../src/wire/calls/html-entities.ts'
import { parseCallArguments } from '../../src/wire/calls/parse-arguments.ts'
import { createJsonScanner } from '../../src/wire/json/json-scanner.ts'
import { assertCpuTime } from '../support/cpu-time.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000_007)
console.log(`arguments.test: SEED=${seed}`)
const settings = { seed, numRuns: 500 }

/** The text is read as these inputs, with exactly these notes. */
function accepts(raw: string, inputs: readonly unknown[], notes: readonly string[] = []): void {
  const reading = parseCallArguments(raw)
  assert.ok(reading.ok, `${raw} → ${JSON.stringify(reading)}`)
  assert.deepEqual(reading.inputs, inputs)
  assert.deepEqual(
    reading.notes.map(({ code }) => code),
    notes,
  )
}

function refuses(raw: string, code: string): void {
  const reading = parseCallArguments(raw)
  assert.ok(!reading.ok, `${raw.slice(0, 80)} was accepted`)
  assert.equal(reading.code, code, raw.slice(0, 80))
}

test('plain JSON is itself, in its own key order', () => {
  accepts('{"b":1,"a":[true,null,"x\\u0041"]}', [{ b: 1, a: [true, null, 'xA'] }])
  assert.deepEqual(Object.keys(inputOf('{"z":1,"a":2}')), ['z', 'a'])
})

test('T17 nothing, white space and null are empty arguments', () => {
  for (const raw of ['', ' \n\t', 'null', ' null ', '{}']) accepts(raw, [{}])
})

test('T18 an empty object before the arguments is a placeholder', () => {
  accepts('{}{"path":"a"}', [{ path: 'a' }], ['placeholder'])
  accepts('{} {}\n{"path":"a"}', [{ path: 'a' }], ['placeholder'])
  accepts('{}{}', [{}], ['placeholder'])
})

test('T21 copies of the same arguments are one', () => {
  accepts('{"a":1,"b":2}{"b":2,"a":1}', [{ a: 1, b: 2 }], ['repeated'])
  accepts('{"a":1}\n{"a":1}\n{"a":1}', [{ a: 1 }], ['repeated'])
})

test('T22 distinct objects are several inputs', () => {
  accepts('{"q":"A"}{"q":"B"}', [{ q: 'A' }, { q: 'B' }], ['several-objects'])
  accepts('{"q":"A"}{"q":"B"}{"q":"A"}', [{ q: 'A' }, { q: 'B' }], ['repeated', 'several-objects'])
  refuses('{"q":"A"}{"q":"B"', 'unfinished')
  refuses('"x"{"q":"B"}', 'not-json')
  refuses('{"q":"A"},{"q":"B"}', 'not-json')
})

test('T31 JSON in a string is unwrapped, at most twice', () => {
  const once = JSON.stringify('{"a":1}')
  accepts(once, [{ a: 1 }], ['double-encoded'])
  accepts(JSON.stringify(once), [{ a: 1 }], ['double-encoded', 'double-encoded'])
  refuses(JSON.stringify(JSON.stringify(once)), 'not-object')
  accepts(JSON.stringify("{'a': 1}"), [{ a: 1 }], ['double-encoded', 'single-quotes'])
  accepts(JSON.stringify('[{"a":1}]'), [{ a: 1 }], ['double-encoded', 'array-root'])
  refuses(JSON.stringify('{"a":"b'), 'unfinished')
  for (const raw of ['"x"', '""', '" "', '"null"', '"3"']) refuses(raw, 'not-object')
})

test('T33 closers and markers after the arguments are ignored, anything else is not', () => {
  const tails = [
    ']',
    '}',
    ')',
    '}]\n',
    '</function>',
    '</tool_call>\n',
    '</parameter></function>',
    '</minimax:tool_call>',
    '<|call|>',
  ]
  const tokens = [
    '<|im_end|>',
    '<|eot_id|>',
    '<|tool_call_end|>',
    '<｜tool▁call▁end｜>',
    '[/TOOL_CALLS]',
    '<end_of_turn>',
    '\n```\n',
    ' }</s>',
  ]
  for (const tail of [...tails, ...tokens]) accepts(`{"a":1}${tail}`, [{ a: 1 }], ['trailing-text'])
  accepts('```json\n{"a":1}\n```', [{ a: 1 }], ['trailing-text'])
  for (const tail of [' and then', '"', ',', '</fun', '<b>', ']x', '</tool_call>{"b":2}']) {
    const reading = parseCallArguments(`{"a":1}${tail}`)
    assert.equal(reading.ok, false, tail)
  }
  refuses('{"a":1} and then', 'not-json')
  refuses('{"a":1}{', 'unfinished')
})

test('T34 raw control characters in strings are kept', () => {
  accepts('{"a":"one\ntwo\tthree\u0000"}', [{ a: 'one\ntwo\tthree\u0000' }], ['control-characters'])
  accepts('{"a":"x\r\n\\n\\"y"}', [{ a: 'x\r\n\n"y' }], ['control-characters'])
})

test('T35 a backslash that escapes nothing stands for itself', () => {
  accepts(String.raw`{"p":"C:\Users\x"}`, [{ p: String.raw`C:\Users\x` }], ['illegal-escapes'])
  accepts(String.raw`{"p":"\d+\.\n"}`, [{ p: '\\d+\\.\n' }], ['illegal-escapes'])
  accepts(String.raw`{"p":"it\'s"}`, [{ p: String.raw`it\'s` }], ['illegal-escapes'])
  accepts(String.raw`{"p":"\u12","q":"\u00e9\u"}`, [{ p: String.raw`\u12`, q: String.raw`é\u` }], ['illegal-escapes'])
})

test('T36 single quotes, bare keys, Python words and trailing commas are read, with their types', () => {
  accepts("{'a': 'x', \"b\": 'it\\'s \"y\"'}", [{ a: 'x', b: 'it\'s "y"' }], ['single-quotes'])
  accepts('{a: 1, $b_2: [true], c-d: null}', [{ a: 1, $b_2: [true], 'c-d': null }], ['bare-keys'])
  accepts('{"a": True, "b": False, "c": None}', [{ a: true, b: false, c: null }], ['python-literals'])
  accepts('{"a": [1, 2,], "b": {"c": -1.5e3,},}', [{ a: [1, 2], b: { c: -1500 } }], ['trailing-comma'])
  accepts(
    "{'a': True, b: None,}",
    [{ a: true, b: null }],
    ['single-quotes', 'python-literals', 'bare-keys', 'trailing-comma'],
  )
  for (const raw of [
    '{"a":1 // x\n}',
    '{"a":/* */1}',
    '{,}',
    '{"a":,}',
    '[,]',
    '{"a" 1}',
    '{"a":1 "b":2}',
    "{'it's': 1}",
  ]) {
    refuses(raw, raw === "{'it's': 1}" ? 'unfinished' : 'not-json')
  }
  for (const raw of [
    '{"a": undefined}',
    '{"a": TRUE}',
    '{"a": tru}',
    '{"a": +1}',
    '{"a": .5}',
    '{"a": 01}',
    '{"a": 0x1f}',
  ])
    refuses(raw, 'not-json')
})

test('T37 T38 T39 whatever breaks off is unfinished, whatever else is wrong with it', () => {
  const cut = [
    '{',
    '{"a',
    '{"a"',
    '{"a":',
    '{"a":"b',
    '{"a":"b\\',
    '{"a":"b"',
    '{"a":1,',
    '{"a":[1',
    '{"a":[1]',
    '[{"a":1}',
    '"{\\"a\\":1}',
    "{'a': 'b",
  ]
  const odd = [
    '{"a": NaN, "b": "x',
    '{"a":1}}{"b":',
    '{a: Tru',
    '{"a": "\\u12',
    '{"a" "b',
    '{"rm":"-rf /srv/app/tmp/bu',
    '{}{"a":"',
  ]
  for (const raw of [...cut, ...odd]) refuses(raw, 'unfinished')
})

test('T40 other roots are refused, one object in an array is unwrapped', () => {
  accepts('[{"a":1}]', [{ a: 1 }], ['array-root'])
  accepts('[{a:1}]', [{ a: 1 }], ['bare-keys', 'array-root'])
  for (const raw of ['[]', '[1]', '[{"a":1},{"a":2}]', '[[{"a":1}]]', '3', 'true', '[null]']) refuses(raw, 'not-object')
  for (const raw of ['x', 'ls -la', '}', ']', '<tool>']) refuses(raw, 'not-json')
})

test('T42 entities are decoded only where nothing raw stands beside them', () => {
  const input: JsonObject = {
    cmd: 'a &amp;&amp; b &lt;c&gt; &quot;d&quot; &#39;e&#x27;',
    raw: 'a && b &amp; c',
    quote: 'it\'s &amp; "that"',
    once: '&amp;lt;',
    none: 'plain',
    deep: [{ x: '&lt;' }, 1, null],
    '&amp;': 'key',
  }
  const decoded = decodeEntities(input)
  assert.deepEqual(decoded, { ...input, cmd: 'a && b <c> "d" \'e\'', once: '&lt;', deep: [{ x: '<' }, 1, null] })
  assert.equal(decodeEntities(decoded)['cmd'], decoded['cmd'])
  const plain: JsonObject = { a: ['x'], b: { c: '<' } }
  assert.equal(decodeEntities(plain), plain)
  const proto = decodeEntities(JSON.parse('{"__proto__":"&lt;"}') as JsonObject)
  assert.equal(JSON.stringify(proto), '{"__proto__":"<"}')
})

test('T48 __proto__ is a key like any other', () => {
  for (const raw of ['{"__proto__":{"polluted":1}}', "{'__proto__':{'polluted':1}}", '{"__proto__":{"polluted":1}}]']) {
    const input = inputOf(raw)
    assert.deepEqual(Object.keys(input), ['__proto__'])
    assert.equal(Object.getPrototypeOf(input), Object.prototype)
    assert.equal(JSON.stringify(input), '{"__proto__":{"polluted":1}}')
    assert.equal(input['polluted'], undefined)
    assert.equal(({} as JsonObject)['polluted'], undefined)
  }
})

test('T49 numbers: big ones are noted with their digits, infinite ones are refused', () => {
  for (const raw of [
    '{"id":12345678901234567891}',
    "{'id':12345678901234567891}",
    '{"x":"\\"1\\\\","id":12345678901234567891}',
  ]) {
    const reading = parseCallArguments(raw)
    assert.ok(reading.ok)
    assert.equal(reading.inputs[0]?.['id'], 12345678901234567000)
    assert.ok(
      reading.notes.some(({ code, message }) => code === 'big-number' && message.includes('12345678901234567891')),
    )
  }
  accepts('{"id":-9007199254740993}', [{ id: -9007199254740992 }], ['big-number'])
  accepts('{"id":9007199254740991,"t":"12345678901234567891","f":0.1234567890123456789}', [
    { id: 9007199254740991, t: '12345678901234567891', f: 0.12345678901234568 },
  ])
  accepts('{"e":1e100,"exact":9007199254740992}', [{ e: 1e100, exact: 2 ** 53 }])
  for (const raw of ['{"a":NaN}', '{"a":Infinity}', '{"a":-Infinity}', '{"a":1e999}', '{"a":-1E+999}', "{'a':1e999}"])
    refuses(raw, 'not-json')
})

test('depth is bounded, and nothing runs out of stack', () => {
  const deep = 100_000
  refuses('['.repeat(deep), 'unfinished')
  refuses('{"a":'.repeat(deep), 'unfinished')
  refuses(`{"a":${'['.repeat(deep)}${']'.repeat(deep)}}`, 'not-json')
  refuses(`{a:${'['.repeat(deep)}${']'.repeat(deep)}}`, 'not-json')
  refuses(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`, 'not-json')
  refuses('[{'.repeat(deep), 'unfinished')
  const fine = `{"a":${'['.repeat(400)}${']'.repeat(400)}}`
  assert.ok(parseCallArguments(fine).ok && parseCallArguments(`${fine}]`).ok)
})

test('reading takes time linear in the text', () => {
  const big = 'x\n'.repeat(1_000_000)
  const texts = [
    `{"a":"${big}"}`,
    `{"a":"${big}`,
    `{}${'}'.repeat(2_000_000)}`,
    `{"a":"${'\\q'.repeat(1_000_000)}"}`,
    '{"a":1}'.repeat(300_000),
  ]
  return assertCpuTime(() => {
    for (const raw of texts) parseCallArguments(raw)
  }, 20)
})

test('createJsonScanner follows the first value in any pieces', () => {
  const states = (text: string) => {
    const whole = createJsonScanner()
    whole.push(text)
    const bits = createJsonScanner()
    for (const char of text) bits.push(char)
    const read = ({ isComplete, isOpen }: typeof whole) =>
      [isComplete && 'complete', isOpen() && 'open'].filter(Boolean).join(' ')
    assert.equal(read(bits), read(whole))
    return read(whole)
  }
  assert.equal(states(''), '')
  assert.equal(states(' \n'), '')
  assert.equal(states('{'), 'open')
  assert.equal(states('{"a":"}'), 'open')
  assert.equal(states('{"a":"\\"}'), 'open')
  assert.equal(states('{"a":[1]} '), 'complete')
  assert.equal(states('{"a":1}]'), 'complete')
  assert.equal(states('{}{"a"'), 'complete open')
  assert.equal(states("{'a':'}"), 'open')
  assert.equal(states('"x'), 'open')
  assert.equal(states('"x"'), 'complete')
  assert.equal(states('12'), '')
  assert.equal(states('12 '), 'complete')
})

test('T37 no proper prefix of a JSON object is ever accepted', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
      fc.boolean(),
      (object, pretty) => {
        const text = JSON.stringify(object, undefined, pretty ? 2 : undefined)
        accepts(text, [JSON.parse(text)])
        for (let end = 1; end < text.length; end++) refuses(text.slice(0, end), 'unfinished')
      },
    ),
    settings,
  )
})

/** A JSON value, written the way that models write it. */
const loose: fc.Arbitrary<string> = fc.letrec<{ value: string; text: string; object: string }>((tie) => ({
  text: fc.oneof(
    fc.string().map((value) => JSON.stringify(value)),
    fc.string().map((value) => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`),
    fc.string().map((value) => `"${value.replaceAll(/["\\]/g, '')}\n\\d\\"{'"`),
  ),
  value: fc.oneof(
    { maxDepth: 4 },
    tie('text'),
    fc.constantFrom('True', 'False', 'None', 'true', 'null', '1', '-2.5', '1e3', '[]', '{}', '[1,]'),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
    tie('object'),
  ),
  object: fc
    .tuple(
      fc.array(fc.tuple(fc.oneof(fc.constantFrom('key', '$k', '_x'), tie('text')), tie('value')), { maxLength: 3 }),
      fc.boolean(),
    )
    .map(
      ([pairs, comma]) =>
        `{${pairs.map(([key, value]) => `${key}: ${value}`).join(',\n')}${comma && pairs.length > 0 ? ',' : ''}}`,
    ),
})).object

test('T37 no proper prefix of almost-JSON is ever accepted', () => {
  fc.assert(
    fc.property(loose, fc.constantFrom('', ' ', '\n'), (text, space) => {
      const whole = parseCallArguments(space + text)
      assert.ok(whole.ok, text)
      for (let end = 1; end < text.length; end++) {
        const cut = parseCallArguments(space + text.slice(0, end))
        assert.ok(!cut.ok, text.slice(0, end))
        assert.equal(cut.code, 'unfinished')
      }
    }),
    settings,
  )
})

test('T39 after any damage, an accepted reading holds no more closers than the text', () => {
  const damage = fc.tuple(
    fc.nat(),
    fc.nat({ max: 3 }),
    fc.constantFrom('', '"', "'", '{', '}', '[', ']', ',', ':', '\\', '{}', ' ', 'x', '\n'),
  )
  let accepted = 0
  fc.assert(
    fc.property(loose, fc.array(damage, { minLength: 1, maxLength: 3 }), (text, damages) => {
      let broken = text
      for (const [where, gone, put] of damages) {
        const at = where % (broken.length + 1)
        broken = broken.slice(0, at) + put + broken.slice(at + gone)
      }
      const reading = parseCallArguments(broken)
      if (!reading.ok || broken.trim() === '' || broken.trim() === 'null') return
      accepted++
      const found = count(reading.inputs)
      assert.ok(found.objects <= broken.split('}').length - 1, broken)
      assert.ok(found.arrays <= broken.split(']').length - 1, broken)
      assert.ok(found.strings * 2 <= broken.split(/["']/).length - 1, broken)
    }),
    { ...settings, numRuns: 3000 },
  )
  assert.ok(accepted > 100, 'the property saw too few accepted texts')
})

function inputOf(raw: string): JsonObject {
  const reading = parseCallArguments(raw)
  assert.ok(reading.ok, raw)
  return reading.inputs[0] ?? {}
}

/** How many things there are that a closing character ended. */
function count(inputs: readonly unknown[]): { objects: number; arrays: number; strings: number } {
  const sum = { objects: 0, arrays: 0, strings: 0 }
  const visit = (value: unknown): void => {
    if (typeof value === 'string') sum.strings++
    else if (Array.isArray(value)) sum.arrays++
    else if (typeof value === 'object' && value !== null) sum.objects++
    if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) visit(item)
  }
  for (const input of inputs) visit(input)
  return sum
}
