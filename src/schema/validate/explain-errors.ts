import type { OutputUnit } from '@cfworker/json-schema'
import type { Json } from '../../model/json.ts'
import type { CompiledSchema } from './compile-schema.ts'
import { isJsonObject, getOwn } from '../own-properties.ts'
import { toPointerSegment, resolvePointer } from '../json-pointer.ts'
import type { ValidationError } from './validation-error.ts'
import { describeViolation } from './describe-violation.ts'
import type { JsonSchema } from '../walk-schema.ts'

/** Turns the validator's trace into what a model needs to know: the leaves, each once, in clear sentences. */
export function explainErrors(errors: OutputUnit[], compiled: CompiledSchema, value: Json): ValidationError[] {
  const seen = new Map<string, ValidationError>()
  for (const problem of collectLeafErrors(errors, { compiled, value })) {
    seen.set(`${problem.path}\n${problem.message}`, problem)
  }
  return [...seen.values()]
}

interface ExplainContext {
  readonly compiled: CompiledSchema
  readonly value: Json
}

/** Errors that only say "something below is wrong"; what is below follows them in the list. */
const CONTAINER_KEYWORDS: ReadonlySet<string> = new Set([
  '$ref',
  'allOf',
  'if',
  'properties',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'items',
  'prefixItems',
  'unevaluatedItems',
  'dependentSchemas',
])

function collectLeafErrors(errors: OutputUnit[], context: ExplainContext): ValidationError[] {
  const problems: ValidationError[] = []
  for (let i = 0; i < errors.length; i++) {
    const error = errors[i]
    if (error === undefined) continue
    const { keyword, keywordLocation } = error
    if (keyword === 'anyOf' || keyword === 'oneOf') {
      const end = findGroupEnd(errors, i, keywordLocation)
      problems.push(...explainUnion(error, errors.slice(i + 1, end), context))
      i = end - 1
    } else if (keyword === 'contains' || keyword === 'minContains' || keyword === 'propertyNames') {
      problems.push(toValidationError(error, context))
      // Why each single item or name failed would only bury the point.
      i = findGroupEnd(errors, i, keywordLocation) - 1
    } else if (keyword === 'false') {
      problems.push(explainFalseSchema(error, errors[i - 1], context))
    } else if (!CONTAINER_KEYWORDS.has(keyword)) {
      problems.push(toValidationError(error, context))
    }
  }
  return problems
}

function findGroupEnd(errors: OutputUnit[], start: number, location: string): number {
  let end = start + 1
  // Errors of a `false` schema carry the value's location in place of the keyword's, so they belong to what precedes.
  while (end < errors.length && (isAtOrBelow(errors[end], location) || errors[end]?.keyword === 'false')) end++
  return end
}

function isAtOrBelow(error: OutputUnit | undefined, location: string): boolean {
  return error !== undefined && (error.keywordLocation === location || error.keywordLocation.startsWith(`${location}/`))
}

/** Of a union, only the branch that the value was most likely meant for is worth explaining. */
function explainUnion(union: OutputUnit, below: OutputUnit[], context: ExplainContext): ValidationError[] {
  const branches = groupByBranch(union, below)
  const sameType = branches.filter((branch) => !branch.some((error) => isTypeMismatch(error, union)))
  // More than one branch matched, or the value has none of the types: the union itself is what to say.
  if (branches.length === 0 || sameType.length === 0) return [toValidationError(union, context)]
  const best = sameType.filter((branch) => !branch.some((error) => isDiscriminatorMismatch(error, union)))
  if (best.length === 0 && sameType.length > 1)
    return [explainDiscriminator(sameType, union, context) ?? toValidationError(union, context)]
  const scored = (best.length > 0 ? best : sameType).map((branch) => collectLeafErrors(branch, context))
  scored.sort((a, b) => a.length - b.length)
  return scored[0] ?? [toValidationError(union, context)]
}

