import { type JsonObject, objectOrEmpty, tryParseJson } from '../../model/json.ts'
import { isJsonObject, getOwn } from '../../schema/own-properties.ts'
import { getRef, createRefResolver } from '../../schema/normalize/resolve-refs.ts'
import { ARGUMENT_KEYS } from './json-calls.ts'
import { convertPythonLiteral } from './literals.ts'

/** A parameter as the model wrote it. `form` is set if the dialect says whether the value is text or JSON. */
export interface TextCallParameter {
  readonly key: string
  readonly value: string
  readonly form?: 'text' | 'json'
}

/** The parameters as a JSON object; the schema decides the type of each value. */
export function toArgumentsJson(pairs: readonly TextCallParameter[], schema: JsonObject | undefined): string {
  const shape = readSchemaShape(schema)
  return (
    unwrapArguments(pairs, shape) ??
    toObjectJson(pairs.map(({ key, value, form }) => [key, toValueJson(value, shape.property(key), form)] as const))
  )
}

export function hasUndeclaredKeys(pairs: readonly TextCallParameter[], schema: JsonObject | undefined): boolean {
  if (!schema || unwrapArguments(pairs, readSchemaShape(schema)) !== undefined) return false
  return !declaresKeys(
    schema,
    pairs.map(({ key }) => key),
  )
}

/** Does the schema name these properties, or not say which there are? */
export function declaresKeys(schema: JsonObject, keys: readonly string[]): boolean {
  if (!isJsonObject(getOwn(schema, 'properties'))) return true
  if (getOwn(schema, 'additionalProperties') === true) return true
  const shape = readSchemaShape(schema)
  return keys.every((key) => shape.hasProperty(key))
}

/** Some models put all arguments into one parameter that the tool does not have. */
function unwrapArguments(pairs: readonly TextCallParameter[], shape: SchemaShape): string | undefined {
  const [only, ...others] = pairs
  if (!only || others.length > 0 || !WRAPPER_KEYS.includes(only.key) || shape.hasProperty(only.key)) return undefined
  const json = parseAs(only.value, new Set(['object']))
  const keys = Object.keys(json === undefined ? {} : objectOrEmpty(tryParseJson(json)))
  return keys.length > 0 && keys.every((key) => shape.hasProperty(key)) ? json : undefined
}

const WRAPPER_KEYS = [...ARGUMENT_KEYS, 'properties']

/** The values are JSON text already. */
export function toObjectJson(members: readonly (readonly [key: string, value: string])[]): string {
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`
}

/**
 * A value is a string unless the schema or the dialect says otherwise and it fits; numbers keep their digits. Where the
 * schema allows strings too, only null, objects and arrays are not strings: nobody writes these by accident.
 */
export function toValueJson(value: string, shape: SchemaShape, form?: TextCallParameter['form']): string {
  const { types } = shape
  const mayBeString = types?.has('string') ?? form !== 'json'
  if (mayBeString && form === 'text') return JSON.stringify(value)
  if (!mayBeString || form === 'json') return parseAs(value, types) ?? JSON.stringify(value)
  const parsed = tryParseJson(value)
  const isStructured = typeof parsed === 'object' && listValueTypes(parsed).some((type) => types?.has(type))
  return isStructured ? value.trim() : JSON.stringify(value)
}

/** The text as JSON, if it is JSON or a Python literal of one of these types (any type, if undefined). */
function parseAs(value: string, types: ReadonlySet<string> | undefined): string | undefined {
  const text = value.trim().replace(LEADING_ZEROS, '$1')
  const json = tryParseJson(text) === undefined ? convertPythonLiteral(text) : text
  if (json === undefined || types === undefined) return json
  return listValueTypes(tryParseJson(json)).some((type) => types.has(type)) ? json : undefined
}

const LEADING_ZEROS = /^(-?)0+(?=\d+$)/

export interface SchemaShape {
  /** The allowed types; undefined if the schema does not restrict them. */
  readonly types: ReadonlySet<string> | undefined
  property(key: string): SchemaShape
  /** Is the property declared? */
  hasProperty(key: string): boolean
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

  function getProperty(branch: JsonObject, key: string): unknown {
    const properties = getOwn(branch, 'properties')
    return isJsonObject(properties) ? getOwn(properties, key) : undefined
  }

  return {
    types: listTypes(branches),
    property: (key) => first((branch) => getProperty(branch, key)),
    hasProperty: (key) => branches.some((branch) => getProperty(branch, key) !== undefined),
    items: () => first((branch) => getOwn(branch, 'items')),
  }
}

const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf']

const ANY_SHAPE: SchemaShape = {
  types: undefined,
  property: () => ANY_SHAPE,
  hasProperty: () => false,
  items: () => ANY_SHAPE,
}

/** Names of other languages for the types of JSON Schema. */
const TYPE_ALIASES: ReadonlyMap<string, string> = new Map([
  ['str', 'string'],
  ['text', 'string'],
  ['int', 'integer'],
  ['float', 'number'],
  ['double', 'number'],
  ['bool', 'boolean'],
  ['dict', 'object'],
  ['list', 'array'],
])

/** What a schema without a type is about. */
const IMPLIED_TYPES = [
  ['properties', 'object'],
  ['additionalProperties', 'object'],
  ['items', 'array'],
  ['prefixItems', 'array'],
] as const

function listTypes(branches: readonly JsonObject[]): ReadonlySet<string> | undefined {
  const types = new Set<string>()
  for (const branch of branches) {
    const type = getOwn(branch, 'type')
    const list = getOwn(branch, 'enum')
    for (const name of Array.isArray(type) ? type : [type]) {
      if (typeof name === 'string') types.add(TYPE_ALIASES.get(name.toLowerCase()) ?? name.toLowerCase())
    }
    if (getOwn(branch, 'nullable') === true) types.add('null')
    if (type !== undefined) continue
    const values = Object.hasOwn(branch, 'const') ? [getOwn(branch, 'const')] : Array.isArray(list) ? list : []
    for (const value of values) for (const name of listValueTypes(value)) types.add(name)
    for (const [key, name] of IMPLIED_TYPES) if (Object.hasOwn(branch, key)) types.add(name)
  }
  return types.size > 0 ? types : undefined
}

function listValueTypes(value: unknown): readonly string[] {
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  if (typeof value === 'number') return Number.isInteger(value) ? ['number', 'integer'] : ['number']
  return [typeof value]
}
