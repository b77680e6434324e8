import type { JsonObject } from '../../model/json.ts'
import { moveKeywordsToDescription, appendRemarks } from '../describe-keywords.ts'
import { mergeRefSiblings } from './inline-refs.ts'
import { createUnion, mergeAllSchemas, getDeclaredTypes } from './merge-schemas.ts'
import { isJsonObject, getOwn, setOwn, omitKeys } from '../own-properties.ts'
import { getRef, REF_KEYWORDS, createRefResolver, type RefResolver } from './resolve-refs.ts'
import { isJsonSchema, type JsonSchema } from '../walk-schema.ts'

/**
 * Makes the root a plain object: no vendor accepts a union, a reference or a list of values there. Branches become one
 * object with the properties of all of them; a phrase says which properties belong together.
 */
export function flattenRoot(schema: JsonObject): JsonObject {
  if (isPlainObjectSchema(schema)) return schema
  const flat = flattenNode(schema, createRefResolver(schema), 0)
  const bare = omitKeys(moveKeywordsToDescription(flat, ['not']), [...UNION_KEYWORDS, ...DISALLOWED_ROOT_KEYWORDS])
  const type = bare['type'] === 'object' ? {} : { type: 'object' }
  const properties = isJsonObject(bare['properties']) ? {} : { properties: {} }
  return { ...type, ...bare, ...type, ...properties }
}

const UNION_KEYWORDS = ['anyOf', 'oneOf'] as const
const DISALLOWED_ROOT_KEYWORDS = ['allOf', 'not', 'enum', 'const']

const MAX_REF_DEPTH = 16

function isPlainObjectSchema(schema: JsonObject): boolean {
  const hasDisallowedKeyword = [...UNION_KEYWORDS, ...DISALLOWED_ROOT_KEYWORDS, ...REF_KEYWORDS].some(
    (key) => schema[key] !== undefined,
  )
  return !hasDisallowedKeyword && schema['type'] === 'object' && isJsonObject(schema['properties'])
}

function flattenNode(schema: JsonObject, resolve: RefResolver, depth: number): JsonObject {
  let out = followRefs(schema, resolve, depth)
  const { allOf } = out
  if (Array.isArray(allOf) && depth < MAX_REF_DEPTH) {
    const parts = allOf.filter(isJsonObject).map((part) => flattenNode(part, resolve, depth + 1))
    out = mergeAllSchemas([omitKeys(out, ['allOf']), ...parts])
  }
  for (const key of UNION_KEYWORDS) {
    const list = out[key]
    if (!Array.isArray(list) || depth >= MAX_REF_DEPTH) continue
    const branches = list.filter(isJsonObject).map((branch) => flattenNode(branch, resolve, depth + 1))
    out = joinBranches(omitKeys(out, [key]), branches.filter(canBeObject), key)
  }
  return out
}

function followRefs(schema: JsonObject, resolve: RefResolver, depth: number): JsonObject {
  const ref = getRef(schema)
  if (ref === undefined) return schema
  const target = resolve(ref)
  const siblings = omitKeys(schema, REF_KEYWORDS)
  if (target === undefined || typeof target === 'boolean' || depth >= MAX_REF_DEPTH) return siblings
  // Definitions stay at the root, where other references look for them.
  const merged = mergeRefSiblings(omitKeys(target, ['$defs', 'definitions']), siblings)
  return isJsonObject(merged) ? followRefs(merged, resolve, depth + 1) : siblings
}

function canBeObject(schema: JsonObject): boolean {
  const types = getDeclaredTypes(schema)
  return types.length === 0 || types.includes('object')
}

function joinBranches(base: JsonObject, branches: JsonObject[], keyword: string): JsonObject {
  if (branches.length === 0) return base
  const properties = joinProperties(base, branches)
  const common = branches.map(getRequired).reduce((a, b) => a.filter((name) => b.includes(name)))
  const required = [...new Set([...getRequired(base), ...common])]
  const out: JsonObject = { ...base, properties }
  if (required.length > 0) out['required'] = required
  const open = branches.some((branch) => branch['additionalProperties'] !== false)
  if (base['additionalProperties'] === undefined && !open) out['additionalProperties'] = false
  if (base['additionalProperties'] === false && Object.keys(properties).length > getPropertyNames(base).length) {
    delete out['additionalProperties']
  }
  return appendRemarks(out, [describeRequiredGroups(branches, required, keyword)])
}

function joinProperties(base: JsonObject, branches: JsonObject[]): JsonObject {
  const out: JsonObject = isJsonObject(base['properties']) ? { ...base['properties'] } : {}
  const baseNames = new Set(Object.keys(out))
  const found = new Map<string, JsonSchema[]>()
  for (const branch of branches) {
    const { properties } = branch
    for (const name of getPropertyNames(branch)) {
      const schema = isJsonObject(properties) ? getOwn(properties, name) : undefined
      if (isJsonSchema(schema)) found.set(name, [...(found.get(name) ?? []), schema])
    }
  }
  for (const [name, schemas] of found) {
    const baseSchema = baseNames.has(name) ? getOwn(out, name) : undefined
    // The base applies to every branch.
    if (!isJsonObject(baseSchema)) setOwn(out, name, createUnion(schemas))
    else setOwn(out, name, mergePropertySchemas(baseSchema, schemas, branches.length))
  }
  return out
}

function mergePropertySchemas(baseSchema: JsonObject, schemas: JsonSchema[], count: number): JsonSchema {
  if (schemas.length < count) return baseSchema
  const merged = schemas.map((schema) =>
    typeof schema === 'boolean' ? baseSchema : mergeAllSchemas([baseSchema, schema]),
  )
  return createUnion(merged)
}

function describeRequiredGroups(branches: JsonObject[], required: readonly string[], keyword: string): string {
  const sets = branches.map((branch) => getRequired(branch).filter((name) => !required.includes(name)))
  const hasOpenBranch = sets.some((names) => names.length === 0)
  // If one branch requires nothing more, only groups of names are described.
  const groups = sets.filter((names) => names.length > (hasOpenBranch ? 1 : 0)).map((names) => names.join(' + '))
  const text = [...new Set(groups)].join(' | ')
  if (text === '') return ''
  return hasOpenBranch ? `go together: ${text}` : `give ${keyword === 'oneOf' ? 'exactly' : 'at least'} one of: ${text}`
}

function getRequired(schema: JsonObject): string[] {
  const { required } = schema
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

function getPropertyNames(schema: JsonObject): string[] {
  return isJsonObject(schema['properties']) ? Object.keys(schema['properties']) : []
}
