import { isObject } from '../../model/json.ts'

export function toArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function toObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {}
}

export function toNumberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}
