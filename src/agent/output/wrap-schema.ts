import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { createRefResolver, getRef } from '../../schema/normalize/resolve-refs.ts'
import { mapAllSubschemas } from '../../schema/walk-schema.ts'

/** Does the schema describe one kind of object? Vendors accept nothing else as the root of a response format. */
export function isObjectSchema(schema: JsonObject): boolean {
  const ref = getRef(schema)
  const target = ref === undefined ? schema : createRefResolver(schema)(ref)
  if (!isObject(target) || target['type'] !== 'object') return false
  return ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', '$ref'].every((keyword) => target[keyword] === undefined)
}

/** An object whose only property is the value: for lists, unions, numbers and text. */
export function wrapSchema(schema: JsonObject): JsonObject {
  const { $defs, definitions, $schema, ...rest } = schema
  const moved = mapAllSubschemas({ ...rest, ...($defs && { $defs }), ...(definitions && { definitions }) }, (inner) =>
    typeof inner !== 'boolean' && typeof inner['$ref'] === 'string'
      ? { ...inner, $ref: moveRef(inner['$ref']) }
      : inner,
  )
  const { $defs: movedDefs, definitions: movedDefinitions, ...value } = moved as JsonObject
  return {
    ...($schema !== undefined && { $schema }),
    type: 'object',
    properties: { [WRAPPER_KEY]: value },
    required: [WRAPPER_KEY],
    additionalProperties: false,
    ...(movedDefs !== undefined && { $defs: movedDefs }),
    ...(movedDefinitions !== undefined && { definitions: movedDefinitions }),
  }
}

/** A model may also answer with the bare value. */
export function wrapValue(value: Json): JsonObject {
  const isWrapped = isObject(value) && Object.keys(value).length === 1 && Object.hasOwn(value, WRAPPER_KEY)
  return isWrapped ? value : { [WRAPPER_KEY]: value }
}

export function unwrapValue(value: JsonObject): Json | undefined {
  return Object.hasOwn(value, WRAPPER_KEY) ? value[WRAPPER_KEY] : undefined
}

const WRAPPER_KEY = 'value'

/** Definitions stay at the root; everything else is one level deeper. */
function moveRef(ref: string): string {
  if (!ref.startsWith('#') || /^#\/(?:\$defs|definitions)\//.test(ref) || /^#[^/]/.test(ref)) return ref
  return `#/properties/${WRAPPER_KEY}${ref.slice(1)}`
}
