import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import type { Json } from '../../src/model/json.ts'
import { parseCallArguments } from '../../src/wire/calls/parse-arguments.ts'
import { createPartialArgsWriter } from '../../src/wire/gemini/partial-args.ts'

type Piece = Record<string, unknown>

/** The pieces in which an object would come, its strings cut in two. */
function pieces(value: Json, path = '$'): Piece[] {
  if (Array.isArray(value)) return value.flatMap((inner, at) => pieces(inner, `${path}[${at}]`))
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => pieces(inner, `${path}[${quoted(key)}]`))
  }
  if (typeof value === 'number') return [{ jsonPath: path, numberValue: value }]
  if (typeof value === 'boolean') return [{ jsonPath: path, boolValue: value }]
  if (value === null) return [{ jsonPath: path, nullValue: 'NULL_VALUE' }]
  const cut = value.length >> 1
  return [
    { jsonPath: path, stringValue: value.slice(0, cut), willContinue: true },
    { jsonPath: path, stringValue: value.slice(cut) },
  ]
}

function quoted(key: string): string {
  return `'${key.replace(/['\\]/g, '\\$&')}'`
}

const leaf = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.boolean(), fc.constant(null))
const { tree } = fc.letrec<{ tree: Json; node: Json }>((tie) => ({
  node: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('node'), { minLength: 1, maxLength: 3 }), tie('tree')),
  tree: fc.dictionary(fc.string(), tie('node'), { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
}))

describe('arguments in pieces (T128)', () => {
  test('any object comes together again, and is not whole before its end', () => {
    fc.assert(
      fc.property(tree, (value) => {
        const args = createPartialArgsWriter()
        let text = ''
        for (const piece of pieces(value)) {
          text += args.push([piece])
          assert.equal(parseCallArguments(text).ok, false)
        }
        assert.deepEqual(JSON.parse(text + args.end()), JSON.parse(JSON.stringify(value)))
        assert.equal(args.broken, undefined)
      }),
    )
  })

  test('paths may be dotted, bracketed or quoted', () => {
    const args = createPartialArgsWriter()
    const text = args.push([
      { jsonPath: '$.a.b[0].c', numberValue: 1 },
      { jsonPath: '$.a.b[1]', boolValue: true },
      { jsonPath: `$.a['x.y']`, nullValue: null },
      { jsonPath: `$["q\\"r"]`, stringValue: '"' },
    ])
    assert.deepEqual(JSON.parse(text + args.end()), { a: { b: [{ c: 1 }, true], 'x.y': null }, 'q"r': '"' })
  })

  test('no pieces at all are no arguments', () => {
    const args = createPartialArgsWriter()
    assert.equal(args.push(undefined) + args.end(), '{}')
  })

  test('what is out of order, twice, missing or not understood is never made whole', () => {
    const bad: Piece[][] = [
      [{ jsonPath: '$.a[1]', numberValue: 1 }],
      [{ jsonPath: '$.a[999999999]', numberValue: 1 }],
      [{ jsonPath: '$', numberValue: 1 }],
      [{ jsonPath: '$..a', numberValue: 1 }],
      [{ jsonPath: '$.a' }],
      [{ numberValue: 1 }],
      [
        { jsonPath: '$.a', numberValue: 1 },
        { jsonPath: '$.a', numberValue: 2 },
      ],
      [
        { jsonPath: '$.a', numberValue: 1 },
        { jsonPath: '$.a.b', numberValue: 2 },
      ],
      [
        { jsonPath: '$.a.b', numberValue: 1 },
        { jsonPath: '$.c', numberValue: 1 },
        { jsonPath: '$.a.d', numberValue: 1 },
      ],
      [
        { jsonPath: '$.a.b', numberValue: 1 },
        { jsonPath: '$.a[0]', numberValue: 1 },
      ],
      [
        { jsonPath: '$.a', stringValue: 'x', willContinue: true },
        { jsonPath: '$.b', stringValue: 'y' },
      ],
      [
        { jsonPath: '$.a', stringValue: 'x', willContinue: true },
        { jsonPath: '$.a', numberValue: 1 },
      ],
      [{ jsonPath: '$.a', stringValue: 'x', willContinue: true }],
    ]
    for (const list of bad) {
      const args = createPartialArgsWriter()
      const text = args.push(list) + args.end()
      assert.equal(parseCallArguments(text).ok, false, JSON.stringify(list))
      assert.ok(args.broken, JSON.stringify(list))
    }
  })

  test('a path cannot reach a prototype', () => {
    const args = createPartialArgsWriter()
    const text = args.push([{ jsonPath: '$.__proto__.polluted', boolValue: true }]) + args.end()
    JSON.parse(text)
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined)
  })
})
