import { keywordSet } from '../keyword-set.ts'
import { toCanonicalJson, type Json, type JsonObject } from '../../model/json.ts'
import { isJsonObject, getOwn, setOwn, omitKeys } from '../own-properties.ts'
import { isJsonSchema, type JsonSchema } from '../walk-schema.ts'

/**
 * Merges schemas that all apply into one. Where that is not possible, the result accepts more, never less: it tells a
 * model what to write, and the original schema validates it.
 */
export function mergeAllSchemas(schemas: readonly JsonObject[]): JsonObject {
  const [first, ...rest] = schemas
  return rest.reduce(mergeObjects, first ?? {})
}

/** Merges `allOf` into the schema that contains it. */
export function foldAllOf(schema: JsonObject): JsonObject {
  const { allOf } = schema
  if (!Array.isArray(allOf)) return schema
  const parts = allOf.filter(isJsonObject).map(foldAllOf)
  return mergeAllSchemas([omitKeys(schema, ['allOf']), ...parts])
}

/** One schema if all are equal, else a union; nested unions are joined. */
export function createUnion(schemas: readonly JsonSchema[]): JsonSchema {
  const distinct = new Map<string, JsonSchema>()
  for (const schema of schemas.flatMap(getUnionBranches)) distinct.set(toCanonicalJson(schema), schema)
  const list = [...distinct.values()]
  if (list.some((schema) => schema === true || Object.keys(schema).length === 0)) return {}
  return list.length === 1 && list[0] !== undefined ? list[0] : { anyOf: list }
}

export function getDeclaredTypes(schema: JsonObject): string[] {
  const { type } = schema
  return (Array.isArray(type) ? type : [type]).filter((name) => typeof name === 'string')
}

const LOWER_BOUND_KEYWORDS = keywordSet('minimum exclusiveMinimum minLength minItems minProperties minContains')
const UPPER_BOUND_KEYWORDS = keywordSet('maximum exclusiveMaximum maxLength maxItems maxProperties maxContains')
const CLOSING_KEYWORDS = new Set(['additionalProperties', 'unevaluatedProperties'])

/** Beyond this many combinations of two unions, the second is dropped. */
const MAX_BRANCH_COMBINATIONS = 16

function getUnionBranches(schema: JsonSchema): JsonSchema[] {
  if (typeof schema === 'boolean') return [schema]
  const { anyOf } = schema
  return Object.keys(schema).length === 1 && Array.isArray(anyOf) ? anyOf.filter(isJsonSchema) : [schema]
}

function mergeObjects(a: JsonObject, b: JsonObject): JsonObject {
  const out = { ...a }
  for (const [key, right] of Object.entries(b)) {
    const left = getOwn(a, key)
    setOwn(out, key, left === undefined ? right : mergeKeyword(key, left, right))
  }
  return dropConflictingClosure(out, a, b)
}

function mergeKeyword(key: string, left: Json, right: Json): Json {
  if (key === 'type') return intersectTypes(left, right)
  if (key === 'properties' || key === '$defs' || key === 'definitions' || key === 'patternProperties') {
    return isJsonObject(left) && isJsonObject(right) ? mergeMaps(left, right) : left
  }
  if (key === 'required' && Array.isArray(left) && Array.isArray(right)) return [...new Set([...left, ...right])]
  if (key === 'enum' && Array.isArray(left) && Array.isArray(right)) return intersectValues(left, right)
  if (LOWER_BOUND_KEYWORDS.has(key)) return Math.max(Number(left), Number(right))
  if (UPPER_BOUND_KEYWORDS.has(key)) return Math.min(Number(left), Number(right))
  if (key === 'items' || CLOSING_KEYWORDS.has(key))
    return isJsonSchema(left) && isJsonSchema(right) ? mergeSchemaPair(left, right) : left
  if (key === 'uniqueItems') return left === true || right === true
  if (key === 'anyOf' || key === 'oneOf') return combineBranches(left, right)
  if (key === 'description' && typeof left === 'string' && typeof right === 'string')
    return joinDescriptions(left, right)
  return left
}

function mergeSchemaPair(left: JsonSchema, right: JsonSchema): JsonSchema {
  if (left === false || right === false) return false
  if (left === true) return right
  return right === true ? left : mergeObjects(left, right)
}

function mergeMaps(left: JsonObject, right: JsonObject): JsonObject {
  const out = { ...left }
  for (const [key, value] of Object.entries(right)) {
    const existing = getOwn(left, key)
    const isPair = isJsonSchema(existing) && isJsonSchema(value)
    setOwn(out, key, isPair ? mergeSchemaPair(existing, value) : (existing ?? value))
  }
  return out
}

function intersectTypes(left: Json, right: Json): Json {
  const a = getDeclaredTypes({ type: left })
  const b = getDeclaredTypes({ type: right })
  const isSubtypeOf = (type: string, list: string[]): boolean =>
    list.includes(type) || (type === 'integer' && list.includes('number'))
  const isShared = (type: string) => isSubtypeOf(type, a) && isSubtypeOf(type, b)
  const shared = [...new Set([...a, ...b].filter(isShared))]
  // If one side says integer, the type is integer.
  const names =
    shared.includes('integer') && !(a.includes('number') && b.includes('number'))
      ? shared.filter((type) => type !== 'number')
      : shared
  return names.length === 0 ? left : names.length === 1 ? (names[0] ?? left) : names
}

function intersectValues(left: Json[], right: Json[]): Json[] {
  const allowed = new Set(right.map(toCanonicalJson))
  const shared = left.filter((value) => allowed.has(toCanonicalJson(value)))
  return shared.length > 0 ? shared : left
}

function combineBranches(left: Json, right: Json): Json {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length * right.length > MAX_BRANCH_COMBINATIONS) return left
  const pairs = left.flatMap((a) => right.map((b) => (isJsonSchema(a) && isJsonSchema(b) ? mergeSchemaPair(a, b) : a)))
  const possible = pairs.filter((branch) => branch !== false)
  return possible.length > 0 ? possible : left
}

function joinDescriptions(left: string, right: string): string {
  return left.includes(right) ? left : right.includes(left) ? right : `${left} ${right}`
}

/** `additionalProperties: false` in one part would reject what the other declares, so it is dropped. */
function dropConflictingClosure(merged: JsonObject, a: JsonObject, b: JsonObject): JsonObject {
  const closed = [...CLOSING_KEYWORDS].filter((key) => merged[key] === false)
  if (closed.length === 0) return merged
  const names = (part: JsonObject): string[] =>
    isJsonObject(part['properties']) ? Object.keys(part['properties']) : []
  const totalNames = new Set([...names(a), ...names(b)]).size
  const hasConflict = closed.some(
    (key) => (a[key] === false && names(a).length < totalNames) || (b[key] === false && names(b).length < totalNames),
  )
  return hasConflict ? omitKeys(merged, closed) : merged
}
