import type { Json, JsonObject } from '../model/json.ts'
import { isJsonObject, put } from './own.ts'
import { segment } from './pointer.ts'

/** A JSON Schema: an object of keywords, or `true` (anything) or `false` (nothing). */
export type Schema = JsonObject | boolean

/** Where a subschema stands: the keyword that holds it, its name or index there, and the place of that schema. */
export interface Place {
  /** Nothing at the root. */
  readonly keyword: string | undefined
  readonly key: string | number | undefined
  readonly parent: Place | undefined
  readonly depth: number
}

/** Turns one schema into another. */
export type Visitor = (schema: Schema, place: Place) => Schema

/** Subschemas nested deeper than this are left as they are: no honest schema goes there, and the stack is finite. */
export const MAX_DEPTH = 64

/**
 * Rebuilds a schema by visiting every subschema, and only subschemas: a property that is merely named like a keyword is
 * not one. `up` visits the children first, `down` the parent. What no visit changed is returned as the same object.
 */
export function mapSchema(schema: Schema, visit: Visitor, order: 'up' | 'down' = 'up'): Schema {
  return rebuild(schema, visit, order, ROOT)
}

/** Visits every subschema, parents first, without changing anything. */
export function eachSubschema(schema: Schema, visit: (schema: Schema, place: Place) => void): void {
  const look = (inner: Schema, place: Place): void => {
    visit(inner, place)
    if (typeof inner === 'boolean' || place.depth >= MAX_DEPTH) return
    const depth = place.depth + 1
    mapChildren(inner, (child, keyword, key) => {
      look(child, { keyword, key, parent: place, depth })
      return child
    })
  }
  look(schema, ROOT)
}

/** The JSON pointer from the root schema to a place. */
export function pointerOf(place: Place): string {
  const { keyword, key, parent } = place
  if (keyword === undefined || parent === undefined) return ''
  return pointerOf(parent) + segment(keyword) + (key === undefined ? '' : segment(key))
}

/** Rebuilds the direct subschemas of one schema, and gives back the same object when none of them changed. */
export function mapChildren(
  schema: JsonObject,
  change: (child: Schema, keyword: string, key: string | number | undefined) => Schema,
): JsonObject {
  let out = schema
  for (const keyword of Object.keys(schema)) {
    const before = schema[keyword]
    if (before === undefined || !HOLDERS.has(keyword)) continue
    const after = mapKeyword(keyword, before, change)
    if (after === before) continue
    if (out === schema) out = { ...schema }
    out[keyword] = after
  }
  return out
}

/** Is this value a schema at all? */
export function isSchema(value: unknown): value is Schema {
  return typeof value === 'boolean' || isJsonObject(value)
}

/** Keywords whose subschemas judge the same value as the schema that holds them. */
export const IN_PLACE: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
  'dependentSchemas',
])

/** Keywords that hold one subschema. */
export const SINGLE: ReadonlySet<string> = new Set([
  'additionalProperties',
  'additionalItems',
  'items',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'unevaluatedProperties',
  'unevaluatedItems',
  'contentSchema',
])

/** Keywords that hold a list of subschemas. */
export const LIST: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'])

/** Keywords that hold subschemas by name. */
export const MAP: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])

const HOLDERS: ReadonlySet<string> = new Set([...SINGLE, ...LIST, ...MAP])

const ROOT: Place = { keyword: undefined, key: undefined, parent: undefined, depth: 0 }

function rebuild(schema: Schema, visit: Visitor, order: 'up' | 'down', place: Place): Schema {
  const start = order === 'down' ? visit(schema, place) : schema
  if (typeof start === 'boolean' || place.depth >= MAX_DEPTH) return order === 'down' ? start : visit(start, place)
  const depth = place.depth + 1
  const built = mapChildren(start, (child, keyword, key) =>
    rebuild(child, visit, order, { keyword, key, parent: place, depth }),
  )
  return order === 'down' ? built : visit(built, place)
}

function mapKeyword(
  keyword: string,
  held: Json,
  change: (child: Schema, keyword: string, key: string | number | undefined) => Schema,
): Json {
  if (SINGLE.has(keyword) && isSchema(held)) return change(held, keyword, undefined)
  if (LIST.has(keyword) && Array.isArray(held)) {
    return mapList(held, (child, index) => (isSchema(child) ? change(child, keyword, index) : child))
  }
  if (MAP.has(keyword) && isJsonObject(held)) {
    let out = held
    for (const key of Object.keys(held)) {
      const child = held[key]
      if (!isSchema(child)) continue
      const after = change(child, keyword, key)
      if (after === child) continue
      if (out === held) out = { ...held }
      put(out, key, after)
    }
    return out
  }
  return held
}

function mapList(list: Json[], change: (item: Json, index: number) => Json): Json[] {
  const out = list.map(change)
  return out.every((item, index) => item === list[index]) ? list : out
}
