import type { Json, JsonObject } from '../../model/json.ts'
import { compileSchema } from '../validate/compile-schema.ts'
import { applyCoercionStep, type CoercionResult, type CoercionStep } from './apply-coercion-step.ts'
import { parseExactJson } from './parse-exact-json.ts'
import { isJsonObject, getOwn } from '../own-properties.ts'
import type { ValidationError } from '../validate/schema-violation.ts'
import { coerceType, combineSteps, dropNullProperties } from './coercion-steps.ts'
import { dropUnknownProperties, renameSimilarKeys } from './coercion-steps.ts'
import { validate } from '../validate/validate.ts'

/** Valid arguments, with a sentence for each change. */
type CoercedArguments = { value: JsonObject; changes: string[] }

/**
 * Coerces arguments that failed validation, without losing anything. The steps are applied in turn until the arguments
 * are valid; undefined if they never are.
 */
export function coerceArguments(schema: JsonObject, value: unknown): CoercedArguments | undefined {
  if (!isJsonObject(value)) return undefined
  const unwrapped = unwrapArguments(schema, value)
  if (unwrapped !== undefined) return unwrapped
  const compiled = compileSchema(schema)
  let coercion: CoercionResult = { value, changes: [] }
  for (const step of COERCION_SEQUENCE) {
    const next = applyCoercionStep(compiled, compiled.root, coercion.value, '', step)
    if (next.changes.length === 0) continue
    coercion = { value: next.value, changes: [...coercion.changes, ...next.changes] }
    if (isJsonObject(coercion.value) && validate(schema, coercion.value).length === 0) {
      return { value: coercion.value, changes: [...new Set(coercion.changes)] }
    }
  }
  return undefined
}

export function validateOrCoerce(
  schema: JsonObject,
  value: unknown,
): ({ ok: true } & CoercedArguments) | { ok: false; errors: ValidationError[] } {
  const problems = validate(schema, value)
  if (problems.length === 0 && isJsonObject(value)) return { ok: true, value, changes: [] }
  const coerced = coerceArguments(schema, value)
  if (coerced !== undefined) return { ok: true, ...coerced }
  return { ok: false, errors: problems.length > 0 ? problems : [NOT_AN_OBJECT_ERROR] }
}

const NOT_AN_OBJECT_ERROR: ValidationError = {
  path: '',
  keyword: 'type',
  kind: 'type',
  allowed: ['object'],
  value: undefined,
  message: 'The arguments must be an object.',
}

const COERCION_STEPS = [renameSimilarKeys, dropNullProperties, coerceType, dropUnknownProperties]

/** Inside a union one step may not reach any branch, so the last step combines all of them. */
const COERCION_SEQUENCE: readonly CoercionStep[] = [...COERCION_STEPS, combineSteps(COERCION_STEPS)]

const WRAPPER_KEYS = ['arguments', 'parameters', 'input', 'args', 'properties', 'params']

/** Fields of a call that may be beside its arguments. */
const CALL_FIELD_KEYS: ReadonlySet<string> = new Set(['name', 'id', 'type', 'tool', 'tool_name', 'function', 'call_id'])

/** Models sometimes write the whole call where only its arguments belong. */
function unwrapArguments(schema: JsonObject, value: JsonObject): CoercedArguments | undefined {
  const keys = Object.keys(value)
  const found = keys.filter((key) => WRAPPER_KEYS.includes(key))
  const [wrapper] = found
  if (wrapper === undefined || found.length > 1 || !keys.every((key) => key === wrapper || CALL_FIELD_KEYS.has(key)))
    return undefined
  // A tool may have a parameter with this name.
  if (isParameter(schema, wrapper)) return undefined
  const inner = parseWrappedObject(getOwn(value, wrapper))
  if (inner === undefined || validate(schema, inner).length > 0) return undefined
  // Nothing may be lost that could be an argument.
  if (keys.some((key) => key !== wrapper && isParameter(schema, key) && !Object.hasOwn(inner, key))) return undefined
  return { value: inner, changes: [`The arguments were wrapped in "${wrapper}"; the wrapper was removed.`] }
}

function isParameter(schema: JsonObject, name: string): boolean {
  const { properties } = schema
  return isJsonObject(properties) && Object.hasOwn(properties, name)
}

function parseWrappedObject(wrappedValue: Json | undefined): JsonObject | undefined {
  const inner = typeof wrappedValue === 'string' ? parseExactJson(wrappedValue) : wrappedValue
  return isJsonObject(inner) ? inner : undefined
}
