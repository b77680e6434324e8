import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../src/model/json.ts'
import { declared } from './declare.ts'

describe('T149 servers that compile a grammar', () => {
  const cases: [string, Json, Json][] = [
    [
      'an anchored, simple pattern',
      { type: 'string', pattern: '^[a-z]{2,8}(-[0-9]+)*$' },
      { type: 'string', pattern: '^[a-z]{2,8}(-[0-9]+)*$' },
    ],
    ['an open pattern', { type: 'string', pattern: '[a-z]+' }, { type: 'string', description: '(matches "[a-z]+")' }],
    [
      'looking ahead',
      { type: 'string', pattern: '^(?!\\.)[a-z]+$' },
      { type: 'string', description: '(matches "^(?!\\\\.)[a-z]+$")' },
    ],
    [
      'classes by letter',
      { type: 'string', pattern: '^\\d+$' },
      { type: 'string', description: '(matches "^\\\\d+$")' },
    ],
    ['a lazy repeat', { type: 'string', pattern: '^a+?$' }, { type: 'string', description: '(matches "^a+?$")' }],
    [
      'a big repeat',
      { type: 'string', pattern: '^a{1,5000}$', maxLength: 5000 },
      { type: 'string', description: '(matches "^a{1,5000}$") (at most 5000 characters)' },
    ],
    ['not anything', { type: 'string', not: {} }, { type: 'string' }],
    ['no type', { description: 'd' }, { type: ['string', 'number', 'boolean', 'object', 'array'], description: 'd' }],
    ['a null description', { type: 'string', description: null }, { type: 'string' }],
    ['a nullable', { type: ['string', 'null'] }, { type: ['string', 'null'] }],
    [
      'a union with siblings',
      {
        type: 'object',
        properties: { k: { type: 'string' } },
        oneOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: { type: 'string' } } }],
      },
      {
        anyOf: [
          { type: 'object', properties: { k: { type: 'string' }, a: { type: 'string' } } },
          { type: 'object', properties: { k: { type: 'string' }, b: { type: 'string' } } },
        ],
      },
    ],
    ['an unknown format', { type: 'string', format: 'email' }, { type: 'string', description: '(format: email)' }],
    ['a reference', { $ref: '#/$defs/s' }, { type: 'string' }],
    ['a tuple', { type: 'array', items: [{ type: 'string' }] }, { type: 'array', prefixItems: [{ type: 'string' }] }],
  ]
  for (const [name, schema, expected] of cases) {
    it(name, () => {
      const out = declared(
        { type: 'object', properties: { p: schema }, $defs: { s: { type: 'string' } } },
        'grammar',
      ) as JsonObject
      assert.deepEqual((out['properties'] as JsonObject)['p'], expected)
    })
  }
})
