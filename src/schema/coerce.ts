import type { Json, JsonObject } from '../model/json.ts'
import { compile } from './compile.ts'
import { descend, type Fix, type Step } from './descend.ts'
import { exactJson } from './exact.ts'
import { isJsonObject, own } from './own.ts'
import type { Problem } from './problem.ts'
import { allSteps, dropExtras, dropNulls, renameNearMisses, retype } from './steps.ts'
import { validate } from './validate.ts'

/** Arguments made valid, and a sentence for each thing that was changed. */
export interface Coerced {
  value: JsonObject
  changes: string[]
}

/** Arguments that are valid, perhaps after changes, or what is wrong with them. */
export type Settled = { ok: true; value: JsonObject; changes: string[] } | { ok: false; problems: Problem[] }

/**
 * Mends arguments that failed validation, as the schema directs and without losing anything: each rung of the ladder is
 * tried in turn, and the first that makes them valid ends it. Nothing comes back when none does.
 */
export function coerce(schema: JsonObject, value: unknown): Coerced | undefined {
  if (!isJsonObject(value)) return undefined
  const unwrapped = unwrap(schema, value)
  if (unwrapped !== undefined) return unwrapped
  const compiled = compile(schema)
  let fix: Fix = { value, changes: [] }
  for (const step of LADDER) {
    const next = descend(compiled, compiled.root, fix.value, '', step)
    if (next.changes.length === 0) continue
    fix = { value: next.value, changes: [...fix.changes, ...next.changes] }
    if (isJsonObject(fix.value) && validate(schema, fix.value).length === 0) {
      return { value: fix.value, changes: [...new Set(fix.changes)] }
    }
  }
  return undefined
}

/** Validates arguments, mends them if that is possible, and else says what is wrong with them as they came. */
export function settle(schema: JsonObject, value: unknown): Settled {
  const problems = validate(schema, value)
  if (problems.length === 0 && isJsonObject(value)) return { ok: true, value, changes: [] }
  const coerced = coerce(schema, value)
  if (coerced !== undefined) return { ok: true, ...coerced }
  return { ok: false, problems: problems.length > 0 ? problems : [NOT_AN_OBJECT] }
}

const NOT_AN_OBJECT: Problem = { path: '', message: 'The arguments must be an object.', keyword: 'type' }

const RUNGS: readonly Step[] = [renameNearMisses, dropNulls, retype, dropExtras]

/** Inside a union a single rung may not reach any branch, so the last one is all of them at once. */
const LADDER: readonly Step[] = [...RUNGS, allSteps(RUNGS)]

const WRAPPERS = ['arguments', 'parameters', 'input', 'args', 'properties', 'params']

/** What may stand beside a wrapper: the rest of a call, which says nothing about the arguments. */
const BESIDE: ReadonlySet<string> = new Set(['name', 'id', 'type', 'tool', 'tool_name', 'function', 'call_id'])

/** Models sometimes write the whole call, or half of it, where only its arguments belong. */
function unwrap(schema: JsonObject, value: JsonObject): Coerced | undefined {
  const keys = Object.keys(value)
  const found = keys.filter((key) => WRAPPERS.includes(key))
  const [wrapper] = found
  if (wrapper === undefined || found.length > 1 || !keys.every((key) => key === wrapper || BESIDE.has(key)))
    return undefined
  // A tool may have a parameter of that very name.
  if (isParameter(schema, wrapper)) return undefined
  const inner = contents(own(value, wrapper))
  if (inner === undefined || validate(schema, inner).length > 0) return undefined
  // Nor may anything be lost that the tool could have been meant to get.
  if (keys.some((key) => key !== wrapper && isParameter(schema, key) && !Object.hasOwn(inner, key))) return undefined
  return { value: inner, changes: [`The arguments were wrapped in "${wrapper}"; the wrapper was removed.`] }
}

function isParameter(schema: JsonObject, name: string): boolean {
  const { properties } = schema
  return isJsonObject(properties) && Object.hasOwn(properties, name)
}

function contents(held: Json | undefined): JsonObject | undefined {
  const inner = typeof held === 'string' ? exactJson(held) : held
  return isJsonObject(inner) ? inner : undefined
}
