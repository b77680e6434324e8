import type { Json, JsonObject } from '../../model/json.ts'
import { hasCycleInSchema } from '../cycle.ts'
import { intoDescription } from '../describe.ts'
import { impliedType } from '../implied.ts'
import { inlineRefs } from '../inline.ts'
import { typeList } from '../merge.ts'
import { isJsonObject, put, without } from '../own.ts'
import { isSimplePattern } from '../pattern.ts'
import { plainRoot } from '../root.ts'
import { acceptsNull, alternatives } from '../union.ts'
import { eachSubschema } from '../walk.ts'
import { withoutLabels, type Declared } from './declared.ts'
import { toOpenAi } from './openai.ts'

/** OpenAI's strict mode; a tool that it cannot express is declared the plain way, with `strict` off and a warning. */
export function toOpenAiStrict(schema: JsonObject): Declared {
  const job: Job = { absent: new Map(), flaws: new Set(), properties: 0 }
  if (hasCycleInSchema(schema)) job.flaws.add('its schema refers to itself')
  eachSubschema(schema, (inner) => {
    const conditional = isJsonObject(inner) && (inner['if'] !== undefined || inner['dependentSchemas'] !== undefined)
    if (conditional) job.flaws.add('it has conditional parts')
  })
  const root = plainRoot(withoutLabels(inlineRefs(schema).schema))
  const strict = job.flaws.size > 0 ? root : strictObject(without(root, ['$defs', 'definitions']), job, 0)
  if (job.flaws.size > 0) {
    const { schema: plain, warnings } = toOpenAi(schema)
    return { schema: plain, warnings: [...warnings, `Not strict: ${[...job.flaws].join('; ')}.`], strict: false }
  }
  const declared = { schema: strict, warnings: [], strict: true }
  if (job.absent.size === 0) return declared
  return { ...declared, notes: { keys: new Map(), loose: false, labels: new Map(), absent: job.absent } }
}

interface Job {
  readonly absent: Map<JsonObject, ReadonlySet<string>>
  /** Why the tool cannot be strict. */
  readonly flaws: Set<string>
  properties: number
}

const MAX_DEPTH = 10
const MAX_PROPERTIES = 5000

const FORMATS: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
])

/** Rules that strict mode does not know, but that a model can keep when it is told of them. */
const TOLD = [
  'default',
  'not',
  'propertyNames',
  'dependentRequired',
  'contains',
  'minContains',
  'maxContains',
  'uniqueItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
]
/** What each type may carry; a service that meets any other keyword refuses the whole request. */
const CARRIED: Readonly<Record<string, readonly string[]>> = {
  string: ['pattern', 'format', 'enum'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'enum'],
  integer: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'enum'],
  boolean: ['enum'],
  array: ['items', 'minItems', 'maxItems'],
  object: ['properties', 'required', 'additionalProperties'],
}

/** The schema with what the type carries, and with what it does not carry put into words. */
function carried(schema: JsonObject, type: string | undefined): JsonObject {
  const told = intoDescription(schema, TOLD)
  const kept = new Set(['type', 'description', ...(type === undefined ? ['enum'] : (CARRIED[type] ?? []))])
  return without(
    told,
    Object.keys(told).filter((key) => !kept.has(key)),
  )
}

function strictNode(schema: JsonObject, job: Job, depth: number): JsonObject {
  if (depth > MAX_DEPTH) job.flaws.add(`it is nested more than ${MAX_DEPTH} levels deep`)
  if (job.flaws.size > 0) return {}
  const { remarks, branches, nullable } = alternatives(schema)
  const [only] = branches
  const told = carried(remarks, 'none')
  if (only === undefined) return { ...told, type: 'null' }
  if (branches.length === 1) {
    const whole = strictLeaf(Object.keys(remarks).length === 0 ? only : { ...only, ...remarks }, job, depth)
    return nullable ? withNull(whole, job) : whole
  }
  const all = branches.map((branch) => strictLeaf(branch, job, depth))
  return { ...told, anyOf: nullable ? [...all, { type: 'null' }] : all }
}

