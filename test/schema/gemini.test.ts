import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../src/model/json.ts'
import { declareTools, type ToolDeclarations } from '../../src/schema/dialect/declare-tools.ts'
import { refusals } from './dialect-check.ts'

/** Declares one property `p` for Gemini's older dialect. */
function property(schema: Json, defs: JsonObject = {}): Json | undefined {
  const { tools } = declare({ type: 'object', properties: { p: schema, q: { type: 'string' } }, ...defs })
  const properties = tools[0]?.schema['properties'] as JsonObject
  return properties['p']
}

function declare(schema: JsonObject): ToolDeclarations {
  const projection = declareTools([{ name: 't', description: 'd', schema }], 'gemini')
  for (const tool of projection.tools) assert.deepEqual(refusals('gemini', tool), [])
  return projection
}

const STRING = { type: 'STRING' }
const ANY = [
  { type: 'STRING', description: '(any JSON value)' },
  { type: 'NUMBER' },
  { type: 'BOOLEAN' },
  { type: 'OBJECT' },
  { type: 'ARRAY', items: STRING },
]

describe('T129 the older dialect of Gemini', () => {
  const cases: [string, Json, Json][] = [
    ['types are in capitals', { type: 'integer' }, { type: 'INTEGER' }],
    ['null in a list of types', { type: ['string', 'null'] }, { type: 'STRING', nullable: true }],
    [
      'several types',
      { type: ['string', 'number'], description: 'd', maximum: 3 },
      {
        anyOf: [
          { type: 'STRING', description: 'd' },
          { type: 'NUMBER', maximum: 3 },
        ],
      },
    ],
    [
      'a missing type',
      { description: 'd' },
      { anyOf: [{ ...ANY[0], description: 'd (any JSON value)' }, ...ANY.slice(1)] },
    ],
    ['a missing type with a hint', { minLength: 1 }, { type: 'STRING', minLength: 1 }],
    ['an empty type', { anyOf: [{ type: '' }, { type: 'string' }] }, { anyOf: ANY }],
    ['const', { const: 'x' }, { type: 'STRING', enum: ['x'] }],
    ['numbers in a list of values', { type: 'integer', enum: [1, 2] }, { type: 'STRING', enum: ['1', '2'] }],
    ['an empty text in a list of values', { enum: ['', 'a'] }, { type: 'STRING', enum: ['(empty)', 'a'] }],
    ['null in a list of values', { enum: ['a', null] }, { type: 'STRING', nullable: true, enum: ['a'] }],
    ['an empty list of values', { type: 'string', enum: [] }, { type: 'STRING' }],
    ['both booleans', { enum: [true, false] }, { type: 'BOOLEAN' }],
    [
      'values that only differ in type',
      { enum: [1, '1'] },
      { anyOf: [{ type: 'INTEGER', description: '(one of: 1, "1")' }, STRING] },
    ],
    [
      'listed numbers inside a union',
      { anyOf: [{ enum: [1, 2] }, { type: 'string' }] },
      { anyOf: [{ type: 'INTEGER', description: '(one of: 1, 2)' }, STRING] },
    ],
    [
      'a union of values',
      { anyOf: [{ const: 'a' }, { const: 'b' }, { type: 'null' }] },
      { type: 'STRING', enum: ['a', 'b'], nullable: true },
    ],
    ['an array without items', { type: 'array' }, { type: 'ARRAY', items: { anyOf: ANY } }],
    [
      'an array without items in a nullable union',
      { anyOf: [{ type: 'array' }, { type: 'null' }] },
      { type: 'ARRAY', items: { anyOf: ANY }, nullable: true },
    ],
    [
      'a tuple',
      { type: 'array', items: [{ type: 'string' }, { type: 'string' }] },
      { type: 'ARRAY', items: STRING, description: '(in this order: [{"type":"string"},{"type":"string"}])' },
    ],
    ['properties of a scalar', { type: 'string', properties: { a: {} }, required: ['a'] }, STRING],
    ['an empty object', { type: 'object', properties: {}, required: ['x'] }, { type: 'OBJECT' }],
    [
      'required without a property',
      { type: 'object', properties: { a: { type: 'string' } }, required: ['b'] },
      { type: 'OBJECT', properties: { a: STRING } },
    ],
    [
      'an unknown format',
      { type: 'string', format: 'uri', description: 'd' },
      { type: 'STRING', description: 'd (format: uri)' },
    ],
    ['a known format', { type: 'string', format: 'date-time' }, { type: 'STRING', format: 'date-time' }],
    [
      'siblings of a union',
      { anyOf: [{ type: 'string' }, { type: 'number' }], description: 'd', title: 't', default: 'x' },
      { anyOf: [{ type: 'STRING', description: 'd (default: "x")' }, { type: 'NUMBER' }] },
    ],
    [
      'a union that is only nullable',
      { oneOf: [{ type: 'string', description: 's' }, { type: 'null' }], description: 'd' },
      { type: 'STRING', description: 'd', nullable: true },
    ],
    [
      'allOf',
      {
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { type: 'number', minimum: 1 } } },
        ],
      },
      { type: 'OBJECT', properties: { a: STRING, b: { type: 'NUMBER', minimum: 1 } }, required: ['a'] },
    ],
    [
      'bounds it does not know',
      { type: 'number', exclusiveMinimum: 0, multipleOf: 2 },
      { type: 'NUMBER', description: '(more than 0; a multiple of 2)' },
    ],
    [
      'bounds it knows',
      { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3, uniqueItems: true },
      { type: 'ARRAY', items: STRING, description: '(no item twice)', minItems: 1, maxItems: 3 },
    ],
    ['a pattern', { type: 'string', pattern: '^a' }, { type: 'STRING', pattern: '^a' }],
    [
      'a pattern that looks around',
      { type: 'string', pattern: '^(?=a)' },
      { type: 'STRING', description: '(matches "^(?=a)")' },
    ],
    [
      'a map',
      { type: 'object', additionalProperties: { type: 'string' } },
      { type: 'OBJECT', description: '(other keys hold {"type":"string"})' },
    ],
    [
      'a closed object',
      { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
      { type: 'OBJECT', properties: { a: STRING } },
    ],
    ['not', { type: 'string', not: { const: 'x' } }, { type: 'STRING', description: '(not: {"const":"x"})' }],
    [
      'what goes together',
      {
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'string' } },
        oneOf: [{ required: ['a'] }, { required: ['b'] }],
      },
      { type: 'OBJECT', description: '(give exactly one of: a | b)', properties: { a: STRING, b: STRING } },
    ],
    [
      'property names like keywords',
      {
        type: 'object',
        properties: { pattern: { type: 'string' }, format: { type: 'string' }, maximum: { type: 'number' } },
      },
      { type: 'OBJECT', properties: { pattern: STRING, format: STRING, maximum: { type: 'NUMBER' } } },
    ],
    ['what it never knew', { type: 'string', $comment: 'c', examples: ['x'], 'x-foo': 1, deprecated: true }, STRING],
    ['only null', { type: 'null' }, { type: 'STRING', description: '(null only)', nullable: true }],
    ['a title alone', { type: 'string', title: 'T' }, { type: 'STRING', description: 'T' }],
  ]
  for (const [name, schema, expected] of cases) it(name, () => assert.deepEqual(property(schema), expected))

  it('conditional properties', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"a":{"type":"string"}},"if":{"required":["a"]},"then":{"properties":{"b":{"type":"string"}}}}',
    ) as JsonObject
    assert.deepEqual(property(schema), {
      type: 'OBJECT',
      description: '(if {"required":["a"]} holds, further rules apply)',
      properties: { a: STRING, b: STRING },
    })
  })

  it('references, with their cycles cut', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } }
    const text = JSON.stringify(property({ $ref: '#/$defs/node' }, { $defs: { node } }))
    assert.match(text, /Nested further in the same form as \\"node\\"/)
    assert.doesNotMatch(text, /\$ref|\$defs/)
  })

  it('depth', () => {
    let deep: JsonObject = { type: 'string' }
    for (let i = 0; i < 40; i++) deep = { type: 'object', properties: { a: deep } }
    assert.ok(JSON.stringify(property(deep)).length < 2000)
  })

  it('property names it refuses, at every level and back', () => {
    const inner = {
      type: 'object',
      properties: { 'a b': { type: 'string' }, ok: { type: 'string' } },
      required: ['a b'],
    }
    const projection = declare({
      type: 'object',
      properties: { 'filter[id]': { type: 'array', items: inner } },
      required: ['filter[id]'],
    })
    const wire = projection.toWireArguments('t', { 'filter[id]': [{ 'a b': 'x', ok: 'y' }] })
    assert.match(JSON.stringify(wire), /^{"filter_id_[a-z0-9]{6}":\[{"a_b_[a-z0-9]{6}":"x","ok":"y"}\]}$/)
    assert.deepEqual(projection.toToolInput('t', wire), { 'filter[id]': [{ 'a b': 'x', ok: 'y' }] })
  })

  it('values spelt as text, and back', () => {
    const projection = declare({
      type: 'object',
      properties: {
        n: { enum: [1, 2.5, true, '', 'x', { a: 1 }, null] },
        list: { type: 'array', items: { enum: [7] } },
      },
    })
    assert.deepEqual(projection.tools[0]?.schema['properties'], {
      n: { type: 'STRING', nullable: true, enum: ['1', '2.5', 'true', '(empty)', 'x', '{"a":1}'] },
      list: { type: 'ARRAY', items: { type: 'STRING', enum: ['7'] } },
    })
    for (const [input, wire] of [
      [1, '1'],
      [2.5, '2.5'],
      [true, 'true'],
      ['', '(empty)'],
      ['x', 'x'],
      [{ a: 1 }, '{"a":1}'],
      [null, null],
    ] as [Json, Json][]) {
      assert.deepEqual(projection.toWireArguments('t', { n: input, list: [7] }), { n: wire, list: ['7'] })
      assert.deepEqual(projection.toToolInput('t', { n: wire, list: ['7', 'other'] }), { n: input, list: [7, 'other'] })
    }
  })

  it('names below a cut still find their way back', () => {
    const projection = declare({ type: 'object', properties: { 'a b': { $ref: '#' }, v: { type: 'string' } } })
    const input = { 'a b': { 'a b': { 'a b': { 'a b': { v: 'x' } } } } }
    assert.deepEqual(projection.toToolInput('t', projection.toWireArguments('t', input)), input)
    assert.doesNotMatch(JSON.stringify(projection.toWireArguments('t', input)), /a b/)
  })

  it('a tool without arguments', () => {
    assert.deepEqual(declare({ type: 'object', properties: {} }).tools[0]?.schema, { type: 'OBJECT' })
  })
})
