import type { JsonObject } from '../../model/json.ts'
import { hasCycleInSchema } from '../normalize/detect-cycles.ts'
import { prepareSchema, type ConvertedSchema } from './converted-schema.ts'

/** Gemini's `parametersJsonSchema`: nearly all of JSON Schema, with a plain object as its root. */
export function toGeminiJsonSchema(schema: JsonObject): ConvertedSchema {
  const isPortable = (ref: string, holder: JsonObject) => isGeminiRef(ref, holder) && !hasCycleInSchema(schema)
  const { schema: root, warnings } = prepareSchema(schema, isPortable)
  return { schema: root, warnings }
}

/** The service supports references into `$defs`, with nothing beside them. */
function isGeminiRef(ref: string, holder: JsonObject): boolean {
  return /^#\/\$defs\/[^/]+$/.test(ref) && Object.keys(holder).every((key) => key.startsWith('$'))
}
