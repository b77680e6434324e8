import type { Json, JsonObject } from '../model/json.ts'

/** Reads an own property, so that a key such as `constructor` or `__proto__` never reaches the prototype. */
export function getOwn(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Sets an own property, even for the key `__proto__`, which plain assignment would take for the prototype. */
export function setOwn(object: JsonObject, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  } else {
    object[key] = value
  }
}

/** The object without some keys; the very same object when it has none of them. */
export function omitKeys(object: JsonObject, keys: Iterable<string>): JsonObject {
  let out = object
  for (const key of keys) {
    if (!Object.hasOwn(out, key)) continue
    if (out === object) out = { ...object }
    delete out[key]
  }
  return out
}

/** Is this a JSON object, and neither null nor an array? */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The list; a single value as a list of one, and nothing as an empty list. */
export function toList(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value]
}
