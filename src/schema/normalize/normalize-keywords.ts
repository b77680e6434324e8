import { keywordSet } from '../keyword-set.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import { isJsonObject, setOwn, omitKeys } from '../own-properties.ts'
import { isJsonSchema, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS, SINGLE_SCHEMA_KEYWORDS } from '../walk-schema.ts'

export type ProblemReporter = (sentence: string) => void

/**
 * Normalizes the keywords of one schema object, not of its children: values of the wrong type are dropped, and older
 * drafts become draft 2020-12. The result never accepts less. Unchanged input is returned as it is.
 */
export function normalizeKeywords(schema: JsonObject, report: ProblemReporter): JsonObject {
  let out = schema
  const set = (key: string, value: Json | undefined): void => {
    if (out === schema) out = { ...schema }
    if (value === undefined) delete out[key]
    else out[key] = value
  }
  for (const key of Object.keys(schema)) {
    const value = schema[key]
    const after = normalizeKeyword(key, value, report)
    if (after !== value) set(key, after)
  }
  for (const convert of LEGACY_CONVERSIONS) out = convert(out)
  return out
}

const JSON_SCHEMA_TYPES = keywordSet('string number integer boolean object array null')

const TYPE_ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    string: 'str text',
    integer: 'int int32 int64 long',
    number: 'float double',
    boolean: 'bool',
    object: 'dict map',
    array: 'list',
    null: 'none',
  }).flatMap(([type, aliases]) => aliases.split(' ').map((alias) => [alias, type])),
)

const STRING_KEYWORDS = keywordSet('description title pattern format $ref $dynamicRef $id $anchor $comment')
const NUMBER_KEYWORDS = new Set(['minimum', 'maximum', 'multipleOf'])
const COUNT_KEYWORDS = keywordSet(
  'minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains',
)

function normalizeKeyword(key: string, value: Json | undefined, report: ProblemReporter): Json | undefined {
  if (value === undefined) return undefined
  if (key === 'type') return normalizeType(value, report)
  if (key === 'required') return normalizeRequired(value, report)
  if (key === 'enum') return keepIfValid(Array.isArray(value) && value.length > 0, key, value, report)
  if (STRING_KEYWORDS.has(key)) return keepIfValid(typeof value === 'string', key, value, report)
  if (NUMBER_KEYWORDS.has(key))
    return keepIfValid(Number.isFinite(value) && (key !== 'multipleOf' || Number(value) > 0), key, value, report)
  if (COUNT_KEYWORDS.has(key)) return keepIfValid(Number.isInteger(value) && Number(value) >= 0, key, value, report)
  if (key === 'exclusiveMinimum' || key === 'exclusiveMaximum') {
    return keepIfValid(typeof value === 'boolean' || Number.isFinite(value), key, value, report)
  }
  if (SCHEMA_LIST_KEYWORDS.has(key) && Array.isArray(value)) return normalizeList(key, value, report)
  if (SINGLE_SCHEMA_KEYWORDS.has(key)) return keepIfValid(isJsonSchema(value), key, value, report)
  if (SCHEMA_LIST_KEYWORDS.has(key)) return keepIfValid(false, key, value, report)
  if (SCHEMA_MAP_KEYWORDS.has(key))
    return isJsonObject(value) ? normalizeMap(key, value, report) : keepIfValid(false, key, value, report)
  return value
}

function keepIfValid(isValid: boolean, key: string, value: Json, report: ProblemReporter): Json | undefined {
  if (isValid) return value
  // Many serializers write null for "not set".
  if (value !== null) report(`The keyword "${key}" has a value of the wrong type and was omitted.`)
  return undefined
}

function normalizeType(value: Json, report: ProblemReporter): Json | undefined {
  if (typeof value === 'string') {
    if (JSON_SCHEMA_TYPES.has(value)) return value
    const standardType = toKnownType(value)
    // Upper-case types, as Gemini has them, are not worth a warning.
    if (standardType === value.toLowerCase()) return standardType
    report(
      standardType === undefined
        ? `The type "${value}" does not exist and was omitted.`
        : `The type "${value}" became "${standardType}".`,
    )
    return standardType
  }
  if (!Array.isArray(value)) return keepIfValid(false, 'type', value, report)
  if (
    value.every((type) => typeof type === 'string' && JSON_SCHEMA_TYPES.has(type)) &&
    new Set(value).size === value.length
  ) {
    return value.length > 1 ? value : value[0]
  }
  const standardType = new Set(value.map((type) => (typeof type === 'string' ? toKnownType(type) : undefined)))
  report('A list of types had unknown or repeated ones, which were removed.')
  // An unknown type may have meant anything, so the list constrains nothing.
  if (standardType.has(undefined)) return undefined
  const list = [...standardType].filter((type) => type !== undefined)
  return list.length > 1 ? list : list[0]
}

