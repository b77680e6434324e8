import { isJsonObject, without } from './own.ts'
import type { Say } from './tidy.ts'
import { IN_PLACE, mapChildren, type Schema } from './walk.ts'

/**
 * Ends what would keep a validator busy for ever: references that come back to the same value, and stacks of branches
 * that multiply. Changes the schemas in `lookup`, and returns the root. Where a broken part decides by *refusing*
 * (`not`, `if`, `oneOf`), the whole rule is dropped, since an open schema would turn it into its opposite.
 */
export function tameLoops(root: Schema, lookup: Record<string, Schema>, broken: Set<Schema>, say: Say): Schema {
  const job: Job = { lookup, broken, say, weights: new Map(), open: new Set() }
  weigh(root, job)
  for (const target of Object.values(lookup)) weigh(target, job)
  if (broken.size === 0) return root
  const tainted = taintedBy(broken, { ...lookup })
  for (const id of Object.keys(lookup)) lookup[id] = dropTainted(lookup[id] ?? true, tainted)
  return dropTainted(root, tainted)
}

interface Job {
  readonly lookup: Record<string, Schema>
  readonly broken: Set<Schema>
  readonly say: Say
  /** How many schemas judge one value at once, by the schema that starts it. */
  readonly weights: Map<Schema, number>
  readonly open: Set<Schema>
}

const MAX_WEIGHT = 20_000

/** Visits all below, and cuts each reference that closes a loop over one value or makes the branches explode. */
function weigh(schema: Schema, job: Job): number {
  if (typeof schema === 'boolean') return 1
  const known = job.weights.get(schema)
  if (known !== undefined) return known
  job.open.add(schema)
  let weight = 1
  mapChildren(schema, (child, keyword) => {
    if (IN_PLACE.has(keyword)) weight += weigh(child, job)
    return child
  })
  const ref = schema['$ref']
  const target = typeof ref === 'string' ? job.lookup[ref] : undefined
  if (target !== undefined) {
    const behind = job.open.has(target) ? Infinity : weigh(target, job)
    if (weight + behind <= MAX_WEIGHT) weight += behind
    else {
      job.say('A reference leads back to the value it judges, or multiplies without end; it accepts anything.')
      delete schema['$ref']
      job.broken.add(schema)
    }
  }
  job.open.delete(schema)
  job.weights.set(schema, weight)
  // What stands below judges other values, so its loops are its own.
  mapChildren(schema, (child, keyword) => {
    if (!IN_PLACE.has(keyword)) weigh(child, { ...job, open: new Set() })
    return child
  })
  return weight
}

/** All schemas whose verdict on a value rests on a broken one. */
function taintedBy(broken: Set<Schema>, lookup: Record<string, Schema>): (schema: Schema) => boolean {
  const reaches = (schema: Schema, seen: Set<Schema>): boolean => {
    if (typeof schema === 'boolean' || seen.has(schema)) return false
    if (broken.has(schema)) return true
    seen.add(schema)
    const ref = schema['$ref']
    let found = typeof ref === 'string' && reaches(lookup[ref] ?? true, seen)
    mapChildren(schema, (child) => {
      found ||= reaches(child, seen)
      return child
    })
    return found
  }
  return (schema) => reaches(schema, new Set())
}

function dropTainted(schema: Schema, tainted: (schema: Schema) => boolean): Schema {
  if (typeof schema === 'boolean') return schema
  let out = schema
  const { not, if: condition, oneOf } = out
  if (isSchemaTainted(not, tainted)) out = without(out, ['not'])
  if (isSchemaTainted(condition, tainted)) out = without(out, ['if', 'then', 'else'])
  if (Array.isArray(oneOf) && oneOf.some((branch) => isSchemaTainted(branch, tainted))) {
    const { anyOf, allOf } = out
    out = without(out, ['oneOf'])
    if (anyOf === undefined) out['anyOf'] = oneOf
    else out['allOf'] = [...(Array.isArray(allOf) ? allOf : []), { anyOf: oneOf }]
  }
  return mapChildren(out, (child) => dropTainted(child, tainted))
}

function isSchemaTainted(schema: unknown, tainted: (schema: Schema) => boolean): boolean {
  return isJsonObject(schema) && tainted(schema)
}
