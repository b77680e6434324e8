import type { JsonObject } from '../../model/json.ts'
import { hasCycleInSchema } from '../cycle.ts'
import { plainRoot } from '../root.ts'
import { cutWarnings, inlineUnless, withoutLabels, type Declared } from './declared.ts'

/** Gemini's `parametersJsonSchema`: nearly all of JSON Schema, under a root that is a plain object. */
export function toGeminiJson(schema: JsonObject): Declared {
  const { schema: flat, cut } = inlineUnless(
    schema,
    (ref, holder) => isGeminiRef(ref, holder) && !hasCycleInSchema(schema),
  )
  const root = plainRoot(withoutLabels(flat))
  return { schema: root, warnings: cutWarnings(cut) }
}

/** The service follows references into `$defs`, and allows nothing beside them. */
function isGeminiRef(ref: string, holder: JsonObject): boolean {
  return /^#\/\$defs\/[^/]+$/.test(ref) && Object.keys(holder).every((key) => key.startsWith('$'))
}