function toKnownType(type: string): string | undefined {
  const lower = type.toLowerCase()
  return JSON_SCHEMA_TYPES.has(lower) ? lower : TYPE_ALIASES.get(lower)
}

function normalizeRequired(value: Json, report: ProblemReporter): Json | undefined {
  if (!Array.isArray(value)) return keepIfValid(false, 'required', value, report)
  const names = value.filter((name) => typeof name === 'string')
  const unique = new Set(names)
  if (unique.size === value.length) return value
  report('The list of required properties had repeated names or values that are not names.')
  return [...unique]
}

function normalizeList(key: string, list: Json[], report: ProblemReporter): Json | undefined {
  if (list.length === 0) return key === 'items' ? undefined : keepIfValid(false, key, list, report)
  return list.every(isJsonSchema) ? list : list.map((item) => toSchema(item, key, report))
}

function normalizeMap(key: string, map: JsonObject, report: ProblemReporter): JsonObject {
  let out = map
  for (const name of Object.keys(map)) {
    const value = map[name]
    if (isJsonSchema(value) || (key === 'dependencies' && Array.isArray(value))) continue
    if (out === map) out = { ...map }
    setOwn(out, name, toSchema(value ?? null, `${key}/${name}`, report))
  }
  return out
}

function toSchema(value: Json, path: string, report: ProblemReporter): JsonObject | boolean {
  if (isJsonSchema(value)) return value
  // Some authors write the bare type in place of its schema.
  const type = typeof value === 'string' ? toKnownType(value) : undefined
  report(`"${path}" was not a schema; it now accepts ${type === undefined ? 'anything' : `the type "${type}"`}.`)
  return type === undefined ? {} : { type }
}

const LEGACY_CONVERSIONS = [convertBooleanBounds, convertTupleItems, convertDependencies, convertNullable]

/** Draft 4 wrote `minimum: 0, exclusiveMinimum: true`. */
function convertBooleanBounds(schema: JsonObject): JsonObject {
  let out = schema
  for (const [bound, exclusive] of [
    ['minimum', 'exclusiveMinimum'],
    ['maximum', 'exclusiveMaximum'],
  ] as const) {
    if (typeof out[exclusive] !== 'boolean') continue
    const limit = out[bound]
    const strict = out[exclusive] && typeof limit === 'number'
    out = omitKeys(out, strict ? [bound, exclusive] : [exclusive])
    if (strict) out[exclusive] = limit
  }
  return out
}

/** Until draft 2019-09 a tuple was an array of `items`. */
function convertTupleItems(schema: JsonObject): JsonObject {
  const { items, additionalItems } = schema
  if (!Array.isArray(items)) return schema
  const out = omitKeys(schema, ['items', 'additionalItems'])
  out['prefixItems'] = items
  if (isJsonSchema(additionalItems)) out['items'] = additionalItems
  return out
}

/** Until draft 7, both kinds of dependency were under one keyword. */
function convertDependencies(schema: JsonObject): JsonObject {
  const { dependencies: all } = schema
  if (!isJsonObject(all)) return schema
  const out = omitKeys(schema, ['dependencies'])
  const entries = Object.entries(all)
  const names = entries.filter(([, value]) => Array.isArray(value))
  const schemas = entries.filter(([, value]) => isJsonSchema(value))
  if (names.length > 0) out['dependentRequired'] ??= Object.fromEntries(names)
  if (schemas.length > 0) out['dependentSchemas'] ??= Object.fromEntries(schemas)
  return out
}

/** OpenAPI 3.0 wrote `nullable: true` for a union with null. */
function convertNullable(schema: JsonObject): JsonObject {
  if (typeof schema['nullable'] !== 'boolean') return schema
  const out = omitKeys(schema, ['nullable'])
  const { type, enum: values } = out
  if (!schema['nullable']) return out
  if (typeof type === 'string' && type !== 'null') out['type'] = [type, 'null']
  if (Array.isArray(type) && !type.includes('null')) out['type'] = [...type, 'null']
  if (Array.isArray(values) && !values.includes(null)) out['enum'] = [...values, null]
  return out
}
