import type { Json, JsonObject } from '../model/json.ts'
import { isJsonObject } from './own-properties.ts'

/** Replaces keywords that a dialect does not support by phrases in the description. */
export function moveKeywordsToDescription(schema: JsonObject, keywords: Iterable<string>): JsonObject {
  const phrases: string[] = []
  let out = schema
  for (const keyword of keywords) {
    const value = out[keyword]
    if (value === undefined) continue
    if (out === schema) out = { ...schema }
    delete out[keyword]
    const phrase = describeKeyword(keyword, value)
    if (phrase !== '') phrases.push(phrase)
  }
  return phrases.length === 0 ? out : appendRemarks(out, phrases)
}

export function appendRemarks(schema: JsonObject, phrases: readonly string[]): JsonObject {
  const description = typeof schema['description'] === 'string' ? schema['description'] : ''
  const newPhrases = phrases.filter((phrase) => phrase !== '' && !description.includes(phrase))
  if (newPhrases.length === 0) return schema
  const remark = `(${newPhrases.join('; ')})`
  return { ...schema, description: description === '' ? remark : `${description} ${remark}` }
}

/** A constraint in words; empty for a keyword that constrains nothing. */
export function describeKeyword(keyword: string, value: Json): string {
  const phrase = Object.hasOwn(KEYWORD_PHRASES, keyword) ? (KEYWORD_PHRASES[keyword] ?? '') : ''
  return typeof phrase === 'string' ? phrase.replace('%', () => formatValue(value, 160)) : phrase(value)
}

/** A value, shortened for use in a sentence. */
export function formatValue(value: Json | undefined, limit = 60): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value)
  return text.length > limit ? `${text.slice(0, limit - 1)}…` : text
}

const KEYWORD_PHRASES: Readonly<Record<string, string | ((value: Json) => string)>> = {
  default: (value) => `default: ${formatValue(value)}`,
  const: (value) => `always ${formatValue(value)}`,
  enum: (value) => `one of: ${formatValueList(value)}`,
  pattern: (value) => `matches ${formatValue(value, 200)}`,
  format: (value) => `format: ${formatValue(value).replaceAll('"', '')}`,
  not: (value) => (acceptsAnything(value) ? '' : `not: ${formatValue(value, 160)}`),
  uniqueItems: (value) => (value === true ? 'no item twice' : ''),
  additionalProperties: describeOtherKeys,
  unevaluatedProperties: describeOtherKeys,
  patternProperties: 'keys that match a pattern hold %',
  dependentRequired: 'needed together: %',
  if: 'if % holds, further rules apply',
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

function describeOtherKeys(value: Json): string {
  return isJsonObject(value) && !acceptsAnything(value) ? `other keys hold ${formatValue(value, 160)}` : ''
}

function formatValueList(value: Json): string {
  const values = Array.isArray(value) ? value : [value]
  const shown = values.slice(0, 40).map((item) => formatValue(item))
  return shown.join(', ') + (values.length > 40 ? ', …' : '')
}

function acceptsAnything(value: Json): boolean {
  return value === true || (isJsonObject(value) && Object.keys(value).length === 0)
}
