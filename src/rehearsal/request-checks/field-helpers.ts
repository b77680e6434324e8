import { isObject } from '../../model/json.ts'

/** Fields of a request, of which nothing is known yet. */
export type UnknownFields = Readonly<Record<string, unknown>>

/** The objects in a list; undefined where it is no list of objects. */
export function toObjectList(value: unknown): UnknownFields[] | undefined {
  return Array.isArray(value) && value.every(isObject) ? value : undefined
}

/** The first value that comes twice. */
export function findDuplicate(values: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return values.find((value) => seen.size === seen.add(value).size)
}

/** Is this text that says something? */
export function isNonBlankString(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

/** The first sentence that one of these finds. */
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
