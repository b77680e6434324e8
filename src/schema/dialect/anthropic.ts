import type { JsonObject } from '../../model/json.ts'
import { renameIllegalProperties } from './rename-illegal-properties.ts'
import { flattenRoot } from '../normalize/flatten-root.ts'
import {
  createCutRefWarnings,
  inlineRefsUnless,
  isRootOrDefinitionRef,
  dropIdentifiers,
  type ConvertedSchema,
} from './converted-schema.ts'

/** Anthropic's `input_schema`: draft 2020-12, a plain root, and restricted property names. */
export function toAnthropicSchema(schema: JsonObject): ConvertedSchema {
  const { schema: flat, cutRefs } = inlineRefsUnless(schema, isRootOrDefinitionRef)
  const root = flattenRoot(dropIdentifiers(flat))
  const { schema: renamed, originalNames } = renameIllegalProperties(root, {
    pattern: /^[a-zA-Z0-9_.-]{1,64}$/,
    maxLength: 64,
  })
  return {
    schema: renamed,
    warnings: createCutRefWarnings(cutRefs),
    ...(originalNames.size > 0 && { mapping: { originalKeys: originalNames, isPartial: cutRefs.length > 0 } }),
  }
}
