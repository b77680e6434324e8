import type { JsonObject } from '../model/json.ts'
import { valueAt } from './pointer.ts'
import { eachSubschema, isSchema, type Schema } from './walk.ts'

/** Finds what a `$ref` inside the root schema points to, or nothing when it points outside or into the void. */
export type Resolver = (ref: string) => Schema | undefined

/** Makes the resolver of one root schema; it knows `#`, JSON pointers, anchors and embedded ids. */
export function refResolver(root: JsonObject): Resolver {
  let names: Map<string, Schema> | undefined
  return (ref) => {
    const local = ownFragment(root, ref)
    if (local === '') return root
    if (local?.startsWith('/')) return schemaAt(root, local)
    names ??= namedSchemas(root)
    return names.get(local === undefined ? ref.replace(/#$/, '') : `#${local}`)
  }
}

/** The text of a local reference held by this schema, if it holds one. */
export function refOf(schema: Schema): string | undefined {
  if (typeof schema === 'boolean') return undefined
  const { $ref, $dynamicRef, $recursiveRef } = schema
  for (const ref of [$ref, $dynamicRef, $recursiveRef]) if (typeof ref === 'string') return ref
  return undefined
}

/** Does any subschema hold a reference? */
export function hasRefs(schema: Schema): boolean {
  let found = false
  eachSubschema(schema, (inner) => {
    found ||= refOf(inner) !== undefined
  })
  return found
}

/** The keywords that may hold a reference. */
export const REF_KEYWORDS = ['$ref', '$dynamicRef', '$recursiveRef'] as const

/** The keywords that only serve to be referred to. */
export const NAMING_KEYWORDS = ['$defs', 'definitions', '$id', 'id', '$anchor', '$dynamicAnchor', '$recursiveAnchor']

function ownFragment(root: JsonObject, ref: string): string | undefined {
  if (ref.startsWith('#')) return decode(ref.slice(1))
  const id = root['$id'] ?? root['id']
  if (typeof id !== 'string' || id === '') return undefined
  const base = id.replace(/#$/, '')
  if (ref === base) return ''
  return ref.startsWith(`${base}#`) ? decode(ref.slice(base.length + 1)) : undefined
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    // A stray percent sign: the author did not encode, so neither do we decode.
    return fragment
  }
}

function schemaAt(root: JsonObject, pointer: string): Schema | undefined {
  const found = valueAt(root, pointer)
  return isSchema(found) ? found : undefined
}

function namedSchemas(root: JsonObject): Map<string, Schema> {
  const names = new Map<string, Schema>()
  const add = (name: string, schema: Schema): void => {
    if (!names.has(name)) names.set(name, schema)
  }
  eachSubschema(root, (inner) => {
    if (typeof inner === 'boolean') return
    const { $id, id, $anchor, $dynamicAnchor } = inner
    for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') add(`#${anchor}`, inner)
    for (const name of [$id, id]) if (typeof name === 'string') add(name.replace(/(?<=.)#$/, ''), inner)
  })
  return names
}
