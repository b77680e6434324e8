import { keywordSet } from '../keyword-set.ts'
import type { JsonObject } from '../../model/json.ts'
import { inferType } from './infer-type.ts'
import { isJsonObject, setOwn, omitKeys } from '../own-properties.ts'
import { getRef, REF_KEYWORDS, createRefResolver } from './resolve-refs.ts'
import { normalizeKeywords, type ProblemReporter } from './normalize-keywords.ts'
import {
  forEachSubschema,
  IN_PLACE_APPLICATORS,
  mapAllSubschemas,
  MAX_SCHEMA_DEPTH,
  type SchemaLocation,
  type JsonSchema,
  getSchemaPointer,
} from '../walk-schema.ts'

/** Returns a schema that can be declared, with the repairs, or the reason why it cannot. */
export function repairSchema(schema: unknown): { schema: JsonObject; repairs: string[] } | { unusable: string } {
  const repairs = new Set<string>()
  const report: ProblemReporter = (message) => repairs.add(message)
  if (schema === undefined || schema === null || schema === true) {
    const repair = 'The tool declares no parameter schema; any arguments are accepted.'
    return { schema: { type: 'object', properties: {} }, repairs: [repair] }
  }
  if (!isJsonObject(schema)) return { unusable: `its schema is ${schema === false ? '"false"' : 'not an object'}` }
  const problem = describeSizeProblem(schema)
  if (problem !== undefined) return { unusable: problem }
  const repairBeforeChildren = (inner: JsonSchema, location: SchemaLocation) =>
    typeof inner === 'boolean' ? inner : normalizeKeywords(hoistRequired(inner, location, report), report)
  const clean = mapAllSubschemas(schema, repairBeforeChildren, 'down')
  const done = mapAllSubschemas(clean, (inner, location) => repairAfterChildren(inner, location, report))
  if (!isJsonObject(done)) return { unusable: 'its schema accepts no value' }
  const root = repairRoot(dropUnresolvedRefs(done, report), report)
  if (typeof root === 'string') return { unusable: root }
  return { schema: root, repairs: [...repairs] }
}

/** Tool lists are sent with every request: a larger schema is an accident or an attack. */
const MAX_NODES = 10_000

const COMBINER_KEYWORDS = ['anyOf', 'oneOf', 'allOf', 'not', 'if', ...REF_KEYWORDS]

const BOOLEAN_SCHEMA_KEYWORDS = keywordSet(
  'additionalProperties unevaluatedProperties unevaluatedItems additionalItems',
)

function describeSizeProblem(schema: JsonObject): string | undefined {
  let nodes = 0
  let deep = false
  try {
    forEachSubschema(schema, (_inner, location) => {
      deep ||= location.depth >= MAX_SCHEMA_DEPTH
      // A schema object that contains itself would never end.
      if (++nodes > MAX_NODES) throw new RangeError('too many subschemas')
    })
    JSON.stringify(schema)
  } catch {
    return 'its schema is too large, or contains itself'
  }
  return deep ? `its schema is nested more than ${MAX_SCHEMA_DEPTH} levels deep` : undefined
}

/** Draft 3, and some authors, write `required: true` inside the property. */
function hoistRequired(schema: JsonObject, location: SchemaLocation, report: ProblemReporter): JsonObject {
  const { properties, required } = schema
  if (!isJsonObject(properties)) return schema
  const markedRequired = Object.keys(properties).filter((name) => {
    const property = properties[name]
    return isJsonObject(property) && property['required'] === true
  })
  if (markedRequired.length === 0) return schema
  report(`"required: true" was moved from the properties to the object at "${getSchemaPointer(location) || '/'}".`)
  const listedRequired = Array.isArray(required) ? required : []
  const bare = { ...properties }
  for (const name of markedRequired) setOwn(bare, name, omitKeys(bare[name] as JsonObject, ['required']))
  return { ...schema, properties: bare, required: [...new Set([...listedRequired, ...markedRequired])] }
}

function repairAfterChildren(schema: JsonSchema, location: SchemaLocation, report: ProblemReporter): JsonSchema {
  const { keyword } = location
  if (schema === true && keyword !== undefined && !BOOLEAN_SCHEMA_KEYWORDS.has(keyword)) return {}
  if (typeof schema === 'boolean') return schema
  let out = dropUndeclaredRequired(dropFalseSchemas(schema, report), location, report)
  if (out['type'] === undefined && !COMBINER_KEYWORDS.some((key) => out[key] !== undefined)) {
    const type = inferType(out)
    // The type of a branch belongs to the schema around it.
    if (type !== undefined && (keyword === undefined || !IN_PLACE_APPLICATORS.has(keyword))) {
      // The type of listed values is obvious, so it is not worth a warning.
      if (out['enum'] === undefined && !Object.hasOwn(out, 'const')) {
        report(`A missing type was added: "${type}" at "${getSchemaPointer(location) || '/'}".`)
      }
      out = { type, ...out }
    }
  }
  return out
}

