import type { JsonObject } from '../../model/json.ts'
import { isJsonObject, without } from '../own.ts'
import { plainRoot } from '../root.ts'
import { mapSchema, type Schema } from '../walk.ts'
import { cutWarnings, inlineUnless, isPlainRef, withoutLabels, type Declared } from './declared.ts'

/** OpenAI's function parameters without strict mode, and everything that calls itself compatible. */
export function toOpenAi(schema: JsonObject): Declared {
  const { schema: flat, cut } = inlineUnless(schema, isPlainRef)
  const root = mapSchema(plainRoot(withoutLabels(flat)), openOptional)
  return { schema: typeof root === 'boolean' ? flat : root, warnings: cutWarnings(cut) }
}

/** Some gateways take "no other properties" for strict mode, and force every optional property to be given. */
function openOptional(schema: Schema): Schema {
  if (typeof schema === 'boolean' || schema['additionalProperties'] !== false) return schema
  const { properties, required } = schema
  const names = isJsonObject(properties) ? Object.keys(properties) : []
  const needed = Array.isArray(required) ? required : []
  return names.every((name) => needed.includes(name)) ? schema : without(schema, ['additionalProperties'])
}
