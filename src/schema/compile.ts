import { validate as run, type OutputUnit } from '@cfworker/json-schema'
import type { Json, JsonObject } from '../model/json.ts'
import { isJsonObject, put, without } from './own.ts'
import { usablePattern } from './pattern.ts'
import { refOf, refResolver, type Resolver } from './refs.ts'
import { tameLoops } from './loops.ts'
import { tidyNode } from './tidy.ts'
import { mapChildren, type Schema } from './walk.ts'

/** A schema made safe to run: whatever could not be used accepts, and `problems` says what that was. */
export interface Compiled {
  readonly root: Schema
  readonly problems: string[]
  /** What a `$ref` in the compiled schema stands for. */
  target(ref: string): Schema | undefined
  /** Does this part of the compiled schema accept the value? */
  accepts(part: Schema, value: Json): boolean
  /** All that is wrong with the value; more may be left out where the list would grow absurdly long. */
  errors(value: Json): OutputUnit[]
}

/** Compiles a schema. The result is kept with the schema object, which must not be changed afterwards. */
export function compile(schema: JsonObject): Compiled {
  let compiled = cache.get(schema)
  if (compiled === undefined) cache.set(schema, (compiled = make(schema)))
  return compiled
}

const cache = new WeakMap<JsonObject, Compiled>()

const MAX_DEPTH = 200
const MAX_NODES = 20_000

/** The keywords that judge a value: the validator never sees any other. */
const JUDGING: ReadonlySet<string> = new Set(
  (
    'type const enum required not anyOf allOf oneOf if then else properties patternProperties additionalProperties ' +
    'unevaluatedProperties minProperties maxProperties propertyNames dependentRequired dependentSchemas prefixItems items ' +
    'unevaluatedItems contains minContains maxContains minItems maxItems uniqueItems minimum maximum exclusiveMinimum ' +
    'exclusiveMaximum multipleOf minLength maxLength pattern'
  ).split(' '),
)

interface Job {
  readonly resolve: Resolver
  readonly problems: Set<string>
  /** Until draft 7, nothing beside a `$ref` counts. */
  readonly refStandsAlone: boolean
  readonly ids: Map<Schema, string>
  readonly lookup: Record<string, Schema>
  readonly broken: Set<Schema>
  /** Targets of references that still wait to be built: a queue, so that long chains cost no stack. */
  readonly waiting: [id: string, target: Schema][]
  nodes: number
}

function make(schema: JsonObject): Compiled {
  const job: Job = {
    resolve: refResolver(schema),
    problems: new Set(),
    refStandsAlone: typeof schema['$schema'] === 'string' && /draft-0[3-7]/.test(schema['$schema']),
    ids: new Map(),
    lookup: Object.create(null) as Record<string, Schema>,
    broken: new Set(),
    waiting: [],
    nodes: 0,
  }
  const built = build(schema, job, 0)
  for (let next = job.waiting.pop(); next !== undefined; next = job.waiting.pop()) {
    job.lookup[next[0]] = build(next[1], job, 0)
  }
  const root = tameLoops(built, job.lookup, job.broken, (sentence) => job.problems.add(sentence))
  const check = (part: Schema, value: Json, stopEarly: boolean): OutputUnit[] =>
    run(value, part, '2020-12', job.lookup, stopEarly).errors
  return {
    root,
    problems: [...job.problems],
    target: (ref) => job.lookup[ref],
    accepts: (part, value) => attempt(() => check(part, value, true))?.length === 0,
    errors: (value) =>
      attempt(() => check(root, value, false)) ?? attempt(() => check(root, value, true)) ?? [UNCHECKED],
  }
}

/** What is said of a value that is so large or so deep that even the first flaw cannot be found. */
const UNCHECKED: OutputUnit = { keyword: 'depth', keywordLocation: '#', instanceLocation: '#', error: 'unchecked' }

function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

