import type { OutputUnit } from '@cfworker/json-schema'
import type { Json } from '../model/json.ts'
import type { Compiled } from './compile.ts'
import { isJsonObject, own } from './own.ts'
import { segment, valueAt } from './pointer.ts'
import type { Problem } from './problem.ts'
import { sentence } from './sentence.ts'
import type { Schema } from './walk.ts'

/** Turns the validator's trace into what a model needs to know: the leaves, each once, in clear sentences. */
export function explain(errors: OutputUnit[], compiled: Compiled, value: Json): Problem[] {
  const seen = new Map<string, Problem>()
  for (const problem of leaves(errors, { compiled, value })) {
    seen.set(`${problem.path}\n${problem.message}`, problem)
  }
  return [...seen.values()]
}

interface Context {
  readonly compiled: Compiled
  readonly value: Json
}

/** Errors that only say "something below is wrong"; what is below follows them in the list. */
const CARRIERS: ReadonlySet<string> = new Set([
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

function leaves(errors: OutputUnit[], context: Context): Problem[] {
  const problems: Problem[] = []
  for (let i = 0; i < errors.length; i++) {
    const error = errors[i]
    if (error === undefined) continue
    const { keyword, keywordLocation } = error
    if (keyword === 'anyOf' || keyword === 'oneOf') {
      const end = endOf(errors, i, keywordLocation)
      problems.push(...unionLeaves(error, errors.slice(i + 1, end), context))
      i = end - 1
    } else if (keyword === 'contains' || keyword === 'minContains' || keyword === 'propertyNames') {
      problems.push(leaf(error, context))
      // Why each single item or name failed would only bury the point.
      i = endOf(errors, i, keywordLocation) - 1
    } else if (keyword === 'false') {
      problems.push(refused(error, errors[i - 1], context))
    } else if (!CARRIERS.has(keyword)) {
      problems.push(leaf(error, context))
    }
  }
  return problems
}

function endOf(errors: OutputUnit[], start: number, location: string): number {
  let end = start + 1
  // Errors of a `false` schema carry the value's location in place of the keyword's, so they belong to what precedes.
  while (end < errors.length && (isBelow(errors[end], location) || errors[end]?.keyword === 'false')) end++
  return end
}

function isBelow(error: OutputUnit | undefined, location: string): boolean {
  return error !== undefined && (error.keywordLocation === location || error.keywordLocation.startsWith(`${location}/`))
}

/** Of a union, only the branch that the value was most likely meant for is worth explaining. */
function unionLeaves(union: OutputUnit, below: OutputUnit[], context: Context): Problem[] {
  const branches = branchesOf(union, below)
  const sameType = branches.filter((branch) => !branch.some((error) => missesAtOnce(error, union)))
  // More than one branch matched, or the value has none of the types: the union itself is what to say.
  if (branches.length === 0 || sameType.length === 0) return [leaf(union, context)]
  const best = sameType.filter((branch) => !branch.some((error) => missesTag(error, union)))
  if (best.length === 0 && sameType.length > 1) return [tagLeaf(sameType, union, context) ?? leaf(union, context)]
  const scored = (best.length > 0 ? best : sameType).map((branch) => leaves(branch, context))
  scored.sort((a, b) => a.length - b.length)
  return scored[0] ?? [leaf(union, context)]
}

function branchesOf(union: OutputUnit, below: OutputUnit[]): OutputUnit[][] {
  const branches = new Map<string, OutputUnit[]>()
  let current: OutputUnit[] | undefined
  for (const error of below) {
    if (isBelow(error, union.keywordLocation)) {
      const index = error.keywordLocation.slice(union.keywordLocation.length + 1).split('/')[0] ?? ''
      current = branches.get(index) ?? []
      branches.set(index, current)
    }
    current?.push(error)
  }
  return [...branches.values()]
}

/** The value is of another type than the branch, or not among the values it lists. */
function missesAtOnce(error: OutputUnit, union: OutputUnit): boolean {
  const atUnion = error.instanceLocation === union.instanceLocation
  return atUnion && (error.keyword === 'type' || error.keyword === 'const' || error.keyword === 'enum')
}

/** A property that tells the branches apart says that this is not the one. */
function missesTag(error: OutputUnit, union: OutputUnit): boolean {
  const below = error.instanceLocation.startsWith(`${union.instanceLocation}/`)
  return below && (error.keyword === 'const' || error.keyword === 'enum')
}

/** Where all branches are told apart by one property, its values are what to say. */
function tagLeaf(branches: OutputUnit[][], union: OutputUnit, context: Context): Problem | undefined {
  const tags = branches.map((branch) => branch.filter((error) => missesTag(error, union)))
  const [first] = tags.flat()
  if (first === undefined || !tags.every((list) => list[0]?.instanceLocation === first.instanceLocation))
    return undefined
  const values = tags.flat().flatMap((error) => listedAt(context.compiled, error))
  const path = instancePath(first)
  const schema = { enum: values }
  const message = sentence(
    { keyword: 'enum', path, schema, value: valueAt(context.value, path), trace: '' },
    context.compiled,
  )
  return { path, keyword: 'enum', message }
}

function listedAt(compiled: Compiled, error: OutputUnit): Json[] {
  const schema = schemaAt(compiled, error.keywordLocation)
  const rule = isJsonObject(schema) ? own(schema, error.keyword) : undefined
  return error.keyword === 'enum' && Array.isArray(rule) ? rule : rule === undefined ? [] : [rule]
}

function leaf(error: OutputUnit, context: Context): Problem {
  const path = instancePath(error)
  const schema = schemaAt(context.compiled, error.keywordLocation)
  return {
    path,
    keyword: error.keyword,
    message: sentence(
      { keyword: error.keyword, path, schema, value: valueAt(context.value, path), trace: error.error },
      context.compiled,
    ),
  }
}

/** A `false` schema refuses whatever is there: usually a property that does not exist. */
function refused(error: OutputUnit, carrier: OutputUnit | undefined, context: Context): Problem {
  const path = instancePath(error)
  const parent = carrier === undefined ? undefined : schemaAt(context.compiled, carrier.keywordLocation)
  const keyword = carrier === undefined || error.instanceLocation === '#' ? 'false' : carrier.keyword
  return {
    path,
    keyword,
    message: sentence(
      { keyword: 'false', path, schema: parent, value: valueAt(context.value, path), trace: '' },
      context.compiled,
    ),
  }
}

function instancePath(error: OutputUnit): string {
  const parts = error.instanceLocation.split('/').slice(1)
  return parts.map((part) => segment(decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~'))).join('')
}

/** The schema object whose keyword stands at this location; references are steps on the way. */
function schemaAt(compiled: Compiled, location: string): Schema | undefined {
  let at: unknown = compiled.root
  for (const part of location.split('/').slice(1, -1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(at)) at = at[Number(key)]
    else if (!isJsonObject(at)) return undefined
    else at = key === '$ref' && typeof at['$ref'] === 'string' ? compiled.target(at['$ref']) : own(at, key)
  }
  return isJsonObject(at) ? at : undefined
}
