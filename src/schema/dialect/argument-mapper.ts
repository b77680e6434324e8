import { toCanonicalJson, type Json, type JsonObject } from '../../model/json.ts'
import { isJsonObject, getOwn, setOwn } from '../own-properties.ts'
import { getRef, createRefResolver, type RefResolver } from '../normalize/resolve-refs.ts'
import { isJsonSchema } from '../walk-schema.ts'

/**
 * How a dialect changed the *values* that a schema describes, so that it can be undone. Schemas are the converted ones.
 */
export interface ArgumentMapping {
  /** Property names that were changed: new to old. */
  readonly originalKeys: ReadonlyMap<string, string>
  /** Parts of the schema were cut, so changed names may occur where nothing is declared. */
  readonly isPartial: boolean
  /** Values that are written as text: schema to label to value. */
  readonly enumLabels: ReadonlyMap<JsonObject, ReadonlyMap<string, Json>>
  /** Properties whose null means "absent": schema to names. */
  readonly nullMeansAbsent: ReadonlyMap<JsonObject, ReadonlySet<string>>
}

/** Converts arguments between the converted schema and the original one. */
export interface ArgumentMapper {
  toInput(args: JsonObject): JsonObject
  toWire(input: JsonObject): JsonObject
}

/** Values that need no change are returned as they are. */
export function createArgumentMapper(schema: JsonObject, changes: Partial<ArgumentMapping>): ArgumentMapper {
  const mapping: ArgumentMapping = {
    originalKeys: new Map(),
    isPartial: false,
    enumLabels: new Map(),
    nullMeansAbsent: new Map(),
    ...changes,
  }
  const resolve = createRefResolver(schema)
  const wireKeys = new Map([...mapping.originalKeys].map(([wire, name]) => [name, wire]))
  const fromWire: MappingState = { mapping, resolve, isFromWire: true, wireKeys }
  const toWireState: MappingState = { mapping, resolve, isFromWire: false, wireKeys }
  const walk = (value: JsonObject, state: MappingState): JsonObject => {
    const out = mapValue([schema], value, state, 0)
    return isJsonObject(out) ? out : value
  }
  return { toInput: (args) => walk(args, fromWire), toWire: (input) => walk(input, toWireState) }
}

/** Deeper values are not converted: the stack is finite. */
const MAX_DEPTH = 500

interface MappingState {
  readonly mapping: ArgumentMapping
  readonly resolve: RefResolver
  readonly isFromWire: boolean
  /** Old names to new ones. */
  readonly wireKeys: ReadonlyMap<string, string>
}

function mapValue(schemas: readonly JsonObject[], value: Json, state: MappingState, depth: number): Json {
  if (depth > MAX_DEPTH) return value
  const applicable = collectApplicableSchemas(schemas, state.resolve)
  const mapped = mapEnumLabel(applicable, value, state)
  if (mapped !== undefined) return mapped
  if (Array.isArray(value)) {
    const out = value.map((item, index) => mapValue(getItemSchemas(applicable, index), item, state, depth + 1))
    return out.every((item, index) => item === value[index]) ? value : out
  }
  return isJsonObject(value) ? mapObject(applicable, value, state, depth) : value
}

/** The schemas, and all schemas inside them that apply to the same value. */
function collectApplicableSchemas(schemas: readonly JsonObject[], resolve: RefResolver): JsonObject[] {
  const out = new Set<JsonObject>()
  const add = (schema: unknown): void => {
    if (!isJsonObject(schema) || out.has(schema)) return
    out.add(schema)
    const ref = getRef(schema)
    if (ref !== undefined) add(resolve(ref))
    const { allOf, anyOf, oneOf, dependentSchemas } = schema
    for (const list of [allOf, anyOf, oneOf]) if (Array.isArray(list)) list.forEach(add)
    for (const key of ['if', 'then', 'else']) add(schema[key])
    if (isJsonObject(dependentSchemas)) Object.values(dependentSchemas).forEach(add)
  }
  schemas.forEach(add)
  return [...out]
}

function mapEnumLabel(applicable: JsonObject[], value: Json, state: MappingState): Json | undefined {
  if (state.mapping.enumLabels.size === 0) return undefined
  for (const schema of applicable) {
    const labels = state.mapping.enumLabels.get(schema)
    if (labels === undefined) continue
    if (state.isFromWire) return typeof value === 'string' ? labels.get(value) : undefined
    const text = toCanonicalJson(value)
    for (const [label, enumValue] of labels) if (toCanonicalJson(enumValue) === text) return label
  }
  return undefined
}

