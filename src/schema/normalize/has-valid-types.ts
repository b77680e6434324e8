import { isObject } from '../../model/json.ts'

/**
 * Does every part have a type? A schema without `type` needs a combiner (`anyOf`, `allOf`, `oneOf`) whose members all
 * have one; the same goes for an object's properties and an array's items. What is no object, such as `true`, needs none.
 */
export function hasValidTypes(schema: unknown): boolean {
  return isTyped(schema, new Set())
}

const COMBINER_KEYWORDS = ['anyOf', 'allOf', 'oneOf'] as const

function isTyped(schema: unknown, ancestors: Set<unknown>): boolean {
  if (!isObject(schema)) return true
  // A schema that contains itself was checked further up.
  if (ancestors.has(schema)) return true
  ancestors.add(schema)
  const valid = schema['type'] ? hasTypedChildren(schema, ancestors) : hasTypedMembers(schema, ancestors)
  ancestors.delete(schema)
  return valid
}

function hasTypedChildren(schema: Record<string, unknown>, ancestors: Set<unknown>): boolean {
  if (schema['type'] === 'object' && isObject(schema['properties'])) {
    return Object.values(schema['properties']).every((property) => isTyped(property, ancestors))
  }
  if (schema['type'] === 'array' && schema['items']) return isTyped(schema['items'], ancestors)
  return true
}

function hasTypedMembers(schema: Record<string, unknown>, ancestors: Set<unknown>): boolean {
  const members = COMBINER_KEYWORDS.flatMap((name) => schema[name] ?? [])
  return members.length > 0 && members.every((member) => isTyped(member, ancestors))
}
