import type { JsonObject } from '../model/json.ts'
import { without } from './own.ts'
import { hasRefs, NAMING_KEYWORDS, REF_KEYWORDS, refOf, refResolver, type Resolver } from './refs.ts'
import { mapChildren, MAX_DEPTH, type Schema } from './walk.ts'

/** How far references are followed: `maxDepth` is how often one target may stand inside itself. */
export interface InlineOptions {
  readonly maxDepth?: number
}

/** A schema without references, and the references that had to be cut because they never end or lead nowhere. */
export interface Inlined {
  schema: JsonObject
  cut: string[]
}

/** Puts what every local `$ref` points to in its place; a cycle ends in an open schema that says so in words. */
export function inlineRefs(schema: JsonObject, options: InlineOptions = {}): Inlined {
  if (!hasRefs(schema)) return { schema, cut: [] }
  const job: Job = {
    resolve: refResolver(schema),
    maxDepth: options.maxDepth ?? 2,
    cut: new Set(),
    budget: MAX_NODES,
    open: new Map([[schema, 1]]),
  }
  const out = expand(schema, job, 0)
  return { schema: typeof out === 'boolean' ? {} : out, cut: [...job.cut] }
}

/** Merges what a reference points to with the keywords beside it: remarks win, rules add up. */
export function besideRef(target: Schema, siblings: JsonObject): Schema {
  if (Object.keys(siblings).length === 0) return target
  if (target === true) return siblings
  if (target === false) return false
  const clash = Object.keys(siblings).some((key) => !REMARKS.has(key) && Object.hasOwn(target, key))
  if (!clash) return { ...target, ...siblings }
  const remarks = Object.fromEntries(Object.entries(siblings).filter(([key]) => REMARKS.has(key)))
  return { ...remarks, allOf: [target, without(siblings, REMARKS)] }
}

/** A schema written out in full can be far larger than its text: this bounds it. */
const MAX_NODES = 4000

const REMARKS: ReadonlySet<string> = new Set(['title', 'description', 'default', 'examples', 'deprecated', '$comment'])

interface Job {
  resolve: Resolver
  maxDepth: number
  cut: Set<string>
  budget: number
  /** How often each target stands open above the place we are at. */
  open: Map<Schema, number>
}

function expand(schema: Schema, job: Job, depth: number): Schema {
  if (typeof schema === 'boolean') return schema
  job.budget--
  const ref = refOf(schema)
  if (ref !== undefined) return expandRef(ref, schema, job, depth)
  if (depth > MAX_DEPTH) return {}
  const bare = without(schema, NAMING_KEYWORDS)
  return mapChildren(bare, (child) => expand(child, job, depth + 1))
}

function expandRef(ref: string, schema: JsonObject, job: Job, depth: number): Schema {
  const siblings = expand(without(schema, REF_KEYWORDS), job, depth)
  const beside = typeof siblings === 'boolean' ? {} : siblings
  const target = job.resolve(ref)
  if (target === undefined) {
    job.cut.add(ref)
    return beside
  }
  const times = job.open.get(target) ?? 0
  if (times >= job.maxDepth || depth > MAX_DEPTH || job.budget < 0) {
    job.cut.add(ref)
    return besideRef(stub(ref, target), beside)
  }
  job.open.set(target, times + 1)
  const inner = expand(target, job, depth + 1)
  job.open.set(target, times)
  return besideRef(inner, beside)
}

function stub(ref: string, target: Schema): JsonObject {
  const name = ref.split('/').at(-1)
  const form = name === undefined || name === '' || name === '#' ? 'the whole' : `"${name}"`
  const remark = { description: `Nested further in the same form as ${form}.` }
  if (typeof target === 'boolean') return remark
  const type = typeof target['type'] === 'string' ? target['type'] : 'properties' in target ? 'object' : undefined
  return type === undefined ? remark : { type, ...remark }
}
