import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import type { JsonObject } from '../../src/model/json.ts'
import type { AssistantPart, CallPart } from '../../src/model/turn.ts'
import { TEXT_CALL_DIALECTS } from '../../src/wire/text-calls/dialects/dialects.ts'
import {
  createTextCallParser,
  type ParsedTextCalls,
  type TextOutcome,
} from '../../src/wire/text-calls/text-call-parser.ts'
import type { ScanOptions, TextCallTool } from '../../src/wire/text-calls/text-call-scanner.ts'
import { ODD_KEYS, textValues, type WrittenCall, writtenCalls } from './random-calls.ts'
import { CALL_WRITERS, type CallWriter } from './text-call-writers.ts'
import { readDataset } from '../support/dataset.ts'
import { NATURAL } from './written.ts'

const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)
const MARKERS = TEXT_CALL_DIALECTS.flatMap(({ startMarkers, endMarkers = [] }) => [...startMarkers, ...endMarkers])
const TAGS = [
  '</tool_call>',
  '</parameter>',
  '<parameter=x>',
  '</arg_value>',
  '<arg_key>',
  '</invoke>',
  '</function>',
  '</param>',
  ']]>',
]
const text = textValues([...MARKERS, ...TAGS])
const datasets = process.env['DRAGOMAN_DATASETS']
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })
const marked = CALL_WRITERS.filter(({ isBare }) => !isBare)

function parse(
  pieces: readonly string[],
  tools: readonly TextCallTool[],
  options?: ScanOptions,
  outcome: TextOutcome = NATURAL,
): ParsedTextCalls {
  const parser = createTextCallParser(tools, options)
  const shown = pieces.map((piece) => parser.push(piece)).join('')
  const end = parser.end(outcome)
  return { ...end, text: shown + end.text }
}

function cutAt(whole: string, places: readonly number[]): string[] {
  const ends = [...places.map((place) => Math.floor(place * whole.length)).sort((a, b) => a - b), whole.length]
  return ends.map((end, at) => whole.slice(at === 0 ? 0 : ends[at - 1], end))
}

const toInputs = ({ calls }: ParsedTextCalls) =>
  calls.map(({ name, raw }) => ({ name, args: JSON.parse(raw) as JsonObject }))
const toExpected = (calls: readonly WrittenCall[]) => calls.map(({ name, args }) => ({ name, args }))
const hasText = (value: unknown, pattern: RegExp): boolean =>
  typeof value === 'string'
    ? pattern.test(value)
    : typeof value === 'object' && value !== null && Object.values(value).some((one) => hasText(one, pattern))

