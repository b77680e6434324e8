import type { Json, JsonObject } from '../model/json.ts'
import type { Compiled } from './compile.ts'
import { brief } from './describe.ts'
import { isJsonObject, own } from './own.ts'
import { readablePath } from './pointer.ts'
import type { Schema } from './walk.ts'

/** What is known of one broken rule. */
export interface Broken {
  readonly keyword: string
  readonly path: string
  readonly schema: Schema | undefined
  readonly value: Json | undefined
  readonly trace: string
}

/** Says in one sentence which rule is broken, and what would keep it. */
export function sentence(broken: Broken, compiled: Compiled): string {
  const { keyword, path } = broken
  const schema = typeof broken.schema === 'object' ? broken.schema : {}
  const rule = own(schema, keyword)
  return `${subject(path)} ${verdict(keyword, rule, schema, broken, compiled)}.`
}

function subject(path: string): string {
  return path === '' ? 'The arguments' : `"${readablePath(path)}"`
}

function verdict(
  keyword: string,
  rule: Json | undefined,
  schema: JsonObject,
  broken: Broken,
  compiled: Compiled,
): string {
  const { value, trace, path } = broken
  switch (keyword) {
    case 'type':
      return `must be ${oneOf(listOf(rule).map(article))}, not ${kind(value)}`
    case 'required':
      return `${path === '' ? 'lack' : 'lacks'} the required property ${missingName(trace)}`
    case 'const':
      return `must be ${brief(rule)}`
    case 'enum':
      return `must be one of ${listOf(rule)
        .slice(0, 20)
        .map((item) => brief(item))
        .join(', ')}, not ${brief(value)}`
    case 'anyOf':
    case 'oneOf':
      return union(keyword, rule, value, trace, compiled)
    case 'false':
      return unknownProperty(schema)
    case 'minimum':
      return `must be at least ${brief(rule)}`
    case 'maximum':
      return `must be at most ${brief(rule)}`
    case 'exclusiveMinimum':
      return `must be more than ${brief(rule)}`
    case 'exclusiveMaximum':
      return `must be less than ${brief(rule)}`
    case 'multipleOf':
      return `must be a multiple of ${brief(rule)}`
    case 'minLength':
      return `must have at least ${brief(rule)} characters`
    case 'maxLength':
      return `must have at most ${brief(rule)} characters`
    case 'minItems':
      return `must have at least ${brief(rule)} items`
    case 'maxItems':
      return `must have at most ${brief(rule)} items`
    case 'uniqueItems':
      return `must not hold the same item twice`
    case 'minProperties':
      return `must have at least ${brief(rule)} properties`
    case 'maxProperties':
      return `must have at most ${brief(rule)} properties`
    case 'pattern':
      return `must match the pattern ${brief(rule, 200)}`
    case 'not':
      return `must not match ${brief(rule, 120)}`
    case 'contains':
    case 'minContains':
    case 'maxContains':
      return `must contain the right number of items that match ${brief(schema['contains'], 120)}`
    case 'propertyNames':
      return `${path === '' ? 'have' : 'has'} a property name that is not allowed; names must match ${brief(rule, 120)}`
    case 'dependentRequired':
      return `${path === '' ? 'are' : 'is'} incomplete: ${dependent(trace)}`
    case 'depth':
      return `${path === '' ? 'are' : 'is'} too large or too deeply nested to be checked`
    default:
      return `${path === '' ? 'break' : 'breaks'} the rule "${keyword}"`
  }
}

/** The validator names the property only in its own sentence, between the outermost quotes. */
function missingName(trace: string): string {
  return trace.slice(trace.indexOf('"'), trace.lastIndexOf('"') + 1)
}

function dependent(trace: string): string {
  const match = /^Instance has (".*") but does not have (".*")\.$/s.exec(trace)
  return match === null ? 'a property needs another one' : `with ${match[1] ?? ''}, ${match[2] ?? ''} is required too`
}

function union(
  keyword: string,
  rule: Json | undefined,
  value: Json | undefined,
  trace: string,
  compiled: Compiled,
): string {
  if (keyword === 'oneOf' && !/\(0 matches\)/.test(trace))
    return 'must match exactly one of the allowed forms, but matches several'
  const forms = new Set(listOf(rule).flatMap((branch) => formOf(branch, compiled)))
  return `must be ${oneOf([...forms])}, not ${kind(value)}`
}

/** What one branch of a union looks like from afar. */
function formOf(branch: Json, compiled: Compiled): string[] {
  const schema = isJsonObject(branch) && typeof branch['$ref'] === 'string' ? compiled.target(branch['$ref']) : branch
  if (!isJsonObject(schema)) return ['anything']
  if (Object.hasOwn(schema, 'const')) return [brief(schema['const'])]
  if (Array.isArray(schema['enum'])) return schema['enum'].slice(0, 20).map((item) => brief(item))
  if (schema['type'] === undefined) return ['another form']
  const required = listOf(schema['required'])
  const inside = required.length > 0 ? ` with ${required.map((name) => brief(name)).join(', ')}` : ''
  return listOf(schema['type']).map((type) => article(type) + (type === 'object' ? inside : ''))
}

function unknownProperty(parent: JsonObject): string {
  const names = isJsonObject(parent['properties']) ? Object.keys(parent['properties']) : []
  if (names.length === 0) return 'is not allowed here'
  const shown = names.slice(0, 12).map((name) => `"${name}"`)
  return `is not a known property; the known ones are ${shown.join(', ')}${names.length > 12 ? ', …' : ''}`
}

function listOf(rule: Json | undefined): Json[] {
  return Array.isArray(rule) ? rule : rule === undefined ? [] : [rule]
}

function oneOf(forms: string[]): string {
  return forms.length > 1 ? `${forms.slice(0, -1).join(', ')} or ${forms.at(-1)}` : (forms[0] ?? 'something else')
}

function kind(value: Json | undefined): string {
  if (value === undefined) return 'missing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return article(typeof value)
}

function article(type: Json): string {
  if (type === 'null' || typeof type !== 'string') return 'null'
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`
}
