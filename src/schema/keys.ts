import type { Json, JsonObject } from '../model/json.ts'
import { withRemarks } from './describe.ts'
import { shortHash } from './hash.ts'
import { isJsonObject, put } from './own.ts'
import { eachSubschema, mapSchema, type Schema } from './walk.ts'

/** Legal names for a schema's properties: the pattern they must match, and the longest. */
export interface KeyRule {
  readonly pattern: RegExp
  readonly max: number
}

/** A schema with legal property names only, and the way back from each new name to the old one. */
export interface Renamed {
  schema: JsonObject
  original: ReadonlyMap<string, string>
}

/** Renames illegal properties at every level, and everything that refers to them; the same object if all are legal. */
export function renameKeys(schema: JsonObject, rule: KeyRule): Renamed {
  const names = propertyNames(schema)
  const illegal = [...names].filter((name) => name.length > rule.max || !rule.pattern.test(name))
  if (illegal.length === 0) return { schema, original: new Map() }
  const wire = new Map<string, string>()
  for (const name of illegal) {
    const legal = legalKey(name, rule, names)
    names.add(legal)
    wire.set(name, legal)
  }
  const renamed = mapSchema(schema, (inner) => (typeof inner === 'boolean' ? inner : renameNode(inner, wire)))
  const original = new Map([...wire].map(([name, legal]) => [legal, name]))
  return { schema: isJsonObject(renamed) ? renamed : schema, original }
}

function propertyNames(schema: Schema): Set<string> {
  const names = new Set<string>()
  eachSubschema(schema, (inner) => {
    if (typeof inner === 'boolean' || !isJsonObject(inner['properties'])) return
    for (const name of Object.keys(inner['properties'])) names.add(name)
  })
  return names
}

/** The hash keeps the new name apart from any key that a model or a tool's author would write. */
function legalKey(name: string, rule: KeyRule, taken: ReadonlySet<string>): string {
  const words = name.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^_+|_+$/g, '')
  const base = words === '' || /^\d/.test(words) ? `key_${words}` : words
  for (let length = 6; ; length++) {
    const head = base.slice(0, rule.max - length - 1).replace(/_+$/, '')
    const legal = `${head}_${shortHash(name, length)}`
    if (!taken.has(legal)) return legal
  }
}

function renameNode(schema: JsonObject, wire: ReadonlyMap<string, string>): JsonObject {
  let out = schema
  const set = (key: string, before: Json | undefined, after: Json): void => {
    if (after !== before) out = { ...out, [key]: after }
  }
  const { properties, required, dependentRequired, dependentSchemas } = schema
  if (isJsonObject(properties)) set('properties', properties, renameMap(properties, wire, noteName))
  if (Array.isArray(required)) set('required', required, renameList(required, wire))
  if (isJsonObject(dependentSchemas)) set('dependentSchemas', dependentSchemas, renameMap(dependentSchemas, wire))
  if (isJsonObject(dependentRequired)) {
    const lists = (list: Json): Json => (Array.isArray(list) ? renameList(list, wire) : list)
    set('dependentRequired', dependentRequired, renameMap(dependentRequired, wire, lists, lists))
  }
  return out
}

function renameMap(
  map: JsonObject,
  wire: ReadonlyMap<string, string>,
  onRename: (value: Json, name: string) => Json = (value) => value,
  always: (value: Json) => Json = (value) => value,
): JsonObject {
  const touched = Object.entries(map).some(([name, value]) => wire.has(name) || always(value) !== value)
  if (!touched) return map
  const out: JsonObject = {}
  for (const [name, value] of Object.entries(map)) {
    const legal = wire.get(name)
    put(out, legal ?? name, legal === undefined ? always(value) : onRename(value, name))
  }
  return out
}

function renameList(list: Json[], wire: ReadonlyMap<string, string>): Json[] {
  const changed = list.some((name) => typeof name === 'string' && wire.has(name))
  return changed ? list.map((name) => (typeof name === 'string' ? (wire.get(name) ?? name) : name)) : list
}

function noteName(value: Json, name: string): Json {
  return isJsonObject(value) ? withRemarks(value, [`real name: ${JSON.stringify(name)}`]) : value
}