function strictLeaf(schema: JsonObject, job: Job, depth: number): JsonObject {
  const type = typeList(schema)[0] ?? impliedType(schema)
  if (type === 'object') return strictObject(schema, job, depth)
  if (type === 'array') return strictArray(schema, job, depth)
  if (type === undefined && schema['enum'] === undefined) job.flaws.add('a part of it may be of any type')
  const { const: value, ...rest } = schema
  let out = carried(value === undefined ? schema : { ...rest, enum: [value] }, type)
  const { pattern, format } = out
  if (typeof pattern === 'string' && !isSimplePattern(pattern, MAX_REPEAT)) out = intoDescription(out, ['pattern'])
  if (format !== undefined && !FORMATS.has(format)) out = intoDescription(out, ['format'])
  return type === undefined || out['type'] !== undefined ? out : { type, ...out }
}

const MAX_REPEAT = 1000

function strictArray(schema: JsonObject, job: Job, depth: number): JsonObject {
  const { items } = schema
  if (schema['prefixItems'] !== undefined) job.flaws.add('it has a tuple')
  else if (!isJsonObject(items)) job.flaws.add('the items of an array may be anything')
  if (schema['enum'] !== undefined || schema['const'] !== undefined) job.flaws.add('it lists whole arrays or objects')
  if (!isJsonObject(items) || job.flaws.size > 0) return {}
  return { type: 'array', ...carried(schema, 'array'), items: strictNode(items, job, depth + 1) }
}

function strictObject(schema: JsonObject, job: Job, depth: number): JsonObject {
  const { properties, additionalProperties, patternProperties, required } = schema
  const names = isJsonObject(properties) ? Object.keys(properties) : []
  const open = additionalProperties !== undefined && additionalProperties !== false
  if (open || patternProperties !== undefined || (names.length === 0 && depth > 0 && additionalProperties !== false)) {
    job.flaws.add('it takes properties of any name')
  }
  if (schema['enum'] !== undefined || schema['const'] !== undefined) job.flaws.add('it lists whole arrays or objects')
  job.properties += names.length
  if (job.properties > MAX_PROPERTIES) job.flaws.add(`it has more than ${MAX_PROPERTIES} properties`)
  if (job.flaws.size > 0) return {}
  const needed = new Set(Array.isArray(required) ? required : [])
  const absent = new Set<string>()
  const strict: JsonObject = {}
  for (const name of names) {
    const property = isJsonObject(properties) ? properties[name] : undefined
    if (!isJsonObject(property)) continue
    put(strict, name, strictProperty(name, property, needed, absent, job, depth))
  }
  const out: JsonObject = {
    type: 'object',
    ...carried(schema, 'object'),
    properties: strict,
    required: names,
    additionalProperties: false,
  }
  if (absent.size > 0) job.absent.set(out, absent)
  return out
}

/** Every property must be given: an optional one may be null instead, which we read as "not given". */
function strictProperty(
  name: string,
  property: JsonObject,
  needed: ReadonlySet<Json>,
  absent: Set<string>,
  job: Job,
  depth: number,
): JsonObject {
  const out = strictNode(property, job, depth + 1)
  if (needed.has(name)) return out
  if (!acceptsNull(property)) {
    absent.add(name)
    return withNull(out, job)
  }
  // Where null is a value of its own, null cannot also mean "not given", unless it is what "not given" stands for.
  if (property['default'] !== null) job.flaws.add('an optional property may also be null')
  return out
}

function withNull(schema: JsonObject, job: Job): JsonObject {
  const { type, enum: values, anyOf } = schema
  const out = { ...schema }
  if (Array.isArray(anyOf)) {
    const nullable = anyOf.some((branch) => isJsonObject(branch) && branch['type'] === 'null')
    return nullable ? schema : { ...out, anyOf: [...anyOf, { type: 'null' }] }
  }
  if (typeof type === 'string' && type !== 'null') out['type'] = [type, 'null']
  if (Array.isArray(values) && !values.includes(null)) out['enum'] = [...values, null]
  const names = job.absent.get(schema)
  if (names !== undefined) job.absent.set(out, names)
  return out
}
