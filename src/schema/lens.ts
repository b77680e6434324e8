import { canonical, type Json, type JsonObject } from '../model/json.ts'
import { isJsonObject, own, put } from './own.ts'
import { refOf, refResolver, type Resolver } from './refs.ts'
import { isSchema } from './walk.ts'

/** What a dialect did to the *values* of a schema, so that it can be undone. Schemas are the projected ones. */
export interface Notes {
  /** Property names that were changed: new to old. */
  readonly keys: ReadonlyMap<string, string>
  /** Parts of the schema were cut away, so changed names may turn up where nothing is declared. */
  readonly loose: boolean
  /** Values that are spelt as text: schema to label to value. */
  readonly labels: ReadonlyMap<JsonObject, ReadonlyMap<string, Json>>
  /** Properties whose null means "not given": schema to names. */
  readonly absent: ReadonlyMap<JsonObject, ReadonlySet<string>>
}

/** The two ways between arguments as the projected schema spells them and as the original does. */
export interface Lens {
  toInput(args: JsonObject): JsonObject
  toWire(input: JsonObject): JsonObject
}

/** Makes the lens of a projected schema; values that need no change come back as they are. */
export function makeLens(schema: JsonObject, notes: Notes): Lens {
  const resolve = refResolver(schema)
  const renamed = new Map([...notes.keys].map(([wire, name]) => [name, wire]))
  const inward: Job = { notes, resolve, inward: true, renamed }
  const outward: Job = { notes, resolve, inward: false, renamed }
  const walk = (value: JsonObject, job: Job): JsonObject => {
    const out = translate([schema], value, job, 0)
    return isJsonObject(out) ? out : value
  }
  return { toInput: (args) => walk(args, inward), toWire: (input) => walk(input, outward) }
}

/** Values deeper than this are left alone rather than run out of stack. */
const MAX_DEPTH = 500

interface Job {
  readonly notes: Notes
  readonly resolve: Resolver
  readonly inward: boolean
  /** Old names to new ones. */
  readonly renamed: ReadonlyMap<string, string>
}

function translate(schemas: readonly JsonObject[], value: Json, job: Job, depth: number): Json {
  if (depth > MAX_DEPTH) return value
  const here = allThatJudge(schemas, job.resolve)
  const spelt = respell(here, value, job)
  if (spelt !== undefined) return spelt
  if (Array.isArray(value)) {
    const out = value.map((item, index) => translate(itemSchemas(here, index), item, job, depth + 1))
    return out.every((item, index) => item === value[index]) ? value : out
  }
  return isJsonObject(value) ? translateObject(here, value, job, depth) : value
}

/** The schemas, and all schemas inside them that judge the same value. */
function allThatJudge(schemas: readonly JsonObject[], resolve: Resolver): JsonObject[] {
  const out = new Set<JsonObject>()
  const add = (schema: unknown): void => {
    if (!isJsonObject(schema) || out.has(schema)) return
    out.add(schema)
    const ref = refOf(schema)
    if (ref !== undefined) add(resolve(ref))
    const { allOf, anyOf, oneOf, dependentSchemas } = schema
    for (const list of [allOf, anyOf, oneOf]) if (Array.isArray(list)) list.forEach(add)
    for (const key of ['if', 'then', 'else']) add(schema[key])
    if (isJsonObject(dependentSchemas)) Object.values(dependentSchemas).forEach(add)
  }
  schemas.forEach(add)
  return [...out]
}

function respell(here: JsonObject[], value: Json, job: Job): Json | undefined {
  if (job.notes.labels.size === 0) return undefined
  for (const schema of here) {
    const labels = job.notes.labels.get(schema)
    if (labels === undefined) continue
    if (job.inward) return typeof value === 'string' ? labels.get(value) : undefined
    const text = canonical(value)
    for (const [label, meant] of labels) if (canonical(meant) === text) return label
  }
  return undefined
}

function itemSchemas(here: JsonObject[], index: number): JsonObject[] {
  return here.flatMap((schema) => {
    const { prefixItems, items } = schema
    const fixed = Array.isArray(prefixItems) ? prefixItems[index] : undefined
    const item = fixed ?? items
    return isJsonObject(item) ? [item] : []
  })
}

function translateObject(here: JsonObject[], value: JsonObject, job: Job, depth: number): JsonObject {
  const out: JsonObject = {}
  let changed = false
  for (const [key, inner] of Object.entries(value)) {
    const [wire, name] = job.inward ? [key, oldName(here, key, value, job)] : [newName(here, key, value, job), key]
    if (job.inward && inner === null && meansAbsent(here, wire, job.notes)) {
      changed = true
      continue
    }
    const after = translate(propertySchemas(here, wire), inner, job, depth + 1)
    const target = job.inward ? name : wire
    changed ||= after !== inner || target !== key
    put(out, target, after)
  }
  if (!job.inward) changed = addNulls(here, out, job.notes) || changed
  return changed ? out : value
}

/** A new name goes back to the old one where it is declared, unless the old one is there as well. */
function oldName(here: JsonObject[], key: string, value: JsonObject, job: Job): string {
  const name = job.notes.keys.get(key)
  if (name === undefined || Object.hasOwn(value, name)) return key
  return isDeclared(here, key) || isUncharted(here, job) ? name : key
}

function newName(here: JsonObject[], key: string, value: JsonObject, job: Job): string {
  const wire = job.renamed.get(key)
  if (wire === undefined || Object.hasOwn(value, wire)) return key
  return isDeclared(here, wire) || isUncharted(here, job) ? wire : key
}

/** A name is known where it is declared, and also where a rule merely mentions it. */
function isDeclared(here: JsonObject[], key: string): boolean {
  return here.some(({ properties, required, dependentRequired, dependentSchemas }) => {
    if (Array.isArray(required) && required.includes(key)) return true
    const maps = [properties, dependentSchemas, dependentRequired].filter(isJsonObject)
    if (maps.some((map) => Object.hasOwn(map, key))) return true
    return isJsonObject(dependentRequired) && Object.values(dependentRequired).flat().includes(key)
  })
}

/** Nothing is declared here, and that may be because it was cut away. */
function isUncharted(here: JsonObject[], job: Job): boolean {
  return job.notes.loose && !here.some(({ properties }) => isJsonObject(properties))
}

function propertySchemas(here: JsonObject[], key: string): JsonObject[] {
  const declared = here.flatMap(({ properties }) => {
    const schema = isJsonObject(properties) ? own(properties, key) : undefined
    return isJsonObject(schema) ? [schema] : []
  })
  if (declared.length > 0) return declared
  return here.flatMap(({ additionalProperties, patternProperties }) => {
    const patterns = isJsonObject(patternProperties) ? Object.values(patternProperties) : []
    return [additionalProperties, ...patterns].filter(isJsonObject)
  })
}

/** Null means "not given" only where every schema that declares the property says so. */
function meansAbsent(here: JsonObject[], key: string, notes: Notes): boolean {
  const declaring = here.filter(({ properties }) => isJsonObject(properties) && isSchema(own(properties, key)))
  return declaring.length > 0 && declaring.every((schema) => notes.absent.get(schema)?.has(key))
}

/** Where there is but one reading, what was not given is spelt as null. */
function addNulls(here: JsonObject[], out: JsonObject, notes: Notes): boolean {
  const [only, ...others] = here
  const names = only === undefined || others.length > 0 ? undefined : notes.absent.get(only)
  const missing = [...(names ?? [])].filter((name) => !Object.hasOwn(out, name))
  for (const name of missing) put(out, name, null)
  return missing.length > 0
}
