import type { Json, JsonObject } from '../../model/json.ts'
import { formatValue } from '../describe-keywords.ts'
import { applyCoercionStep, getAllowedTypes, type CoercionResult, type CoercionStep } from './apply-coercion-step.ts'
import { parseExactJson, parseExactNumber } from './parse-exact-json.ts'
import { getJsonType } from '../normalize/infer-type.ts'
import { matchSimilarNames } from '../similar-names.ts'
import { isJsonObject, getOwn, setOwn, omitKeys } from '../own-properties.ts'
import { formatPointerAsPath, toPointerSegment } from '../json-pointer.ts'
import { isJsonSchema } from '../walk-schema.ts'

/** Converts a value to the type that its schema requires, if that loses nothing. */
export const coerceType: CoercionStep = (target) => {
  const { compiled, schema, value, path } = target
  if (target.types.has(getJsonType(value) === 'integer' ? 'number' : getJsonType(value))) return undefined
  const types = getAllowedTypes(compiled, schema)
  const tryValue = (next: Json, message: string): CoercionResult | undefined => {
    // The converted value may need coercion itself.
    const inner =
      typeof next === 'object'
        ? applyCoercionStep(compiled, schema, next, path, coerceType)
        : { value: next, changes: [] }
    return compiled.accepts(schema, inner.value)
      ? { value: inner.value, changes: [message, ...inner.changes] }
      : undefined
  }
  const name = formatPropertyName(path)
  if (typeof value === 'string') {
    const parsed = parseTextAs(value, types)
    const coercion =
      parsed === undefined
        ? undefined
        : tryValue(parsed, `${name} was the text ${formatValue(value)}; it was read as ${describeValue(parsed)}.`)
    if (coercion !== undefined) return coercion
  }
  if (types.has('string')) {
    if (Number.isSafeInteger(value))
      return tryValue(JSON.stringify(value), `${name} was the number ${formatValue(value)}; it was read as text.`)
    if (typeof value === 'object' && value !== null) {
      const message = `${name} was ${describeValue(value)}; it was written out as JSON text.`
      return tryValue(JSON.stringify(value, null, 2), message)
    }
  }
  if (types.has('array') && value !== null) {
    return tryValue([value], `${name} was a single value; it was put into an array.`)
  }
  return undefined
}

/** Omits null and "null" where a property is optional and cannot be null. */
export const dropNullProperties: CoercionStep = ({ compiled, schema, value, path }) => {
  const { properties, required } = schema
  if (!isJsonObject(value) || !isJsonObject(properties)) return undefined
  const needed = Array.isArray(required) ? required : []
  const omitted = Object.keys(value).filter((key) => {
    const property = getOwn(properties, key)
    const propertyValue = value[key] ?? null
    if (needed.includes(key) || !isJsonSchema(property) || compiled.accepts(property, propertyValue)) return false
    if (propertyValue === null) return true
    if (propertyValue !== 'null' && propertyValue !== 'None') return false
    return !getAllowedTypes(compiled, property).has('string') && !compiled.accepts(property, null)
  })
  return omitProperties(value, omitted, path, (key) => `was ${formatValue(value[key])}, but is optional`)
}

/** Renames an unknown key to the missing required property that was meant. */
export const renameSimilarKeys: CoercionStep = ({ compiled, schema, value, path }) => {
  const { properties, required } = schema
  if (!isJsonObject(value) || !isJsonObject(properties) || !Array.isArray(required)) return undefined
  const missing = required.filter((name) => typeof name === 'string').filter((name) => !Object.hasOwn(value, name))
  const unknown = Object.keys(value).filter((key) => !Object.hasOwn(properties, key))
  const pairs = matchSimilarNames(missing, unknown)
  const changes: string[] = []
  const renamed = new Map<string, string>()
  for (const [name, key] of pairs) {
    const property = getOwn(properties, name)
    if (!isJsonSchema(property) || !compiled.accepts(property, value[key] ?? null)) continue
    renamed.set(key, name)
    const [before, after] = [key, name].map((one) => formatPropertyName(path + toPointerSegment(one)))
    changes.push(`${before} was read as ${after}.`)
  }
  if (changes.length === 0) return undefined
  const out: JsonObject = {}
  for (const [key, inner] of Object.entries(value)) setOwn(out, renamed.get(key) ?? key, inner)
  return { value: out, changes }
}

/** Omits properties that the schema does not allow. */
export const dropUnknownProperties: CoercionStep = ({ compiled, schema, value, path }) => {
  const { properties, additionalProperties, patternProperties } = schema
  if (!isJsonObject(value) || additionalProperties !== false) return undefined
  const declared = isJsonObject(properties) ? properties : {}
  const patterns = isJsonObject(patternProperties) ? patternProperties : {}
  const isKnown = (key: string): boolean =>
    Object.hasOwn(declared, key) ||
    compiled.accepts({ patternProperties: patterns, additionalProperties: false }, { [key]: value[key] ?? null })
  const unknown = Object.keys(value).filter((key) => !isKnown(key))
  return omitProperties(value, unknown, path, () => 'is not a known property')
}

export function combineSteps(steps: readonly CoercionStep[]): CoercionStep {
  return (target) => {
    let coercion: CoercionResult = { value: target.value, changes: [] }
    for (const step of steps) {
      const next = step({ ...target, value: coercion.value })
      if (next !== undefined) coercion = { value: next.value, changes: [...coercion.changes, ...next.changes] }
    }
    return coercion.changes.length > 0 ? coercion : undefined
  }
}

function parseTextAs(text: string, types: ReadonlySet<string>): Json | undefined {
  if (types.has('null') && (text === 'null' || text === 'None')) return null
  if (types.has('boolean') && /^(?:true|false|True|False)$/.test(text)) return text.toLowerCase() === 'true'
  const number = types.has('number') ? parseExactNumber(text) : undefined
  if (number !== undefined) return number
  const looksWrapped = /^\s*(?:\{.*\}|\[.*\])\s*$/s.test(text)
  if (!looksWrapped || !(types.has('object') || types.has('array'))) return undefined
  return parseExactJson(text)
}

function omitProperties(
  value: JsonObject,
  omitted: readonly string[],
  path: string,
  why: (key: string) => string,
): CoercionResult | undefined {
  if (omitted.length === 0) return undefined
  return {
    value: omitKeys(value, omitted),
    changes: omitted.map((key) => `${formatPropertyName(path + toPointerSegment(key))} ${why(key)}; it was omitted.`),
  }
}

function formatPropertyName(path: string): string {
  return path === '' ? 'The arguments' : `"${formatPointerAsPath(path)}"`
}

function describeValue(value: Json): string {
  if (value === null) return 'null'
  const type = getJsonType(value)
  if (type === 'integer' || type === 'number' || type === 'boolean')
    return `the ${type === 'boolean' ? 'value' : 'number'} ${formatValue(value)}`
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
}
