import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Json, JsonObject } from '../../src/model/json.ts'
import { hasCycleInSchema } from '../../src/schema/normalize/detect-cycles.ts'
import { isJsonObject } from '../../src/schema/own-properties.ts'
import { isSimplePattern } from '../../src/schema/regex-safety.ts'
import type { DeclaredTool } from '../../src/schema/dialect/declare-tools.ts'
import type { SchemaDialect } from '../../src/model/profile.ts'
import { getRef, createRefResolver } from '../../src/schema/normalize/resolve-refs.ts'
import { forEachSubschema, getSchemaPointer } from '../../src/schema/walk-schema.ts'

/** What the service behind a dialect would refuse in a tool, as far as we know its rules. Empty means accepted. */
export function refusals(dialect: SchemaDialect, tool: DeclaredTool): string[] {
  const out: string[] = []
  const refuse: Refuse = (rule, where) => out.push(`${rule} at ${where || '/'}`)
  if (!NAMES[dialect].test(tool.name)) refuse('illegal name', tool.name)
  if (tool.description.trim() === '') refuse('empty description', tool.name)
  RULES[dialect](tool, refuse)
  return out
}

type Refuse = (rule: string, where: string) => void

const OPENAI_NAME = /^[A-Za-z0-9_-]{1,64}$/
const GEMINI_NAME = /^[A-Za-z_][A-Za-z0-9_.:-]{0,62}$/

const NAMES: Record<SchemaDialect, RegExp> = {
  openai: OPENAI_NAME,
  'openai-strict': OPENAI_NAME,
  grammar: OPENAI_NAME,
  anthropic: /^[A-Za-z0-9_-]{1,128}$/,
  gemini: GEMINI_NAME,
  'gemini-json': GEMINI_NAME,
}

const RULES: Record<SchemaDialect, (tool: DeclaredTool, refuse: Refuse) => void> = {
  gemini: (tool, refuse) => {
    if (tool.schema['type'] !== 'OBJECT') refuse('root is no object', '')
    geminiNode(tool.schema, '', refuse)
  },
  'gemini-json': (tool, refuse) => {
    plainRoot(tool.schema, refuse)
    unlabelled(tool.schema, refuse)
    if (hasCycleInSchema(tool.schema)) refuse('cyclic reference', '')
    liveRefs(tool.schema, refuse)
  },
  openai: (tool, refuse) => openAi(tool.schema, refuse),
  'openai-strict': (tool, refuse) => {
    if (tool.strict === undefined) refuse('strict is not said', '')
    if (tool.strict === true) strictNode(tool.schema, '', refuse)
    openAi(tool.schema, refuse)
  },
  anthropic: (tool, refuse) => {
    plainRoot(tool.schema, refuse)
    unlabelled(tool.schema, refuse)
    liveRefs(tool.schema, refuse)
    forEachSubschema(tool.schema, (inner, place) => {
      if (typeof inner === 'boolean' || !isJsonObject(inner['properties'])) return
      for (const key of Object.keys(inner['properties'])) {
        if (!/^[a-zA-Z0-9_.-]{1,64}$/.test(key))
          refuse(`illegal property ${JSON.stringify(key)}`, getSchemaPointer(place))
      }
    })
    if (!draft2020.validateSchema(tool.schema)) refuse(`not draft 2020-12: ${draft2020.errorsText()}`, '')
  },
  grammar: (tool, refuse) => {
    plainRoot(tool.schema, refuse)
    unlabelled(tool.schema, refuse)
    forEachSubschema(tool.schema, (inner, place) => {
      if (typeof inner !== 'boolean') grammarNode(inner, getSchemaPointer(place), refuse)
    })
  },
}

const draft2020 = new Ajv2020({ strict: false, logger: false, validateFormats: false })

function plainRoot(schema: JsonObject, refuse: Refuse): void {
  if (schema['type'] !== 'object') refuse('root is no object', '')
  if (!isJsonObject(schema['properties'])) refuse('root has no properties', '')
  for (const key of ['anyOf', 'oneOf', 'allOf', 'enum', 'const', 'not', '$ref']) {
    if (schema[key] !== undefined) refuse(`${key} in the root`, '')
  }
}

function unlabelled(schema: JsonObject, refuse: Refuse): void {
  forEachSubschema(schema, (inner, place) => {
    if (typeof inner === 'boolean') return
    for (const key of ['$schema', '$id']) if (inner[key] !== undefined) refuse(key, getSchemaPointer(place))
    if (inner['description'] !== undefined && typeof inner['description'] !== 'string')
      refuse('odd description', getSchemaPointer(place))
  })
}

function liveRefs(schema: JsonObject, refuse: Refuse): void {
  const resolve = createRefResolver(schema)
  forEachSubschema(schema, (inner, place) => {
    const ref = getRef(inner)
    if (ref !== undefined && resolve(ref) === undefined) refuse(`dead reference ${ref}`, getSchemaPointer(place))
  })
}

function openAi(schema: JsonObject, refuse: Refuse): void {
  plainRoot(schema, refuse)
  unlabelled(schema, refuse)
  liveRefs(schema, refuse)
  forEachSubschema(schema, (inner, place) => {
    if (typeof inner === 'boolean' || inner['additionalProperties'] !== false) return
    const names = isJsonObject(inner['properties']) ? Object.keys(inner['properties']) : []
    const required = Array.isArray(inner['required']) ? inner['required'] : []
    if (names.some((name) => !required.includes(name)))
      refuse('closed, with optional properties', getSchemaPointer(place))
  })
}

