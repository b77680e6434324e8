import { keywordSet } from '../keyword-set.ts'
import type { JsonObject } from '../../model/json.ts'
import { omitKeys } from '../own-properties.ts'
import { createRefResolver, getRef, hasRefs, type RefResolver } from './resolve-refs.ts'
import { REF_KEYWORDS, REF_TARGET_KEYWORDS } from './resolve-refs.ts'
import { mapDirectSubschemas, MAX_SCHEMA_DEPTH, type JsonSchema } from '../walk-schema.ts'

/** `cutRefs`: references that are cyclic, too large or unresolved. */
export interface InlinedSchema {
  schema: JsonObject
  cutRefs: string[]
}

/** Replaces local references by their targets; a cycle ends in an open schema with a remark. */
export function inlineRefs(schema: JsonObject, maxDepth = 2): InlinedSchema {
  if (!hasRefs(schema)) return { schema, cutRefs: [] }
  const state: InlineState = {
    resolve: createRefResolver(schema),
    maxDepth,
    cutRefs: new Set(),
    remainingNodes: MAX_NODES,
    openTargets: new Map([[schema, 1]]),
  }
  const out = expandNode(schema, state, 0)
  return { schema: typeof out === 'boolean' ? {} : out, cutRefs: [...state.cutRefs] }
}

/** Merges the target of a reference with the keywords beside it: annotations override, constraints add up. */
export function mergeRefSiblings(target: JsonSchema, siblings: JsonObject): JsonSchema {
  if (Object.keys(siblings).length === 0) return target
  if (target === true) return siblings
  if (target === false) return false
  const hasConflict = Object.keys(siblings).some((key) => !ANNOTATION_KEYWORDS.has(key) && Object.hasOwn(target, key))
  if (!hasConflict) return { ...target, ...siblings }
  const annotations = Object.fromEntries(Object.entries(siblings).filter(([key]) => ANNOTATION_KEYWORDS.has(key)))
  return { ...annotations, allOf: [target, omitKeys(siblings, ANNOTATION_KEYWORDS)] }
}

/** An expanded schema can be far larger than its text. */
const MAX_NODES = 4000

const ANNOTATION_KEYWORDS = keywordSet('title description default examples deprecated $comment')

interface InlineState {
  resolve: RefResolver
  maxDepth: number
  cutRefs: Set<string>
  remainingNodes: number
  /** How often each target is open above the current position. */
  openTargets: Map<JsonSchema, number>
}

function expandNode(schema: JsonSchema, state: InlineState, depth: number): JsonSchema {
  if (typeof schema === 'boolean') return schema
  state.remainingNodes--
  const ref = getRef(schema)
  if (ref !== undefined) return expandRef(ref, schema, state, depth)
  if (depth > MAX_SCHEMA_DEPTH) return {}
  const withoutNames = omitKeys(schema, REF_TARGET_KEYWORDS)
  return mapDirectSubschemas(withoutNames, (child) => expandNode(child, state, depth + 1))
}

function expandRef(ref: string, schema: JsonObject, state: InlineState, depth: number): JsonSchema {
  const siblings = expandNode(omitKeys(schema, REF_KEYWORDS), state, depth)
  const expandedSiblings = typeof siblings === 'boolean' ? {} : siblings
  const target = state.resolve(ref)
  if (target === undefined) {
    state.cutRefs.add(ref)
    return expandedSiblings
  }
  const openCount = state.openTargets.get(target) ?? 0
  if (openCount >= state.maxDepth || depth > MAX_SCHEMA_DEPTH || state.remainingNodes < 0) {
    state.cutRefs.add(ref)
    return mergeRefSiblings(createRefStub(ref, target), expandedSiblings)
  }
  state.openTargets.set(target, openCount + 1)
  const inner = expandNode(target, state, depth + 1)
  state.openTargets.set(target, openCount)
  return mergeRefSiblings(inner, expandedSiblings)
}

function createRefStub(ref: string, target: JsonSchema): JsonObject {
  const name = ref.split('/').at(-1)
  const form = name === undefined || name === '' || name === '#' ? 'the whole' : `"${name}"`
  const remark = { description: `Nested further in the same form as ${form}.` }
  if (typeof target === 'boolean') return remark
  const type = typeof target['type'] === 'string' ? target['type'] : 'properties' in target ? 'object' : undefined
  return type === undefined ? remark : { type, ...remark }
}
