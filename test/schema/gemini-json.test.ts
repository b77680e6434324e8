import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { declared } from './declare.ts'

describe('the JSON Schema dialect of Gemini', () => {
  it('keeps definitions it can follow, and drops what names the schema', () => {
    const schema = {
      $schema: 's',
      $id: 'i',
      type: 'object',
      properties: { a: { $ref: '#/$defs/x' }, b: { type: ['string', 'null'], const: 'c' } },
      $defs: { x: { type: 'string' }, unused: {} },
    }
    assert.deepEqual(declared(schema, 'gemini-json'), {
      type: 'object',
      properties: { a: { $ref: '#/$defs/x' }, b: schema.properties.b },
      $defs: { x: { type: 'string' } },
    })
  })

  it('inlines what it cannot follow', () => {
    const at = (property: JsonObject, defs: JsonObject): unknown =>
      (
        (declared({ type: 'object', properties: { a: property }, ...defs }, 'gemini-json') as JsonObject)[
          'properties'
        ] as JsonObject
      )['a']
    assert.deepEqual(at({ $ref: '#/definitions/x' }, { definitions: { x: { type: 'string' } } }), { type: 'string' })
    assert.deepEqual(at({ $ref: '#/$defs/x', description: 'd' }, { $defs: { x: { type: 'string' } } }), {
      type: 'string',
      description: 'd',
    })
    assert.doesNotMatch(JSON.stringify(at({ $ref: '#' }, {})), /\$ref/)
  })
})
