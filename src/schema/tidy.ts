import type { Json, JsonObject } from '../model/json.ts'
import { isJsonObject, put, without } from './own.ts'
import { isSchema, LIST, MAP, SINGLE } from './walk.ts'

/** Takes one sentence about something that was wrong. */
export type Say = (sentence: string) => void

/**
 * Cleans the keywords of one schema object, not its children: values of the wrong kind go, old spellings become the
 * ones of draft 2020-12. Nothing that was accepted before is refused after. Unchanged input is returned as it is.
 */
export function tidyNode(schema: JsonObject, say: Say): JsonObject {
  let out = schema
  const set = (key: string, value: Json | undefined): void => {
    if (out === schema) out = { ...schema }
    if (value === undefined) delete out[key]
    else out[key] = value
  }
  for (const key of Object.keys(schema)) {
    const value = schema[key]
    const after = tidyKeyword(key, value, say)
    if (after !== value) set(key, after)
  }
  for (const modernise of OLD_FORMS) out = modernise(out, say)
  return out
}

/** The seven types of JSON Schema. */
export const TYPES: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'])

const ALIASES: Readonly<Record<string, string>> = {
  str: 'string',
  text: 'string',
  int: 'integer',
  int32: 'integer',
  int64: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  bool: 'boolean',
  dict: 'object',
  map: 'object',
  list: 'array',
  none: 'null',
}

const TEXT = new Set(['description', 'title', 'pattern', 'format', '$ref', '$dynamicRef', '$id', '$anchor', '$comment'])
const NUMBER = new Set(['minimum', 'maximum', 'multipleOf'])
const COUNT = new Set([
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minContains',
  'maxContains',
])

function tidyKeyword(key: string, value: Json | undefined, say: Say): Json | undefined {
  if (value === undefined) return undefined
  if (key === 'type') return tidyType(value, say)
  if (key === 'required') return tidyRequired(value, say)
  if (key === 'enum') return keepIf(Array.isArray(value) && value.length > 0, key, value, say)
  if (TEXT.has(key)) return keepIf(typeof value === 'string', key, value, say)
  if (NUMBER.has(key))
    return keepIf(Number.isFinite(value) && (key !== 'multipleOf' || Number(value) > 0), key, value, say)
  if (COUNT.has(key)) return keepIf(Number.isInteger(value) && Number(value) >= 0, key, value, say)
  if (key === 'exclusiveMinimum' || key === 'exclusiveMaximum') {
    return keepIf(typeof value === 'boolean' || Number.isFinite(value), key, value, say)
  }
  if (LIST.has(key) && Array.isArray(value)) return tidyList(key, value, say)
  if (SINGLE.has(key)) return keepIf(isSchema(value), key, value, say)
  if (LIST.has(key)) return keepIf(false, key, value, say)
  if (MAP.has(key)) return isJsonObject(value) ? tidyMap(key, value, say) : keepIf(false, key, value, say)
  return value
}

function keepIf(fine: boolean, key: string, value: Json, say: Say): Json | undefined {
  if (fine) return value
  // A null keyword is what many serialisers write for "not set": no word about it.
  if (value !== null) say(`The keyword "${key}" had a value of the wrong kind and was left out.`)
  return undefined
}

function tidyType(value: Json, say: Say): Json | undefined {
  if (typeof value === 'string') {
    if (TYPES.has(value)) return value
    const known = knownType(value)
    // Some write types in capitals, as Gemini does: that is no flaw.
    if (known === value.toLowerCase()) return known
    say(
      known === undefined
        ? `The type "${value}" does not exist and was left out.`
        : `The type "${value}" became "${known}".`,
    )
    return known
  }
  if (!Array.isArray(value)) return keepIf(false, 'type', value, say)
  if (value.every((type) => typeof type === 'string' && TYPES.has(type)) && new Set(value).size === value.length) {
    return value.length > 1 ? value : value[0]
  }
  const known = new Set(value.map((type) => (typeof type === 'string' ? knownType(type) : undefined)))
  say('A list of types held unknown or repeated ones, and was cleaned.')
  // An unknown member may have meant anything, so the list no longer limits anything.
  if (known.has(undefined)) return undefined
  const list = [...known].filter((type) => type !== undefined)
  return list.length > 1 ? list : list[0]
}

