import type { Warning } from '../model/event.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import { setOwn } from '../schema/own-properties.ts'
import type { OtherFields } from '../model/provider-options.ts'

/**
 * Merges the fields that a caller adds for one API into a body: objects field by field, everything else replaces. The last
 * key, which is the history, stays last.
 */
export function mergeProviderOptions(
  body: JsonObject,
  options: OtherFields | undefined,
  warnings: Warning[],
): JsonObject {
  if (!options) return body
  const added = Object.entries(options).filter(([name, value]) => {
    if (!PROTECTED_FIELDS.has(toPlainName(name))) return value !== undefined
    warnings.push({ code: 'provider-options', message: `The provider option ${name} was left out: it is protected.` })
    return false
  })
  const [history = ''] = Object.keys(body).slice(-1)
  const { [history]: turns, ...settings } = body
  return {
    ...mergeObjects(settings, Object.fromEntries(added) as JsonObject),
    ...(turns !== undefined && { [history]: turns }),
  }
}

/** Objects are merged field by field; everything else is replaced. */
export function mergeObjects(base: JsonObject, added: JsonObject): JsonObject {
  const out = { ...base }
  for (const [name, value] of Object.entries(added)) {
    const before = Object.hasOwn(base, name) ? base[name] : undefined
    const merged = isObject(before) && isObject(value) ? mergeObjects(before, value) : value
    setOwn(out, name, merged)
  }
  return out
}

/** What the session says; in the spelling of `toPlainName`. */
const PROTECTED_FIELDS = new Set(
  'model messages contents input tools stream system systeminstruction instructions request'.split(' '),
)

/** Google accepts names in camel case and in snake case. */
function toPlainName(name: string): string {
  return name.replaceAll('_', '').toLowerCase()
}

/**
 * The fields of a body that nothing else reads, for reading a request back. `known` names the others; `inside` those of a
 * field whose own fields are read one by one.
 */
export function readOtherFields(
  body: Record<string, unknown>,
  known: string,
  inside: Readonly<Record<string, string>> = {},
): OtherFields | undefined {
  const names = new Set(known.split(' ').map(toPlainName))
  const found = Object.entries(body).flatMap(([name, value]): [string, unknown][] => {
    const inner = inside[name]
    if (inner === undefined) return names.has(toPlainName(name)) ? [] : [[name, value]]
    const fields = isObject(value) ? readOtherFields(value, inner) : undefined
    return fields ? [[name, fields]] : []
  })
  return found.length === 0 ? undefined : (Object.fromEntries(found) as OtherFields)
}
