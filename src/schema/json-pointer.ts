import type { Json } from '../model/json.ts'
import { isJsonObject, getOwn } from './own-properties.ts'

/** Writes a key or index as one segment of a JSON pointer. */
export function toPointerSegment(key: string | number): string {
  return `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The keys and indices that a JSON pointer is made of. */
export function parsePointer(pointer: string): string[] {
  const parts = pointer.split('/').slice(1)
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** What a JSON pointer leads to, by own properties only. */
export function resolvePointer(value: Json | undefined, pointer: string): Json | undefined {
  let at = value
  for (const key of parsePointer(pointer)) {
    if (Array.isArray(at)) at = /^(?:0|[1-9]\d*)$/.test(key) ? at[Number(key)] : undefined
    else if (isJsonObject(at)) at = getOwn(at, key)
    else return undefined
  }
  return at
}

/** The way to a value as a person would write it: `edits[0].text`. */
export function formatPath(pointer: string): string {
  return parsePointer(pointer)
    .map((key, index) => (/^\d+$/.test(key) && index > 0 ? `[${key}]` : index === 0 ? key : `.${key}`))
    .join('')
}
