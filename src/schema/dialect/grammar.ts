import type { JsonObject } from '../../model/json.ts'
import { intoDescription } from '../describe.ts'
import { inlineRefs } from '../inline.ts'
import { likelyTypes } from '../implied.ts'
import { eitherOf } from '../merge.ts'
import { without } from '../own.ts'
import { isSimplePattern } from '../pattern.ts'
import { plainRoot } from '../root.ts'
import { alternatives } from '../union.ts'
import { isSchema, mapChildren } from '../walk.ts'
import { cutWarnings, withoutLabels, type Declared } from './declared.ts'

/** Servers that compile the schema to a grammar (llama.cpp, LM Studio, Ollama): what they cannot compile becomes words. */
export function toGrammar(schema: JsonObject): Declared {
  const { schema: flat, cut } = inlineRefs(schema)
  const root = plainRoot(withoutLabels(flat))
  const out = grammarNode(without(root, ['$defs', 'definitions']))
  return { schema: out, warnings: cutWarnings(cut) }
}

/** A grammar writes a repeat out in full: larger ones make it slow to build, or fail. */
const MAX_PATTERN_REPEAT = 100
const MAX_COUNT = 256

const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems']
const FORMATS: ReadonlySet<unknown> = new Set(['date', 'time', 'date-time', 'uuid'])

/** Keywords that no such server knows, or that it gets wrong. */
const UNKNOWN = [
  'not',
  'patternProperties',
  'propertyNames',
  'dependentRequired',
  'contains',
  'minContains',
  'maxContains',
  'uniqueItems',
  'multipleOf',
  'minProperties',
  'maxProperties',
]
const SILENT = ['unevaluatedProperties', 'unevaluatedItems', 'examples']

function grammarNode(schema: JsonObject): JsonObject {
  const { remarks, branches, nullable } = alternatives(schema)
  const [only] = branches
  if (only === undefined) return { ...remarks, type: 'null' }
  if (branches.length === 1) {
    const whole = Object.keys(remarks).length === 0 ? only : { ...only, ...remarks }
    return nullable ? withNull(leaf(whole)) : leaf(whole)
  }
  const all = branches.map(leaf)
  return { ...remarks, anyOf: nullable ? [...all, { type: 'null' }] : all }
}

function withNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema
  const listed = Array.isArray(values) && !values.includes(null)
  return typeof type !== 'string' || listed || schema['const'] !== undefined
    ? schema
    : { ...schema, type: [type, 'null'] }
}

function leaf(schema: JsonObject): JsonObject {
  // Once the patterns are gone, their keys must not count as unknown ones.
  const patterned = schema['patternProperties'] !== undefined && schema['additionalProperties'] === false
  let out = without(tuple(intoDescription(schema, UNKNOWN)), patterned ? ['additionalProperties', ...SILENT] : SILENT)
  const { pattern, format } = out
  if (typeof pattern === 'string' && !isSimplePattern(pattern, MAX_PATTERN_REPEAT))
    out = intoDescription(out, ['pattern'])
  if (format !== undefined && !FORMATS.has(format)) out = intoDescription(out, ['format'])
  const large = COUNTS.filter((key) => Number(out[key] ?? 0) > MAX_COUNT)
  if (large.length > 0) out = intoDescription(out, large)
  if (out['type'] === undefined && out['enum'] === undefined && out['const'] === undefined) {
    const types = likelyTypes(out)
    out = { type: types.length > 1 ? types : (types[0] ?? 'string'), ...out }
  }
  return mapChildren(out, (child) => (typeof child === 'boolean' ? child : grammarNode(child)))
}

/** A tuple with a rest is read as a plain array by some servers, and refused by others. */
function tuple(schema: JsonObject): JsonObject {
  const { prefixItems, items } = schema
  if (!Array.isArray(prefixItems) || items === undefined) return schema
  if (items === false) return without(schema, ['items'])
  const all = [...prefixItems, items].filter(isSchema)
  return { ...intoDescription(schema, ['prefixItems']), items: eitherOf(all) }
}
