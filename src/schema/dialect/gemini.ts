import { toCanonicalJson, type Json, type JsonObject } from '../../model/json.ts'
import { describeKeyword, appendRemarks } from '../describe-keywords.ts'
import { inferSchemaTypes } from '../normalize/infer-type.ts'
import { renameIllegalProperties } from './rename-illegal-properties.ts'
import { createUnion, getDeclaredTypes } from '../normalize/merge-schemas.ts'
import { isJsonObject, getOwn, setOwn, omitKeys, toList } from '../own-properties.ts'
import { splitAlternatives } from '../normalize/split-alternatives.ts'
import { isJsonSchema, type JsonSchema } from '../walk-schema.ts'
import { prepareSchema, type ConvertedSchema } from './converted-schema.ts'
import { toEnumSchema } from './gemini-enum.ts'

/**
 * Gemini's older `parameters`, a subset of OpenAPI 3.0 with upper-case types. A tool without arguments gets an object
 * without `properties`, as the service requires.
 */
export function toGeminiSchema(schema: JsonObject): ConvertedSchema {
  const { schema: prepared, warnings, isPartial } = prepareSchema(schema)
  const root = omitKeys(prepared, ['$defs', 'definitions'])
  const { schema: legal, originalKeys } = renameIllegalProperties(root, /^[A-Za-z_][A-Za-z0-9_]{0,63}$/)
  const labels = new Map<JsonObject, ReadonlyMap<string, Json>>()
  const out = emitSchema(legal, { labels, isUnambiguous: true, depth: 0 })
  if (originalKeys.size === 0 && labels.size === 0) return { schema: out, warnings }
  return { schema: out, warnings, mapping: { originalKeys, isPartial, enumLabels: labels } }
}

interface EmitContext {
  readonly labels: Map<JsonObject, ReadonlyMap<string, Json>>
  /** No union is above, so that a label has one meaning. */
  readonly isUnambiguous: boolean
  readonly depth: number
}

/** The service rejects deeper schemas; the exact limit is not documented. */
const MAX_DEPTH = 16

const KEPT_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: [],
  array: ['minItems', 'maxItems'],
  object: ['minProperties', 'maxProperties'],
}

const SUPPORTED_FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ['date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
}

/** Keywords that become words, by type. */
const DESCRIBED_KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ['contentEncoding', 'contentMediaType'],
  number: ['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  integer: ['exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  array: ['uniqueItems', 'contains', 'minContains', 'maxContains'],
  object: ['additionalProperties', 'unevaluatedProperties', 'patternProperties', 'propertyNames', 'dependentRequired'],
}

function emitSchema(schema: JsonSchema, context: EmitContext): JsonObject {
  if (typeof schema === 'boolean' || context.depth > MAX_DEPTH) return emitAny({}, context)
  const { annotations, branches, nullable } = splitAlternatives(schema)
  const [only] = branches
  if (only === undefined) return { type: 'STRING', ...toDescription(annotations, ['null only']), nullable: true }
  if (branches.length === 1) {
    const out = emitLeaf(Object.keys(annotations).length === 0 ? only : { ...only, ...annotations }, context)
    return nullable ? addNull(out, context) : out
  }
  return emitUnion(branches, annotations, nullable, context)
}

/** The service allows nothing beside `anyOf`, so remarks and null go to the first alternative. */
function emitUnion(
  branches: readonly JsonObject[],
  annotations: JsonObject,
  nullable: boolean,
  context: EmitContext,
): JsonObject {
  const values = branches.map(getListedValues)
  const all = values.every((list) => list !== undefined) ? values.flat().filter((value) => value !== undefined) : []
  // A union of fixed values is a list of values.
  if (all.length > 0) {
    const out = emitLeaf({ ...annotations, enum: all }, context)
    return nullable ? addNull(out, context) : out
  }
  // A branch that accepts anything makes the others useless.
  if (branches.some((branch) => getListedValues(branch) === undefined && getTypes(branch).length > 1))
    return emitAny(annotations, context)
  const branchContext = { ...context, isUnambiguous: false, depth: context.depth + 1 }
  const forms = new Map<string, JsonObject>()
  for (const branch of branches) {
    const form = emitLeaf(branch, branchContext)
    const inner = Array.isArray(form['anyOf']) ? form['anyOf'].filter(isJsonObject) : [form]
    for (const each of inner) forms.set(toCanonicalJson(each), each)
  }
  const [first, ...rest] = forms.values()
  if (first === undefined) return emitAny(annotations, context)
  const notes = toDescription(annotations, [])['description']
  const firstDescription = typeof first['description'] === 'string' ? first['description'] : ''
  const head =
    typeof notes === 'string' && notes !== firstDescription
      ? { ...first, description: firstDescription === '' ? notes : `${notes} ${firstDescription}` }
      : first
  const firstForm = nullable ? addNull(head, context) : head
  return rest.length === 0 ? firstForm : { anyOf: [firstForm, ...rest] }
}

function getListedValues(schema: JsonObject): Json[] | undefined {
  const { enum: values, const: only } = schema
  return Array.isArray(values) ? values : only === undefined ? undefined : [only]
}

