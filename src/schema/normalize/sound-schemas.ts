import type { JsonObject } from '../../model/json.ts'

const soundSchemas = new WeakSet<JsonObject>()

/** Marks a schema that no repair would change: that of a built-in tool, as a test makes sure. */
export function markAsSound(schema: JsonObject): void {
  soundSchemas.add(schema)
}

export function isSound(schema: JsonObject): boolean {
  return soundSchemas.has(schema)
}
