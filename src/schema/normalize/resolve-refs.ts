import type { JsonObject } from '../../model/json.ts'
import { resolvePointer } from '../json-pointer.ts'
import { keywordSet } from '../keyword-set.ts'
import { forEachSubschema, isJsonSchema, type JsonSchema } from '../walk-schema.ts'

/** Undefined if the target is outside of the root schema, or does not exist. */
export type RefResolver = (ref: string) => JsonSchema | undefined

/** Supports `#`, JSON pointers, anchors and embedded ids. */
export function createRefResolver(root: JsonObject): RefResolver {
  let names: Map<string, JsonSchema> | undefined
  return (ref) => {
    const local = toLocalFragment(root, ref)
    if (local === '') return root
    if (local?.startsWith('/')) {
      const found = resolvePointer(root, local)
      return isJsonSchema(found) ? found : undefined
    }
    names ??= collectNamedSchemas(root)
    return names.get(local === undefined ? ref.replace(/#$/, '') : `#${local}`)
  }
}

export function getRef(schema: JsonSchema): string | undefined {
  if (typeof schema === 'boolean') return undefined
  const { $ref, $dynamicRef, $recursiveRef } = schema
  for (const ref of [$ref, $dynamicRef, $recursiveRef]) if (typeof ref === 'string') return ref
  return undefined
}

export function hasRefs(schema: JsonSchema): boolean {
  let found = false
  forEachSubschema(schema, (inner) => {
    found ||= getRef(inner) !== undefined
  })
  return found
}

export const REF_KEYWORDS = ['$ref', '$dynamicRef', '$recursiveRef'] as const

/** Keywords that are only targets of references. */
export const REF_TARGET_KEYWORDS = keywordSet('$defs definitions $id id $anchor $dynamicAnchor $recursiveAnchor')

function toLocalFragment(root: JsonObject, ref: string): string | undefined {
  if (ref.startsWith('#')) return decodeFragment(ref.slice(1))
  const id = root['$id'] ?? root['id']
  if (typeof id !== 'string' || id === '') return undefined
  const base = id.replace(/#$/, '')
  if (ref === base) return ''
  return ref.startsWith(`${base}#`) ? decodeFragment(ref.slice(base.length + 1)) : undefined
}

function decodeFragment(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    // The author did not encode it.
    return fragment
  }
}

function collectNamedSchemas(root: JsonObject): Map<string, JsonSchema> {
  const names = new Map<string, JsonSchema>()
  const add = (name: string, schema: JsonSchema): void => {
    if (!names.has(name)) names.set(name, schema)
  }
  forEachSubschema(root, (inner) => {
    if (typeof inner === 'boolean') return
    const { $id, id, $anchor, $dynamicAnchor } = inner
    for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') add(`#${anchor}`, inner)
    for (const name of [$id, id]) if (typeof name === 'string') add(name.replace(/(?<=.)#$/, ''), inner)
  })
  return names
}