function emitLeaf(schema: JsonObject, context: EmitContext): JsonObject {
  const values = getListedValues(schema)
  if (values !== undefined) {
    const description = toDescription(omitKeys(schema, ['enum', 'const']), [])
    const out = toEnumSchema(values, getDeclaredTypes(schema)[0], description, context.isUnambiguous)
    if (out.labels !== undefined) context.labels.set(out.schema, out.labels)
    return out.schema
  }
  const types = getTypes(schema)
  if (types.length > 1) return emitAny(schema, context)
  return emitTyped(schema, types[0] ?? 'string', context)
}

function getTypes(schema: JsonObject): string[] {
  const named = getDeclaredTypes(schema)
  return named.length > 0 ? named : inferSchemaTypes(schema)
}

function emitTyped(schema: JsonObject, type: string, context: EmitContext): JsonObject {
  const notes = (DESCRIBED_KEYWORDS[type] ?? []).map((key) => describeIfPresent(schema, key))
  const { format, pattern } = schema
  const keepsFormat = typeof format === 'string' && SUPPORTED_FORMATS[type]?.includes(format) === true
  if (!keepsFormat) notes.push(describeIfPresent(schema, 'format'))
  // The service's regular expressions have no lookaround and no backreferences.
  const isUnsupportedPattern = typeof pattern === 'string' && /\(\?[=!<]|\\[1-9]/.test(pattern)
  if (isUnsupportedPattern) notes.push(describeIfPresent(schema, 'pattern'))
  const out: JsonObject = { type: type.toUpperCase(), ...(keepsFormat ? { format } : {}) }
  const shape =
    type === 'array' ? emitArrayShape(schema, context) : type === 'object' ? emitObjectShape(schema, context) : {}
  Object.assign(out, toDescription(schema, [...notes, ...(shape.remarks ?? [])]), shape.keywords)
  for (const key of KEPT_KEYWORDS[type] ?? []) {
    const value = schema[key]
    if (value !== undefined && !(isUnsupportedPattern && key === 'pattern')) out[key] = value
  }
  return out
}

type EmittedShape = { keywords?: JsonObject; remarks?: string[] }

function emitArrayShape(schema: JsonObject, context: EmitContext): EmittedShape {
  const { items, prefixItems } = schema
  const childContext = { ...context, depth: context.depth + 1 }
  if (!Array.isArray(prefixItems))
    return { keywords: { items: emitSchema(isJsonSchema(items) ? items : {}, childContext) } }
  const forms = [...prefixItems, ...(items === undefined || items === false ? [] : [items])].filter(isJsonSchema)
  return {
    keywords: { items: emitSchema(createUnion(forms), childContext) },
    remarks: [describeIfPresent(schema, 'prefixItems')],
  }
}

function emitObjectShape(schema: JsonObject, context: EmitContext): EmittedShape {
  const { properties, required } = schema
  const names = isJsonObject(properties) ? Object.keys(properties) : []
  if (!isJsonObject(properties) || names.length === 0) return {}
  const out: JsonObject = {}
  for (const name of names) {
    const property = getOwn(properties, name)
    setOwn(out, name, emitSchema(isJsonSchema(property) ? property : {}, { ...context, depth: context.depth + 1 }))
  }
  const requiredNames = toList(required).filter((name) => typeof name === 'string' && names.includes(name))
  return { keywords: requiredNames.length > 0 ? { properties: out, required: requiredNames } : { properties: out } }
}

/** The service has no "any type", so all types are listed. */
function emitAny(schema: JsonObject, context: EmitContext): JsonObject {
  const notes = toDescription(schema, ['any JSON value'])
  const strings = { type: 'ARRAY', items: { type: 'STRING' } }
  const first = { type: 'STRING', ...notes }
  if (context.depth > MAX_DEPTH) return first
  return { anyOf: [first, { type: 'NUMBER' }, { type: 'BOOLEAN' }, { type: 'OBJECT' }, strings] }
}

function addNull(schema: JsonObject, context: EmitContext): JsonObject {
  const { anyOf } = schema
  if (Array.isArray(anyOf)) {
    const [first, ...rest] = anyOf
    return isJsonObject(first) ? { anyOf: [{ ...first, nullable: true }, ...rest] } : schema
  }
  const out = { ...schema, nullable: true }
  const labels = context.labels.get(schema)
  if (labels !== undefined) context.labels.set(out, labels)
  return out
}

function toDescription(schema: JsonObject, phrases: readonly string[]): JsonObject {
  const { title, description } = schema
  const text = typeof description === 'string' && description !== '' ? description : title
  const notes = [describeIfPresent(schema, 'default'), describeIfPresent(schema, 'not'), ...phrases]
  const base = typeof text === 'string' && text !== '' ? { description: text } : {}
  return appendRemarks(base, notes)
}

function describeIfPresent(schema: JsonObject, keyword: string): string {
  const value = schema[keyword]
  return value === undefined ? '' : describeKeyword(keyword, value)
}
