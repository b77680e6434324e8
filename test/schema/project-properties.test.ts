import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { type Json, type JsonObject } from '../../src/model/json.ts'
import { isJsonObject, setOwn } from '../../src/schema/own-properties.ts'
import { declareTools } from '../../src/schema/dialect/declare-tools.ts'
import type { SchemaDialect } from '../../src/model/profile.ts'
import { validate } from '../../src/schema/validate/validate.ts'
import { sample, schemaArbitrary } from './arbitrary.ts'
import { refusals } from './dialect-check.ts'

const DIALECTS: SchemaDialect[] = ['gemini-json', 'gemini', 'openai', 'openai-strict', 'anthropic', 'grammar']

const RUNS = { numRuns: Number(process.env['RUNS'] ?? 120) }

const seed = fc.integer({ min: 0, max: 2 ** 31 - 1 })

describe('every dialect, over random schemas', () => {
  for (const dialect of DIALECTS) {
    it(`${dialect}: the service would accept what is declared, and the author's schema is left alone`, () => {
      fc.assert(
        fc.property(schemaArbitrary, (schema) => {
          const before = JSON.stringify(schema)
          const make = (): ReturnType<typeof declareTools> =>
            declareTools([{ name: 'a.tool', description: 'Works.', schema: deepFreeze(schema) }], dialect)
          const projection = make()
          for (const tool of projection.tools) assert.deepEqual(refusals(dialect, tool), [])
          assert.equal(projection.tools.length + projection.skipped.length, 1)
          assert.equal(JSON.stringify(make().tools), JSON.stringify(projection.tools))
          assert.equal(JSON.stringify(schema), before)
        }),
        RUNS,
      )
    })

    it(`${dialect}: stored arguments survive the way out and back`, () => {
      let tried = 0
      fc.assert(
        fc.property(schemaArbitrary, fc.array(seed, { minLength: 4, maxLength: 4 }), (schema, seeds) => {
          const projection = declareTools([{ name: 't', description: 'd', schema }], dialect)
          for (const input of seeds.map((each) => sample(schema, each, ['x-1', 'other', 'filter[id]']))) {
            if (!isJsonObject(input) || validate(schema, input).length > 0) continue
            tried++
            const wire = projection.toWireArguments('t', input)
            assert.deepEqual(plain(projection.toToolInput('t', wire)), plain(input))
            const declared = projection.tools[0]
            // A repair may narrow; branches of a root union may leave open what others do not; and what is loosened
            // below may make "exactly one" hold for two.
            const narrowed =
              projection.warnings.length > 0 ||
              schema['anyOf'] !== undefined ||
              JSON.stringify(schema).includes('oneOf')
            if (declared === undefined || narrowed || NARROWER.has(dialect)) continue
            assert.deepEqual(validate(declared.schema, wire), [])
          }
        }),
        RUNS,
      )
      assert.ok(tried > 100, `only ${tried} valid samples`)
    })

    it(`${dialect}: what a model sends is spelt back, never altered`, () => {
      let tried = 0
      fc.assert(
        fc.property(schemaArbitrary, fc.array(seed, { minLength: 4, maxLength: 4 }), (schema, seeds) => {
          const projection = declareTools([{ name: 't', description: 'd', schema }], dialect)
          const declared = projection.tools[0]
          if (declared === undefined) return
          const lowered = dialect === 'gemini' ? lower(declared.schema) : declared.schema
          if (!isJsonObject(lowered)) return
          for (const args of seeds.map((each) => sample(lowered, each))) {
            if (!isJsonObject(args) || validate(lowered, args).length > 0) continue
            tried++
            const input = projection.toToolInput('t', args)
            const again = projection.toWireArguments('t', input)
            if (dialect === 'openai-strict') assert.deepEqual(plain(noNulls(input)), plain(noNulls(args)))
            else assert.deepEqual(plain(again), plain(args))
            assert.deepEqual(plain(projection.toToolInput('t', again)), plain(input))
          }
        }),
        RUNS,
      )
      assert.ok(tried > 100, `only ${tried} valid samples`)
    })
  }
})

/** Dialects that must say less than the author did, so that not every valid call can be spelt in them. */
const NARROWER: ReadonlySet<SchemaDialect> = new Set<SchemaDialect>(['gemini', 'openai-strict', 'grammar'])

/** Gemini's spelling of a schema, in the words of JSON Schema. */
function lower(schema: Json): Json {
  if (!isJsonObject(schema)) return schema
  const { type, anyOf, items, properties, nullable, ...rest } = schema
  const out: JsonObject = { ...rest }
  if (typeof type === 'string') out['type'] = nullable === true ? [type.toLowerCase(), 'null'] : type.toLowerCase()
  if (nullable === true && Array.isArray(rest['enum'])) out['enum'] = [...rest['enum'], null]
  if (Array.isArray(anyOf)) out['anyOf'] = anyOf.map(lower)
  if (items !== undefined) out['items'] = lower(items)
  if (isJsonObject(properties)) {
    const lowered: JsonObject = {}
    for (const [key, inner] of Object.entries(properties)) setOwn(lowered, key, lower(inner))
    out['properties'] = lowered
  }
  return out
}

function noNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(noNulls)
  if (!isJsonObject(value)) return value
  const out: JsonObject = {}
  for (const [key, inner] of Object.entries(value)) if (inner !== null) setOwn(out, key, noNulls(inner))
  return out
}

/** Through JSON, so that the comparison sees what a wire would carry. */
function plain(value: Json): unknown {
  return JSON.parse(JSON.stringify(value))
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}
