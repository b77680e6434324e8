import { type JsonObject, tryParseJson } from '../../model/json.ts'
import { isJsonObject, getOwn } from '../../schema/own-properties.ts'
import { getRef, createRefResolver } from '../../schema/normalize/resolve-refs.ts'

/** A parameter as the model wrote it. `form` is set if the dialect says whether the value is text or JSON. */
export interface TextCallParameter {
  readonly key: string
  readonly value: string
  readonly form?: 'text' | 'json'
}

/** The parameters as a JSON object; the schema decides the type of each value. */
export function toArgumentsJson(pairs: readonly TextCallParameter[], schema: JsonObject | undefined): string {
  const shape = readSchemaShape(schema)
  return toObjectJson(
    pairs.map(({ key, value, form }) => [key, toValueJson(value, shape.property(key), form)] as const),
  )
}

/** The values are JSON text already. */
export function toObjectJson(members: readonly (readonly [key: string, value: string])[]): string {
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`
}

/** A value is a string unless the schema or the dialect says otherwise and it fits; numbers keep their digits. */
export function toValueJson(value: string, shape: SchemaShape, form?: TextCallParameter['form']): string {
  const types = shape.types
  const mayParse = form === 'json' || (form === undefined && types !== undefined && !types.has('string'))
  const parsed = mayParse ? tryParseJson(value) : undefined
  if (parsed !== undefined && (types === undefined || listValueTypes(parsed).some((type) => types.has(type)))) {
    return value.trim()
  }
  return JSON.stringify(value)
}

export interface SchemaShape {
  /** The allowed types; undefined if the schema does not restrict them. */
  readonly types: ReadonlySet<string> | undefined
  property(key: string): SchemaShape
  items(): SchemaShape
}

export function readSchemaShape(schema: unknown, root = isJsonObject(schema) ? schema : {}): SchemaShape {
  const resolve = createRefResolver(root)
  const branches = flatten(schema, 0)

  /** The schema and its alternatives, with references resolved. */
  function flatten(at: unknown, depth: number): JsonObject[] {
    if (!isJsonObject(at) || depth > 8) return []
    const ref = getRef(at)
    const target = ref === undefined ? [] : flatten(resolve(ref), depth + 1)
    const inner = ALTERNATIVES.flatMap((key) => {
      const list = getOwn(at, key)
      return Array.isArray(list) ? list.flatMap((branch) => flatten(branch, depth + 1)) : []
    })
    return [at, ...target, ...inner]
  }

  function first(pick: (branch: JsonObject) => unknown): SchemaShape {
    for (const branch of branches) {
      const found = pick(branch)
      if (found !== undefined) return readSchemaShape(found, root)
    }
    return ANY_SHAPE
  }

  return {
    types: listTypes(branches),
    property: (key) =>
      first((branch) => {
        const properties = getOwn(branch, 'properties')
        return isJsonObject(properties) ? getOwn(properties, key) : undefined
      }),
    items: () => first((branch) => getOwn(branch, 'items')),
  }
}

const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf']

const ANY_SHAPE: SchemaShape = { types: undefined, property: () => ANY_SHAPE, items: () => ANY_SHAPE }

function listTypes(branches: readonly JsonObject[]): ReadonlySet<string> | undefined {
  const types = new Set<string>()
  for (const branch of branches) {
    const type = getOwn(branch, 'type')
    const list = getOwn(branch, 'enum')
    for (const name of Array.isArray(type) ? type : [type]) if (typeof name === 'string') types.add(name.toLowerCase())
    if (getOwn(branch, 'nullable') === true) types.add('null')
    if (type !== undefined) continue
    const values = Object.hasOwn(branch, 'const') ? [getOwn(branch, 'const')] : Array.isArray(list) ? list : []
    for (const value of values) for (const name of listValueTypes(value)) types.add(name)
  }
  return types.size > 0 ? types : undefined
}

function listValueTypes(value: unknown): readonly string[] {
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  if (typeof value === 'number') return Number.isInteger(value) ? ['number', 'integer'] : ['number']
  return [typeof value]
}
