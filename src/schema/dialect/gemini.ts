import { canonical, type Json, type JsonObject } from '../../model/json.ts'
import { phraseFor, withRemarks } from '../describe.ts'
import { likelyTypes } from '../implied.ts'
import { inlineRefs } from '../inline.ts'
import { renameKeys } from '../keys.ts'
import { eitherOf, typeList } from '../merge.ts'
import { isJsonObject, own, put, without } from '../own.ts'
import { plainRoot } from '../root.ts'
import { alternatives } from '../union.ts'
import { isSchema, type Schema } from '../walk.ts'
import { cutWarnings, withoutLabels, type Declared } from './declared.ts'
import { listedValues } from './gemini-enum.ts'

/**
 * Gemini's older `parameters`, a subset of OpenAPI 3.0 with the types in capitals. A tool without arguments gets an
 * object without `properties`, which the service wants left out altogether.
 */
export function toGemini(schema: JsonObject): Declared {
  const { schema: flat, cut } = inlineRefs(schema)
  const root = without(plainRoot(withoutLabels(flat)), ['$defs', 'definitions'])
  const { schema: legal, original } = renameKeys(root, { pattern: /^[A-Za-z_][A-Za-z0-9_]{0,63}$/, max: 64 })
  const labels = new Map<JsonObject, ReadonlyMap<string, Json>>()
  const out = emit(legal, { labels, sole: true, depth: 0 })
  const declared = { schema: out, warnings: cutWarnings(cut) }
  if (original.size === 0 && labels.size === 0) return declared
  return { ...declared, notes: { keys: original, loose: cut.length > 0, labels, absent: new Map() } }
}

interface Spot {
  readonly labels: Map<JsonObject, ReadonlyMap<string, Json>>
  /** No union stands above: a label here can mean one thing only. */
  readonly sole: boolean
  readonly depth: number
}

/** The service refuses schemas nested too deeply, without saying how deep that is. */
const MAX_DEPTH = 16

const KEPT: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: [],
  array: ['minItems', 'maxItems'],
  object: ['minProperties', 'maxProperties'],
}

const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ['date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
}

