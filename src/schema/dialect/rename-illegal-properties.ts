import type { Json, JsonObject } from '../../model/json.ts'
import { appendRemarks } from '../describe-keywords.ts'
import { base36Hash } from '../hash.ts'
import { isJsonObject, setOwn } from '../own-properties.ts'
import { forEachSubschema, mapAllSubschemas, type JsonSchema } from '../walk-schema.ts'

const MAX_NAME_LENGTH = 64

/**
 * Renames illegal properties at every level, and everything that refers to them. Returns the same object if all are
 * legal.
 */
export function renameIllegalProperties(
  schema: JsonObject,
  pattern: RegExp,
): { readonly schema: JsonObject; readonly originalKeys: ReadonlyMap<string, string> } {
  const names = collectPropertyNames(schema)
  const illegal = [...names].filter((name) => name.length > MAX_NAME_LENGTH || !pattern.test(name))
  if (illegal.length === 0) return { schema, originalKeys: new Map() }
  const newNames = new Map<string, string>()
  for (const name of illegal) {
    const legal = toLegalKey(name, names)
    names.add(legal)
    newNames.set(name, legal)
  }
  const renamed = mapAllSubschemas(schema, (inner) =>
    typeof inner === 'boolean' ? inner : renameInNode(inner, newNames),
  )
  const originalKeys = new Map([...newNames].map(([name, legal]) => [legal, name]))
  return { schema: isJsonObject(renamed) ? renamed : schema, originalKeys }
}

function collectPropertyNames(schema: JsonSchema): Set<string> {
  const names = new Set<string>()
  forEachSubschema(schema, (inner) => {
    if (typeof inner === 'boolean' || !isJsonObject(inner['properties'])) return
    for (const name of Object.keys(inner['properties'])) names.add(name)
  })
  return names
}

/** The hash keeps the new name different from any key of a model or a tool's author. */
function toLegalKey(name: string, taken: ReadonlySet<string>): string {
  const words = name.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^_+|_+$/g, '')
  const base = words === '' || /^\d/.test(words) ? `key_${words}` : words
  for (let length = 6; ; length++) {
    const head = base.slice(0, MAX_NAME_LENGTH - length - 1).replace(/_+$/, '')
    const legal = `${head}_${base36Hash(name, length)}`
    if (!taken.has(legal)) return legal
  }
}

function renameInNode(schema: JsonObject, newNames: ReadonlyMap<string, string>): JsonObject {
  let out = schema
  const set = (key: string, before: Json | undefined, after: Json): void => {
    if (after !== before) out = { ...out, [key]: after }
  }
  const { properties, required, dependentRequired, dependentSchemas } = schema
  if (isJsonObject(properties)) set('properties', properties, renameMapKeys(properties, newNames, noteOriginalName))
  if (Array.isArray(required)) set('required', required, renameListItems(required, newNames))
  if (isJsonObject(dependentSchemas))
    set('dependentSchemas', dependentSchemas, renameMapKeys(dependentSchemas, newNames))
  if (isJsonObject(dependentRequired)) {
    const lists = (list: Json): Json => (Array.isArray(list) ? renameListItems(list, newNames) : list)
    set('dependentRequired', dependentRequired, renameMapKeys(dependentRequired, newNames, lists, lists))
  }
  return out
}

function renameMapKeys(
  map: JsonObject,
  newNames: ReadonlyMap<string, string>,
  onRename: (value: Json, name: string) => Json = (value) => value,
  always: (value: Json) => Json = (value) => value,
): JsonObject {
  const touched = Object.entries(map).some(([name, value]) => newNames.has(name) || always(value) !== value)
  if (!touched) return map
  const out: JsonObject = {}
  for (const [name, value] of Object.entries(map)) {
    const legal = newNames.get(name)
    setOwn(out, legal ?? name, legal === undefined ? always(value) : onRename(value, name))
  }
  return out
}

function renameListItems(list: Json[], newNames: ReadonlyMap<string, string>): Json[] {
  const changed = list.some((name) => typeof name === 'string' && newNames.has(name))
  return changed ? list.map((name) => (typeof name === 'string' ? (newNames.get(name) ?? name) : name)) : list
}

function noteOriginalName(value: Json, name: string): Json {
  return isJsonObject(value) ? appendRemarks(value, [`real name: ${JSON.stringify(name)}`]) : value
}