describe('calls that are written in any dialect', () => {
  test('come out as they went in, whole and in pieces', (t) => {
    t.diagnostic(`seed ${SEED}`)
    const read = new Map(CALL_WRITERS.map(({ id }) => [id, 0]))
    const property = fc.property(
      fc.constantFrom(...CALL_WRITERS),
      writtenCalls(text),
      cuts,
      (writer, calls, places) => {
        const whole = writer.write(calls)
        const found = parse([whole], calls)
        assert.deepEqual(parse(cutAt(whole, places), calls), found)
        if (whole.length < 400) assert.deepEqual(parse(whole.split(''), calls), found)
        if (found.calls.length === 0) {
          assert.equal(found.text, whole)
          assert.ok(mayBeLeft(writer, calls), `${writer.id} is left as text`)
          return
        }
        read.set(writer.id, (read.get(writer.id) ?? 0) + 1)
        assert.deepEqual([toInputs(found), found.text], [toExpected(calls), ''])
      },
    )
    fc.assert(property, { seed: SEED, numRuns: 4000 })
    for (const [id, count] of read) assert.ok(count > 10, `${id}: ${count} read`)
  })

  test('come out in order if they are in different dialects, after prose', (t) => {
    t.diagnostic(`seed ${SEED}`)
    const simple = textValues([])
    const block = fc.tuple(fc.constantFrom(...marked), writtenCalls(simple))
    const prose = fc.constantFrom('', 'I will look.\n', 'So:\n\n', '漢字。\n', 'a < b, `<tool_call>` and [1].\n')
    const property = fc.property(
      prose,
      fc.array(block, { minLength: 2, maxLength: 3 }),
      cuts,
      (before, blocks, places) => {
        const calls = blocks.flatMap(([, some], at) => some.map((call) => ({ ...call, name: `${call.name}_${at}` })))
        const texts = blocks.map(([writer, some], at) =>
          writer.write(some.map((call) => ({ ...call, name: `${call.name}_${at}` }))),
        )
        const whole = before + texts.join('\n')
        const found = parse([whole], calls)
        assert.deepEqual(parse(cutAt(whole, places), calls), found)
        if (found.calls.length === 0)
          return assert.ok(
            blocks.some(([writer, some]) => mayBeLeft(writer, some)),
            whole,
          )
        return assert.deepEqual([toInputs(found), found.text], [toExpected(calls), before.trimEnd()])
      },
    )
    fc.assert(property, { seed: SEED, numRuns: 2000 })
  })

  test(
    'come out as they went in, if they are those of the data sets in DRAGOMAN_DATASETS',
    { skip: datasets === undefined ? 'DRAGOMAN_DATASETS names no folder' : false },
    (t) => {
      const counts = { written: 0, read: 0 }
      for (const { id, request } of readDataset(datasets ?? '')) {
        const calls = request.turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts.filter(isPlainCall) : []))
        const written = calls.map(({ name, input = {} }) => ({ name, args: input, schema: {} }))
        // In tags the schema decides, and not every value in the data sets fits it.
        for (const writer of written.length === 0 ? [] : CALL_WRITERS.filter(({ ambiguous }) => !ambiguous)) {
          const found = parse([writer.write(written)], request.tools)
          counts.written++
          if (found.calls.length === 0 && /lfm2|llama4|pythonic/.test(writer.id)) continue
          counts.read++
          assert.deepEqual(toInputs(found), toExpected(written), `${id}, ${writer.id}`)
        }
      }
      t.diagnostic(JSON.stringify(counts))
    },
  )

  test('do not run if they are cut off, or if the response was', (t) => {
    t.diagnostic(`seed ${SEED}`)
    const property = fc.property(
      fc.constantFrom(...CALL_WRITERS),
      writtenCalls(text),
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      (writer, calls, place) => {
        const whole = writer.write(calls)
        const cut = whole.slice(0, Math.floor(place * whole.length))
        assert.deepEqual(parse([cut], calls, undefined, { endedNormally: false, hasNativeCalls: false }).calls, [])
        const expected = toExpected(calls)
        const found = toInputs(parse([cut], calls))
        assert.deepEqual(found, expected.slice(0, found.length))
      },
    )
    fc.assert(property, { seed: SEED, numRuns: 4000 })
  })
})

/** A call whose name a wire would allow. */
function isPlainCall(part: AssistantPart): part is CallPart {
  return part.kind === 'call' && /^[\w-]+$/.test(part.name)
}

/** A value contains what could also be markup, or the notation cannot write a key. */
function mayBeLeft({ id, ambiguous }: CallWriter, calls: readonly WrittenCall[]): boolean {
  // A list that starts with a number could be any list.
  if (id === 'bare pythonic' && /^\d/.test(calls[0]?.name ?? '')) return true
  return calls.some(({ args }) => hasOddKey(args) || (ambiguous !== undefined && hasText(args, ambiguous)))
}

function hasOddKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, inner]) => ODD_KEYS.includes(key) || hasOddKey(inner))
}