function getItemSchemas(applicable: JsonObject[], index: number): JsonObject[] {
  return applicable.flatMap((schema) => {
    const { prefixItems, items } = schema
    const fixed = Array.isArray(prefixItems) ? prefixItems[index] : undefined
    const item = fixed ?? items
    return isJsonObject(item) ? [item] : []
  })
}

function mapObject(applicable: JsonObject[], value: JsonObject, state: MappingState, depth: number): JsonObject {
  const out: JsonObject = {}
  let changed = false
  for (const [key, inner] of Object.entries(value)) {
    const [wire, name] = state.isFromWire
      ? [key, toOriginalKey(applicable, key, value, state)]
      : [toWireKey(applicable, key, value, state), key]
    if (state.isFromWire && inner === null && isNullAbsent(applicable, wire, state.mapping)) {
      changed = true
      continue
    }
    const after = mapValue(getPropertySchemas(applicable, wire), inner, state, depth + 1)
    const target = state.isFromWire ? name : wire
    changed ||= after !== inner || target !== key
    setOwn(out, target, after)
  }
  if (!state.isFromWire) changed = addNulls(applicable, out, state.mapping) || changed
  return changed ? out : value
}

/** A new name becomes the old one where it is declared, unless the old one is present as well. */
function toOriginalKey(applicable: JsonObject[], key: string, value: JsonObject, state: MappingState): string {
  const name = state.mapping.originalKeys.get(key)
  if (name === undefined || Object.hasOwn(value, name)) return key
  return isDeclared(applicable, key) || mayBeCutAway(applicable, state) ? name : key
}

function toWireKey(applicable: JsonObject[], key: string, value: JsonObject, state: MappingState): string {
  const wire = state.wireKeys.get(key)
  if (wire === undefined || Object.hasOwn(value, wire)) return key
  return isDeclared(applicable, wire) || mayBeCutAway(applicable, state) ? wire : key
}

/** A name also counts as declared where a rule mentions it. */
function isDeclared(applicable: JsonObject[], key: string): boolean {
  return applicable.some(({ properties, required, dependentRequired, dependentSchemas }) => {
    if (Array.isArray(required) && required.includes(key)) return true
    const maps = [properties, dependentSchemas, dependentRequired].filter(isJsonObject)
    if (maps.some((map) => Object.hasOwn(map, key))) return true
    return isJsonObject(dependentRequired) && Object.values(dependentRequired).flat().includes(key)
  })
}

/** Nothing is declared here, perhaps because it was cut. */
function mayBeCutAway(applicable: JsonObject[], state: MappingState): boolean {
  return state.mapping.isPartial && !applicable.some(({ properties }) => isJsonObject(properties))
}

function getPropertySchemas(applicable: JsonObject[], key: string): JsonObject[] {
  const declared = applicable.flatMap(({ properties }) => {
    const schema = isJsonObject(properties) ? getOwn(properties, key) : undefined
    return isJsonObject(schema) ? [schema] : []
  })
  if (declared.length > 0) return declared
  return applicable.flatMap(({ additionalProperties, patternProperties }) => {
    const patterns = isJsonObject(patternProperties) ? Object.values(patternProperties) : []
    return [additionalProperties, ...patterns].filter(isJsonObject)
  })
}

/** Null means "absent" only if every schema that declares the property says so. */
function isNullAbsent(applicable: JsonObject[], key: string, mapping: ArgumentMapping): boolean {
  const declaring = applicable.filter(
    ({ properties }) => isJsonObject(properties) && isJsonSchema(getOwn(properties, key)),
  )
  return declaring.length > 0 && declaring.every((schema) => mapping.nullMeansAbsent.get(schema)?.has(key))
}

/** If only one schema applies, absent properties are written as null. */
function addNulls(applicable: JsonObject[], out: JsonObject, mapping: ArgumentMapping): boolean {
  const [only, ...others] = applicable
  const names = only === undefined || others.length > 0 ? undefined : mapping.nullMeansAbsent.get(only)
  const missing = [...(names ?? [])].filter((name) => !Object.hasOwn(out, name))
  for (const name of missing) setOwn(out, name, null)
  return missing.length > 0
}
