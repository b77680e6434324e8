import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import * as fc from 'fast-check'
import type { Json, JsonObject } from '../../src/model/json.ts'
import { coerceArguments, validateOrCoerce } from '../../src/schema/coerce/coerce-arguments.ts'
import { compileSchema } from '../../src/schema/validate/compile-schema.ts'
import { validate } from '../../src/schema/validate/validate.ts'
import { sample, schemaArbitrary } from './arbitrary.ts'

const seeds = fc.array(fc.integer({ min: 0, max: 2 ** 31 - 1 }), { minLength: 6, maxLength: 6 })

describe('validate, over random schemas', () => {
  it('says what another validator says', () => {
    let compared = 0
    fc.assert(
      fc.property(schemaArbitrary, seeds, (schema, list) => {
        const other = compileWithAjv(schema)
        if (other === undefined || compileSchema(schema).warnings.length > 0) return
        for (const value of list.map((each) => sample(schema, each))) {
          compared++
          assert.equal(validate(schema, value).length === 0, other(value), JSON.stringify(value))
        }
      }),
      { numRuns: Number(process.env['RUNS'] ?? 80) },
    )
    assert.ok(compared > 100, `only ${compared} values compared`)
  })

  it('takes any value under any schema without throwing', () => {
    fc.assert(
      fc.property(schemaArbitrary, fc.jsonValue(), (schema, value) => {
        for (const { path, message } of validate(schema, value)) assert.ok(path === '' || path.startsWith('/'), message)
      }),
      { numRuns: 150 },
    )
  })
})

describe('coerce, over random schemas', () => {
  it('returns only valid arguments, never touches the given ones, and reports every change', () => {
    let mended = 0
    fc.assert(
      fc.property(schemaArbitrary, seeds, (schema, list) => {
        for (const value of list.map((each) => drift(sample(schema, each), each))) {
          const before = JSON.stringify(value)
          const settled = validateOrCoerce(schema, value)
          assert.equal(JSON.stringify(value), before)
          if (!settled.ok) continue
          assert.deepEqual(validate(schema, settled.value), [])
          assert.equal(settled.changes.length > 0, JSON.stringify(settled.value) !== before)
          if (settled.changes.length > 0) mended++
        }
      }),
      { numRuns: 150 },
    )
    assert.ok(mended > 20, `only ${mended} values mended`)
  })

  it('never changes a text that may stand as text', () => {
    const texts = fc.constantFrom('12', 'true', 'null', 'None', '["a"]', '{"a":1}', '', ' x')
    fc.assert(
      fc.property(
        texts,
        fc.constantFrom<JsonObject>({ minLength: 50 }, { pattern: '^z' }, { enum: ['z'] }),
        (given, rule) => {
          const schema = { type: 'object', properties: { a: { type: 'string', ...rule } }, required: ['a'] }
          assert.equal(coerceArguments(schema, { a: given }), undefined)
        },
      ),
    )
  })
})

function compileWithAjv(schema: JsonObject): ((value: Json) => boolean) | undefined {
  // Ajv takes the draft from the keyword, and only knows the one it was made for.
  const { $schema: _draft, ...rest } = schema
  const text = JSON.stringify(schema)
  if (schema['$schema'] !== undefined && text.includes('$ref')) return undefined
  // It also passes over properties of this name.
  if (text.includes('__proto__')) return undefined
  try {
    const check = new Ajv2020({ strict: false, logger: false, validateFormats: false, ownProperties: true }).compile(
      rest,
    )
    return (value) => check(value)
  } catch {
    return undefined
  }
}

/** The mistakes that models make, here and there. */
function drift(value: Json, seed: number): Json {
  if (typeof value === 'number') return seed % 3 === 0 ? String(value) : value
  if (typeof value === 'boolean') return seed % 2 === 0 ? String(value) : value
  if (Array.isArray(value)) return seed % 5 === 0 ? JSON.stringify(value) : value.map((item) => drift(item, seed >> 1))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => [key, drift(inner, seed >> 1)])
  if (seed % 4 === 0) entries.push(['surplus', 1])
  return Object.fromEntries(entries)
}
