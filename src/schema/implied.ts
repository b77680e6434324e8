import type { Json, JsonObject } from '../model/json.ts'

/** The type that the other keywords of a schema take for granted, if they agree on one. */
export function impliedType(schema: JsonObject): string | undefined {
  const { properties, items, prefixItems, enum: values } = schema
  if (properties !== undefined) return 'object'
  if (items !== undefined || prefixItems !== undefined) return 'array'
  if (Array.isArray(values)) return commonType(values)
  return Object.hasOwn(schema, 'const') ? commonType([schema['const'] ?? null]) : undefined
}

/** The types to declare where the author named none: what the keywords hint at, else every type but null. */
export function likelyTypes(schema: JsonObject): string[] {
  const implied = impliedType(schema)
  if (implied !== undefined) return [implied]
  const hint = HINTS.find(([, keywords]) => keywords.some((key) => schema[key] !== undefined))
  return hint === undefined ? ['string', 'number', 'boolean', 'object', 'array'] : [hint[0]]
}

/** The type of a value, in the words of JSON Schema. */
export function typeOf(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

const HINTS: readonly (readonly [string, readonly string[]])[] = [
  ['object', ['required', 'additionalProperties', 'patternProperties', 'minProperties', 'maxProperties']],
  ['string', ['pattern', 'minLength', 'maxLength', 'format']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
  ['array', ['minItems', 'maxItems', 'uniqueItems', 'contains']],
]

function commonType(values: Json[]): string | undefined {
  const types = new Set(values.map(typeOf))
  if (types.size === 2 && types.has('integer') && types.has('number')) return 'number'
  return types.size === 1 ? [...types][0] : undefined
}