function knownType(type: string): string | undefined {
  const lower = type.toLowerCase()
  if (TYPES.has(lower)) return lower
  return Object.hasOwn(ALIASES, lower) ? ALIASES[lower] : undefined
}

function tidyRequired(value: Json, say: Say): Json | undefined {
  if (!Array.isArray(value)) return keepIf(false, 'required', value, say)
  const names = value.filter((name) => typeof name === 'string')
  const unique = new Set(names)
  if (unique.size === value.length) return value
  say('The list of required properties held repeated names or values that are no names.')
  return [...unique]
}

function tidyList(key: string, list: Json[], say: Say): Json | undefined {
  if (list.length === 0) return key === 'items' ? undefined : keepIf(false, key, list, say)
  return list.every(isSchema) ? list : list.map((item) => asSchema(item, key, say))
}

function tidyMap(key: string, map: JsonObject, say: Say): JsonObject {
  let out = map
  for (const name of Object.keys(map)) {
    const value = map[name]
    if (isSchema(value) || (key === 'dependencies' && Array.isArray(value))) continue
    if (out === map) out = { ...map }
    put(out, name, asSchema(value ?? null, `${key}/${name}`, say))
  }
  return out
}

function asSchema(value: Json, where: string, say: Say): JsonObject | boolean {
  if (isSchema(value)) return value
  // Some authors write the bare type where its schema should stand.
  const type = typeof value === 'string' ? knownType(value) : undefined
  say(
    `"${where}" held something that is no schema; it now accepts ${type === undefined ? 'anything' : `the type "${type}"`}.`,
  )
  return type === undefined ? {} : { type }
}

type OldForm = (schema: JsonObject, say: Say) => JsonObject

const OLD_FORMS: readonly OldForm[] = [booleanBounds, tupleItems, dependencies, nullable]

/** Draft 4 wrote `minimum: 0, exclusiveMinimum: true`. */
function booleanBounds(schema: JsonObject): JsonObject {
  let out = schema
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (typeof out[exclusive] !== 'boolean') continue
    const limit = out[bound]
    const strict = out[exclusive] && typeof limit === 'number'
    out = without(out, strict ? [bound, exclusive] : [exclusive])
    if (strict) out[exclusive] = limit
  }
  return out
}

/** Until draft 2019-09 a tuple was an array of `items`. */
function tupleItems(schema: JsonObject): JsonObject {
  const { items, additionalItems } = schema
  if (!Array.isArray(items)) return schema
  const out = without(schema, ['items', 'additionalItems'])
  out['prefixItems'] = items
  if (isSchema(additionalItems)) out['items'] = additionalItems
  return out
}

/** Until draft 7 both kinds of dependency stood under one keyword. */
function dependencies(schema: JsonObject): JsonObject {
  const { dependencies: all } = schema
  if (!isJsonObject(all)) return schema
  const out = without(schema, ['dependencies'])
  const entries = Object.entries(all)
  const names = entries.filter(([, value]) => Array.isArray(value))
  const schemas = entries.filter(([, value]) => isSchema(value))
  if (names.length > 0) out['dependentRequired'] ??= Object.fromEntries(names)
  if (schemas.length > 0) out['dependentSchemas'] ??= Object.fromEntries(schemas)
  return out
}

/** OpenAPI 3.0 wrote `nullable: true` for a union with null. */
function nullable(schema: JsonObject): JsonObject {
  if (typeof schema['nullable'] !== 'boolean') return schema
  const out = without(schema, ['nullable'])
  const { type, enum: values } = out
  if (!schema['nullable']) return out
  if (typeof type === 'string' && type !== 'null') out['type'] = [type, 'null']
  if (Array.isArray(type) && !type.includes('null')) out['type'] = [...type, 'null']
  if (Array.isArray(values) && !values.includes(null)) out['enum'] = [...values, null]
  return out
}
