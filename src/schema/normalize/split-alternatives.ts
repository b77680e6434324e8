import type { JsonObject } from '../../model/json.ts'
import { describeKeyword, appendRemarks } from '../describe-keywords.ts'
import { mergeAllSchemas, getDeclaredTypes, foldAllOf } from './merge-schemas.ts'
import { isJsonObject, getOwn, setOwn, omitKeys, toList } from '../own-properties.ts'

/** A schema without `allOf`, as alternatives that are each complete; one alternative means no union. */
interface SchemaAlternatives {
  /** What applies to the union as a whole: annotations only. */
  annotations: JsonObject
  branches: JsonObject[]
  nullable: boolean
}

/** Splits a schema into complete alternatives: what was beside a union goes into each branch. */
export function splitAlternatives(schema: JsonObject): SchemaAlternatives {
  const merged = describeRequiredBranches(foldConditions(foldAllOf(schema)))
  const key = Array.isArray(merged['anyOf']) ? 'anyOf' : 'oneOf'
  const list = merged[key]
  if (!Array.isArray(list)) return splitByType(merged)
  const annotations = pickKeys(merged, ANNOTATION_KEYWORDS)
  const rest = omitKeys(merged, [key, ...ANNOTATION_KEYWORDS])
  const parts = list.filter(isJsonObject).map((branch) => splitAlternatives(mergeAllSchemas([rest, foldAllOf(branch)])))
  const branches = parts.flatMap((part) => part.branches.map((branch) => ({ ...part.annotations, ...branch })))
  return { annotations, branches, nullable: parts.some((part) => part.nullable) }
}

/** Declares the properties of conditional parts as optional, and turns the conditions into words. */
function foldConditions(schema: JsonObject): JsonObject {
  const { then, else: otherwise, dependentSchemas } = schema
  const parts = [then, otherwise, ...(isJsonObject(dependentSchemas) ? Object.values(dependentSchemas) : [])]
  if (schema['if'] === undefined && parts.every((part) => part === undefined)) return schema
  const properties = isJsonObject(schema['properties']) ? { ...schema['properties'] } : {}
  const before = Object.keys(properties).length
  for (const part of parts) {
    const declared = isJsonObject(part) ? part['properties'] : undefined
    if (!isJsonObject(declared)) continue
    for (const name of Object.keys(declared)) {
      const found = getOwn(declared, name)
      if (isJsonObject(found) && !Object.hasOwn(properties, name)) setOwn(properties, name, found)
    }
  }
  const phrase = schema['if'] === undefined ? '' : describeKeyword('if', schema['if'])
  const out = appendRemarks(omitKeys(schema, ['if', 'then', 'else', 'dependentSchemas']), [phrase])
  return Object.keys(properties).length > before ? { ...out, properties } : out
}

export function acceptsNull(schema: JsonObject): boolean {
  const values = schema['enum']
  if (Array.isArray(values)) return values.includes(null)
  if (Object.hasOwn(schema, 'const')) return schema['const'] === null
  const { branches, nullable } = splitAlternatives(schema)
  return nullable || branches.some((branch) => getDeclaredTypes(branch).length === 0 && branch['enum'] === undefined)
}

const ANNOTATION_KEYWORDS = ['title', 'description', 'default', 'examples', 'deprecated']

function pickKeys(schema: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => keys.includes(key)))
}

function splitByType(schema: JsonObject): SchemaAlternatives {
  const types = getDeclaredTypes(schema)
  const others = types.filter((type) => type !== 'null')
  if (types.length > 0 && others.length === 0) return { annotations: {}, branches: [], nullable: true }
  if (others.length < 2) {
    const single = others.length === types.length ? schema : { ...schema, type: others[0] ?? 'null' }
    return { annotations: {}, branches: [single], nullable: others.length < types.length }
  }
  const withoutAnnotations = omitKeys(schema, ANNOTATION_KEYWORDS)
  return {
    annotations: pickKeys(schema, ANNOTATION_KEYWORDS),
    branches: others.map((type) => ({ ...withoutAnnotations, type })),
    nullable: others.length < types.length,
  }
}

/** Branches that only require properties become a phrase. */
function describeRequiredBranches(schema: JsonObject): JsonObject {
  let out = schema
  for (const key of ['anyOf', 'oneOf'] as const) {
    const list = out[key]
    if (!Array.isArray(list) || !isJsonObject(out['properties'])) continue
    const sets = list.map((branch) => (isJsonObject(branch) ? omitKeys(branch, ['type']) : {}))
    if (!sets.every((branch) => Object.keys(branch).join() === 'required' && Array.isArray(branch['required'])))
      continue
    const forms = sets.map(({ required }) =>
      toList(required)
        .filter((name) => typeof name === 'string')
        .join(' + '),
    )
    const how = key === 'oneOf' ? 'exactly one' : 'at least one'
    out = appendRemarks(omitKeys(out, [key]), [`give ${how} of: ${forms.join(' | ')}`])
  }
  return out
}