/** Rules of each type that the dialect cannot carry. */
const TOLD: Readonly<Record<string, readonly string[]>> = {
  string: ['contentEncoding', 'contentMediaType'],
  number: ['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['uniqueItems', 'contains', 'minContains', 'maxContains'],
  object: ['additionalProperties', 'unevaluatedProperties', 'patternProperties', 'propertyNames', 'dependentRequired'],
}

function emit(schema: Schema, spot: Spot): JsonObject {
  if (typeof schema === 'boolean' || spot.depth > MAX_DEPTH) return emitAny({}, spot)
  const { remarks, branches, nullable } = alternatives(schema)
  const [only] = branches
  if (only === undefined) return { type: 'STRING', ...describe(remarks, ['null only']), nullable: true }
  if (branches.length === 1) {
    const out = emitLeaf(Object.keys(remarks).length === 0 ? only : { ...only, ...remarks }, spot)
    return nullable ? withNull(out, spot) : out
  }
  return union(branches, remarks, nullable, spot)
}

/** The service allows nothing beside `anyOf`, so remarks and null go to the first alternative. */
function union(branches: readonly JsonObject[], remarks: JsonObject, nullable: boolean, spot: Spot): JsonObject {
  const values = branches.map(listed)
  const all = values.every((list) => list !== undefined) ? values.flat().filter((value) => value !== undefined) : []
  // A union of fixed values is a list of values.
  if (all.length > 0) {
    const out = emitLeaf({ ...remarks, enum: all }, spot)
    return nullable ? withNull(out, spot) : out
  }
  // A branch that takes anything swallows the others.
  if (branches.some((branch) => listed(branch) === undefined && typesOf(branch).length > 1))
    return emitAny(remarks, spot)
  const inside = { ...spot, sole: false, depth: spot.depth + 1 }
  const forms = new Map<string, JsonObject>()
  for (const branch of branches) {
    const form = emitLeaf(branch, inside)
    const inner = Array.isArray(form['anyOf']) ? form['anyOf'].filter(isJsonObject) : [form]
    for (const each of inner) forms.set(canonical(each), each)
  }
  const [first, ...rest] = forms.values()
  if (first === undefined) return emitAny(remarks, spot)
  const told = describe(remarks, [])['description']
  const known = typeof first['description'] === 'string' ? first['description'] : ''
  const head =
    typeof told === 'string' && told !== known
      ? { ...first, description: known === '' ? told : `${told} ${known}` }
      : first
  const led = nullable ? withNull(head, spot) : head
  return rest.length === 0 ? led : { anyOf: [led, ...rest] }
}

function listed(schema: JsonObject): Json[] | undefined {
  const { enum: values, const: only } = schema
  return Array.isArray(values) ? values : only === undefined ? undefined : [only]
}

function emitLeaf(schema: JsonObject, spot: Spot): JsonObject {
  const values = listed(schema)
  if (values !== undefined) {
    const out = listedValues(values, typeList(schema)[0], describe(without(schema, ['enum', 'const']), []), spot.sole)
    if (out.labels !== undefined) spot.labels.set(out.schema, out.labels)
    return out.schema
  }
  const types = typesOf(schema)
  if (types.length > 1) return emitAny(schema, spot)
  return emitTyped(schema, types[0] ?? 'string', spot)
}

function typesOf(schema: JsonObject): string[] {
  const named = typeList(schema)
  return named.length > 0 ? named : likelyTypes(schema)
}

function emitTyped(schema: JsonObject, type: string, spot: Spot): JsonObject {
  const told = (TOLD[type] ?? []).map((key) => tell(schema, key))
  const { format, pattern } = schema
  const keepsFormat = typeof format === 'string' && FORMATS[type]?.includes(format) === true
  if (!keepsFormat) told.push(tell(schema, 'format'))
  // The service's engine knows neither looking around nor looking back.
  const odd = typeof pattern === 'string' && /\(\?[=!<]|\\[1-9]/.test(pattern)
  if (odd) told.push(tell(schema, 'pattern'))
  const out: JsonObject = { type: type.toUpperCase(), ...(keepsFormat ? { format } : {}) }
  const shape = type === 'array' ? arrayShape(schema, spot) : type === 'object' ? objectShape(schema, spot) : {}
  Object.assign(out, describe(schema, [...told, ...(shape.told ?? [])]), shape.keywords)
  for (const key of KEPT[type] ?? []) {
    const value = schema[key]
    if (value !== undefined && !(odd && key === 'pattern')) out[key] = value
  }
  return out
}

interface Shape {
  keywords?: JsonObject
  told?: string[]
}

function arrayShape(schema: JsonObject, spot: Spot): Shape {
  const { items, prefixItems } = schema
  const below = { ...spot, depth: spot.depth + 1 }
  if (!Array.isArray(prefixItems)) return { keywords: { items: emit(isSchema(items) ? items : {}, below) } }
  const forms = [...prefixItems, ...(items === undefined || items === false ? [] : [items])].filter(isSchema)
  return { keywords: { items: emit(eitherOf(forms), below) }, told: [tell(schema, 'prefixItems')] }
}

function objectShape(schema: JsonObject, spot: Spot): Shape {
  const { properties, required } = schema
  const names = isJsonObject(properties) ? Object.keys(properties) : []
  if (!isJsonObject(properties) || names.length === 0) return {}
  const out: JsonObject = {}
  for (const name of names) {
    const property = own(properties, name)
    put(out, name, emit(isSchema(property) ? property : {}, { ...spot, depth: spot.depth + 1 }))
  }
  const needed = Array.isArray(required)
    ? required.filter((name) => typeof name === 'string' && names.includes(name))
    : []
  return { keywords: needed.length > 0 ? { properties: out, required: needed } : { properties: out } }
}

/** The service has no "any type": this is every type there is. */
function emitAny(schema: JsonObject, spot: Spot): JsonObject {
  const told = describe(schema, ['any JSON value'])
  const strings = { type: 'ARRAY', items: { type: 'STRING' } }
  const first = { type: 'STRING', ...told }
  if (spot.depth > MAX_DEPTH) return first
  return { anyOf: [first, { type: 'NUMBER' }, { type: 'BOOLEAN' }, { type: 'OBJECT' }, strings] }
}

function withNull(schema: JsonObject, spot: Spot): JsonObject {
  const { anyOf } = schema
  if (Array.isArray(anyOf)) {
    const [first, ...rest] = anyOf
    return isJsonObject(first) ? { anyOf: [{ ...first, nullable: true }, ...rest] } : schema
  }
  const out = { ...schema, nullable: true }
  const labels = spot.labels.get(schema)
  if (labels !== undefined) spot.labels.set(out, labels)
  return out
}

/** The description that is left of a schema, or none. */
function describe(schema: JsonObject, phrases: readonly string[]): JsonObject {
  const { title, description } = schema
  const text = typeof description === 'string' && description !== '' ? description : title
  const told = [tell(schema, 'default'), tell(schema, 'not'), ...phrases]
  const base = typeof text === 'string' && text !== '' ? { description: text } : {}
  return withRemarks(base, told)
}

function tell(schema: JsonObject, keyword: string): string {
  const value = schema[keyword]
  return value === undefined ? '' : phraseFor(keyword, value)
}
