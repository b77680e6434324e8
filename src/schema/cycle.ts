import { isObject } from '../model/json.ts'

/**
 * Does a local `$ref` lead back to itself, or an object contain itself? Every value is searched, not only those under
 * known keywords, so that references from keywords we have never heard of count too.
 */
export function hasCycleInSchema(schema: unknown): boolean {
  return search(schema, { root: schema, open: new Set(), done: new Set(), above: new Set() })
}

interface Job {
  readonly root: unknown
  /** References we are inside of. */
  readonly open: Set<string>
  /** References known to lead to no cycle. */
  readonly done: Set<string>
  /** Objects we are inside of, since the last reference. */
  readonly above: Set<unknown>
}

/** Far beyond any honest schema, and well within the stack. */
const MAX_DEPTH = 1000

function search(node: unknown, job: Job): boolean {
  if (typeof node !== 'object' || node === null) return false
  if (job.above.has(node)) return true
  if (job.above.size + job.open.size > MAX_DEPTH) return false
  if (isObject(node) && typeof node['$ref'] === 'string' && leadsBack(node['$ref'], job)) return true
  job.above.add(node)
  const found = Object.values(node).some((value) => search(value, job))
  job.above.delete(node)
  return found
}

function leadsBack(ref: string, job: Job): boolean {
  if (ref === '#' || job.open.has(ref)) return true
  if (job.done.has(ref)) return false
  job.open.add(ref)
  const found = search(resolve(job.root, ref), { ...job, above: new Set() })
  job.open.delete(ref)
  job.done.add(ref)
  return found
}

function resolve(root: unknown, ref: string): unknown {
  if (!ref.startsWith('#/')) return undefined
  let at = root
  for (const part of ref.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Record<string, unknown>)[key]
  }
  return at
}
