import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { repairSchema } from '../../src/schema/normalize/repair-schema.ts'

describe('repairSchema', () => {
  const cases: [string, unknown, unknown, RegExp | undefined][] = [
    ['nothing at all', undefined, { type: 'object', properties: {} }, /declares no parameter schema/],
    ['true', true, { type: 'object', properties: {} }, /declares no parameter schema/],
    ['an empty schema', {}, { type: 'object', properties: {} }, /object/],
    [
      'properties without a type',
      { properties: { a: { properties: {} } } },
      { type: 'object', properties: { a: { type: 'object', properties: {} } } },
      /missing type/,
    ],
    [
      'items without a type',
      { type: 'object', properties: { a: { items: { type: 'string' } } } },
      { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } },
      /"array" at "\/properties\/a"/,
    ],
    [
      'listed values',
      { type: 'object', properties: { a: { enum: ['x'] }, b: { const: 1 }, c: { enum: [1, 'x'] } } },
      {
        type: 'object',
        properties: { a: { type: 'string', enum: ['x'] }, b: { type: 'integer', const: 1 }, c: { enum: [1, 'x'] } },
      },
      undefined,
    ],
    [
      'boolean properties',
      { type: 'object', properties: { a: true, b: false } },
      { type: 'object', properties: { a: {} } },
      /accept no value/,
    ],
    ['no properties', { type: 'object' }, { type: 'object', properties: {} }, undefined],
    ['a nullable root', { type: ['object', 'null'], properties: {} }, { type: 'object', properties: {} }, undefined],
    [
      'unknown required names',
      { type: 'object', properties: { a: {} }, required: ['a', 'b'] },
      { type: 'object', properties: { a: {} }, required: ['a'] },
      /not declared/,
    ],
    [
      'required twice',
      { type: 'object', properties: { a: {} }, required: ['a', 'a', 3] },
      { type: 'object', properties: { a: {} }, required: ['a'] },
      /repeated/,
    ],
    [
      'required in the property',
      { type: 'object', properties: { a: { type: 'string', required: true } } },
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      /moved/,
    ],
    [
      'null descriptions',
      { type: 'object', description: null, properties: { a: { type: 'string', description: null } } },
      { type: 'object', properties: { a: { type: 'string' } } },
      undefined,
    ],
    [
      'a tuple of draft 7',
      { type: 'object', properties: { a: { type: 'array', items: [{ type: 'string' }], additionalItems: false } } },
      { type: 'object', properties: { a: { type: 'array', prefixItems: [{ type: 'string' }], items: false } } },
      undefined,
    ],
    [
      'a dead reference',
      { type: 'object', properties: { a: { $ref: '#/x', description: 'd' } } },
      { type: 'object', properties: { a: { description: 'd' } } },
      /cannot be resolved/,
    ],
    [
      'a bare type',
      { type: 'object', properties: { a: 'string', b: 'what' } },
      { type: 'object', properties: { a: { type: 'string' }, b: {} } },
      /not a schema/,
    ],
    [
      'an empty enum',
      { type: 'object', properties: { a: { type: 'string', enum: [] } } },
      { type: 'object', properties: { a: { type: 'string' } } },
      /enum/,
    ],
  ]
  for (const [name, schema, expected, told] of cases) {
    it(`mends ${name}`, () => {
      const repair = repairSchema(schema)
      assert.ok('schema' in repair)
      assert.deepEqual(repair.schema, expected)
      if (told === undefined) assert.deepEqual(repair.repairs, [])
      else assert.match(repair.repairs.join('\n'), told)
    })
  }

  it('leaves a sound schema as the object it is', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { type: ['string', 'null'] },
        b: { anyOf: [{ required: ['x'] }, { type: 'null' }] },
        c: { $ref: '#/$defs/d' },
      },
      required: ['a', 'id'],
      allOf: [{ $ref: '#/$defs/d' }],
      additionalProperties: false,
      $defs: { d: { type: 'object', properties: { id: { type: 'string' } } } },
    }
    assert.deepEqual(repairSchema(schema), { schema, repairs: [] })
    const repair = repairSchema(schema)
    assert.ok('schema' in repair && repair.schema === schema)
  })

  it('says why a schema is beyond repair', () => {
    const circle: Record<string, unknown> = {}
    circle['properties'] = { a: circle, b: circle }
    let deep: unknown = {}
    for (let i = 0; i < 200; i++) deep = { type: 'object', properties: { a: deep } }
    const reason = (schema: unknown): string => {
      const repair = repairSchema(schema)
      return 'unusable' in repair ? repair.unusable : ''
    }
    assert.match(reason('object'), /not an object/)
    assert.match(reason([]), /not an object/)
    assert.match(reason(false), /false/)
    assert.match(reason({ type: 'string' }), /declared as "string"/)
    assert.match(reason({ type: ['array', 'null'] }), /not as an object/)
    assert.match(reason(circle), /contains itself/)
    assert.match(reason(deep), /levels deep/)
    assert.match(reason({ properties: { a: { default: 1n } } }), /too large/)
  })
})
