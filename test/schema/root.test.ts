import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../src/model/json.ts'
import { declare, declared, DIALECTS, sound } from './declare.ts'

describe('T147 the shape of the root', () => {
  const byPath = {
    type: 'object',
    properties: { path: { type: 'string' }, mode: { const: 'a' } },
    required: ['path', 'mode'],
  }
  const byUrl = {
    type: 'object',
    properties: { url: { type: 'string' }, mode: { const: 'b' } },
    required: ['url', 'mode'],
  }
  const merged = {
    type: 'object',
    description: '(give at least one of: path | url)',
    properties: {
      path: { type: 'string' },
      mode: {
        anyOf: [
          { type: 'string', const: 'a' },
          { type: 'string', const: 'b' },
        ],
      },
      url: { type: 'string' },
    },
    required: ['mode'],
  }
  const cases: [string, JsonObject, JsonObject][] = [
    ['a union', { anyOf: [byPath, byUrl] }, merged],
    [
      'a union by reference',
      { anyOf: [{ $ref: '#/$defs/p' }, { $ref: '#/$defs/u' }], $defs: { p: byPath, u: byUrl } },
      merged,
    ],
    [
      'exactly one',
      { type: 'object', oneOf: [byPath, byUrl] },
      { ...merged, description: '(give exactly one of: path | url)' },
    ],
    [
      'all of',
      { allOf: [byPath, { properties: { x: { type: 'number' } }, required: ['x'] }] },
      {
        type: 'object',
        properties: { path: { type: 'string' }, mode: { type: 'string', const: 'a' }, x: { type: 'number' } },
        required: ['path', 'mode', 'x'],
      },
    ],
    ['a reference', { $ref: '#/$defs/a', $schema: 's', $defs: { a: sound } }, sound],
    ['not', { ...sound, not: { required: ['x'] } }, { ...sound, description: '(not: {"required":["x"]})' }],
    ['an enum', { ...sound, enum: [{ path: 'x' }] }, sound],
    ['no type, no properties', {}, { type: 'object', properties: {} }],
    ['unions of what goes together', { ...sound, anyOf: [{ required: ['path'] }, { required: ['limit'] }] }, sound],
  ]
  for (const dialect of ['openai', 'anthropic', 'gemini-json'] as const) {
    for (const [name, schema, expected] of cases)
      it(`${dialect}: ${name}`, () => assert.deepEqual(noDefs(declared(schema, dialect)), expected))
  }

  it('is plain in every dialect, whatever it was', () => {
    for (const dialect of DIALECTS) for (const [, schema] of cases) declare(schema, dialect)
  })

  it('a reference to the root survives', () => {
    const out = declared(
      { anyOf: [{ type: 'object', properties: { child: { $ref: '#' } } }, byUrl] },
      'anthropic',
    ) as JsonObject
    assert.deepEqual((out['properties'] as JsonObject)['child'], { $ref: '#' })
  })
})

function noDefs(schema: Json | undefined): Json | undefined {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  const { $defs: _defs, ...rest } = schema
  return rest
}
