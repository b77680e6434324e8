import type { Json, JsonObject } from '../model/json.ts'
import { phraseFor, withRemarks } from './describe.ts'
import { mergeAll, typeList, withoutAllOf } from './merge.ts'
import { isJsonObject, own, put, without } from './own.ts'

/** A schema whose `allOf` is folded in, and its alternatives, each complete in itself; one alternative means no union. */
export interface Alternatives {
  /** What belongs to the union as a whole, whichever alternative is taken: remarks only. */
  remarks: JsonObject
  branches: JsonObject[]
  /** One of the alternatives is null. */
  nullable: boolean
}

/** Takes a schema apart into alternatives that say all by themselves: what stood beside a union goes into each branch. */
export function alternatives(schema: JsonObject): Alternatives {
  const whole = collapseRequired(withoutConditions(withoutAllOf(schema)))
  const key = Array.isArray(whole['anyOf']) ? 'anyOf' : 'oneOf'
  const list = whole[key]
  if (!Array.isArray(list)) return byType(whole)
  const remarks = pick(whole, REMARKS)
  const rest = without(whole, [key, ...REMARKS])
  const parts = list.filter(isJsonObject).map((branch) => alternatives(mergeAll([rest, withoutAllOf(branch)])))
  const branches = parts.flatMap((part) => part.branches.map((branch) => ({ ...part.remarks, ...branch })))
  return { remarks, branches, nullable: parts.some((part) => part.nullable) }
}

/** Declares the properties of conditional parts as optional ones, and turns the conditions into words. */
function withoutConditions(schema: JsonObject): JsonObject {
  const { then, else: otherwise, dependentSchemas } = schema
  const parts = [then, otherwise, ...(isJsonObject(dependentSchemas) ? Object.values(dependentSchemas) : [])]
  if (schema['if'] === undefined && parts.every((part) => part === undefined)) return schema
  const properties = isJsonObject(schema['properties']) ? { ...schema['properties'] } : {}
  const before = Object.keys(properties).length
  for (const part of parts) {
    const declared = isJsonObject(part) ? part['properties'] : undefined
    if (!isJsonObject(declared)) continue
    for (const name of Object.keys(declared)) {
      const found = own(declared, name)
      if (isJsonObject(found) && !Object.hasOwn(properties, name)) put(properties, name, found)
    }
  }
  const phrase = schema['if'] === undefined ? '' : phraseFor('if', schema['if'])
  const out = withRemarks(without(schema, ['if', 'then', 'else', 'dependentSchemas']), [phrase])
  return Object.keys(properties).length > before ? { ...out, properties } : out
}

/** Can the value be null, as far as this schema goes? */
export function acceptsNull(schema: JsonObject): boolean {
  const values = schema['enum']
  if (Array.isArray(values)) return values.includes(null)
  if (Object.hasOwn(schema, 'const')) return schema['const'] === null
  const { branches, nullable } = alternatives(schema)
  return nullable || branches.some((branch) => typeList(branch).length === 0 && branch['enum'] === undefined)
}

const REMARKS = ['title', 'description', 'default', 'examples', 'deprecated']

function pick(schema: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => keys.includes(key)))
}

function byType(schema: JsonObject): Alternatives {
  const types = typeList(schema)
  const others = types.filter((type) => type !== 'null')
  if (types.length > 0 && others.length === 0) return { remarks: {}, branches: [], nullable: true }
  if (others.length < 2) {
    const single = others.length === types.length ? schema : { ...schema, type: others[0] ?? 'null' }
    return { remarks: {}, branches: [single], nullable: others.length < types.length }
  }
  const bare = without(schema, REMARKS)
  return {
    remarks: pick(schema, REMARKS),
    branches: others.map((type) => ({ ...bare, type })),
    nullable: others.length < types.length,
  }
}

/** Branches that only say which properties go together are a sentence, not a choice of forms. */
function collapseRequired(schema: JsonObject): JsonObject {
  let out = schema
  for (const key of ['anyOf', 'oneOf'] as const) {
    const list = out[key]
    if (!Array.isArray(list) || !isJsonObject(out['properties'])) continue
    const sets = list.map((branch) => (isJsonObject(branch) ? without(branch, ['type']) : {}))
    if (!sets.every((branch) => Object.keys(branch).join() === 'required' && Array.isArray(branch['required'])))
      continue
    const forms = sets.map(({ required }) => (Array.isArray(required) ? required.filter(isText).join(' + ') : ''))
    const how = key === 'oneOf' ? 'exactly one' : 'at least one'
    out = withRemarks(without(out, [key]), [`give ${how} of: ${forms.join(' | ')}`])
  }
  return out
}

function isText(value: Json): value is string {
  return typeof value === 'string'
}