/** A property with the schema `false` must be absent, and a branch with it never matches. */
function dropFalseSchemas(schema: JsonObject, report: ProblemReporter): JsonObject {
  let out = schema
  const { properties } = schema
  if (isJsonObject(properties)) {
    const falseProperties = Object.keys(properties).filter((name) => properties[name] === false)
    if (falseProperties.length > 0) {
      report(`Properties that accept no value were omitted: ${falseProperties.join(', ')}.`)
      out = { ...out, properties: omitKeys(properties, falseProperties) }
    }
  }
  for (const key of ['anyOf', 'oneOf'] as const) {
    const list = out[key]
    if (!Array.isArray(list) || !list.includes(false)) continue
    const possible = list.filter((branch) => branch !== false)
    out = possible.length > 0 ? { ...out, [key]: possible } : omitKeys(out, [key])
  }
  return out
}

function dropUndeclaredRequired(schema: JsonObject, location: SchemaLocation, report: ProblemReporter): JsonObject {
  const { required } = schema
  // A branch may require what the schema around it declares.
  if (!Array.isArray(required) || (location.keyword !== undefined && IN_PLACE_APPLICATORS.has(location.keyword)))
    return schema
  const declaredProperties = collectDeclaredNames(schema)
  const unknown = required.filter((name) => typeof name === 'string' && declaredProperties?.has(name) === false)
  if (unknown.length === 0) return schema
  report(`Required properties that are not declared are no longer required: ${JSON.stringify(unknown)}.`)
  return { ...schema, required: required.filter((name) => !unknown.includes(name)) }
}

/** The names that a schema and its branches declare; undefined if a reference may declare more. */
function collectDeclaredNames(schema: JsonObject): Set<string> | undefined {
  const names = new Set<string>()
  let open = false
  const collect = (inner: JsonSchema, location: SchemaLocation): JsonSchema => {
    // Branches apply to the same object; other subschemas apply to other values.
    if (location.keyword !== undefined && !IN_PLACE_APPLICATORS.has(location.keyword)) return true
    open ||= getRef(inner) !== undefined
    if (isJsonObject(inner) && isJsonObject(inner['properties'])) {
      for (const name of Object.keys(inner['properties'])) names.add(name)
    }
    return inner
  }
  mapAllSubschemas(schema, collect, 'down')
  return open ? undefined : names
}

function dropUnresolvedRefs(schema: JsonObject, report: ProblemReporter): JsonObject {
  const resolve = createRefResolver(schema)
  const out = mapAllSubschemas(schema, (inner) => {
    const ref = getRef(inner)
    if (ref === undefined || typeof inner === 'boolean' || resolve(ref) !== undefined) return inner
    report(`The reference "${ref}" cannot be resolved; any value is accepted there.`)
    return omitKeys(inner, REF_KEYWORDS)
  })
  const opened = out === schema ? out : mapAllSubschemas(out, dropOpenNegations)
  return isJsonObject(opened) ? opened : schema
}

/** A branch that now accepts anything must not make "exactly one" or "not" reject every value. */
function dropOpenNegations(schema: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean') return schema
  const { oneOf, anyOf, not } = schema
  let out = isEmptySchema(not) ? omitKeys(schema, ['not']) : schema
  if (Array.isArray(oneOf) && oneOf.some(isEmptySchema)) {
    out = omitKeys(out, ['oneOf'])
    if (anyOf === undefined) out = { ...out, anyOf: oneOf }
  }
  return out
}

function isEmptySchema(schema: unknown): boolean {
  return isJsonObject(schema) && Object.keys(schema).length === 0
}

function repairRoot(schema: JsonObject, report: ProblemReporter): JsonObject | string {
  const ref = getRef(schema)
  const combined = COMBINER_KEYWORDS.some((key) => schema[key] !== undefined)
  const { type } = schema
  if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object'))) {
    return `its arguments are declared as ${JSON.stringify(type)}, not as an object`
  }
  let out = schema
  if (type !== 'object' && ref === undefined) {
    if (type === undefined && !combined) report('The root schema has no type; "object" was added.')
    out = type === undefined ? { type: 'object', ...out } : { ...out, type: 'object' }
  }
  if (out['properties'] === undefined && ref === undefined) out = { ...out, properties: {} }
  return out
}
