import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { hasCycleInSchema } from '../../src/schema/normalize/detect-cycles.ts'
import { hasValidTypes } from '../../src/schema/normalize/has-valid-types.ts'
import { inlineRefs } from '../../src/schema/normalize/inline-refs.ts'
import { omitKeys } from '../../src/schema/own-properties.ts'
import { forEachSubschema, mapAllSubschemas, getSchemaPointer } from '../../src/schema/walk-schema.ts'

describe('the walker', () => {
  it('knows a keyword from a property of that name', () => {
    const schema = {
      type: 'object',
      properties: { pattern: { type: 'string', pattern: 'x' }, format: { type: 'string' } },
    }
    const bare = mapAllSubschemas(schema, (inner) =>
      typeof inner === 'boolean' ? inner : omitKeys(inner, ['pattern', 'format']),
    )
    assert.deepEqual(bare, { type: 'object', properties: { pattern: { type: 'string' }, format: { type: 'string' } } })
  })

  it('finds every subschema, and nothing that is data', () => {
    const found: string[] = []
    const schema = {
      properties: { a: {}, __proto__: {} },
      patternProperties: { '^x': {} },
      additionalProperties: {},
      items: {},
      prefixItems: [{}],
      anyOf: [{}],
      oneOf: [{}],
      allOf: [{ not: {} }],
      if: {},
      else: {},
      $defs: { 'a/b': {} },
      definitions: { d: {} },
      contains: {},
      propertyNames: {},
      dependentSchemas: { k: {} },
      unevaluatedProperties: false,
      unevaluatedItems: {},
      default: { properties: { no: {} } },
      enum: [{ items: {} }],
      const: { items: {} },
    }
    forEachSubschema(schema, (_inner, place) => found.push(getSchemaPointer(place)))
    assert.deepEqual(found, [
      '',
      '/properties/a',
      '/patternProperties/^x',
      '/additionalProperties',
      '/items',
      '/prefixItems/0',
      '/anyOf/0',
      '/oneOf/0',
      '/allOf/0',
      '/allOf/0/not',
      '/if',
      '/else',
      '/$defs/a~1b',
      '/definitions/d',
      '/contains',
      '/propertyNames',
      '/dependentSchemas/k',
      '/unevaluatedProperties',
      '/unevaluatedItems',
    ])
  })

  it('gives back the same object when nothing changed', () => {
    const schema = { type: 'object', properties: { a: { anyOf: [{ type: 'string' }, true] } } }
    assert.equal(
      mapAllSubschemas(schema, (inner) => inner),
      schema,
    )
    assert.equal(
      mapAllSubschemas(schema, (inner) => inner, 'down'),
      schema,
    )
  })
})

describe('inlineRefs', () => {
  it('resolves definitions, pointers, anchors, ids and escapes', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { $ref: '#/$defs/x' },
        b: { $ref: '#/definitions/old', description: 'mine' },
        c: { $ref: '#/properties/d' },
        d: { type: 'number' },
        e: { $ref: '#here' },
        f: { $ref: '#/$defs/a~1b%20c' },
        g: { $ref: 'https://example.com/inner' },
      },
      $defs: {
        x: { type: 'string' },
        y: { $anchor: 'here', type: 'boolean' },
        'a/b c': { type: 'null' },
        z: { $id: 'https://example.com/inner', type: 'array' },
      },
      definitions: { old: { type: 'integer', description: 'theirs' } },
    }
    assert.deepEqual(inlineRefs(schema), {
      schema: {
        type: 'object',
        properties: {
          a: { type: 'string' },
          b: { type: 'integer', description: 'mine' },
          c: { type: 'number' },
          d: { type: 'number' },
          e: { type: 'boolean' },
          f: { type: 'null' },
          g: { type: 'array' },
        },
      },
      cutRefs: [],
    })
  })

  it('cuts cycles at a small depth and says so', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } }
    const { schema, cutRefs } = inlineRefs(
      { type: 'object', properties: { root: { $ref: '#/$defs/node' } }, $defs: { node } },
      1,
    )
    assert.deepEqual(cutRefs, ['#/$defs/node'])
    assert.deepEqual(schema, {
      type: 'object',
      properties: {
        root: {
          type: 'object',
          properties: { next: { type: 'object', description: 'Nested further in the same form as "node".' } },
        },
      },
    })
    assert.deepEqual(inlineRefs({ properties: { self: { $ref: '#' } } }).cutRefs, ['#'])
    assert.deepEqual(inlineRefs({ $ref: '#' }).cutRefs, ['#'])
  })

  it('cuts references that lead nowhere, and ones that would explode', () => {
    assert.deepEqual(inlineRefs({ properties: { a: { $ref: 'other.json', title: 'A' } } }), {
      schema: { properties: { a: { title: 'A' } } },
      cutRefs: ['other.json'],
    })
    const $defs: JsonObject = { d40: { type: 'string' } }
    for (let i = 0; i < 40; i++) {
      const next = { $ref: `#/$defs/d${i + 1}` }
      $defs[`d${i}`] = { type: 'object', properties: { a: next, b: next } }
    }
    const { schema, cutRefs } = inlineRefs({ properties: { a: { $ref: '#/$defs/d0' } }, $defs })
    assert.ok(cutRefs.length > 0)
    assert.ok(JSON.stringify(schema).length < 2_000_000)
  })

  it('adds up the rules beside a reference', () => {
    const { schema } = inlineRefs({
      properties: { a: { $ref: '#/$defs/x', minLength: 2, type: 'string' } },
      $defs: { x: { type: 'string' } },
    })
    assert.deepEqual(schema, { properties: { a: { allOf: [{ type: 'string' }, { minLength: 2, type: 'string' }] } } })
  })
})

