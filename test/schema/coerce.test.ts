import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { coerceArguments, validateOrCoerce } from '../../src/schema/coerce/coerce-arguments.ts'

/** A tool with one parameter, `a`. */
function one(schema: JsonObject | boolean, required = true): JsonObject {
  return { type: 'object', properties: { a: schema }, required: required ? ['a'] : [], additionalProperties: false }
}

/** What becomes of `{a: given}`, or undefined. */
function mended(schema: JsonObject, given: unknown): unknown {
  const coerced = coerceArguments(schema, given)
  if (coerced === undefined) return undefined
  assert.ok(coerced.changes.length > 0, 'a change is always reported')
  return coerced.value
}

type Case = [string, JsonObject, JsonObject, JsonObject | undefined]

function table(cases: Case[]): void {
  for (const [name, schema, given, expected] of cases) {
    it(name, () => {
      const before = JSON.stringify(given)
      assert.deepEqual(mended(schema, given), expected)
      assert.equal(JSON.stringify(given), before)
    })
  }
}

const strings = { type: 'array', items: { type: 'string' } }
const point = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] }

describe('T32 one field stringified', () => {
  table([
    ['an array', one(strings), { a: '["x","y"]' }, { a: ['x', 'y'] }],
    ['an object', one(point), { a: ' {"x": 1} ' }, { a: { x: 1 } }],
    ['an object with a drifted field', one(point), { a: '{"x":"1"}' }, { a: { x: 1 } }],
    ['one object for a list of them', one({ type: 'array', items: point }), { a: '{"x":1}' }, { a: [{ x: 1 }] }],
    [
      'a field deep inside',
      { properties: { o: { type: 'array', items: one(strings) } } },
      { o: [{ a: '["x"]' }] },
      { o: [{ a: ['x'] }] },
    ],
    [
      'never where text may stand',
      one({ anyOf: [{ type: 'string', minLength: 99 }, strings] }),
      { a: '["x"]' },
      undefined,
    ],
    ['never a text that only fails its pattern', one({ type: 'string', pattern: '^z' }), { a: '["x"]' }, undefined],
    ['never a cut text', one(strings), { a: '["x", "y' }, { a: ['["x", "y'] }],
    ['never a number that would be rounded', one(point), { a: '{"x":12345678901234567890}' }, undefined],
    [
      'no prototype is set',
      one({ type: 'object', additionalProperties: { type: 'number' } }),
      { a: '{"__proto__":1}' },
      { a: JSON.parse('{"__proto__":1}') as JsonObject },
    ],
  ])
})

describe('T43 scalar type drift', () => {
  table([
    ['a number', one({ type: 'integer' }), { a: '12' }, { a: 12 }],
    ['a negative fraction', one({ type: 'number' }), { a: '-0.50' }, { a: -0.5 }],
    ['an exponent', one({ type: 'number' }), { a: '1e3' }, { a: 1000 }],
    ['a whole fraction', one({ type: 'integer' }), { a: '5.0' }, { a: 5 }],
    ['no fraction for an integer', one({ type: 'integer' }), { a: '5.5' }, undefined],
    ['no words', one({ type: 'integer' }), { a: '12 lines' }, undefined],
    ['no hexadecimal', one({ type: 'integer' }), { a: '0x10' }, undefined],
    ['no empty text', one({ type: 'integer' }), { a: '' }, undefined],
    ['no rounding', one({ type: 'integer' }), { a: '9007199254740993' }, undefined],
    ['a boolean', one({ type: 'boolean' }), { a: 'true' }, { a: true }],
    ["Python's boolean", one({ type: 'boolean' }), { a: 'False' }, { a: false }],
    ['no truth in a number', one({ type: 'boolean' }), { a: 1 }, undefined],
    ['a listed number', one({ enum: [1, 2] }), { a: '2' }, { a: 2 }],
    ['a number for text', one({ type: 'string' }), { a: 12 }, { a: '12' }],
    ['no fraction for text: 3.10 is not 3.1', one({ type: 'string' }), { a: 3.1 }, undefined],
    ['no unsafe number for text', one({ type: 'string' }), { a: 2 ** 60 }, undefined],
    ['a single value for a list', one(strings), { a: 'x' }, { a: ['x'] }],
    ['a single object for a list', one({ type: 'array', items: point }), { a: { x: 1 } }, { a: [{ x: 1 }] }],
    ['a number for a list of text', one(strings), { a: 7 }, { a: ['7'] }],
    ['not too few of them', one({ ...strings, minItems: 2 }), { a: 'x' }, undefined],
    ['inside a union', one({ anyOf: [{ type: 'integer' }, { type: 'null' }] }), { a: '12' }, { a: 12 }],
    ['a draw between branches changes nothing', one({ anyOf: [{ type: 'integer' }, strings] }), { a: true }, undefined],
    ['by reference', { ...one({ $ref: '#/$defs/n' }), $defs: { n: { type: 'integer' } } }, { a: '1' }, { a: 1 }],
  ])

  it('lets 5.0 pass as the integer it is', () =>
    assert.deepEqual(validateOrCoerce(one({ type: 'integer' }), { a: 5.0 }), {
      ok: true,
      value: { a: 5 },
      changes: [],
    }))
})