describe('no call is found', () => {
  const simple = textValues([])
  const written = fc
    .tuple(fc.constantFrom(...marked), writtenCalls(simple))
    .map(([writer, calls]) => ({ whole: writer.write(calls), calls }))
  const nothing = (
    whole: string,
    calls: readonly WrittenCall[],
    places: readonly number[],
    options?: ScanOptions,
  ): void => {
    const found = parse([whole], calls, options)
    assert.deepEqual([found.calls, found.text], [[], whole])
    assert.deepEqual(parse(cutAt(whole, places), calls, options), found)
  }
  const TOOLS = ['bash', 'read_file', 'list'].map((name) => ({
    name,
    args: {},
    schema: { type: 'object', properties: { path: { type: 'string' } } },
  }))

  test('in a call that is quoted or explained', (t) => {
    t.diagnostic(`seed ${SEED}`)
    const oneLine = (whole: string): string => whole.replaceAll(/[\n`]/g, ' ')
    const indent = (whole: string, by: string): string => whole.replaceAll(/^/gm, by)
    const QUOTES: readonly ((whole: string) => string)[] = [
      (whole) => `\`\`\`\`\n${whole}\n\`\`\`\``,
      (whole) => `So:\n~~~~xml\n${whole}`,
      (whole) => `- \`\`\`\`\`\n${whole}\n`,
      (whole) => `It is \`\`\`${oneLine(whole)}\`\`\``,
      (whole) => indent(whole, '> '),
      (whole) => `It is written so:\n\n${indent(whole, '    ')}`,
      (whole) => `It is written so:\n\n${indent(whole, '\t')}\n`,
      (whole) => `${whole} is how it is written.`,
      (whole) => `${whole}\nThis is how it is written.`,
      (whole) => `请写${whole}来调用。`,
      (whole) => `It is “${whole}”.`,
      (whole) => `He wrote "${whole}Done" to me.`,
      (whole) => `| ${oneLine(whole)}Done. |`,
      (whole) => `<example>${whole}</example>`,
      (whole) => `<tool_response>\n${whole}\n</tool_response>`,
      (whole) => `<!-- ${whole} -->`,
      (whole) => `const text = \`${oneLine(whole)}\`\nexport default text`,
      (whole) => JSON.stringify({ text: whole }),
      (whole) => JSON.stringify([whole]),
      (whole) => `Maybe ${whole} hm.</think>No.`,
      (whole) => `${whole}</think>No.`,
    ]
    const property = fc.property(written, fc.constantFrom(...QUOTES), cuts, ({ whole, calls }, quote, places) =>
      nothing(quote(whole), calls, places),
    )
    fc.assert(property, { seed: SEED, numRuns: 4000 })
  })

  test('in prose and code that mention markers and tools', (t) => {
    t.diagnostic(`seed ${SEED}`)
    const words = [
      'the',
      'call',
      'bash',
      'list',
      'read_file',
      'is',
      'name',
      '.',
      ',',
      '\n',
      '\n\n',
      '(',
      ')',
      '{',
      '}',
      '[',
      ']',
      '{}',
      '()',
      '"',
      "'",
      '`',
      '=',
      ':',
      '{"name"',
      '"bash"',
      'functions.bash',
      'x = list()',
      '```js\n',
      '\n```\n',
      '1. ',
      '- ',
      '# ',
      '&&',
      '=>',
      '<b>',
      '</b>',
      '<div class="x">',
      'Array<string>',
      '漢字',
      '🚀',
    ]
    const word = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...words) },
      { weight: 1, arbitrary: fc.constantFrom(...MARKERS) },
    )
    const sentence = fc.array(word, { maxLength: 40 }).map((parts) => `${parts.join(' ')} and so on.`)
    fc.assert(
      fc.property(sentence, cuts, (whole, places) => nothing(whole, TOOLS, places)),
      { seed: SEED, numRuns: 6000 },
    )
  })

  test('in JSON that is about tools, or that has the members of a call', (t) => {
    t.diagnostic(`seed ${SEED}`)
    const key = fc.constantFrom(
      'name',
      'arguments',
      'parameters',
      'input',
      'args',
      'function',
      'tool',
      'tool_name',
      'type',
      'id',
      'tool_calls',
      'description',
      'version',
      'properties',
      'path',
    )
    const leaf = fc.constantFrom<unknown>('bash', 'list', 'function', 'object', 1, true, null, '', {}, [], {
      path: { type: 'string' },
    })
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        leaf,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(key, tie('value'), { maxKeys: 4 }),
      ),
    }))
    const about = fc.oneof(
      fc.dictionary(key, value, { maxKeys: 5 }),
      fc.array(fc.dictionary(key, value, { maxKeys: 5 }), { maxLength: 3 }),
      fc.constantFrom(...TOOLS).map(({ name, schema }) => ({ name, parameters: schema })),
      fc
        .constantFrom(...TOOLS)
        .map(({ name, schema }) => ({ type: 'function', function: { name, parameters: schema } })),
      fc.constantFrom(...TOOLS).map(({ name, schema }) => [{ name, input: schema }]),
    )
    const wrap = fc.constantFrom<(json: string) => string>(
      (json) => json,
      (json) => `<tools>\n${json}\n</tools>`,
      (json) => `<json>${json}</json>`,
      (json) => `functools${json}`,
      (json) => `bash\n${json}`,
    )
    const property = fc.property(
      about.filter((one) => !isCall(one)),
      wrap,
      cuts,
      (one, around, places) => {
        const whole = around(JSON.stringify(one))
        const isNameAndArguments = whole.startsWith('bash') && isArguments(one)
        if (!isNameAndArguments) nothing(whole, TOOLS, places)
      },
    )
    fc.assert(property, { seed: SEED, numRuns: 6000 })
  })

  test('in an answer that is JSON, as it should be', (t) => {
    t.diagnostic(`seed ${SEED}`)
    const value = fc.oneof(
      fc.jsonValue().filter((one) => typeof one === 'object' && one !== null),
      fc.constant({ name: 'bash', arguments: { path: 'a' } }),
      fc.constant([{ name: 'bash', arguments: { path: 'a' } }]),
      written.map(({ whole }) => ({ text: whole })),
      written.map(({ whole }) => [[whole]]),
    )
    const space = fc.constantFrom('', '\n', ' ')
    const property = fc.property(space, value, fc.constantFrom(0, 2), cuts, (before, one, by, places) =>
      nothing(before + JSON.stringify(one, null, by), TOOLS, places, { isJsonExpected: true }),
    )
    fc.assert(property, { seed: SEED, numRuns: 2000 })
  })

  /** The object has a declared name and fitting arguments, and nothing else. */
  function isCall(one: unknown): boolean {
    if (Array.isArray(one)) return one.length > 0 && one.every(isCall)
    if (typeof one !== 'object' || one === null) return false
    const { id: _id, type: _type, index: _index, tool_call_id: _call, ...rest } = one as Record<string, unknown>
    const keys = Object.keys(rest)
    if (keys.length === 1 && keys[0] === 'tool_calls')
      return Array.isArray(rest['tool_calls']) && isCall(rest['tool_calls'])
    if (keys.length === 1 && keys[0] === 'function') return isCall(rest['function'])
    const name = ['name', 'tool', 'function', 'tool_name'].filter((each) => Object.hasOwn(rest, each))
    const args = ['arguments', 'parameters', 'args', 'input'].filter((each) => Object.hasOwn(rest, each))
    if (keys.length !== 2 || name.length !== 1 || args.length !== 1) return false
    return TOOLS.some((tool) => tool.name === rest[name[0] ?? '']) && isArguments(rest[args[0] ?? ''])
  }

  function isArguments(args: unknown): boolean {
    const one = Array.isArray(args) && args.length === 1 ? (args[0] as unknown) : args
    if (one === null || one === '') return true
    return typeof one === 'object' && !Array.isArray(one) && Object.keys(one).every((key) => key === 'path')
  }
})
