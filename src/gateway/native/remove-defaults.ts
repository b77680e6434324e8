import { isObject, type JsonObject, objectOrEmpty, toCanonicalJson } from '../../model/json.ts'
import type { CallPart } from '../../model/turn.ts'

/**
 * The call as the model made it: some clients add the defaults of their schema to the arguments and change their order, but what
 * a vendor signed must come back unchanged. Arguments that a client has really changed stay as they are.
 */
export function removeDefaults(call: CallPart, names: readonly string[] | undefined, schema?: JsonObject): CallPart {
  const { input } = call
  if (!names || !isObject(input)) return call
  const properties = objectOrEmpty(schema?.['properties'])
  const kept = Object.entries(input).filter(
    ([name, value]) => names.includes(name) || !isDefault(value, properties[name]),
  )
  const ordered = kept.toSorted(([one], [other]) => getRank(one, names) - getRank(other, names))
  if (ordered.map(([name]) => name).join('\n') === Object.keys(input).join('\n')) return call
  const restored = Object.fromEntries(ordered)
  return { ...call, input: restored, raw: JSON.stringify(restored) }
}

function isDefault(value: unknown, property: unknown): boolean {
  return isObject(property) && 'default' in property && toCanonicalJson(value) === toCanonicalJson(property['default'])
}

/** What the client added comes last. */
function getRank(name: string, names: readonly string[]): number {
  const at = names.indexOf(name)
  return at < 0 ? names.length : at
}
