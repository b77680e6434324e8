import type { Json, JsonObject } from '../model/json.ts'
import { isJsonObject } from './own.ts'

/** Moves keywords that a dialect cannot carry into the description, as short phrases; the keywords themselves go. */
export function intoDescription(schema: JsonObject, keywords: Iterable<string>): JsonObject {
  const phrases: string[] = []
  let out = schema
  for (const keyword of keywords) {
    const value = out[keyword]
    if (value === undefined) continue
    if (out === schema) out = { ...schema }
    delete out[keyword]
    const phrase = phraseFor(keyword, value)
    if (phrase !== '') phrases.push(phrase)
  }
  return phrases.length === 0 ? out : withRemarks(out, phrases)
}

/** Adds remarks to the end of a schema's description. */
export function withRemarks(schema: JsonObject, phrases: readonly string[]): JsonObject {
  const known = typeof schema['description'] === 'string' ? schema['description'] : ''
  const fresh = phrases.filter((phrase) => phrase !== '' && !known.includes(phrase))
  if (fresh.length === 0) return schema
  const remark = `(${fresh.join('; ')})`
  return { ...schema, description: known === '' ? remark : `${known} ${remark}` }
}

/** One constraint in words; empty for a keyword that constrains nothing. */
export function phraseFor(keyword: string, value: Json): string {
  switch (keyword) {
    case 'default':
      return `default: ${brief(value)}`
    case 'const':
      return `always ${brief(value)}`
    case 'enum':
      return `one of: ${valueList(value)}`
    case 'pattern':
      return `matches ${brief(value, 200)}`
    case 'format':
      return `format: ${brief(value).replaceAll('"', '')}`
    case 'not':
      return isOpen(value) ? '' : `not: ${brief(value, 160)}`
    case 'uniqueItems':
      return value === true ? 'no item twice' : ''
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return isJsonObject(value) && !isOpen(value) ? `other keys hold ${brief(value, 160)}` : ''
    case 'patternProperties':
      return `keys that match a pattern hold ${brief(value, 160)}`
    case 'dependentRequired':
      return `needed together: ${brief(value, 160)}`
    case 'if':
      return `if ${brief(value, 160)} holds, further rules apply`
    default:
      return Object.hasOwn(PHRASES, keyword) ? (PHRASES[keyword] ?? '').replace('%', brief(value, 160)) : ''
  }
}

/** A value in short, for use inside a sentence. */
export function brief(value: Json | undefined, limit = 60): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text
}

const PHRASES: Readonly<Record<string, string>> = {
  minimum: 'at least %',
  maximum: 'at most %',
  exclusiveMinimum: 'more than %',
  exclusiveMaximum: 'less than %',
  multipleOf: 'a multiple of %',
  minLength: 'at least % characters',
  maxLength: 'at most % characters',
  minItems: 'at least % items',
  maxItems: 'at most % items',
  minProperties: 'at least % keys',
  maxProperties: 'at most % keys',
  propertyNames: 'key names: %',
  contains: 'contains %',
  minContains: 'at least % of those',
  maxContains: 'at most % of those',
  prefixItems: 'in this order: %',
  contentEncoding: 'encoded as %',
  contentMediaType: 'media type %',
}

function valueList(value: Json): string {
  const values = Array.isArray(value) ? value : [value]
  const shown = values.slice(0, 40).map((item) => brief(item))
  return shown.join(', ') + (values.length > 40 ? ', …' : '')
}

function isOpen(value: Json): boolean {
  return value === true || (isJsonObject(value) && Object.keys(value).length === 0)
}
