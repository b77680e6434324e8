import type { Json, JsonObject } from '../model/json.ts'

/** A key such as `constructor` or `__proto__` must not reach the prototype. */
export function getOwn(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Plain assignment of `__proto__` would set the prototype. */
export function setOwn(object: JsonObject, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  } else {
    object[key] = value
  }
}

/** Returns the same object if it has none of the keys. */
export function omitKeys(object: JsonObject, keys: Iterable<string>): JsonObject {
  let out = object
  for (const key of keys) {
    if (!Object.hasOwn(out, key)) continue
    if (out === object) out = { ...object }
    delete out[key]
  }
  return out
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A single value becomes a list of one, and undefined an empty list. */
export function toList(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value]
}
