import { keywordSet } from '../keyword-set.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { validate as run, type OutputUnit } from '@cfworker/json-schema'
import type { Json, JsonObject } from '../../model/json.ts'
import { TOO_DEEP_ERROR_KEYWORD } from './schema-violation.ts'
import { isJsonObject, setOwn, omitKeys } from '../own-properties.ts'
import { checkRegexSafety } from '../regex-safety.ts'
import { getRef, createRefResolver, type RefResolver } from '../normalize/resolve-refs.ts'
import { breakCycles } from './break-cycles.ts'
import { normalizeKeywords } from '../normalize/normalize-keywords.ts'
import { mapDirectSubschemas, type JsonSchema } from '../walk-schema.ts'

/** A schema that is safe to run: what could not be used accepts anything, with a warning. */
export interface CompiledSchema {
  readonly root: JsonSchema
  readonly warnings: string[]
  resolveRef(ref: string): JsonSchema | undefined
  accepts(part: JsonSchema, value: Json): boolean
  /** Not always complete: the list may be extremely long. */
  findErrors(value: Json): OutputUnit[]
}

/** Cached by schema object, which must not be changed afterwards. */
export function compileSchema(schema: JsonObject): CompiledSchema {
  let compiled = compiledSchemas.get(schema)
  if (compiled === undefined) compiledSchemas.set(schema, (compiled = createCompiledSchema(schema)))
  return compiled
}

const compiledSchemas = new WeakMap<JsonObject, CompiledSchema>()

const MAX_DEPTH = 200
const MAX_NODES = 20_000

/** The keywords that the validator gets. */
const VALIDATION_KEYWORDS = keywordSet(
  'type const enum required not anyOf allOf oneOf if then else properties patternProperties additionalProperties ' +
    'unevaluatedProperties minProperties maxProperties propertyNames dependentRequired dependentSchemas prefixItems items ' +
    'unevaluatedItems contains minContains maxContains minItems maxItems uniqueItems minimum maximum exclusiveMinimum ' +
    'exclusiveMaximum multipleOf minLength maxLength pattern',
)

interface CompileState {
  readonly resolve: RefResolver
  readonly warnings: Set<string>
  /** Until draft 7, keywords beside a `$ref` are ignored. */
  readonly ignoresRefSiblings: boolean
  readonly refIds: Map<JsonSchema, string>
  readonly schemasById: Record<string, JsonSchema>
  readonly degraded: Set<JsonSchema>
  /** Targets of references that are not built yet. A queue, so that long chains need no stack. */
  readonly pendingRefs: [id: string, target: JsonSchema][]
  nodeCount: number
}

function createCompiledSchema(schema: JsonObject): CompiledSchema {
  const state: CompileState = {
    resolve: createRefResolver(schema),
    warnings: new Set(),
    ignoresRefSiblings: typeof schema['$schema'] === 'string' && /draft-0[3-7]/.test(schema['$schema']),
    refIds: new Map(),
    schemasById: Object.create(null) as Record<string, JsonSchema>,
    degraded: new Set(),
    pendingRefs: [],
    nodeCount: 0,
  }
  const built = buildNode(schema, state, 0)
  for (let next = state.pendingRefs.pop(); next !== undefined; next = state.pendingRefs.pop()) {
    state.schemasById[next[0]] = buildNode(next[1], state, 0)
  }
  const root = breakCycles(built, state.schemasById, state.degraded, (message) => state.warnings.add(message))
  const check = (part: JsonSchema, value: Json, stopEarly: boolean): OutputUnit[] =>
    run(value, part, '2020-12', state.schemasById, stopEarly).errors
  return {
    root,
    warnings: [...state.warnings],
    resolveRef: (ref) => state.schemasById[ref],
    accepts: (part, value) => tryOrUndefined(() => check(part, value, true))?.length === 0,
    findErrors: (value) =>
      tryOrUndefined(() => check(root, value, false)) ??
      tryOrUndefined(() => check(root, value, true)) ?? [UNCHECKED_ERROR],
  }
}

const UNCHECKED_ERROR: OutputUnit = {
  keyword: TOO_DEEP_ERROR_KEYWORD,
  keywordLocation: '#',
  instanceLocation: '#',
  error: 'unchecked',
}