function build(schema: Schema, job: Job, depth: number): Schema {
  if (typeof schema === 'boolean') return schema
  if (depth > MAX_DEPTH || ++job.nodes > MAX_NODES) {
    job.problems.add('The schema is too deep or too large; what lies beyond accepts anything.')
    return giveUp(job)
  }
  const ref = refOf(schema)
  const link = ref === undefined ? undefined : buildRef(ref, job)
  if (link !== undefined && job.refStandsAlone) return link
  const clean = tidyNode(schema, (sentence) => job.problems.add(sentence))
  const judging = without(
    clean,
    Object.keys(clean).filter((key) => !JUDGING.has(key)),
  )
  const own = judging === schema ? { ...judging } : judging
  cleanDependents(own)
  cleanPatterns(own, job)
  const built = mapChildren(own, (child) => build(child, job, depth + 1))
  const safe = withSafeKeys(built)
  return link === undefined ? safe : Object.assign(link, { ...safe, ...link })
}

/** An open schema that remembers it should have been something else. */
function giveUp(job: Job): JsonObject {
  const open = {}
  job.broken.add(open)
  return open
}

function buildRef(ref: string, job: Job): JsonObject {
  const target = job.resolve(ref)
  if (target === undefined) {
    job.problems.add(`The reference "${ref}" leads nowhere; anything is accepted there.`)
    return giveUp(job)
  }
  let id = job.ids.get(target)
  if (id === undefined) {
    id = `r${job.ids.size}`
    job.ids.set(target, id)
    job.waiting.push([id, target])
  }
  return { $ref: id }
}

function cleanPatterns(schema: JsonObject, job: Job): void {
  const { pattern, patternProperties } = schema
  if (typeof pattern === 'string') {
    const source = sourceOf(pattern, job)
    if (source === undefined) delete schema['pattern']
    else schema['pattern'] = source
  }
  if (!isJsonObject(patternProperties)) return
  const usable: JsonObject = {}
  for (const [key, value] of Object.entries(patternProperties)) {
    const source = sourceOf(key, job)
    if (source !== undefined) put(usable, source, value)
    // Without the pattern we cannot tell which keys are known, so no key is called unknown.
    else for (const closed of ['additionalProperties', 'unevaluatedProperties']) delete schema[closed]
  }
  schema['patternProperties'] = usable
}

function sourceOf(pattern: string, job: Job): string | undefined {
  const checked = usablePattern(pattern)
  if ('source' in checked) return checked.source
  job.problems.add(`The pattern "${pattern.slice(0, 80)}" ${checked.flaw}.`)
  return undefined
}

function cleanDependents(schema: JsonObject): void {
  const { dependentRequired } = schema
  if (dependentRequired === undefined) return
  const sound = isJsonObject(dependentRequired) && Object.values(dependentRequired).every(isListOfText)
  if (!sound) delete schema['dependentRequired']
}

function isListOfText(value: Json): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** The validator writes keys into URIs, which half a surrogate pair would break; values get the same treatment. */
function withSafeKeys(schema: JsonObject): JsonObject {
  const { properties, required } = schema
  let out = schema
  if (isJsonObject(properties) && Object.keys(properties).some(isBrokenText)) {
    const safe = Object.entries(properties).map(([key, value]): [string, Json] => [mendText(key), value])
    out = { ...out, properties: Object.fromEntries(safe) }
  }
  if (Array.isArray(required) && required.some(isBroken)) {
    out = { ...out, required: required.map((key) => (typeof key === 'string' ? mendText(key) : key)) }
  }
  return out
}

function isBroken(value: Json): boolean {
  return typeof value === 'string' && isBrokenText(value)
}

/** Does the text hold half a surrogate pair? */
export function isBrokenText(text: string): boolean {
  return /\p{Surrogate}/u.test(text)
}

/** The text with each half of a surrogate pair replaced by the replacement character. */
export function mendText(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD')
}
