import { isObject } from '../../model/json.ts'
import { parsePointer } from '../json-pointer.ts'

/**
 * Does a local `$ref` lead back to itself, or an object contain itself? Every value is searched, also under unknown
 * keywords.
 */
export function hasCycleInSchema(schema: unknown): boolean {
  return containsCycle(schema, { root: schema, openRefs: new Set(), acyclicRefs: new Set(), openObjects: new Set() })
}

interface CycleSearch {
  readonly root: unknown
  /** The references that are being followed. */
  readonly openRefs: Set<string>
  /** References that are known to be acyclic. */
  readonly acyclicRefs: Set<string>
  /** The objects on the path since the last reference. */
  readonly openObjects: Set<unknown>
}

/** Far more than any real schema, and within the stack. */
const MAX_DEPTH = 1000

function containsCycle(node: unknown, searchState: CycleSearch): boolean {
  if (typeof node !== 'object' || node === null) return false
  if (searchState.openObjects.has(node)) return true
  if (searchState.openObjects.size + searchState.openRefs.size > MAX_DEPTH) return false
  if (isObject(node) && typeof node['$ref'] === 'string' && isCyclicRef(node['$ref'], searchState)) return true
  searchState.openObjects.add(node)
  const found = Object.values(node).some((value) => containsCycle(value, searchState))
  searchState.openObjects.delete(node)
  return found
}

function isCyclicRef(ref: string, searchState: CycleSearch): boolean {
  if (ref === '#' || searchState.openRefs.has(ref)) return true
  if (searchState.acyclicRefs.has(ref)) return false
  searchState.openRefs.add(ref)
  const found = containsCycle(resolveLocalRef(searchState.root, ref), { ...searchState, openObjects: new Set() })
  searchState.openRefs.delete(ref)
  searchState.acyclicRefs.add(ref)
  return found
}

function resolveLocalRef(root: unknown, ref: string): unknown {
  if (!ref.startsWith('#/')) return undefined
  let at = root
  for (const key of parsePointer(ref.slice(1))) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Record<string, unknown>)[key]
  }
  return at
}