function buildNode(schema: JsonSchema, state: CompileState, depth: number): JsonSchema {
  if (typeof schema === 'boolean') return schema
  if (depth > MAX_DEPTH || ++state.nodeCount > MAX_NODES) {
    state.warnings.add('The schema is too deep or too large; the parts beyond the limit are not validated.')
    return createOpenSchema(state)
  }
  const ref = getRef(schema)
  const refNode = ref === undefined ? undefined : buildRef(ref, state)
  if (refNode !== undefined && state.ignoresRefSiblings) return refNode
  const normalized = normalizeKeywords(schema, (message) => state.warnings.add(message))
  const unused = Object.keys(normalized).filter((key) => !VALIDATION_KEYWORDS.has(key))
  const constraints = omitKeys(normalized, unused)
  const node = constraints === schema ? { ...constraints } : constraints
  sanitizeDependentRequired(node)
  sanitizePatterns(node, state)
  const built = mapDirectSubschemas(node, (child) => buildNode(child, state, depth + 1))
  const safe = replaceBrokenKeys(built)
  return refNode === undefined ? safe : Object.assign(refNode, { ...safe, ...refNode })
}

/** An open schema in place of one that could not be used. */
function createOpenSchema(state: CompileState): JsonObject {
  const openSchema = {}
  state.degraded.add(openSchema)
  return openSchema
}

function buildRef(ref: string, state: CompileState): JsonObject {
  const target = state.resolve(ref)
  if (target === undefined) {
    state.warnings.add(`The reference "${ref}" cannot be resolved; any value is accepted there.`)
    return createOpenSchema(state)
  }
  let id = state.refIds.get(target)
  if (id === undefined) {
    id = `r${state.refIds.size}`
    state.refIds.set(target, id)
    state.pendingRefs.push([id, target])
  }
  return { $ref: id }
}

function sanitizePatterns(schema: JsonObject, state: CompileState): void {
  const { pattern, patternProperties } = schema
  if (typeof pattern === 'string') {
    const source = toSafePattern(pattern, state)
    if (source === undefined) delete schema['pattern']
    else schema['pattern'] = source
  }
  if (!isJsonObject(patternProperties)) return
  const usable: JsonObject = {}
  for (const [key, value] of Object.entries(patternProperties)) {
    const source = toSafePattern(key, state)
    if (source !== undefined) setOwn(usable, source, value)
    // Without the pattern it is unknown which keys are known.
    else for (const keyword of ['additionalProperties', 'unevaluatedProperties']) delete schema[keyword]
  }
  schema['patternProperties'] = usable
}

function toSafePattern(pattern: string, state: CompileState): string | undefined {
  const checked = checkRegexSafety(pattern)
  if ('source' in checked) return checked.source
  state.warnings.add(`The pattern "${pattern.slice(0, 80)}" ${checked.problem}.`)
  return undefined
}

function sanitizeDependentRequired(schema: JsonObject): void {
  const { dependentRequired } = schema
  if (dependentRequired === undefined) return
  const isStringList = (value: Json) => Array.isArray(value) && value.every((item) => typeof item === 'string')
  const isValid = isJsonObject(dependentRequired) && Object.values(dependentRequired).every(isStringList)
  if (!isValid) delete schema['dependentRequired']
}

/** The validator writes keys into URIs, which a lone surrogate would break; values are treated in the same way. */
function replaceBrokenKeys(schema: JsonObject): JsonObject {
  const { properties, required } = schema
  let out = schema
  if (isJsonObject(properties) && Object.keys(properties).some(hasLoneSurrogate)) {
    const safe = Object.entries(properties).map(([key, value]): [string, Json] => [replaceLoneSurrogates(key), value])
    out = { ...out, properties: Object.fromEntries(safe) }
  }
  if (!Array.isArray(required)) return out
  const safe = required.map((key) => (typeof key === 'string' ? replaceLoneSurrogates(key) : key))
  return safe.every((key, at) => key === required[at]) ? out : { ...out, required: safe }
}

export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text)
}

export function replaceLoneSurrogates(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD')
}
