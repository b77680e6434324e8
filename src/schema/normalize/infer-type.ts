import type { Json, JsonObject } from '../../model/json.ts'

/** The type that other keywords imply, if they agree. */
export function inferType(schema: JsonObject): string | undefined {
  const { properties, items, prefixItems, enum: values } = schema
  if (properties !== undefined) return 'object'
  if (items !== undefined || prefixItems !== undefined) return 'array'
  if (Array.isArray(values)) return findCommonType(values)
  return Object.hasOwn(schema, 'const') ? findCommonType([schema['const'] ?? null]) : undefined
}

/** The types to declare if the author named none: what the keywords suggest, else every type but null. */
export function inferSchemaTypes(schema: JsonObject): string[] {
  const inferred = inferType(schema)
  if (inferred !== undefined) return [inferred]
  const hint = TYPE_HINTS.find(([, keywords]) => keywords.some((key) => schema[key] !== undefined))
  return hint === undefined ? ['string', 'number', 'boolean', 'object', 'array'] : [hint[0]]
}

export function getJsonType(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

const TYPE_HINTS: readonly (readonly [string, readonly string[]])[] = [
  ['object', ['required', 'additionalProperties', 'patternProperties', 'minProperties', 'maxProperties']],
  ['string', ['pattern', 'minLength', 'maxLength', 'format']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
  ['array', ['minItems', 'maxItems', 'uniqueItems', 'contains']],
]

function findCommonType(values: Json[]): string | undefined {
  const types = new Set(values.map(getJsonType))
  if (types.size === 2 && types.has('integer') && types.has('number')) return 'number'
  return types.size === 1 ? [...types][0] : undefined
}
