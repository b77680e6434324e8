import type { JsonObject } from '../../model/json.ts'
import { renameIllegalProperties } from './rename-illegal-properties.ts'
import { isRootOrDefinitionRef, prepareSchema, type ConvertedSchema } from './converted-schema.ts'

/** Anthropic's `input_schema`: draft 2020-12, a plain root, and restricted property names. */
export function toAnthropicSchema(schema: JsonObject): ConvertedSchema {
  const { schema: root, warnings, isPartial } = prepareSchema(schema, isRootOrDefinitionRef)
  const { schema: renamed, originalKeys } = renameIllegalProperties(root, /^[a-zA-Z0-9_.-]{1,64}$/)
  return { schema: renamed, warnings, ...(originalKeys.size > 0 && { mapping: { originalKeys, isPartial } }) }
}
