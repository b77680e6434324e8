import { canonical, type Json, type JsonObject } from '../model/json.ts'
import { isJsonObject, own, put, without } from './own.ts'
import { isSchema, type Schema } from './walk.ts'

/**
 * Merges schemas that all must hold into one. Where no single schema says the same, the result accepts more than the
 * parts did, never less on purpose: it tells a model what to write, and the original judges what it wrote.
 */
export function mergeAll(schemas: readonly JsonObject[]): JsonObject {
  const [first, ...rest] = schemas
  return rest.reduce(mergeTwo, first ?? {})
}

/** Folds `allOf` into the schema that holds it; the same object when there is none. */
export function withoutAllOf(schema: JsonObject): JsonObject {
  const { allOf } = schema
  if (!Array.isArray(allOf)) return schema
  const parts = allOf.filter(isJsonObject).map(withoutAllOf)
  return mergeAll([without(schema, ['allOf']), ...parts])
}

/** Puts alternatives side by side: one schema if all are alike, else a union; branches of unions join it. */
export function eitherOf(schemas: readonly Schema[]): Schema {
  const distinct = new Map<string, Schema>()
  for (const schema of schemas.flatMap(branches)) distinct.set(canonical(schema), schema)
  const list = [...distinct.values()]
  if (list.some((schema) => schema === true || Object.keys(schema).length === 0)) return {}
  return list.length === 1 && list[0] !== undefined ? list[0] : { anyOf: list }
}

/** The types that a schema names itself; none when it leaves them open. */
export function typeList(schema: JsonObject): string[] {
  const { type } = schema
  return (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string')
}

const LARGER = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties', 'minContains'])
const SMALLER = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties', 'maxContains'])
const CLOSING = new Set(['additionalProperties', 'unevaluatedProperties'])

/** Beyond this many combinations of two unions, the second is given up. */
const MAX_CROSS = 16

function branches(schema: Schema): Schema[] {
  if (typeof schema === 'boolean') return [schema]
  const { anyOf } = schema
  return Object.keys(schema).length === 1 && Array.isArray(anyOf) ? anyOf.filter(isSchema) : [schema]
}

function mergeTwo(a: JsonObject, b: JsonObject): JsonObject {
  const out = { ...a }
  for (const [key, right] of Object.entries(b)) {
    const left = own(a, key)
    put(out, key, left === undefined ? right : mergeKeyword(key, left, right))
  }
  return opened(out, a, b)
}

function mergeKeyword(key: string, left: Json, right: Json): Json {
  if (key === 'type') return sharedTypes(left, right)
  if (key === 'properties' || key === '$defs' || key === 'definitions' || key === 'patternProperties') {
    return isJsonObject(left) && isJsonObject(right) ? mergeMaps(left, right) : left
  }
  if (key === 'required' && Array.isArray(left) && Array.isArray(right)) return [...new Set([...left, ...right])]
  if (key === 'enum' && Array.isArray(left) && Array.isArray(right)) return sharedValues(left, right)
  if (LARGER.has(key)) return Math.max(Number(left), Number(right))
  if (SMALLER.has(key)) return Math.min(Number(left), Number(right))
  if (key === 'items' || CLOSING.has(key)) return isSchema(left) && isSchema(right) ? mergeSchemas(left, right) : left
  if (key === 'uniqueItems') return left === true || right === true
  if (key === 'anyOf' || key === 'oneOf') return crossed(left, right)
  if (key === 'description' && typeof left === 'string' && typeof right === 'string') return joined(left, right)
  return left
}

function mergeSchemas(left: Schema, right: Schema): Schema {
  if (left === false || right === false) return false
  if (left === true) return right
  return right === true ? left : mergeTwo(left, right)
}

function mergeMaps(left: JsonObject, right: JsonObject): JsonObject {
  const out = { ...left }
  for (const [key, value] of Object.entries(right)) {
    const known = own(left, key)
    put(out, key, isSchema(known) && isSchema(value) ? mergeSchemas(known, value) : (known ?? value))
  }
  return out
}

function sharedTypes(left: Json, right: Json): Json {
  const a = typeList({ type: left })
  const b = typeList({ type: right })
  const within = (type: string, list: string[]): boolean =>
    list.includes(type) || (type === 'integer' && list.includes('number'))
  const shared = [...new Set([...a.filter((type) => within(type, b)), ...b.filter((type) => within(type, a))])]
  // A number that must be an integer is an integer.
  const names =
    shared.includes('integer') && !(a.includes('number') && b.includes('number'))
      ? shared.filter((type) => type !== 'number')
      : shared
  return names.length === 0 ? left : names.length === 1 ? (names[0] ?? left) : names
}

function sharedValues(left: Json[], right: Json[]): Json[] {
  const allowed = new Set(right.map(canonical))
  const shared = left.filter((value) => allowed.has(canonical(value)))
  return shared.length > 0 ? shared : left
}

function crossed(left: Json, right: Json): Json {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length * right.length > MAX_CROSS) return left
  const pairs = left.flatMap((a) => right.map((b) => (isSchema(a) && isSchema(b) ? mergeSchemas(a, b) : a)))
  const alive = pairs.filter((branch) => branch !== false)
  return alive.length > 0 ? alive : left
}

function joined(left: string, right: string): string {
  return left.includes(right) ? left : right.includes(left) ? right : `${left} ${right}`
}

/** "No other properties" in one part would refuse what the other part declares; the merged object stays open then. */
function opened(merged: JsonObject, a: JsonObject, b: JsonObject): JsonObject {
  const closed = [...CLOSING].filter((key) => merged[key] === false)
  if (closed.length === 0) return merged
  const names = (part: JsonObject): string[] =>
    isJsonObject(part['properties']) ? Object.keys(part['properties']) : []
  const together = new Set([...names(a), ...names(b)]).size
  const clash = closed.some(
    (key) => (a[key] === false && names(a).length < together) || (b[key] === false && names(b).length < together),
  )
  return clash ? without(merged, closed) : merged
}
