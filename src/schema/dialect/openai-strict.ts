import { keywordSet } from '../keyword-set.ts'
import type { Json, JsonObject } from '../../model/json.ts'
import { hasCycleInSchema } from '../normalize/detect-cycles.ts'
import { moveKeywordsToDescription } from '../describe-keywords.ts'
import { inferType } from '../normalize/infer-type.ts'
import { getDeclaredTypes } from '../normalize/merge-schemas.ts'
import { isJsonObject, setOwn, omitKeys } from '../own-properties.ts'
import { isSimplePattern } from '../regex-safety.ts'
import { acceptsNull, splitAlternatives } from '../normalize/split-alternatives.ts'
import { forEachSubschema } from '../walk-schema.ts'
import { prepareSchema, type ConvertedSchema } from './converted-schema.ts'
import { toOpenAiSchema } from './openai.ts'

/** OpenAI's strict mode. A tool that it cannot express is declared without it, with a warning. */
export function toOpenAiStrictSchema(schema: JsonObject): ConvertedSchema {
  const state: StrictState = { nullMeansAbsent: new Map(), blockers: new Set(), propertyCount: 0 }
  if (hasCycleInSchema(schema)) state.blockers.add('its schema refers to itself')
  forEachSubschema(schema, (inner) => {
    const conditional = isJsonObject(inner) && (inner['if'] !== undefined || inner['dependentSchemas'] !== undefined)
    if (conditional) state.blockers.add('it has conditional parts')
  })
  const { schema: root } = prepareSchema(schema)
  const strict = state.blockers.size > 0 ? root : toStrictObject(omitKeys(root, ['$defs', 'definitions']), state, 0)
  if (state.blockers.size > 0) {
    const { schema: plain, warnings } = toOpenAiSchema(schema)
    return { schema: plain, warnings: [...warnings, `Not strict: ${[...state.blockers].join('; ')}.`], strict: false }
  }
  const { nullMeansAbsent } = state
  return {
    schema: strict,
    warnings: [],
    strict: true,
    ...(nullMeansAbsent.size > 0 && { mapping: { nullMeansAbsent } }),
  }
}

interface StrictState {
  readonly nullMeansAbsent: Map<JsonObject, ReadonlySet<string>>
  /** Why the tool cannot be strict. */
  readonly blockers: Set<string>
  propertyCount: number
}

const MAX_DEPTH = 10
const MAX_PROPERTIES = 5000

const SUPPORTED_FORMATS: ReadonlySet<unknown> = keywordSet('date-time time date duration email hostname ipv4 ipv6 uuid')

/** Keywords that strict mode does not support, but that a model can follow as words. */
const DESCRIBED_KEYWORDS = keywordSet(
  'default not propertyNames dependentRequired contains minContains maxContains uniqueItems minLength maxLength minProperties maxProperties',
)
/** The service rejects the whole request if there is any other keyword. */
const KEYWORDS_BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  string: ['pattern', 'format', 'enum'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'enum'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'enum'],
  boolean: ['enum'],
  array: ['items', 'minItems', 'maxItems'],
  object: ['properties', 'required', 'additionalProperties'],
}

/** Moves unsupported keywords to the description. */
function keepTypeKeywords(schema: JsonObject, type: string | undefined): JsonObject {
  const described = moveKeywordsToDescription(schema, DESCRIBED_KEYWORDS)
  const kept = ['type', 'description', ...(type === undefined ? ['enum'] : (KEYWORDS_BY_TYPE[type] ?? []))]
  const dropped = Object.keys(described).filter((key) => !kept.includes(key))
  return omitKeys(described, dropped)
}

function toStrictNode(schema: JsonObject, state: StrictState, depth: number): JsonObject {
  if (depth > MAX_DEPTH) state.blockers.add(`it is nested more than ${MAX_DEPTH} levels deep`)
  if (state.blockers.size > 0) return {}
  const { annotations, branches, nullable } = splitAlternatives(schema)
  const [only] = branches
  const described = keepTypeKeywords(annotations, 'none')
  if (only === undefined) return { ...described, type: 'null' }
  if (branches.length === 1) {
    const whole = toStrictLeaf(Object.keys(annotations).length === 0 ? only : { ...only, ...annotations }, state, depth)
    return nullable ? addNull(whole, state) : whole
  }
  const all = branches.map((branch) => toStrictLeaf(branch, state, depth))
  return { ...described, anyOf: nullable ? [...all, { type: 'null' }] : all }
}

