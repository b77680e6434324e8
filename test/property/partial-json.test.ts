import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { createOutputContract } from '../../src/agent/output/output-contract.ts'
import { parsePartialJson } from '../../src/agent/output/partial-json.ts'
import { createPartialOutput } from '../../src/agent/output/partial-output.ts'
import { isObject, type Json } from '../../src/model/json.ts'
import { assertCpuTime } from '../support/cpu-time.ts'
import { runs } from '../support/runs.ts'

/** Values with the strings that are hard to cut: escapes, surrogate pairs, backslashes in a row. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('\\', '"', '\n', '😀', 'é', 'u0041', '\u0001', 'a'), { maxLength: 12 })
    .map((all) => all.join('')),
)
const scalar = fc.oneof(
  text,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
)
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(text, fc.constant('__proto__')), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

/** As different writers write it. */
const writers: readonly ((value: Json) => string)[] = [
  (one) => JSON.stringify(one),
  (one) => JSON.stringify(one, null, 2),
  (one) =>
    JSON.stringify(one, null, '\t').replace(
      /[^\x00-\x7f]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
]

/** Is everything of a part in the whole, at the same place, with nothing added? */
function isBeginning(part: Json, whole: Json): boolean {
  if (typeof part === 'string') return typeof whole === 'string' && whole.startsWith(part)
  if (Array.isArray(part)) {
    if (!Array.isArray(whole) || part.length > whole.length) return false
    return part.every((one, at) =>
      at < part.length - 1 ? isSame(one, whole[at]) : isBeginning(one, whole[at] ?? null),
    )
  }
  if (!isObject(part)) return Object.is(part, whole)
  if (!isObject(whole)) return false
  const [names, all] = [Object.keys(part), Object.keys(whole)]
  return names.every((name) => all.includes(name) && isBeginning(part[name] as Json, whole[name] as Json))
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

describe('a value that is read while its text arrives', () => {
  const { options } = runs(2000)

  it('is a beginning of the whole value, wherever the text is cut', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(...writers), fc.nat(), (whole, write, cut) => {
        const json = write(whole)
        const part = parsePartialJson(json.slice(0, cut % (json.length + 1)))
        // What JSON cannot write, such as -0, is not expected back.
        const exact = JSON.parse(json) as Json
        if (part !== undefined) assert.ok(isBeginning(part, exact), `${JSON.stringify(part)} of ${json}`)
        if (typeof whole !== 'number') assert.deepEqual(parsePartialJson(json), exact)
        assert.deepEqual(parsePartialJson(`${json} `), exact)
      }),
      options,
    )
  })

  it('only grows', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(...writers), (whole, write) => {
        const json = write(whole)
        let last: Json | undefined
        for (let at = 1; at <= json.length; at++) {
          const part = parsePartialJson(json.slice(0, at))
          assert.ok(last === undefined || (part !== undefined && isBeginning(last, part)), json.slice(0, at))
          last = part
        }
      }),
      { ...options, numRuns: options.numRuns / 10 },
    )
  })

  it('is nothing, and no error, if the text is not JSON', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.array(fc.constantFrom(...'{}[]",:\\1-etrufalsn '.split('')))), (given) => {
        parsePartialJson(typeof given === 'string' ? given : given.join(''))
      }),
      options,
    )
    for (const wrong of ['{a', '{"a" 1', '[1 2', '{"a":1,}', 'hello', '{"a":tru3', '"\\x"', '"\n"', '[1}'])
      assert.equal(parsePartialJson(wrong), undefined, wrong)
    assert.equal(parsePartialJson('['.repeat(100_000)), undefined)
  })

  it('leaves out what may still continue', () => {
    for (const [cut, part] of [
      ['{"a":12', {}],
      ['{"a":12,', { a: 12 }],
      ['{"a":-', {}],
      ['{"a":tr', {}],
      ['{"a":true', { a: true }],
      ['{"a', {}],
      ['{"a":', {}],
      ['{"a":"x\\', { a: 'x' }],
      ['{"a":"x\\u00', { a: 'x' }],
      ['{"a":"x\\ud83d', { a: 'x' }],
      ['{"a":"x\\ud83d\\ude', { a: 'x' }],
      ['{"a":"x\\\\u00', { a: 'x\\u00' }],
      ['{"a":[1,{"b":"c', { a: [1, { b: 'c' }] }],
    ] as const)
      assert.deepEqual(parsePartialJson(cut), part, cut)
  })

  it('costs no more than in proportion to the text', async () => {
    const contract = createOutputContract({ schema: { type: 'object' } })
    const json = JSON.stringify({ all: Array.from({ length: 10_000 }, (_, at) => ({ at, text: `\\"${at}` })) })
    let shown = 0
    await assertCpuTime(() => {
      const partial = createPartialOutput(contract)
      partial.onEvent({ type: 'part-open', index: 0, kind: 'text' })
      for (let at = 0; at < json.length; at += 8)
        shown += partial.onEvent({ type: 'part-delta', index: 0, kind: 'text', text: json.slice(at, at + 8) }).length
    }, 6)
    assert.ok(shown > 100, `${shown} of ${json.length}`)
    // Backslashes in a row are looked at once.
    await assertCpuTime(() => parsePartialJson(`{"a":"${'\\'.repeat(300_001)}`), 1)
  })

  it('begins anew with a new attempt, and shows nothing of text before the JSON', () => {
    const partial = createPartialOutput(createOutputContract({ schema: { type: 'object' } }))
    const push = (index: number, delta: string) => {
      partial.onEvent({ type: 'part-open', index, kind: 'text' })
      return partial.onEvent({ type: 'part-delta', index, kind: 'text', text: delta })
    }
    assert.deepEqual(push(0, '```json\n{"a":"b'), [{ type: 'output', value: { a: 'b' }, isPartial: true }])
    partial.onEvent({ type: 'open', anew: true })
    assert.deepEqual(partial.onEvent({ type: 'part-delta', index: 0, kind: 'text', text: 'x' }), [])
    assert.deepEqual(push(0, 'As {"a":1} shows, '), [])
    assert.deepEqual(push(1, ' {"a":1,'), [{ type: 'output', value: { a: 1 }, isPartial: true }])
    assert.deepEqual(push(2, '"b":2}'), [{ type: 'output', value: { a: 1, b: 2 }, isPartial: true }])
  })
})
