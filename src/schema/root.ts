import type { JsonObject } from '../model/json.ts'
import { intoDescription, withRemarks } from './describe.ts'
import { besideRef } from './inline.ts'
import { eitherOf, mergeAll, typeList } from './merge.ts'
import { isJsonObject, own, put, without } from './own.ts'
import { refOf, REF_KEYWORDS, refResolver, type Resolver } from './refs.ts'
import { isSchema, type Schema } from './walk.ts'

/**
 * Makes the root a plain object: no vendor takes a union, a reference or a list of values there. Branches become one
 * object that declares what any of them declares; a sentence says which properties belong together.
 */
export function plainRoot(schema: JsonObject): JsonObject {
  if (isPlain(schema)) return schema
  const flat = flatten(schema, refResolver(schema), 0)
  const bare = without(intoDescription(flat, ['not']), [...UNIONS, ...REFUSED])
  const type = bare['type'] === 'object' ? {} : { type: 'object' }
  const properties = isJsonObject(bare['properties']) ? {} : { properties: {} }
  return { ...type, ...bare, ...type, ...properties }
}

const UNIONS = ['anyOf', 'oneOf'] as const
const REFUSED = ['allOf', 'not', 'enum', 'const']

/** References may lead to references, but not for long. */
const MAX_STEPS = 16

function isPlain(schema: JsonObject): boolean {
  const odd = [...UNIONS, ...REFUSED, ...REF_KEYWORDS].some((key) => schema[key] !== undefined)
  return !odd && schema['type'] === 'object' && isJsonObject(schema['properties'])
}

function flatten(schema: JsonObject, resolve: Resolver, depth: number): JsonObject {
  let out = followed(schema, resolve, depth)
  const { allOf } = out
  if (Array.isArray(allOf) && depth < MAX_STEPS) {
    const parts = allOf.filter(isJsonObject).map((part) => flatten(part, resolve, depth + 1))
    out = mergeAll([without(out, ['allOf']), ...parts])
  }
  for (const key of UNIONS) {
    const list = out[key]
    if (!Array.isArray(list) || depth >= MAX_STEPS) continue
    const branches = list.filter(isJsonObject).map((branch) => flatten(branch, resolve, depth + 1))
    out = joinBranches(without(out, [key]), branches.filter(canBeObject), key)
  }
  return out
}

function followed(schema: JsonObject, resolve: Resolver, depth: number): JsonObject {
  const ref = refOf(schema)
  if (ref === undefined) return schema
  const target = resolve(ref)
  const beside = without(schema, REF_KEYWORDS)
  if (target === undefined || typeof target === 'boolean' || depth >= MAX_STEPS) return beside
  // The definitions stay where other references look for them: at the root.
  const merged = besideRef(without(target, ['$defs', 'definitions']), beside)
  return isJsonObject(merged) ? followed(merged, resolve, depth + 1) : beside
}

function canBeObject(schema: JsonObject): boolean {
  const types = typeList(schema)
  return types.length === 0 || types.includes('object')
}

function joinBranches(base: JsonObject, branches: JsonObject[], keyword: string): JsonObject {
  if (branches.length === 0) return base
  const properties = joinProperties(base, branches)
  const common = branches.map(requiredOf).reduce((a, b) => a.filter((name) => b.includes(name)))
  const required = [...new Set([...requiredOf(base), ...common])]
  const out: JsonObject = { ...base, properties }
  if (required.length > 0) out['required'] = required
  const open = branches.some((branch) => branch['additionalProperties'] !== false)
  if (base['additionalProperties'] === undefined && !open) out['additionalProperties'] = false
  if (base['additionalProperties'] === false && Object.keys(properties).length > namesOf(base).length) {
    delete out['additionalProperties']
  }
  return withRemarks(out, [togetherRemark(branches, required, keyword)])
}

function joinProperties(base: JsonObject, branches: JsonObject[]): JsonObject {
  const out: JsonObject = isJsonObject(base['properties']) ? { ...base['properties'] } : {}
  const fixed = new Set(Object.keys(out))
  const found = new Map<string, Schema[]>()
  for (const branch of branches) {
    const { properties } = branch
    for (const name of namesOf(branch)) {
      const schema = isJsonObject(properties) ? own(properties, name) : undefined
      if (isSchema(schema)) found.set(name, [...(found.get(name) ?? []), schema])
    }
  }
  for (const [name, schemas] of found) {
    const known = fixed.has(name) ? own(out, name) : undefined
    // The base holds for every branch; a branch that says no more than the base adds nothing.
    if (!isJsonObject(known)) put(out, name, eitherOf(schemas))
    else put(out, name, mergedWith(known, schemas, branches.length))
  }
  return out
}

function mergedWith(known: JsonObject, schemas: Schema[], count: number): Schema {
  if (schemas.length < count) return known
  const merged = schemas.map((schema) => (typeof schema === 'boolean' ? known : mergeAll([known, schema])))
  return eitherOf(merged)
}

function togetherRemark(branches: JsonObject[], required: readonly string[], keyword: string): string {
  const sets = branches.map((branch) => requiredOf(branch).filter((name) => !required.includes(name)))
  const free = sets.some((names) => names.length === 0)
  // Where one branch asks for nothing more, only names that come as a group are worth a word.
  const telling = sets.filter((names) => names.length > (free ? 1 : 0)).map((names) => names.join(' + '))
  const text = [...new Set(telling)].join(' | ')
  if (text === '') return ''
  return free ? `go together: ${text}` : `give ${keyword === 'oneOf' ? 'exactly' : 'at least'} one of: ${text}`
}

function requiredOf(schema: JsonObject): string[] {
  const { required } = schema
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

function namesOf(schema: JsonObject): string[] {
  return isJsonObject(schema['properties']) ? Object.keys(schema['properties']) : []
}