const STRICT = new Set(
  (
    'type properties required additionalProperties items anyOf enum description pattern format minimum maximum ' +
    'exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems'
  ).split(' '),
)

function strictNode(schema: JsonObject, at: string, refuse: Refuse): void {
  for (const key of Object.keys(schema)) if (!STRICT.has(key)) refuse(`keyword ${key}`, at)
  const { type, properties, required, items, anyOf } = schema
  const types = Array.isArray(type) ? type : [type]
  if (type === undefined && anyOf === undefined && schema['enum'] === undefined) refuse('no type', at)
  if (types.includes('object')) {
    if (schema['additionalProperties'] !== false) refuse('open object', at)
    const names = isJsonObject(properties) ? Object.keys(properties) : []
    if (JSON.stringify(required) !== JSON.stringify(names)) refuse('not all required', at)
    if (isJsonObject(properties)) {
      for (const [key, inner] of Object.entries(properties)) strictChild(inner, `${at}/properties/${key}`, refuse)
    }
  }
  if (types.includes('array')) strictChild(items, `${at}/items`, refuse)
  if (Array.isArray(anyOf)) anyOf.forEach((branch, index) => strictChild(branch, `${at}/anyOf/${index}`, refuse))
}

function strictChild(schema: unknown, at: string, refuse: Refuse): void {
  if (isJsonObject(schema)) strictNode(schema, at, refuse)
  else refuse('no schema', at)
}

function grammarNode(schema: JsonObject, at: string, refuse: Refuse): void {
  const banned =
    'not if then else allOf oneOf $ref $defs definitions patternProperties dependentSchemas contains uniqueItems'
  for (const key of banned.split(' ')) if (schema[key] !== undefined) refuse(`keyword ${key}`, at)
  const typed = ['type', 'enum', 'const', 'anyOf'].some((key) => schema[key] !== undefined)
  if (!typed) refuse('no type', at)
  const { pattern } = schema
  if (pattern !== undefined && (typeof pattern !== 'string' || !isSimplePattern(pattern, 100))) refuse('pattern', at)
  if (typeof pattern === 'string' && /\\[dwsDWSbB]|\(\?/.test(pattern)) refuse('pattern class', at)
  for (const key of ['minLength', 'maxLength', 'minItems', 'maxItems']) {
    if (Number(schema[key] ?? 0) > 256) refuse(`large ${key}`, at)
  }
}

const GEMINI_KEYS = new Set(
  (
    'type format description nullable enum items properties required minItems maxItems minimum maximum minLength ' +
    'maxLength pattern minProperties maxProperties'
  ).split(' '),
)
const GEMINI_TYPES = ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT']
const GEMINI_FORMATS: Record<string, string[]> = {
  STRING: ['date-time', 'enum'],
  NUMBER: ['float', 'double'],
  INTEGER: ['int32', 'int64'],
}

function geminiNode(schema: unknown, at: string, refuse: Refuse, depth = 0): void {
  if (!isJsonObject(schema)) return refuse('no schema', at)
  if (depth > 40) return refuse('too deep', at)
  const { anyOf, type, properties, required, items, enum: values, description, format } = schema
  if (anyOf !== undefined) {
    if (Object.keys(schema).length > 1) refuse('siblings of anyOf', at)
    if (!Array.isArray(anyOf) || anyOf.length < 2) return refuse('odd anyOf', at)
    return anyOf.forEach((branch, index) => geminiNode(branch, `${at}/anyOf/${index}`, refuse, depth + 1))
  }
  for (const key of Object.keys(schema)) if (!GEMINI_KEYS.has(key)) refuse(`keyword ${key}`, at)
  if (typeof type !== 'string' || !GEMINI_TYPES.includes(type)) return refuse('type', at)
  if (description !== undefined && (typeof description !== 'string' || description === '')) refuse('description', at)
  if (format !== undefined && GEMINI_FORMATS[type]?.includes(text(format)) !== true) refuse('format', at)
  if (values !== undefined) {
    const fine = Array.isArray(values) && values.length > 0 && values.every((v) => typeof v === 'string' && v !== '')
    if (!fine || type !== 'STRING' || new Set(values).size < values.length) refuse('enum', at)
  }
  if (type === 'ARRAY') geminiNode(items, `${at}/items`, refuse, depth + 1)
  else if (items !== undefined) refuse('items of no array', at)
  if (type !== 'OBJECT' && (properties !== undefined || required !== undefined)) refuse('properties of no object', at)
  if (properties === undefined) {
    if (required !== undefined) refuse('required without properties', at)
    return
  }
  if (!isJsonObject(properties) || Object.keys(properties).length === 0) return refuse('empty properties', at)
  for (const [key, inner] of Object.entries(properties)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(key)) refuse(`illegal property ${JSON.stringify(key)}`, at)
    geminiNode(inner, `${at}/properties/${key}`, refuse, depth + 1)
  }
  if (Array.isArray(required) && required.some((name) => !Object.hasOwn(properties, text(name)))) refuse('required', at)
}

function text(value: Json): string {
  return typeof value === 'string' ? value : ''
}
