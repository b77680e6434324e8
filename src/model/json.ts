import { tryOrUndefined } from './try-or-undefined.ts'

/** Any JSON value. */
export type Json = string | number | boolean | null | Json[] | JsonObject

/** Keys come from outside: never use them as property paths without a check. */
export interface JsonObject {
  [key: string]: Json
}

/** Neither null nor an array. */
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

/** Do two values have the same text? What is the same object is not compared field by field. */
export function isSameJson(one: Json, other: Json): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [names, otherNames] = [Object.keys(one), Object.keys(other)]
  if (names.length !== otherNames.length) return false
  const [values, otherValues] = [Object.values(one), Object.values(other)]
  return names.every((name, at) => name === otherNames[at] && isSameJson(values[at] as Json, otherValues[at] as Json))
}

export function stringOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The string, if there is more than white space in it. */
export function nonBlankString(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

export function objectOrEmpty(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {}
}

/** The objects in a list; none if it is not a list. */
export function filterObjects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** The value of JSON text; undefined if it is not JSON. */
export function tryParseJson(text: string): unknown {
  return tryOrUndefined(() => JSON.parse(text))
}