describe('T49 numbers', () => {
  table([
    [
      'a long id stays text where text is allowed',
      one({ type: ['string', 'integer'], pattern: '^x' }),
      { a: '12345678901234567890' },
      undefined,
    ],
    ['a long id is not rounded into a number', one({ type: 'integer' }), { a: '12345678901234567890' }, undefined],
    ['nor is a long fraction', one({ type: 'number' }), { a: '0.12345678901234567890123' }, undefined],
    ['infinity is no number', one({ type: 'number' }), { a: '1e999' }, undefined],
    ['nor is NaN', one({ type: 'number' }), { a: 'NaN' }, undefined],
  ])

  it('refuses a number that was read as infinity', () => {
    assert.equal(validateOrCoerce(one({ type: 'number' }), JSON.parse('{"a":1e999}')).ok, false)
  })
})

describe('T44 null for optional', () => {
  table([
    ['null goes', one({ type: 'string' }, false), { a: null }, {}],
    ['null stays where it is needed', one({ type: 'string' }), { a: null }, undefined],
    ['"null" goes where no text may stand', one({ type: 'integer' }, false), { a: 'null' }, {}],
    ['"None" goes too', one({ type: 'array' }, false), { a: 'None' }, {}],
    ['"None" stays text', one({ type: 'string', minLength: 9 }, false), { a: 'None' }, undefined],
    ['"none" is a value of its own', one({ enum: ['all', 'some'] }, false), { a: 'None' }, undefined],
    ['"null" becomes null where null is allowed', one({ type: ['integer', 'null'] }), { a: 'null' }, { a: null }],
    ['deep inside', { properties: { o: one({ type: 'string' }, false) } }, { o: { a: null } }, { o: {} }],
  ])

  it('leaves a listed "None" alone', () =>
    assert.equal(validateOrCoerce(one({ enum: ['None', 'All'] }, false), { a: 'None' }).ok, true))
})

describe('T45 wrong envelope', () => {
  const schema = one({ type: 'string' })
  table([
    ...['arguments', 'parameters', 'input', 'args', 'properties', 'params'].map((key): Case => [
      key,
      schema,
      { [key]: { a: 'x' } },
      { a: 'x' },
    ]),
    ['with the name of the tool', schema, { name: 'read', parameters: { a: 'x' } }, { a: 'x' }],
    ['as text', schema, { arguments: '{"a":"x"}' }, { a: 'x' }],
    ['not if what is inside does not fit', schema, { arguments: { b: 'x' } }, undefined],
    ['not with two of them', schema, { arguments: { a: 'x' }, input: { a: 'x' } }, undefined],
    ['not with anything else beside it', schema, { arguments: { a: 'x' }, b: 1 }, undefined],
    [
      'not if the tool has a parameter of that name',
      { ...schema, properties: { a: {}, input: { type: 'string' } } },
      { input: { a: 'x' } },
      undefined,
    ],
    [
      'not if a parameter would be lost',
      { ...schema, properties: { a: {}, name: {} } },
      { name: 'n', input: { a: 'x' } },
      undefined,
    ],
  ])
})

