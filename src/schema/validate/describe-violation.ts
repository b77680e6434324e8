import type { Json } from '../../model/json.ts'
import { describeKeyword, formatValue } from '../describe-keywords.ts'
import { formatPointerAsPath } from '../json-pointer.ts'
import { isJsonObject, toList } from '../own-properties.ts'
import type { SchemaViolation } from './schema-violation.ts'

/** One sentence: which rule is violated, and what would satisfy it. */
export function describeViolation(violation: SchemaViolation): string {
  const isWhole = violation.path === ''
  const subject = isWhole ? 'The arguments' : `"${formatPointerAsPath(violation.path)}"`
  return `${subject} ${describeDetail(violation, isWhole)}.`
}

/** `isPlural`: the subject is "The arguments", not one property. */
function describeDetail(violation: SchemaViolation, isPlural: boolean): string {
  switch (violation.kind) {
    case 'type':
      return `must be ${joinWithOr(violation.allowed.map(addArticle))}, not ${describeType(violation.value)}`
    case 'enum':
      return `must be one of ${formatSome(violation.allowed, 20)}, not ${formatValue(violation.value)}`
    case 'missing-property':
      return `${isPlural ? 'lack' : 'lacks'} the required property "${violation.property}"`
    case 'missing-dependency':
      return `${isPlural ? 'are' : 'is'} incomplete: with "${violation.property}", "${violation.required}" is required too`
    case 'unknown-property':
      return violation.known.length === 0
        ? 'is not allowed here'
        : `is not a known property; the known ones are ${formatSome(violation.known, 12)}${violation.known.length > 12 ? ', …' : ''}`
    case 'no-branch': {
      const forms = new Set(violation.branches.flatMap(describeBranch))
      return `must be ${joinWithOr([...forms])}, not ${describeType(violation.value)}`
    }
    case 'several-branches':
      return 'must match exactly one of the allowed forms, but matches several'
    case 'keyword':
      return describeRule(violation.keyword, violation.rule, isPlural)
    case 'unchecked':
      return `${isPlural ? 'are' : 'is'} too large or too deeply nested to be checked`
    case 'not-json':
      return `${isPlural ? 'are' : 'is'} ${NOT_JSON_TEXTS[violation.reason]}`
    default:
      return violation satisfies never
  }
}

const NOT_JSON_TEXTS = {
  missing: 'missing',
  'not-finite': 'not a finite number',
  'too-deep': 'nested too deeply',
  'no-json-type': 'not a JSON value',
} as const

function describeRule(keyword: string, rule: Json | undefined, isPlural: boolean): string {
  const words = () => describeKeyword(keyword, rule ?? null)
  if (/^(?:minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf)$/.test(keyword)) return `must be ${words()}`
  if (/^(?:min|max)(?:Length|Items|Properties)$/.test(keyword)) return `must have ${words()}`
  if (keyword === 'const') return `must be ${formatValue(rule)}`
  if (keyword === 'uniqueItems') return 'must not contain the same item twice'
  if (keyword === 'pattern') return `must match the pattern ${formatValue(rule, 200)}`
  if (keyword === 'not') return `must not match ${formatValue(rule, 120)}`
  if (/^(?:contains|minContains|maxContains)$/.test(keyword))
    return `must contain the right number of items that match ${formatValue(rule, 120)}`
  if (keyword === 'propertyNames')
    return `${isPlural ? 'have' : 'has'} a property name that is not allowed; names must match ${formatValue(rule, 120)}`
  return `${isPlural ? 'violate' : 'violates'} the rule "${keyword}"`
}

/** The outer form of one branch of a union. */
function describeBranch(schema: Json | undefined): string[] {
  if (!isJsonObject(schema)) return ['anything']
  if (Object.hasOwn(schema, 'const')) return [formatValue(schema['const'])]
  if (Array.isArray(schema['enum'])) return schema['enum'].slice(0, 20).map((item) => formatValue(item))
  if (schema['type'] === undefined) return ['another form']
  const required = toList(schema['required'])
  const inside = required.length > 0 ? ` with ${formatSome(required)}` : ''
  return toList(schema['type']).map((type) => addArticle(type) + (type === 'object' ? inside : ''))
}

function formatSome(values: readonly Json[], max = Infinity): string {
  return values
    .slice(0, max)
    .map((value) => formatValue(value))
    .join(', ')
}

function joinWithOr(forms: string[]): string {
  return forms.length > 1 ? `${forms.slice(0, -1).join(', ')} or ${forms.at(-1)}` : (forms[0] ?? 'something else')
}

function describeType(value: Json | undefined): string {
  if (value === undefined) return 'missing'
  return Array.isArray(value) ? 'an array' : addArticle(value === null ? null : typeof value)
}

function addArticle(type: Json): string {
  if (type === 'null' || typeof type !== 'string') return 'null'
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
}
