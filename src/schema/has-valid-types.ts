import { isObject } from '../model/json.ts'

/**
 * Does the schema say the type of everything? Without a `type` only a combiner (`anyOf`, `allOf`, `oneOf`) will do, each
 * of whose members says its type; an object's properties and an array's items are held to the same rule.
 */
export function hasValidTypes(schema: unknown): boolean {
  return check(schema, new Set())
}

const COMBINERS = ['anyOf', 'allOf', 'oneOf'] as const

function check(schema: unknown, above: Set<unknown>): boolean {
  if (!isObject(schema)) return false
  // A schema object that contains itself has been judged further up.
  if (above.has(schema)) return true
  above.add(schema)
  const valid = schema['type'] ? checkTyped(schema, above) : checkCombined(schema, above)
  above.delete(schema)
  return valid
}

function checkTyped(schema: Record<string, unknown>, above: Set<unknown>): boolean {
  if (schema['type'] === 'object' && isObject(schema['properties'])) {
    return Object.values(schema['properties']).every((property) => check(property, above))
  }
  if (schema['type'] === 'array' && schema['items']) return check(schema['items'], above)
  return true
}

function checkCombined(schema: Record<string, unknown>, above: Set<unknown>): boolean {
  const lists = COMBINERS.map((name) => schema[name]).filter((list) => Array.isArray(list))
  return lists.length > 0 && lists.every((list) => list.every((member: unknown) => check(member, above)))
}
