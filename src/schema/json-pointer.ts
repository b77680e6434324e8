import type { Json } from '../model/json.ts'
import { isJsonObject, getOwn } from './own-properties.ts'

export function toPointerSegment(key: string | number): string {
  return `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

export function parsePointer(pointer: string): string[] {
  const parts = pointer.split('/').slice(1)
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** By own properties only. */
export function resolvePointer(value: Json | undefined, pointer: string): Json | undefined {
  let at = value
  for (const key of parsePointer(pointer)) {
    if (Array.isArray(at)) at = /^(?:0|[1-9]\d*)$/.test(key) ? at[Number(key)] : undefined
    else if (isJsonObject(at)) at = getOwn(at, key)
    else return undefined
  }
  return at
}

/** For people: `edits[0].text`. */
export function formatPointerAsPath(pointer: string): string {
  return parsePointer(pointer)
    .map((key, index) => (/^\d+$/.test(key) && index > 0 ? `[${key}]` : index === 0 ? key : `.${key}`))
    .join('')
}