describe('T46 object where text is expected', () => {
  table([
    ['an object', one({ type: 'string' }), { a: { b: 1 } }, { a: '{\n  "b": 1\n}' }],
    ['an array', one({ type: 'string' }), { a: [1] }, { a: '[\n  1\n]' }],
    ['not where an object may stand', one({ anyOf: [{ type: 'string' }, point] }), { a: { b: 1 } }, undefined],
  ])
})

describe('T47 extra and misspelt properties', () => {
  const schema = {
    type: 'object',
    properties: { file_path: { type: 'string' }, limit: { type: 'integer' } },
    required: ['file_path'],
    additionalProperties: false,
  }
  table([
    ['an extra goes', schema, { file_path: 'x', why: 'so' }, { file_path: 'x' }],
    ['another case', schema, { filePath: 'x' }, { file_path: 'x' }],
    ['another separator', schema, { 'file-path': 'x' }, { file_path: 'x' }],
    ['a typing error', schema, { fil_path: 'x' }, { file_path: 'x' }],
    ['two typing errors', schema, { fiel_path: 'x' }, { file_path: 'x' }],
    ['three are too many', schema, { flpth: 'x' }, undefined],
    ['not with the wrong type', schema, { filePath: ['x'] }, undefined],
    ['not in doubt', schema, { file_pat: 'x', file_pth: 'y' }, undefined],
    ['the same letters beat a typing error', schema, { filePath: 'x', file_pat: 'y' }, { file_path: 'x' }],
    [
      'not what is short',
      { type: 'object', properties: { dst: { type: 'string' } }, required: ['dst'] },
      { src: 'x' },
      undefined,
    ],
    ['an optional near miss is an extra', schema, { file_path: 'x', limt: 3 }, { file_path: 'x' }],
    [
      'patterns are known',
      { ...schema, patternProperties: { '^x-': {} } },
      { file_path: 'x', 'x-a': 1, y: 2 },
      { file_path: 'x', 'x-a': 1 },
    ],
    [
      'in a union, the nearer branch',
      { anyOf: [one({ type: 'string' }), { ...one({ type: 'string' }), properties: { b: {} }, required: ['b'] }] },
      { a: 'x', c: 1 },
      { a: 'x' },
    ],
  ])

  it('reports each of them by its path', () => {
    const { changes } = coerceArguments(
      { properties: { e: { type: 'array', items: schema } } },
      { e: [{ filePath: 'x', why: 1, limit: '3' }] },
    ) ?? { changes: [] }
    assert.deepEqual(changes, [
      '"e[0].filePath" was read as "e[0].file_path".',
      '"e[0].limit" was the text "3"; it was read as the number 3.',
      '"e[0].why" is not a known property; it was omitted.',
    ])
  })
})

describe('settle', () => {
  it('leaves valid arguments as they are', () => {
    const value = { a: 'x' }
    const settled = validateOrCoerce(one({ type: 'string' }), value)
    assert.ok(settled.ok && settled.value === value && settled.changes.length === 0)
  })

  it('gives the problems of the arguments as they came', () => {
    const settled = validateOrCoerce(one({ type: 'integer' }), { a: 'x', b: 1 })
    assert.ok(!settled.ok)
    assert.deepEqual(
      settled.errors.map(({ path }) => path),
      ['/a', '/b'],
    )
  })

  it('wants an object, whatever the schema says', () => {
    for (const value of ['x', 3, null, [], undefined]) assert.equal(validateOrCoerce({}, value).ok, false)
  })
})
