import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { validate } from '../../src/schema/validate/validate.ts'
import { declare, declared } from './declare.ts'

describe('T146 property keys of Anthropic', () => {
  const schema = {
    type: 'object',
    properties: {
      'filter[id]': { type: 'string' },
      $schema: { type: 'string' },
      ['k'.repeat(65)]: { type: 'string' },
      'ok-1.2': { type: 'string' },
      in: { $ref: '#/$defs/deep' },
    },
    required: ['filter[id]', 'ok-1.2'],
    dependentRequired: { 'filter[id]': ['$schema'] },
    $defs: { deep: { type: 'object', properties: { 'a b': { $ref: '#/$defs/deep' } }, required: ['a b'] } },
  }

  it('are renamed at every level, with all that refers to them', () => {
    const out = declared(schema, 'anthropic') as JsonObject
    const keys = Object.keys(out['properties'] as JsonObject)
    assert.deepEqual(
      keys.map((key) => key.replace(/_[a-z0-9]{6}$/, '_#')),
      ['filter_id_#', 'schema_#', `${'k'.repeat(57)}_#`, 'ok-1.2', 'in'],
    )
    assert.deepEqual(out['required'], [keys[0], 'ok-1.2'])
    assert.deepEqual(out['dependentRequired'], { [keys[0] ?? '']: [keys[1]] })
  })

  it('lead back, even through a cycle', () => {
    const projection = declare(schema, 'anthropic')
    const input = {
      'filter[id]': 'x',
      'ok-1.2': 'y',
      in: { 'a b': { 'a b': { 'a b': {} } } },
      other: { 'filter[id]': 1 },
    }
    const wire = projection.toWireArguments('t', input)
    assert.deepEqual(projection.toToolInput('t', wire), input)
    assert.deepEqual(wire['other'], { 'filter[id]': 1 })
    const wrong = { ...wire, [Object.keys(wire)[0] ?? '']: 1 }
    assert.ok(validate(declared(schema, 'anthropic') as JsonObject, wrong).some(({ keyword }) => keyword === 'type'))
  })

  it('stay as sent when both spellings are there', () => {
    const projection = declare(schema, 'anthropic')
    const [legal] = Object.keys(projection.toWireArguments('t', { 'filter[id]': 'x' }))
    const args = { [legal ?? '']: 'a', 'filter[id]': 'b' }
    assert.deepEqual(projection.toToolInput('t', args), args)
  })
})
