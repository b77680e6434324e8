import type { Json, JsonObject } from '../model/json.ts'
import { brief } from './describe.ts'
import { allowedTypes, descend, type Fix, type Site, type Step } from './descend.ts'
import { exactJson, exactNumber } from './exact.ts'
import { typeOf } from './implied.ts'
import { nearMisses } from './near.ts'
import { isJsonObject, own, put, without } from './own.ts'
import { readablePath, segment } from './pointer.ts'
import { isSchema } from './walk.ts'

/** Gives a value the type that its schema asks for, where that loses nothing. */
export const retype: Step = (site) => {
  const { compiled, schema, value, path } = site
  if (site.types.has(typeOf(value) === 'integer' ? 'number' : typeOf(value))) return undefined
  const types = allowedTypes(compiled, schema)
  const to = (next: Json, sentence: string): Fix | undefined => {
    // What was unwrapped may need mending itself, but only what ends up accepted counts.
    const inner =
      typeof next === 'object' ? descend(compiled, schema, next, path, retype) : { value: next, changes: [] }
    return compiled.accepts(schema, inner.value)
      ? { value: inner.value, changes: [sentence, ...inner.changes] }
      : undefined
  }
  const name = nameOf(path)
  if (typeof value === 'string') {
    const read = readText(value, types)
    const fix =
      read === undefined ? undefined : to(read, `${name} was the text ${brief(value)}; it was read as ${kindOf(read)}.`)
    if (fix !== undefined) return fix
  }
  if (types.has('string')) {
    if (Number.isSafeInteger(value))
      return to(JSON.stringify(value), `${name} was the number ${brief(value)}; it was read as text.`)
    if (typeof value === 'object' && value !== null) {
      return to(JSON.stringify(value, null, 2), `${name} was ${kindOf(value)}; it was written out as JSON text.`)
    }
  }
  if (types.has('array') && value !== null) {
    return to([value], `${name} was a single value; it was put into an array.`)
  }
  return undefined
}

/** Leaves out what says "nothing" for an optional property that cannot be null. */
export const dropNulls: Step = ({ compiled, schema, value, path }) => {
  const { properties, required } = schema
  if (!isJsonObject(value) || !isJsonObject(properties)) return undefined
  const needed = Array.isArray(required) ? required : []
  const gone = Object.keys(value).filter((key) => {
    const property = own(properties, key)
    const given = value[key] ?? null
    if (needed.includes(key) || !isSchema(property) || compiled.accepts(property, given)) return false
    if (given === null) return true
    if (given !== 'null' && given !== 'None') return false
    return !allowedTypes(compiled, property).has('string') && !compiled.accepts(property, null)
  })
  return leftOut(value, gone, path, (key) => `was ${brief(value[key])}, which means nothing here`)
}

/** Gives a required property that is missing the value of the one unknown key that was meant for it. */
export const renameNearMisses: Step = ({ compiled, schema, value, path }) => {
  const { properties, required } = schema
  if (!isJsonObject(value) || !isJsonObject(properties) || !Array.isArray(required)) return undefined
  const missing = required.filter((name) => typeof name === 'string' && !Object.hasOwn(value, name))
  const unknown = Object.keys(value).filter((key) => !Object.hasOwn(properties, key))
  const pairs = nearMisses(missing.map(textOf), unknown)
  const changes: string[] = []
  const renamed = new Map<string, string>()
  for (const [name, key] of pairs) {
    const property = own(properties, name)
    if (!isSchema(property) || !compiled.accepts(property, value[key] ?? null)) continue
    renamed.set(key, name)
    changes.push(`${nameOf(path + segment(key))} was read as ${nameOf(path + segment(name))}.`)
  }
  if (changes.length === 0) return undefined
  const out: JsonObject = {}
  for (const [key, inner] of Object.entries(value)) put(out, renamed.get(key) ?? key, inner)
  return { value: out, changes }
}

/** Leaves out properties that the schema does not know and does not allow. */
export const dropExtras: Step = ({ compiled, schema, value, path }) => {
  const { properties, additionalProperties, patternProperties } = schema
  if (!isJsonObject(value) || additionalProperties !== false) return undefined
  const known = isJsonObject(properties) ? properties : {}
  const patterns = isJsonObject(patternProperties) ? patternProperties : {}
  const isKnown = (key: string): boolean =>
    Object.hasOwn(known, key) ||
    compiled.accepts({ patternProperties: patterns, additionalProperties: false }, { [key]: value[key] ?? null })
  return leftOut(
    value,
    Object.keys(value).filter((key) => !isKnown(key)),
    path,
    () => 'is not a known property',
  )
}

/** Applies several steps at one place, one after the other. */
export function allSteps(steps: readonly Step[]): Step {
  return (site: Site) => {
    let fix: Fix = { value: site.value, changes: [] }
    for (const step of steps) {
      const next = step({ ...site, value: fix.value })
      if (next !== undefined) fix = { value: next.value, changes: [...fix.changes, ...next.changes] }
    }
    return fix.changes.length > 0 ? fix : undefined
  }
}

function readText(text: string, types: ReadonlySet<string>): Json | undefined {
  if (types.has('null') && (text === 'null' || text === 'None')) return null
  if (types.has('boolean') && /^(?:true|false|True|False)$/.test(text)) return text.toLowerCase() === 'true'
  const number = types.has('number') ? exactNumber(text) : undefined
  if (number !== undefined) return number
  const looksWrapped = /^\s*(?:\{.*\}|\[.*\])\s*$/s.test(text)
  if (!looksWrapped || !(types.has('object') || types.has('array'))) return undefined
  return exactJson(text)
}

function leftOut(
  value: JsonObject,
  gone: readonly string[],
  path: string,
  why: (key: string) => string,
): Fix | undefined {
  if (gone.length === 0) return undefined
  return {
    value: without(value, gone),
    changes: gone.map((key) => `${nameOf(path + segment(key))} ${why(key)}; it was left out.`),
  }
}

function nameOf(path: string): string {
  return path === '' ? 'The whole' : `"${readablePath(path)}"`
}

function kindOf(value: Json): string {
  if (value === null) return 'null'
  const type = typeOf(value)
  if (type === 'integer' || type === 'number' || type === 'boolean')
    return `the ${type === 'boolean' ? 'value' : 'number'} ${brief(value)}`
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
}

function textOf(name: Json): string {
  return typeof name === 'string' ? name : ''
}
