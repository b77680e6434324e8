import { keywordSet } from './keyword-set.ts'
import type { Json, JsonObject } from '../model/json.ts'
import { isJsonObject, setOwn } from './own-properties.ts'
import { toPointerSegment } from './json-pointer.ts'

/** A JSON Schema: an object of keywords, or `true` (anything) or `false` (nothing). */
export type JsonSchema = JsonObject | boolean

export interface SchemaLocation {
  /** Undefined at the root. */
  readonly keyword: string | undefined
  readonly key: string | number | undefined
  readonly parent: SchemaLocation | undefined
  readonly depth: number
}

export type SchemaVisitor = (schema: JsonSchema, location: SchemaLocation) => JsonSchema

/** Deeper subschemas are left as they are: no real schema has them, and the stack is finite. */
export const MAX_SCHEMA_DEPTH = 64

/**
 * Maps every subschema, and only subschemas: a property may be named like a keyword. `up` visits children first, `down`
 * the parent. Returns the same object if nothing changed.
 */
export function mapAllSubschemas(schema: JsonSchema, visit: SchemaVisitor, order: 'up' | 'down' = 'up'): JsonSchema {
  return rebuildNode(schema, visit, order, ROOT_LOCATION)
}

/** Parents first. */
export function forEachSubschema(
  schema: JsonSchema,
  visit: (schema: JsonSchema, location: SchemaLocation) => void,
): void {
  const visitNode = (inner: JsonSchema, location: SchemaLocation): void => {
    visit(inner, location)
    if (typeof inner === 'boolean' || location.depth >= MAX_SCHEMA_DEPTH) return
    const depth = location.depth + 1
    mapDirectSubschemas(inner, (child, keyword, key) => {
      visitNode(child, { keyword, key, parent: location, depth })
      return child
    })
  }
  visitNode(schema, ROOT_LOCATION)
}

export function getSchemaPointer(location: SchemaLocation): string {
  const { keyword, key, parent } = location
  if (keyword === undefined || parent === undefined) return ''
  return getSchemaPointer(parent) + toPointerSegment(keyword) + (key === undefined ? '' : toPointerSegment(key))
}

/** Maps the direct subschemas; returns the same object if none changed. */
export function mapDirectSubschemas(
  schema: JsonObject,
  change: (child: JsonSchema, keyword: string, key: string | number | undefined) => JsonSchema,
): JsonObject {
  let out = schema
  for (const keyword of Object.keys(schema)) {
    const before = schema[keyword]
    if (before === undefined || !SUBSCHEMA_KEYWORDS.has(keyword)) continue
    const after = mapKeyword(keyword, before, change)
    if (after === before) continue
    if (out === schema) out = { ...schema }
    out[keyword] = after
  }
  return out
}

export function isJsonSchema(value: unknown): value is JsonSchema {
  return typeof value === 'boolean' || isJsonObject(value)
}

/** Keywords whose subschemas apply to the same value as the schema that contains them. */
export const IN_PLACE_APPLICATORS = keywordSet('allOf anyOf oneOf not if then else dependentSchemas')

export const SINGLE_SCHEMA_KEYWORDS = keywordSet(
  'additionalProperties additionalItems items contains propertyNames not if then else unevaluatedProperties unevaluatedItems contentSchema',
)

export const SCHEMA_LIST_KEYWORDS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'])

export const SCHEMA_MAP_KEYWORDS = keywordSet(
  'properties patternProperties $defs definitions dependentSchemas dependencies',
)

const SUBSCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
  ...SINGLE_SCHEMA_KEYWORDS,
  ...SCHEMA_LIST_KEYWORDS,
  ...SCHEMA_MAP_KEYWORDS,
])

const ROOT_LOCATION: SchemaLocation = { keyword: undefined, key: undefined, parent: undefined, depth: 0 }

function rebuildNode(
  schema: JsonSchema,
  visit: SchemaVisitor,
  order: 'up' | 'down',
  location: SchemaLocation,
): JsonSchema {
  const start = order === 'down' ? visit(schema, location) : schema
  if (typeof start === 'boolean' || location.depth >= MAX_SCHEMA_DEPTH)
    return order === 'down' ? start : visit(start, location)
  const depth = location.depth + 1
  const built = mapDirectSubschemas(start, (child, keyword, key) =>
    rebuildNode(child, visit, order, { keyword, key, parent: location, depth }),
  )
  return order === 'down' ? built : visit(built, location)
}

function mapKeyword(
  keyword: string,
  keywordValue: Json,
  change: (child: JsonSchema, keyword: string, key: string | number | undefined) => JsonSchema,
): Json {
  if (SINGLE_SCHEMA_KEYWORDS.has(keyword) && isJsonSchema(keywordValue)) return change(keywordValue, keyword, undefined)
  if (SCHEMA_LIST_KEYWORDS.has(keyword) && Array.isArray(keywordValue)) {
    return mapList(keywordValue, (child, index) => (isJsonSchema(child) ? change(child, keyword, index) : child))
  }
  if (SCHEMA_MAP_KEYWORDS.has(keyword) && isJsonObject(keywordValue)) {
    let out = keywordValue
    for (const key of Object.keys(keywordValue)) {
      const child = keywordValue[key]
      if (!isJsonSchema(child)) continue
      const after = change(child, keyword, key)
      if (after === child) continue
      if (out === keywordValue) out = { ...keywordValue }
      setOwn(out, key, after)
    }
    return out
  }
  return keywordValue
}

function mapList(list: Json[], change: (item: Json, index: number) => Json): Json[] {
  const out = list.map(change)
  return out.every((item, index) => item === list[index]) ? list : out
}
