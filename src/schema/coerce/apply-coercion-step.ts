import { toCanonicalJson, type Json, type JsonObject } from '../../model/json.ts'
import type { CompiledSchema } from '../validate/compile-schema.ts'
import { getJsonType } from '../normalize/infer-type.ts'
import { getDeclaredTypes } from '../normalize/merge-schemas.ts'
import { isJsonObject, getOwn, setOwn } from '../own-properties.ts'
import { toPointerSegment } from '../json-pointer.ts'
import { isJsonSchema, type JsonSchema } from '../walk-schema.ts'

/** A value after coercion, with a sentence for each change. */
export interface CoercionResult {
  readonly value: Json
  readonly changes: readonly string[]
}

/** A value that its schema rejects. */
export interface CoercionTarget {
  readonly compiled: CompiledSchema
  readonly schema: JsonObject
  readonly value: Json
  readonly path: string
  /** The types that any branch allows here: a value of such a type may be wrong, but its type is not. */
  readonly types: ReadonlySet<string>
}

/** Undefined if the step does not apply. */
export type CoercionStep = (site: CoercionTarget) => CoercionResult | undefined

/** Walks value and schema together, and applies a step wherever the schema rejects the value. Accepted parts stay. */
export function applyCoercionStep(
  compiled: CompiledSchema,
  schema: JsonSchema,
  value: Json,
  path: string,
  step: CoercionStep,
): CoercionResult {
  return coerceValue({ compiled, step, depth: 0, types: undefined }, schema, value, path)
}

/** The types that a schema allows, whatever else it requires; an integer is a number. */
export function getAllowedTypes(compiled: CompiledSchema, schema: JsonSchema, depth = 0): Set<string> {
  if (schema === true || depth > MAX_DEPTH) return new Set(JSON_TYPES)
  if (schema === false) return new Set()
  let out = new Set(JSON_TYPES)
  const narrow = (types: Iterable<string>): void => {
    const allowed = new Set([...types].map((type) => (type === 'integer' ? 'number' : type)))
    out = new Set([...out].filter((type) => allowed.has(type)))
  }
  const { type, enum: values, $ref, allOf } = schema
  if (type !== undefined) narrow(getDeclaredTypes(schema))
  if (Array.isArray(values)) narrow(values.map(getJsonType))
  if (schema['const'] !== undefined) narrow([getJsonType(schema['const'])])
  const inner = (part: Json): Set<string> =>
    isJsonSchema(part) ? getAllowedTypes(compiled, part, depth + 1) : new Set(JSON_TYPES)
  if (typeof $ref === 'string') narrow(inner(compiled.resolveRef($ref) ?? true))
  if (Array.isArray(allOf)) allOf.forEach((part) => narrow(inner(part)))
  for (const list of [schema['anyOf'], schema['oneOf']]) {
    if (Array.isArray(list)) narrow(list.flatMap((part) => [...inner(part)]))
  }
  return out
}

const JSON_TYPES = ['string', 'number', 'boolean', 'object', 'array', 'null']

const MAX_DEPTH = 64

interface CoercionState {
  readonly compiled: CompiledSchema
  readonly step: CoercionStep
  readonly depth: number
  /** Set inside a union, where the types of the whole union count. */
  readonly types: ReadonlySet<string> | undefined
}

function coerceValue(state: CoercionState, schema: JsonSchema, value: Json, path: string): CoercionResult {
  const { compiled, step } = state
  const unchanged: CoercionResult = { value, changes: [] }
  if (typeof schema === 'boolean' || state.depth > MAX_DEPTH || compiled.accepts(schema, value)) return unchanged
  const types = state.types ?? getAllowedTypes(compiled, schema)
  const childState: CoercionState = { ...state, depth: state.depth + 1, types }
  let coercion = step({ compiled, schema, value, path, types }) ?? unchanged
  const coerceWith = (part: Json | undefined): void => {
    if (isJsonSchema(part)) coercion = appendChanges(coercion, coerceValue(childState, part, coercion.value, path))
  }
  if (typeof schema['$ref'] === 'string') coerceWith(compiled.resolveRef(schema['$ref']))
  if (Array.isArray(schema['allOf'])) schema['allOf'].forEach(coerceWith)
  coercion = coerceChildren({ ...childState, types: undefined }, schema, coercion, path)
  for (const key of ['anyOf', 'oneOf']) coercion = coerceBestBranch(childState, schema, schema[key], coercion, path)
  return coercion
}

function appendChanges(first: CoercionResult, second: CoercionResult): CoercionResult {
  return { value: second.value, changes: [...first.changes, ...second.changes] }
}

function coerceChildren(
  state: CoercionState,
  schema: JsonObject,
  coercion: CoercionResult,
  path: string,
): CoercionResult {
  const { value } = coercion
  const changes = [...coercion.changes]
  const coerceChild = (part: Json | undefined, inner: Json, key: string | number): Json => {
    if (!isJsonSchema(part)) return inner
    const next = coerceValue(state, part, inner, path + toPointerSegment(key))
    changes.push(...next.changes)
    return next.value
  }
  if (Array.isArray(value)) {
    const { prefixItems, items } = schema
    const fixed = Array.isArray(prefixItems) ? prefixItems : []
    const out = value.map((inner, index) => coerceChild(fixed[index] ?? items, inner, index))
    return { value: out.every((inner, index) => inner === value[index]) ? value : out, changes }
  }
  if (!isJsonObject(value)) return coercion
  const { properties, additionalProperties } = schema
  let out = value
  for (const [key, inner] of Object.entries(value)) {
    const declared = isJsonObject(properties) ? getOwn(properties, key) : undefined
    // Keys under a pattern have another schema than `additionalProperties`.
    const part = declared ?? (schema['patternProperties'] === undefined ? additionalProperties : undefined)
    const after = coerceChild(part, inner, key)
    if (after === inner) continue
    if (out === value) out = { ...value }
    setOwn(out, key, after)
  }
  return { value: out, changes }
}

/** The branch that is reached with the fewest changes; a tie changes nothing. */
function coerceBestBranch(
  state: CoercionState,
  schema: JsonObject,
  list: Json | undefined,
  coercion: CoercionResult,
  path: string,
): CoercionResult {
  const { compiled } = state
  if (!Array.isArray(list) || compiled.accepts(schema, coercion.value)) return coercion
  const candidates = list
    .filter(isJsonSchema)
    .map((branch) => coerceValue(state, branch, coercion.value, path))
    .filter((next) => compiled.accepts(schema, next.value))
    .sort((a, b) => a.changes.length - b.changes.length)
  const [best, second] = candidates
  if (best === undefined) return coercion
  const isTie =
    second?.changes.length === best.changes.length && toCanonicalJson(second.value) !== toCanonicalJson(best.value)
  return isTie ? coercion : appendChanges(coercion, best)
}
