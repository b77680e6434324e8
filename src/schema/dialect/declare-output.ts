import type { JsonObject } from '../../model/json.ts'
import type { SchemaDialect } from '../../model/profile.ts'
import { toWellFormedJson } from '../../model/text.ts'
import { moveKeywordsToDescription } from '../describe-keywords.ts'
import { repairSchema } from '../normalize/repair-schema.ts'
import { mapAllSubschemas } from '../walk-schema.ts'
import { type ConvertedSchema, dropUnusedDefinitions } from './converted-schema.ts'
import { toGeminiJsonSchema } from './gemini-json.ts'
import { toGeminiSchema } from './gemini.ts'
import { toGrammarCompatibleSchema } from './grammar.ts'
import { toOpenAiStrictSchema } from './openai-strict.ts'

/** The schema of an answer in a vendor's dialect. */
export interface DeclaredOutput {
  readonly schema: JsonObject
  /** May the vendor enforce the schema, on wires that ask this? */
  readonly strict: boolean
}

/**
 * Converts the schema of an answer. Undefined if the dialect cannot express it, or only with other names and values: the
 * answer is text, which nobody converts back. An optional property may become null; that is undone by the validation.
 */
export function declareOutput(schema: JsonObject, dialect: SchemaDialect): DeclaredOutput | undefined {
  let byDialect = outputCache.get(schema)
  if (byDialect === undefined) outputCache.set(schema, (byDialect = new Map()))
  if (!byDialect.has(dialect)) byDialect.set(dialect, convertOutput(schema, dialect))
  return byDialect.get(dialect)
}

const outputCache = new WeakMap<JsonObject, Map<SchemaDialect, DeclaredOutput | undefined>>()

function convertOutput(schema: JsonObject, dialect: SchemaDialect): DeclaredOutput | undefined {
  try {
    const repaired = repairSchema(toWellFormedJson(schema))
    if ('unusable' in repaired) return undefined
    const converted = CONVERTERS[dialect](dropUnusedDefinitions(repaired.schema))
    const { originalKeys, enumLabels } = converted?.mapping ?? {}
    if (!converted || (originalKeys?.size ?? 0) + (enumLabels?.size ?? 0) > 0) return undefined
    return { schema: converted.schema, strict: converted.strict ?? true }
  } catch {
    return undefined
  }
}

const CONVERTERS: Readonly<Record<SchemaDialect, (schema: JsonObject) => ConvertedSchema | undefined>> = {
  'gemini-json': toGeminiJsonSchema,
  gemini: toGeminiSchema,
  openai: toOpenAiStrictSchema,
  'openai-strict': toOpenAiStrictSchema,
  anthropic: toAnthropicOutputSchema,
  grammar: toGrammarCompatibleSchema,
}

/** Anthropic enforces every schema, so it accepts only closed ones, with few keywords. */
function toAnthropicOutputSchema(schema: JsonObject): ConvertedSchema | undefined {
  const converted = toOpenAiStrictSchema(schema)
  if (converted.strict === false) return undefined
  const described = mapAllSubschemas(converted.schema, (inner) => {
    if (typeof inner === 'boolean') return inner
    const isLongArray = Number(inner['minItems'] ?? 0) > 1
    return moveKeywordsToDescription(inner, isLongArray ? [...UNSUPPORTED_KEYWORDS, 'minItems'] : UNSUPPORTED_KEYWORDS)
  })
  return typeof described === 'boolean' ? undefined : { ...converted, schema: described }
}

const UNSUPPORTED_KEYWORDS = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'pattern',
  'maxItems',
]
