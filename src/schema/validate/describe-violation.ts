import type { Json, JsonObject } from '../../model/json.ts'
import type { CompiledSchema } from './compile-schema.ts'
import { formatValue } from '../describe-keywords.ts'
import { isJsonObject, getOwn } from '../own-properties.ts'
import { formatPath } from '../json-pointer.ts'
import type { JsonSchema } from '../walk-schema.ts'

/** What is known of one broken rule. */
export interface SchemaViolation {
  readonly keyword: string
  readonly path: string
  readonly schema: JsonSchema | undefined
  readonly value: Json | undefined
  readonly validatorMessage: string
}

/** Says in one sentence which rule is broken, and what would keep it. */
export function describeViolation(violation: SchemaViolation, compiled: CompiledSchema): string {
  const { keyword, path } = violation
  const schema = typeof violation.schema === 'object' ? violation.schema : {}
  const rule = getOwn(schema, keyword)
  return `${formatSubject(path)} ${describeRule(keyword, rule, schema, violation, compiled)}.`
}

function formatSubject(path: string): string {
  return path === '' ? 'The arguments' : `"${formatPath(path)}"`
}

function describeRule(
  keyword: string,
  rule: Json | undefined,
  schema: JsonObject,
  violation: SchemaViolation,
  compiled: CompiledSchema,
): string {
  const { value, validatorMessage, path } = violation
  switch (keyword) {
    case 'type':
      return `must be ${joinWithOr(toList(rule).map(addArticle))}, not ${describeType(value)}`
    case 'required':
      return `${path === '' ? 'lack' : 'lacks'} the required property ${parseMissingName(validatorMessage)}`
    case 'const':
      return `must be ${formatValue(rule)}`
    case 'enum':
      return `must be one of ${toList(rule)
        .slice(0, 20)
        .map((item) => formatValue(item))
        .join(', ')}, not ${formatValue(value)}`
    case 'anyOf':
    case 'oneOf':
      return describeUnionViolation(keyword, rule, value, validatorMessage, compiled)
    case 'false':
      return describeUnknownProperty(schema)
    case 'minimum':
      return `must be at least ${formatValue(rule)}`
    case 'maximum':
      return `must be at most ${formatValue(rule)}`
    case 'exclusiveMinimum':
      return `must be more than ${formatValue(rule)}`
    case 'exclusiveMaximum':
      return `must be less than ${formatValue(rule)}`
    case 'multipleOf':
      return `must be a multiple of ${formatValue(rule)}`
    case 'minLength':
      return `must have at least ${formatValue(rule)} characters`
    case 'maxLength':
      return `must have at most ${formatValue(rule)} characters`
    case 'minItems':
      return `must have at least ${formatValue(rule)} items`
    case 'maxItems':
      return `must have at most ${formatValue(rule)} items`
    case 'uniqueItems':
      return `must not hold the same item twice`
    case 'minProperties':
      return `must have at least ${formatValue(rule)} properties`
    case 'maxProperties':
      return `must have at most ${formatValue(rule)} properties`
    case 'pattern':
      return `must match the pattern ${formatValue(rule, 200)}`
    case 'not':
      return `must not match ${formatValue(rule, 120)}`
    case 'contains':
    case 'minContains':
    case 'maxContains':
      return `must contain the right number of items that match ${formatValue(schema['contains'], 120)}`
    case 'propertyNames':
      return `${path === '' ? 'have' : 'has'} a property name that is not allowed; names must match ${formatValue(rule, 120)}`
    case 'dependentRequired':
      return `${path === '' ? 'are' : 'is'} incomplete: ${describeDependency(validatorMessage)}`
    case 'depth':
      return `${path === '' ? 'are' : 'is'} too large or too deeply nested to be checked`
    default:
      return `${path === '' ? 'break' : 'breaks'} the rule "${keyword}"`
  }
}

/** The validator names the property only in its own sentence, between the outermost quotes. */
function parseMissingName(validatorMessage: string): string {
  return validatorMessage.slice(validatorMessage.indexOf('"'), validatorMessage.lastIndexOf('"') + 1)
}

function describeDependency(validatorMessage: string): string {
  const match = /^Instance has (".*") but does not have (".*")\.$/s.exec(validatorMessage)
  return match === null ? 'a property needs another one' : `with ${match[1] ?? ''}, ${match[2] ?? ''} is required too`
}

function describeUnionViolation(
  keyword: string,
  rule: Json | undefined,
  value: Json | undefined,
  validatorMessage: string,
  compiled: CompiledSchema,
): string {
  if (keyword === 'oneOf' && !/\(0 matches\)/.test(validatorMessage))
    return 'must match exactly one of the allowed forms, but matches several'
  const forms = new Set(toList(rule).flatMap((branch) => describeBranch(branch, compiled)))
  return `must be ${joinWithOr([...forms])}, not ${describeType(value)}`
}

/** What one branch of a union looks like from afar. */
function describeBranch(branch: Json, compiled: CompiledSchema): string[] {
  const schema =
    isJsonObject(branch) && typeof branch['$ref'] === 'string' ? compiled.resolveRef(branch['$ref']) : branch
  if (!isJsonObject(schema)) return ['anything']
  if (Object.hasOwn(schema, 'const')) return [formatValue(schema['const'])]
  if (Array.isArray(schema['enum'])) return schema['enum'].slice(0, 20).map((item) => formatValue(item))
  if (schema['type'] === undefined) return ['another form']
  const required = toList(schema['required'])
  const inside = required.length > 0 ? ` with ${required.map((name) => formatValue(name)).join(', ')}` : ''
  return toList(schema['type']).map((type) => addArticle(type) + (type === 'object' ? inside : ''))
}

function describeUnknownProperty(parent: JsonObject): string {
  const names = isJsonObject(parent['properties']) ? Object.keys(parent['properties']) : []
  if (names.length === 0) return 'is not allowed here'
  const shown = names.slice(0, 12).map((name) => `"${name}"`)
  return `is not a known property; the known ones are ${shown.join(', ')}${names.length > 12 ? ', …' : ''}`
}

function toList(rule: Json | undefined): Json[] {
  return Array.isArray(rule) ? rule : rule === undefined ? [] : [rule]
}

function joinWithOr(forms: string[]): string {
  return forms.length > 1 ? `${forms.slice(0, -1).join(', ')} or ${forms.at(-1)}` : (forms[0] ?? 'something else')
}

function describeType(value: Json | undefined): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return addArticle(typeof value)
}

function addArticle(type: Json): string {
  if (type === 'null' || typeof type !== 'string') return 'null'
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
}
