import { isObject } from '../../model/json.ts'

export type UnknownFields = Readonly<Record<string, unknown>>

export function toObjectList(value: unknown): UnknownFields[] | undefined {
  return Array.isArray(value) && value.every(isObject) ? value : undefined
}

export function findDuplicate(values: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return values.find((value) => seen.size === seen.add(value).size)
}

export function isNonBlankString(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

export function findFirstError<T>(
  values: readonly T[],
  find: (value: T, at: number) => string | undefined,
): string | undefined {
  for (const [at, value] of values.entries()) {
    const found = find(value, at)
    if (found !== undefined) return found
  }
  return undefined
}
