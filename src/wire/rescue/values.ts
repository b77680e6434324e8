import type { JsonObject } from '../../model/json.ts'
import { isJsonObject, own } from '../../schema/own.ts'
import { refOf, refResolver } from '../../schema/refs.ts'
import { parse } from './json.ts'

/** A parameter as it was written. `form` is there when the dialect itself says whether the value is text or JSON. */
export interface Pair {
  readonly key: string
  readonly value: string
  readonly form?: 'text' | 'json'
}

/** Writes parameters as the JSON text of an object, each value typed by the schema. */
export function argumentsText(pairs: readonly Pair[], schema: JsonObject | undefined): string {
  const shape = shapeOf(schema)
  const members = pairs.map(({ key, value, form }) => [key, valueText(value, shape.property(key), form)] as const)
  return objectText(members)
}

/** Writes an object from keys and values that are JSON text already. */
export function objectText(members: readonly (readonly [key: string, value: string])[]): string {
  return `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`
}

/**
 * Writes one value as JSON text. It stays a string unless the schema (or the dialect) says otherwise and it fits; a
 * number keeps the digits that were written.
 */
export function valueText(value: string, shape: Shape, form?: Pair['form']): string {
  const types = shape.types
  const mayParse = form === 'json' || (form === undefined && types !== undefined && !types.has('string'))
  const parsed = mayParse ? parse(value) : undefined
  if (parsed !== undefined && (types === undefined || typesOfValue(parsed).some((type) => types.has(type)))) {
    return value.trim()
  }
  return JSON.stringify(value)
}

/** What a schema says about a value and what is inside it. */
export interface Shape {
  /** The types that are allowed; nothing if the schema does not say. */
  readonly types: ReadonlySet<string> | undefined
  property(key: string): Shape
  items(): Shape
}

/** The shape that a schema describes. */
export function shapeOf(schema: unknown, root = isJsonObject(schema) ? schema : {}): Shape {
  const resolve = refResolver(root)
  const branches = flatten(schema, 0)

  /** The schema and its alternatives, references followed. */
  function flatten(at: unknown, depth: number): JsonObject[] {
    if (!isJsonObject(at) || depth > 8) return []
    const ref = refOf(at)
    const target = ref === undefined ? [] : flatten(resolve(ref), depth + 1)
    const inner = ALTERNATIVES.flatMap((key) => {
      const list = own(at, key)
      return Array.isArray(list) ? list.flatMap((branch) => flatten(branch, depth + 1)) : []
    })
    return [at, ...target, ...inner]
  }

  function first(pick: (branch: JsonObject) => unknown): Shape {
    for (const branch of branches) {
      const found = pick(branch)
      if (found !== undefined) return shapeOf(found, root)
    }
    return ANYTHING
  }

  return {
    types: typesOf(branches),
    property: (key) =>
      first((branch) => {
        const properties = own(branch, 'properties')
        return isJsonObject(properties) ? own(properties, key) : undefined
      }),
    items: () => first((branch) => own(branch, 'items')),
  }
}

const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf']

const ANYTHING: Shape = { types: undefined, property: () => ANYTHING, items: () => ANYTHING }

function typesOf(branches: readonly JsonObject[]): ReadonlySet<string> | undefined {
  const types = new Set<string>()
  for (const branch of branches) {
    const type = own(branch, 'type')
    const list = own(branch, 'enum')
    for (const name of Array.isArray(type) ? type : [type]) if (typeof name === 'string') types.add(name.toLowerCase())
    if (own(branch, 'nullable') === true) types.add('null')
    if (type !== undefined) continue
    const values = Object.hasOwn(branch, 'const') ? [own(branch, 'const')] : Array.isArray(list) ? list : []
    for (const value of values) for (const name of typesOfValue(value)) types.add(name)
  }
  return types.size > 0 ? types : undefined
}

function typesOfValue(value: unknown): readonly string[] {
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  if (typeof value === 'number') return Number.isInteger(value) ? ['number', 'integer'] : ['number']
  return [typeof value]
}
