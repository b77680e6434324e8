import { keywordSet } from '../keyword-set.ts'
import type { OutputUnit } from '@cfworker/json-schema'
import type { Json, JsonObject } from '../../model/json.ts'
import type { CompiledSchema } from './compile-schema.ts'
import { isJsonObject, getOwn, toList } from '../own-properties.ts'
import { parsePointer, resolvePointer } from '../json-pointer.ts'
import { TOO_DEEP_ERROR_KEYWORD, type SchemaViolation, type ViolationDetail } from './schema-violation.ts'
import { isJsonSchema } from '../walk-schema.ts'

/**
 * Turns the errors of the validator into violations: only the leaves, and of a union only the branch that was most
 * likely meant. The validator's sentences are not used: everything follows from the schema and the value.
 */
export function collectViolations(errors: OutputUnit[], context: ViolationContext): SchemaViolation[] {
  const violations: SchemaViolation[] = []
  for (let i = 0; i < errors.length; i++) {
    const error = errors[i]
    if (error === undefined) continue
    const { keyword, keywordLocation } = error
    if (keyword === 'anyOf' || keyword === 'oneOf') {
      const end = findGroupEnd(errors, i, keywordLocation)
      violations.push(...collectUnionViolations(error, errors.slice(i + 1, end), context))
      i = end - 1
    } else if (keyword === 'contains' || keyword === 'minContains' || keyword === 'propertyNames') {
      violations.push(...toViolations(error, context))
      // Why each single item or name failed is not useful.
      i = findGroupEnd(errors, i, keywordLocation) - 1
    } else if (keyword === 'false') {
      violations.push(toFalseSchemaViolation(error, errors[i - 1], context))
    } else if (!CONTAINER_KEYWORDS.has(keyword) && !isRepetition(error, errors[i - 1])) {
      violations.push(...toViolations(error, context))
    }
  }
  return violations
}

type ViolationContext = { readonly compiled: CompiledSchema; readonly value: Json }

/** Errors of containers; the errors inside follow them in the list. */
const CONTAINER_KEYWORDS = keywordSet(
  '$ref allOf if properties patternProperties additionalProperties unevaluatedProperties items prefixItems unevaluatedItems dependentSchemas',
)

/** One error for each missing property; the violations of all of them come from the first one. */
function isRepetition(error: OutputUnit, previous: OutputUnit | undefined): boolean {
  return (
    (error.keyword === 'required' || error.keyword === 'dependentRequired') &&
    previous?.keyword === error.keyword &&
    previous.keywordLocation === error.keywordLocation &&
    previous.instanceLocation === error.instanceLocation
  )
}

function findGroupEnd(errors: OutputUnit[], start: number, location: string): number {
  let end = start + 1
  // Errors of a `false` schema have the value's location in place of the keyword's, so they belong to the previous
  // error.
  while (end < errors.length && (isAtOrBelow(errors[end], location) || errors[end]?.keyword === 'false')) end++
  return end
}

function isAtOrBelow(error: OutputUnit | undefined, location: string): boolean {
  return error !== undefined && (error.keywordLocation === location || error.keywordLocation.startsWith(`${location}/`))
}

