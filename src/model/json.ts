/** A JSON value, as any wire carries it. */
export type Json = string | number | boolean | null | Json[] | JsonObject

/** A JSON object. Parsed ones are ordinary objects; keys come from outside and are never trusted as property paths. */
export interface JsonObject {
  [key: string]: Json
}

/** Is this an object, and neither null nor an array? */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Serialises with sorted keys, so that two equal values give equal text. */
export function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (!isObject(inner)) return inner
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
  })
}

/** The string, or the empty one for anything that is not a string. */
export function stringOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The value of a JSON text; undefined if it is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
