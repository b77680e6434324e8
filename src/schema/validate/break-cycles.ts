import { isJsonObject, omitKeys } from '../own-properties.ts'
import type { ProblemReporter } from '../normalize/normalize-keywords.ts'
import { IN_PLACE_APPLICATORS, mapDirectSubschemas, type JsonSchema } from '../walk-schema.ts'

/**
 * Removes what would never end in a validator: references that lead back to the same value, and branches that multiply.
 * Changes the schemas in `schemasById`, and returns the root. A rule that decides by *rejecting* (`not`, `if`, `oneOf`)
 * is dropped with its broken part, since an open schema would turn it into its opposite.
 */
export function breakCycles(
  root: JsonSchema,
  schemasById: Record<string, JsonSchema>,
  degraded: Set<JsonSchema>,
  report: ProblemReporter,
): JsonSchema {
  const state: CycleState = { schemasById, degraded, report, weights: new Map(), openSchemas: new Set() }
  measureWeight(root, state)
  for (const target of Object.values(schemasById)) measureWeight(target, state)
  if (degraded.size === 0) return root
  const isTainted = createTaintCheck(degraded, { ...schemasById })
  for (const id of Object.keys(schemasById)) schemasById[id] = dropTaintedRules(schemasById[id] ?? true, isTainted)
  return dropTaintedRules(root, isTainted)
}

interface CycleState {
  readonly schemasById: Record<string, JsonSchema>
  readonly degraded: Set<JsonSchema>
  readonly report: ProblemReporter
  /** How many schemas apply to one value at once, by the schema they start from. */
  readonly weights: Map<JsonSchema, number>
  readonly openSchemas: Set<JsonSchema>
}

const MAX_SCHEMAS_PER_VALUE = 20_000

/** Removes each reference that closes a cycle over one value, or makes the branches multiply. */
function measureWeight(schema: JsonSchema, state: CycleState): number {
  if (typeof schema === 'boolean') return 1
  const cachedWeight = state.weights.get(schema)
  if (cachedWeight !== undefined) return cachedWeight
  state.openSchemas.add(schema)
  let weight = 1
  mapDirectSubschemas(schema, (child, keyword) => {
    if (IN_PLACE_APPLICATORS.has(keyword)) weight += measureWeight(child, state)
    return child
  })
  const ref = schema['$ref']
  const target = typeof ref === 'string' ? state.schemasById[ref] : undefined
  if (target !== undefined) {
    const targetWeight = state.openSchemas.has(target) ? Infinity : measureWeight(target, state)
    if (weight + targetWeight <= MAX_SCHEMAS_PER_VALUE) weight += targetWeight
    else {
      state.report('A reference is cyclic or expands without end; any value is accepted there.')
      delete schema['$ref']
      state.degraded.add(schema)
    }
  }
  state.openSchemas.delete(schema)
  state.weights.set(schema, weight)
  // Subschemas of other values have their own cycles.
  mapDirectSubschemas(schema, (child, keyword) => {
    if (!IN_PLACE_APPLICATORS.has(keyword)) measureWeight(child, { ...state, openSchemas: new Set() })
    return child
  })
  return weight
}

/** Does the result of a schema depend on a degraded one? */
function createTaintCheck(
  degraded: Set<JsonSchema>,
  schemasById: Record<string, JsonSchema>,
): (schema: JsonSchema) => boolean {
  const reaches = (schema: JsonSchema, seen: Set<JsonSchema>): boolean => {
    if (typeof schema === 'boolean' || seen.has(schema)) return false
    if (degraded.has(schema)) return true
    seen.add(schema)
    const ref = schema['$ref']
    let found = typeof ref === 'string' && reaches(schemasById[ref] ?? true, seen)
    mapDirectSubschemas(schema, (child) => {
      found ||= reaches(child, seen)
      return child
    })
    return found
  }
  return (schema) => reaches(schema, new Set())
}

function dropTaintedRules(schema: JsonSchema, isTainted: (schema: JsonSchema) => boolean): JsonSchema {
  if (typeof schema === 'boolean') return schema
  let out = schema
  const { not, if: condition, oneOf } = out
  const isTaintedPart = (part: unknown) => isJsonObject(part) && isTainted(part)
  if (isTaintedPart(not)) out = omitKeys(out, ['not'])
  if (isTaintedPart(condition)) out = omitKeys(out, ['if', 'then', 'else'])
  if (Array.isArray(oneOf) && oneOf.some(isTaintedPart)) {
    const { anyOf, allOf } = out
    out = omitKeys(out, ['oneOf'])
    if (anyOf === undefined) out['anyOf'] = oneOf
    else out['allOf'] = [...(Array.isArray(allOf) ? allOf : []), { anyOf: oneOf }]
  }
  return mapDirectSubschemas(out, (child) => dropTaintedRules(child, isTainted))
}
