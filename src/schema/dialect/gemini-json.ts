import type { JsonObject } from '../../model/json.ts'
import { hasCycleInSchema } from '../normalize/detect-cycles.ts'
import { flattenRoot } from '../normalize/flatten-root.ts'
import { createCutRefWarnings, inlineRefsUnless, dropIdentifiers, type ConvertedSchema } from './converted-schema.ts'

/** Gemini's `parametersJsonSchema`: nearly all of JSON Schema, with a plain object as its root. */
export function toGeminiJsonSchema(schema: JsonObject): ConvertedSchema {
  const { schema: flat, cutRefs } = inlineRefsUnless(
    schema,
    (ref, holder) => isGeminiRef(ref, holder) && !hasCycleInSchema(schema),
  )
  const root = flattenRoot(dropIdentifiers(flat))
  return { schema: root, warnings: createCutRefWarnings(cutRefs) }
}

/** The service supports references into `$defs`, with nothing beside them. */
function isGeminiRef(ref: string, holder: JsonObject): boolean {
  return /^#\/\$defs\/[^/]+$/.test(ref) && Object.keys(holder).every((key) => key.startsWith('$'))
}