/** Only the branch that the value was most likely meant for is reported. */
function collectUnionViolations(union: OutputUnit, below: OutputUnit[], context: ViolationContext): SchemaViolation[] {
  const branches = groupByBranch(union, below)
  const sameType = branches.filter((branch) => !branch.some((error) => isTypeMismatch(error, union)))
  // Several branches matched, or no branch has the value's type: the union itself is reported.
  if (branches.length === 0 || sameType.length === 0) return toViolations(union, context)
  const best = sameType.filter((branch) => !branch.some((error) => isDiscriminatorMismatch(error, union)))
  if (best.length === 0 && sameType.length > 1)
    return findDiscriminatorViolation(sameType, union, context) ?? toViolations(union, context)
  const scored = (best.length > 0 ? best : sameType).map((branch) => collectViolations(branch, context))
  scored.sort((a, b) => a.length - b.length)
  return scored[0] ?? toViolations(union, context)
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

function isTypeMismatch(error: OutputUnit, union: OutputUnit): boolean {
  const atUnion = error.instanceLocation === union.instanceLocation
  return atUnion && (error.keyword === 'type' || error.keyword === 'const' || error.keyword === 'enum')
}

/** A property that distinguishes the branches says that this is not the one. */
function isDiscriminatorMismatch(error: OutputUnit, union: OutputUnit): boolean {
  const below = error.instanceLocation.startsWith(`${union.instanceLocation}/`)
  return below && (error.keyword === 'const' || error.keyword === 'enum')
}

/** Where one property distinguishes all branches, its allowed values are the violation. */
function findDiscriminatorViolation(
  branches: OutputUnit[][],
  union: OutputUnit,
  context: ViolationContext,
): SchemaViolation[] | undefined {
  const discriminators = branches.map((branch) => branch.filter((error) => isDiscriminatorMismatch(error, union)))
  const [first] = discriminators.flat()
  if (first === undefined || !discriminators.every((list) => list[0]?.instanceLocation === first.instanceLocation))
    return undefined
  const allowed = discriminators.flat().flatMap((error) => getAllowedValues(context.compiled, error))
  const path = toInstancePointer(first)
  return [{ path, keyword: 'enum', kind: 'enum', allowed, value: resolvePointer(context.value, path) }]
}

function getAllowedValues(compiled: CompiledSchema, error: OutputUnit): Json[] {
  const rule = getOwn(findSchemaAt(compiled, error.keywordLocation), error.keyword)
  return error.keyword === 'enum' ? toList(rule) : rule === undefined ? [] : [rule]
}

function toViolations(error: OutputUnit, context: ViolationContext): SchemaViolation[] {
  const path = toInstancePointer(error)
  return listDetails(error, resolvePointer(context.value, path), context.compiled).map((detail) => ({
    path,
    keyword: error.keyword,
    ...detail,
  }))
}

function listDetails(
  { keyword, keywordLocation }: OutputUnit,
  value: Json | undefined,
  compiled: CompiledSchema,
): ViolationDetail[] {
  const schema = findSchemaAt(compiled, keywordLocation)
  const rule = getOwn(schema, keyword)
  const isMissing = (name: Json): name is string =>
    typeof name === 'string' && isJsonObject(value) && !Object.hasOwn(value, name)
  switch (keyword) {
    case 'type':
    case 'enum':
      return [{ kind: keyword, allowed: toList(rule), value }]
    case 'required':
      return toList(rule)
        .filter(isMissing)
        .map((property) => ({ kind: 'missing-property', property }))
    case 'dependentRequired':
      return Object.entries(isJsonObject(rule) ? rule : {}).flatMap(([property, names]) =>
        isMissing(property)
          ? []
          : toList(names)
              .filter(isMissing)
              .map((required) => ({ kind: 'missing-dependency' as const, property, required })),
      )
    case 'anyOf':
    case 'oneOf': {
      const branches = toList(rule)
      const accepts = (branch: Json) => isJsonSchema(branch) && value !== undefined && compiled.accepts(branch, value)
      if (keyword === 'oneOf' && branches.some(accepts)) return [{ kind: 'several-branches' }]
      const resolve = (branch: Json) =>
        isJsonObject(branch) && typeof branch['$ref'] === 'string' ? compiled.resolveRef(branch['$ref']) : branch
      return [{ kind: 'no-branch', branches: branches.map(resolve), value }]
    }
    case 'minContains':
    case 'maxContains':
      return [{ kind: 'keyword', rule: schema['contains'] }]
    case TOO_DEEP_ERROR_KEYWORD:
      return [{ kind: 'unchecked' }]
    default:
      return [{ kind: 'keyword', rule }]
  }
}

/** A `false` schema rejects any value: usually it stands for a property that does not exist. */
function toFalseSchemaViolation(
  error: OutputUnit,
  container: OutputUnit | undefined,
  { compiled }: ViolationContext,
): SchemaViolation {
  const { properties } = container === undefined ? {} : findSchemaAt(compiled, container.keywordLocation)
  return {
    path: toInstancePointer(error),
    keyword: container === undefined || error.instanceLocation === '#' ? 'false' : container.keyword,
    kind: 'unknown-property',
    known: isJsonObject(properties) ? Object.keys(properties) : [],
  }
}

function toInstancePointer(error: OutputUnit): string {
  return decodeURIComponent(error.instanceLocation.slice(1))
}

/** The schema object that holds the keyword at this location, or an empty one; references are followed. */
function findSchemaAt(compiled: CompiledSchema, location: string): JsonObject {
  let at: unknown = compiled.root
  for (const key of parsePointer(decodeURIComponent(location.slice(1))).slice(0, -1)) {
    if (Array.isArray(at)) at = at[Number(key)]
    else if (!isJsonObject(at)) return {}
    else at = key === '$ref' && typeof at['$ref'] === 'string' ? compiled.resolveRef(at['$ref']) : getOwn(at, key)
  }
  return isJsonObject(at) ? at : {}
}