describe('hasCycleInSchema', () => {
  const cases: [string, unknown, boolean][] = [
    ['a property that is itself', { properties: { data: { $ref: '#/properties/data' } } }, true],
    [
      'a child that is its parent',
      { properties: { data: { properties: { child: { $ref: '#/properties/data' } } } } },
      true,
    ],
    [
      'items that hold their like',
      { properties: { d: { items: { properties: { c: { $ref: '#/properties/d/items' } } } } } },
      true,
    ],
    [
      'two that hold each other',
      {
        properties: {
          a: { properties: { x: { $ref: '#/properties/b' } } },
          b: { properties: { y: { $ref: '#/properties/a' } } },
        },
      },
      true,
    ],
    ['the root', { properties: { a: { $ref: '#' } } }, true],
    ['a map of properties', { properties: { a: { properties: { $ref: '#/properties' } } } }, true],
    [
      'the same definition twice',
      { properties: { a: { $ref: '#/$defs/x' }, b: { $ref: '#/$defs/x' } }, $defs: { x: { type: 'string' } } },
      false,
    ],
    ['a chain that ends', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: {} } }, false],
    ['a dead reference', { $ref: '#/nowhere' }, false],
    ['a property named $ref', { properties: { $ref: { type: 'string' } } }, false],
    ['nothing', undefined, false],
  ]
  for (const [name, schema, cyclic] of cases)
    it(`${cyclic ? 'finds' : 'does not see'} a cycle in ${name}`, () => assert.equal(hasCycleInSchema(schema), cyclic))

  it('finds an object that contains itself', () => {
    const schema: Record<string, unknown> = {}
    schema['items'] = schema
    assert.equal(hasCycleInSchema(schema), true)
  })
})

describe('hasValidTypes', () => {
  const cases: [string, unknown, boolean][] = [
    ['a typed scalar', { type: 'string' }, true],
    ['no type', {}, false],
    ['no schema', true, true],
    ['null', null, true],
    ['an object without properties', { type: 'object' }, true],
    ['typed properties', { type: 'object', properties: { a: { type: 'string' } } }, true],
    ['an untyped property', { type: 'object', properties: { a: { description: 'x' } } }, false],
    ['typed items', { type: 'array', items: { type: 'string' } }, true],
    ['untyped items', { type: 'array', items: {} }, false],
    ['no items', { type: 'array' }, true],
    ['a typed union', { anyOf: [{ type: 'string' }, { type: 'null' }] }, true],
    ['an empty union', { anyOf: [] }, false],
    ['a union that is no list', { anyOf: { type: 'string' } }, true],
    ['a half typed union', { anyOf: [{ type: 'string' }, {}] }, false],
    ['two combiners, one bad', { anyOf: [{ type: 'string' }], allOf: [{}] }, false],
    ['nested combiners', { oneOf: [{ allOf: [{ type: 'object', properties: { a: { type: 'number' } } }] }] }, true],
  ]
  for (const [name, schema, valid] of cases)
    it(`says ${String(valid)} to ${name}`, () => assert.equal(hasValidTypes(schema), valid))
})
