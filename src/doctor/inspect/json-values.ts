import { isObject } from '../../model/json.ts'

/** The list, or an empty one for anything that is none. */
export function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The object, or an empty one for anything that is none. */
export function toObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {}
}

/** The number, or null where there should be one. */
export function toNumberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}
