import { keywordSet } from '../keyword-set.ts'
import type { JsonObject } from '../../model/json.ts'
import { moveKeywordsToDescription } from '../describe-keywords.ts'
import { inferSchemaTypes } from '../normalize/infer-type.ts'
import { createUnion } from '../normalize/merge-schemas.ts'
import { omitKeys } from '../own-properties.ts'
import { isSimplePattern } from '../regex-safety.ts'
import { splitAlternatives } from '../normalize/split-alternatives.ts'
import { isJsonSchema, mapDirectSubschemas } from '../walk-schema.ts'
import { prepareSchema, type ConvertedSchema } from './converted-schema.ts'

/**
 * Servers that compile the schema to a grammar (llama.cpp, LM Studio, Ollama): what they cannot compile becomes words.
 */
export function toGrammarCompatibleSchema(schema: JsonObject): ConvertedSchema {
  const { schema: root, warnings } = prepareSchema(schema)
  return { schema: toGrammarNode(omitKeys(root, ['$defs', 'definitions'])), warnings }
}

/** A grammar expands repeats: large ones make it slow to build, or fail. */
const MAX_PATTERN_REPEAT = 100
const MAX_COUNT = 256

const COUNT_KEYWORDS = ['minLength', 'maxLength', 'minItems', 'maxItems']
const SUPPORTED_FORMATS: ReadonlySet<unknown> = new Set(['date', 'time', 'date-time', 'uuid'])

/** Keywords that these servers do not support, or get wrong. */
const UNSUPPORTED_KEYWORDS = keywordSet(
  'not patternProperties propertyNames dependentRequired contains minContains maxContains uniqueItems multipleOf minProperties maxProperties',
)
const DROPPED_KEYWORDS = ['unevaluatedProperties', 'unevaluatedItems', 'examples']

function toGrammarNode(schema: JsonObject): JsonObject {
  const { annotations, branches, nullable } = splitAlternatives(schema)
  const [only] = branches
  if (only === undefined) return { ...annotations, type: 'null' }
  if (branches.length === 1) {
    const whole = Object.keys(annotations).length === 0 ? only : { ...only, ...annotations }
    return nullable ? addNull(toGrammarLeaf(whole)) : toGrammarLeaf(whole)
  }
  const all = branches.map(toGrammarLeaf)
  return { ...annotations, anyOf: nullable ? [...all, { type: 'null' }] : all }
}

function addNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema
  const listed = Array.isArray(values) && !values.includes(null)
  return typeof type !== 'string' || listed || schema['const'] !== undefined
    ? schema
    : { ...schema, type: [type, 'null'] }
}

function toGrammarLeaf(schema: JsonObject): JsonObject {
  // Without the patterns, their keys would count as unknown.
  const patterned = schema['patternProperties'] !== undefined && schema['additionalProperties'] === false
  let out = omitKeys(
    flattenTuple(moveKeywordsToDescription(schema, UNSUPPORTED_KEYWORDS)),
    patterned ? ['additionalProperties', ...DROPPED_KEYWORDS] : DROPPED_KEYWORDS,
  )
  const { pattern, format } = out
  if (typeof pattern === 'string' && !isSimplePattern(pattern, MAX_PATTERN_REPEAT))
    out = moveKeywordsToDescription(out, ['pattern'])
  if (format !== undefined && !SUPPORTED_FORMATS.has(format)) out = moveKeywordsToDescription(out, ['format'])
  const large = COUNT_KEYWORDS.filter((key) => Number(out[key] ?? 0) > MAX_COUNT)
  if (large.length > 0) out = moveKeywordsToDescription(out, large)
  if (out['type'] === undefined && out['enum'] === undefined && out['const'] === undefined) {
    const types = inferSchemaTypes(out)
    out = { type: types.length > 1 ? types : (types[0] ?? 'string'), ...out }
  }
  return mapDirectSubschemas(out, (child) => (typeof child === 'boolean' ? child : toGrammarNode(child)))
}

/** Some servers read a tuple with further items as a plain array, others reject it. */
function flattenTuple(schema: JsonObject): JsonObject {
  const { prefixItems, items } = schema
  if (!Array.isArray(prefixItems) || items === undefined) return schema
  if (items === false) return omitKeys(schema, ['items'])
  const all = [...prefixItems, items].filter(isJsonSchema)
  return { ...moveKeywordsToDescription(schema, ['prefixItems']), items: createUnion(all) }
}
