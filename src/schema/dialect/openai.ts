import type { JsonObject } from '../../model/json.ts'
import { isJsonObject, omitKeys } from '../own-properties.ts'
import { mapAllSubschemas, type JsonSchema } from '../walk-schema.ts'
import { isRootOrDefinitionRef, prepareSchema, type ConvertedSchema } from './converted-schema.ts'

/** OpenAI's function parameters without strict mode, and compatible services. */
export function toOpenAiSchema(schema: JsonObject): ConvertedSchema {
  const { schema: root, warnings } = prepareSchema(schema, isRootOrDefinitionRef)
  const out = mapAllSubschemas(root, openObjectsWithOptionals)
  return { schema: typeof out === 'boolean' ? root : out, warnings }
}

/** Some gateways take `additionalProperties: false` for strict mode, and require every optional property. */
function openObjectsWithOptionals(schema: JsonSchema): JsonSchema {
  if (typeof schema === 'boolean' || schema['additionalProperties'] !== false) return schema
  const { properties, required } = schema
  const names = isJsonObject(properties) ? Object.keys(properties) : []
  const needed = Array.isArray(required) ? required : []
  return names.every((name) => needed.includes(name)) ? schema : omitKeys(schema, ['additionalProperties'])
}