function toStrictLeaf(schema: JsonObject, state: StrictState, depth: number): JsonObject {
  const type = getDeclaredTypes(schema)[0] ?? inferType(schema)
  if (type === 'object') return toStrictObject(schema, state, depth)
  if (type === 'array') return toStrictArray(schema, state, depth)
  if (type === undefined && schema['enum'] === undefined) state.blockers.add('a part of it may be of any type')
  const { const: value, ...rest } = schema
  let out = keepTypeKeywords(value === undefined ? schema : { ...rest, enum: [value] }, type)
  const { pattern, format } = out
  if (typeof pattern === 'string' && !isSimplePattern(pattern, MAX_PATTERN_REPEAT))
    out = moveKeywordsToDescription(out, ['pattern'])
  if (format !== undefined && !SUPPORTED_FORMATS.has(format)) out = moveKeywordsToDescription(out, ['format'])
  return type === undefined || out['type'] !== undefined ? out : { type, ...out }
}

const MAX_PATTERN_REPEAT = 1000

function toStrictArray(schema: JsonObject, state: StrictState, depth: number): JsonObject {
  const { items } = schema
  if (schema['prefixItems'] !== undefined) state.blockers.add('it has a tuple')
  else if (!isJsonObject(items)) state.blockers.add('the items of an array may be anything')
  if (schema['enum'] !== undefined || schema['const'] !== undefined)
    state.blockers.add('it lists whole arrays or objects')
  if (!isJsonObject(items) || state.blockers.size > 0) return {}
  return { type: 'array', ...keepTypeKeywords(schema, 'array'), items: toStrictNode(items, state, depth + 1) }
}

function toStrictObject(schema: JsonObject, state: StrictState, depth: number): JsonObject {
  const { properties, additionalProperties, patternProperties, required } = schema
  const names = isJsonObject(properties) ? Object.keys(properties) : []
  const open = additionalProperties !== undefined && additionalProperties !== false
  if (open || patternProperties !== undefined || (names.length === 0 && depth > 0 && additionalProperties !== false)) {
    state.blockers.add('it takes properties of any name')
  }
  if (schema['enum'] !== undefined || schema['const'] !== undefined)
    state.blockers.add('it lists whole arrays or objects')
  state.propertyCount += names.length
  if (state.propertyCount > MAX_PROPERTIES) state.blockers.add(`it has more than ${MAX_PROPERTIES} properties`)
  if (state.blockers.size > 0) return {}
  const requiredNames = new Set(Array.isArray(required) ? required : [])
  const nullableNames = new Set<string>()
  const strict: JsonObject = {}
  for (const name of names) {
    const property = isJsonObject(properties) ? properties[name] : undefined
    if (!isJsonObject(property)) continue
    setOwn(strict, name, toStrictProperty(name, property, requiredNames, nullableNames, state, depth))
  }
  const out: JsonObject = {
    type: 'object',
    ...keepTypeKeywords(schema, 'object'),
    properties: strict,
    required: names,
    additionalProperties: false,
  }
  if (nullableNames.size > 0) state.nullMeansAbsent.set(out, nullableNames)
  return out
}

/** Every property is required: an optional one may be null instead, which is read as "absent". */
function toStrictProperty(
  name: string,
  property: JsonObject,
  requiredNames: ReadonlySet<Json>,
  nullableNames: Set<string>,
  state: StrictState,
  depth: number,
): JsonObject {
  const out = toStrictNode(property, state, depth + 1)
  if (requiredNames.has(name)) return out
  if (!acceptsNull(property)) {
    nullableNames.add(name)
    return addNull(out, state)
  }
  // If null is a valid value, it cannot also mean "absent", unless it is the default.
  if (property['default'] !== null) state.blockers.add('an optional property may also be null')
  return out
}

function addNull(schema: JsonObject, state: StrictState): JsonObject {
  const { type, enum: values, anyOf } = schema
  const out = { ...schema }
  if (Array.isArray(anyOf)) {
    const nullable = anyOf.some((branch) => isJsonObject(branch) && branch['type'] === 'null')
    return nullable ? schema : { ...out, anyOf: [...anyOf, { type: 'null' }] }
  }
  if (typeof type === 'string' && type !== 'null') out['type'] = [type, 'null']
  if (Array.isArray(values) && !values.includes(null)) out['enum'] = [...values, null]
  const names = state.nullMeansAbsent.get(schema)
  if (names !== undefined) state.nullMeansAbsent.set(out, names)
  return out
}
