import { type Json, type JsonObject, isObject } from '../model/json.ts'
import { getOwn, setOwn } from '../schema/own-properties.ts'

type JsonFields = Readonly<Record<string, unknown>>

/** Picks the fields of an object that a decoder does not read; undefined if there are none. Empty values say nothing. */
export type FieldFilter = (fields: JsonFields) => JsonObject | undefined

/** A filter of all fields but `known`, which are separated by spaces. */
export function createFieldFilter(known: string): FieldFilter {
  const names = new Set(known.split(' '))
  // The chunks of a stream have the same names in the same order, which is faster to compare than to look up.
  let usual: string[] = []
  return (fields) => {
    let at = 0
    for (const name in fields) if (name !== usual[at++]) return search(fields)
    return undefined
  }

  function search(fields: JsonFields): JsonObject | undefined {
    const others: JsonObject = {}
    let hasUnknown = false
    for (const [name, value] of Object.entries(fields)) {
      if (names.has(name)) continue
      hasUnknown = true
      if (!isEmptyValue(value)) setOwn(others, name, value as Json)
    }
    if (!hasUnknown) usual = Object.keys(fields)
    return hasFields(others) ? others : undefined
  }
}

/** The same, also inside of some fields that are objects. */
export function createNestedFilter(known: string, inside: Readonly<Record<string, FieldFilter>>): FieldFilter {
  const pick = createFieldFilter([known, ...Object.keys(inside)].join(' '))
  const filters = Object.entries(inside).map(([name, filter]) => ({ name, filter }))
  return (fields) => {
    let others = pick(fields)
    for (const { name, filter } of filters) {
      const value = fields[name]
      const inner = isObject(value) ? filter(value) : undefined
      if (inner) others = { ...others, [name]: inner }
    }
    return others
  }
}

export function hasFields(fields: object): boolean {
  return Object.keys(fields).length > 0
}

function isEmptyValue(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === undefined || value === null || value === ''
}

/** How a text in a later chunk is added to the same field of the chunks before. */
export type TextMerge = 'replace' | 'append'

/** Adds the fields of a later chunk: objects field by field, lists element by element unless they repeat what came before. */
export function mergeChunkFields(target: JsonObject, added: JsonObject, texts: TextMerge): void {
  for (const [name, value] of Object.entries(added))
    setOwn(target, name, mergeValues(getOwn(target, name), value, texts))
}

function mergeValues(before: Json | undefined, value: Json, texts: TextMerge): Json {
  if (Array.isArray(value)) {
    if (!Array.isArray(before) || repeats(value, before)) return [...value]
    for (const one of value) before.push(one)
    return before
  }
  if (isObject(value)) {
    const merged = isObject(before) ? before : {}
    mergeChunkFields(merged, value, texts)
    return merged
  }
  const isContinued = texts === 'append' && typeof before === 'string' && typeof value === 'string' && before !== value
  return isContinued ? before + value : value
}

function repeats(list: readonly Json[], before: readonly Json[]): boolean {
  return before.every((one, at) => JSON.stringify(one) === JSON.stringify(list[at]))
}