function groupByBranch(union: OutputUnit, below: OutputUnit[]): OutputUnit[][] {
  const branches = new Map<string, OutputUnit[]>()
  let current: OutputUnit[] | undefined
  for (const error of below) {
    if (isAtOrBelow(error, union.keywordLocation)) {
      const index = error.keywordLocation.slice(union.keywordLocation.length + 1).split('/')[0] ?? ''
      current = branches.get(index) ?? []
      branches.set(index, current)
    }
    current?.push(error)
  }
  return [...branches.values()]
}

/** The value is of another type than the branch, or not among the values it lists. */
function isTypeMismatch(error: OutputUnit, union: OutputUnit): boolean {
  const atUnion = error.instanceLocation === union.instanceLocation
  return atUnion && (error.keyword === 'type' || error.keyword === 'const' || error.keyword === 'enum')
}

/** A property that tells the branches apart says that this is not the one. */
function isDiscriminatorMismatch(error: OutputUnit, union: OutputUnit): boolean {
  const below = error.instanceLocation.startsWith(`${union.instanceLocation}/`)
  return below && (error.keyword === 'const' || error.keyword === 'enum')
}

/** Where all branches are told apart by one property, its values are what to say. */
function explainDiscriminator(
  branches: OutputUnit[][],
  union: OutputUnit,
  context: ExplainContext,
): ValidationError | undefined {
  const discriminators = branches.map((branch) => branch.filter((error) => isDiscriminatorMismatch(error, union)))
  const [first] = discriminators.flat()
  if (first === undefined || !discriminators.every((list) => list[0]?.instanceLocation === first.instanceLocation))
    return undefined
  const values = discriminators.flat().flatMap((error) => getAllowedValues(context.compiled, error))
  const path = toInstancePointer(first)
  const schema = { enum: values }
  const message = describeViolation(
    { keyword: 'enum', path, schema, value: resolvePointer(context.value, path), validatorMessage: '' },
    context.compiled,
  )
  return { path, keyword: 'enum', message }
}

function getAllowedValues(compiled: CompiledSchema, error: OutputUnit): Json[] {
  const schema = findSchemaAt(compiled, error.keywordLocation)
  const rule = isJsonObject(schema) ? getOwn(schema, error.keyword) : undefined
  return error.keyword === 'enum' && Array.isArray(rule) ? rule : rule === undefined ? [] : [rule]
}

function toValidationError(error: OutputUnit, context: ExplainContext): ValidationError {
  const path = toInstancePointer(error)
  const schema = findSchemaAt(context.compiled, error.keywordLocation)
  return {
    path,
    keyword: error.keyword,
    message: describeViolation(
      {
        keyword: error.keyword,
        path,
        schema,
        value: resolvePointer(context.value, path),
        validatorMessage: error.error,
      },
      context.compiled,
    ),
  }
}

/** A `false` schema refuses whatever is there: usually a property that does not exist. */
function explainFalseSchema(
  error: OutputUnit,
  container: OutputUnit | undefined,
  context: ExplainContext,
): ValidationError {
  const path = toInstancePointer(error)
  const parent = container === undefined ? undefined : findSchemaAt(context.compiled, container.keywordLocation)
  const keyword = container === undefined || error.instanceLocation === '#' ? 'false' : container.keyword
  return {
    path,
    keyword,
    message: describeViolation(
      { keyword: 'false', path, schema: parent, value: resolvePointer(context.value, path), validatorMessage: '' },
      context.compiled,
    ),
  }
}

function toInstancePointer(error: OutputUnit): string {
  const parts = error.instanceLocation.split('/').slice(1)
  return parts
    .map((part) => toPointerSegment(decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')))
    .join('')
}

/** The schema object whose keyword stands at this location; references are steps on the way. */
function findSchemaAt(compiled: CompiledSchema, location: string): JsonSchema | undefined {
  let at: unknown = compiled.root
  for (const part of location.split('/').slice(1, -1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(at)) at = at[Number(key)]
    else if (!isJsonObject(at)) return undefined
    else at = key === '$ref' && typeof at['$ref'] === 'string' ? compiled.resolveRef(at['$ref']) : getOwn(at, key)
  }
  return isJsonObject(at) ? at : undefined
}
