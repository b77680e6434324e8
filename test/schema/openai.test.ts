import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json } from '../../src/model/json.ts'
import { declareTools } from '../../src/schema/dialect/declare-tools.ts'
import type { SchemaDialect } from '../../src/model/profile.ts'
import { declare, declared, DIALECTS, sound } from './declare.ts'

describe('T144 and T150 strict mode', () => {
  it('requires all, closes all, and reads null as absent', () => {
    const schema = {
      type: 'object',
      properties: {
        path: { type: 'string', minLength: 1, title: 'Path' },
        limit: { type: 'integer', default: 10 },
        mode: { enum: ['a', 'b'] },
        opts: { type: 'object', properties: { deep: { type: 'boolean' } } },
        tag: { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
      },
      required: ['path'],
    }
    const projection = declare(schema, 'openai-strict')
    const [out] = projection.tools
    assert.equal(out?.strict, true)
    assert.deepEqual(out?.schema, {
      type: 'object',
      properties: {
        path: { type: 'string', description: '(at least 1 characters)' },
        limit: { type: ['integer', 'null'], description: '(default: 10)' },
        mode: { type: ['string', 'null'], enum: ['a', 'b', null] },
        opts: {
          type: ['object', 'null'],
          properties: { deep: { type: ['boolean', 'null'] } },
          required: ['deep'],
          additionalProperties: false,
        },
        tag: { type: ['string', 'null'], description: '(default: null)' },
      },
      required: ['path', 'limit', 'mode', 'opts', 'tag'],
      additionalProperties: false,
    })
    assert.deepEqual(
      projection.toToolInput('t', { path: 'x', limit: null, mode: null, opts: { deep: null }, tag: null }),
      {
        path: 'x',
        opts: {},
        tag: null,
      },
    )
    assert.deepEqual(projection.toToolInput('t', { path: 'x', limit: 1, mode: 'a', opts: null, tag: 'y' }), {
      path: 'x',
      limit: 1,
      mode: 'a',
      tag: 'y',
    })
    assert.deepEqual(projection.toWireArguments('t', { path: 'x', opts: {} }), {
      path: 'x',
      opts: { deep: null },
      limit: null,
      mode: null,
    })
  })

  const loose: [string, Json, RegExp][] = [
    ['free keys', { type: 'object' }, /any name/],
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }, /any name/],
    ['any type', {}, /any type/],
    ['a list of anything', { type: 'array' }, /anything/],
    ['a tuple', { type: 'array', prefixItems: [{ type: 'string' }] }, /tuple/],
    ['null that is not absence', { type: ['string', 'null'] }, /also be null/],
    ['a cycle', { $ref: '#' }, /refers to itself/],
  ]
  for (const [name, schema, why] of loose) {
    it(`falls back for ${name}`, () => {
      const projection = declare({ type: 'object', properties: { p: schema } }, 'openai-strict')
      assert.equal(projection.tools[0]?.strict, false)
      assert.match(projection.warnings.join(), why)
      assert.deepEqual(projection.tools[0]?.schema, declared({ type: 'object', properties: { p: schema } }, 'openai'))
    })
  }
})

describe('T151 closed objects with optional properties', () => {
  const closed = {
    type: 'object',
    properties: {
      a: { type: 'string' },
      b: { type: 'object', properties: { c: { type: 'string' } }, required: ['c'], additionalProperties: false },
    },
    additionalProperties: false,
  }

  it('are opened where some gateway would take them for strict', () => {
    const { additionalProperties: _gone, ...open } = closed
    assert.deepEqual(declared(closed, 'openai'), open)
  })
  it('stay closed elsewhere', () => assert.equal(declared(closed, 'anthropic'), closed))
})

describe('T152 descriptions', () => {
  const describedAs = (description: string, dialect: SchemaDialect): string =>
    declareTools([{ name: 't', description, schema: sound }], dialect).tools[0]?.description ?? ''

  it('are never empty', () => {
    for (const dialect of DIALECTS)
      for (const text of ['', '  \n', null as unknown as string])
        assert.equal(describedAs(text, dialect), 'The tool "t".')
  })

  it('are never cut', () => {
    const long = 'word '.repeat(4000)
    for (const dialect of DIALECTS) assert.equal(describedAs(long, dialect), long)
  })
})
