import { canonical, type Json, type JsonObject } from '../model/json.ts'
import type { Compiled } from './compile.ts'
import { typeOf } from './implied.ts'
import { typeList } from './merge.ts'
import { isJsonObject, own, put } from './own.ts'
import { segment } from './pointer.ts'
import { isSchema, type Schema } from './walk.ts'

/** A value after mending, and what was done to it. */
export interface Fix {
  readonly value: Json
  readonly changes: readonly string[]
}

/** A value that its schema refuses. */
export interface Site {
  readonly compiled: Compiled
  readonly schema: JsonObject
  readonly value: Json
  readonly path: string
  /** The types that may stand here, in any branch: a value of such a type may be wrong, but is what it was meant to be. */
  readonly types: ReadonlySet<string>
}

/** One way of mending; nothing when it does not apply. */
export type Step = (site: Site) => Fix | undefined

/** Walks value and schema together, and tries a step wherever the schema refuses the value. Accepted parts stay. */
export function descend(compiled: Compiled, schema: Schema, value: Json, path: string, step: Step): Fix {
  return mend({ compiled, step, depth: 0, types: undefined }, schema, value, path)
}

/** The types that a schema leaves open for a value, whatever else it asks; an integer is a number. */
export function allowedTypes(compiled: Compiled, schema: Schema, depth = 0): Set<string> {
  if (schema === true || depth > MAX_DEPTH) return new Set(ALL)
  if (schema === false) return new Set()
  let out = new Set(ALL)
  const narrow = (types: Iterable<string>): void => {
    const allowed = new Set([...types].map((type) => (type === 'integer' ? 'number' : type)))
    out = new Set([...out].filter((type) => allowed.has(type)))
  }
  const { type, enum: values, $ref, allOf } = schema
  if (type !== undefined) narrow(typeList(schema))
  if (Array.isArray(values)) narrow(values.map(typeOf))
  if (schema['const'] !== undefined) narrow([typeOf(schema['const'])])
  const inner = (part: Json): Set<string> => (isSchema(part) ? allowedTypes(compiled, part, depth + 1) : new Set(ALL))
  if (typeof $ref === 'string') narrow(inner(compiled.target($ref) ?? true))
  if (Array.isArray(allOf)) allOf.forEach((part) => narrow(inner(part)))
  for (const list of [schema['anyOf'], schema['oneOf']]) {
    if (Array.isArray(list)) narrow(list.flatMap((part) => [...inner(part)]))
  }
  return out
}

const ALL = ['string', 'number', 'boolean', 'object', 'array', 'null']

const MAX_DEPTH = 64

interface Job {
  readonly compiled: Compiled
  readonly step: Step
  readonly depth: number
  /** Known inside a union, where the types of the whole count; a new value starts anew. */
  readonly types: ReadonlySet<string> | undefined
}

function mend(job: Job, schema: Schema, value: Json, path: string): Fix {
  const { compiled, step } = job
  const same: Fix = { value, changes: [] }
  if (typeof schema === 'boolean' || job.depth > MAX_DEPTH || compiled.accepts(schema, value)) return same
  const types = job.types ?? allowedTypes(compiled, schema)
  const here: Job = { ...job, depth: job.depth + 1, types }
  let fix = step({ compiled, schema, value, path, types }) ?? same
  const go = (part: Json | undefined): void => {
    if (isSchema(part)) fix = joined(fix, mend(here, part, fix.value, path))
  }
  if (typeof schema['$ref'] === 'string') go(compiled.target(schema['$ref']))
  if (Array.isArray(schema['allOf'])) schema['allOf'].forEach(go)
  fix = children({ ...here, types: undefined }, schema, fix, path)
  for (const key of ['anyOf', 'oneOf']) fix = bestBranch(here, schema, schema[key], fix, path)
  return fix
}

function joined(first: Fix, second: Fix): Fix {
  return { value: second.value, changes: [...first.changes, ...second.changes] }
}

function children(job: Job, schema: JsonObject, fix: Fix, path: string): Fix {
  const { value } = fix
  const changes = [...fix.changes]
  const inside = (part: Json | undefined, inner: Json, key: string | number): Json => {
    if (!isSchema(part)) return inner
    const next = mend(job, part, inner, path + segment(key))
    changes.push(...next.changes)
    return next.value
  }
  if (Array.isArray(value)) {
    const { prefixItems, items } = schema
    const fixed = Array.isArray(prefixItems) ? prefixItems : []
    const out = value.map((inner, index) => inside(fixed[index] ?? items, inner, index))
    return { value: out.every((inner, index) => inner === value[index]) ? value : out, changes }
  }
  if (!isJsonObject(value)) return fix
  const { properties, additionalProperties } = schema
  let out = value
  for (const [key, inner] of Object.entries(value)) {
    const declared = isJsonObject(properties) ? own(properties, key) : undefined
    // Keys under a pattern are left to the validator: their schema is not the one for all other keys.
    const part = declared ?? (schema['patternProperties'] === undefined ? additionalProperties : undefined)
    const after = inside(part, inner, key)
    if (after === inner) continue
    if (out === value) out = { ...value }
    put(out, key, after)
  }
  return { value: out, changes }
}

/** Of several branches that mending would reach, the one that takes the fewest changes; a draw changes nothing. */
function bestBranch(job: Job, schema: JsonObject, list: Json | undefined, fix: Fix, path: string): Fix {
  const { compiled } = job
  if (!Array.isArray(list) || compiled.accepts(schema, fix.value)) return fix
  const reached = list
    .filter(isSchema)
    .map((branch) => mend(job, branch, fix.value, path))
    .filter((next) => compiled.accepts(schema, next.value))
    .sort((a, b) => a.changes.length - b.changes.length)
  const [best, second] = reached
  if (best === undefined) return fix
  const draw = second?.changes.length === best.changes.length && canonical(second.value) !== canonical(best.value)
  return draw ? fix : joined(fix, best)
}
