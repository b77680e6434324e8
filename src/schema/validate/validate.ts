import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { compileSchema, hasLoneSurrogate, replaceLoneSurrogates } from './compile-schema.ts'
import { collectViolations } from './collect-violations.ts'
import { describeViolation } from './describe-violation.ts'
import { setOwn } from '../own-properties.ts'
import { toPointerSegment } from '../json-pointer.ts'
import type { SchemaViolation, ValidationError } from './schema-violation.ts'

export type { ValidationError } from './schema-violation.ts'

/** What is wrong with a value, leaf by leaf, at most eight errors; never throws, whatever the schema contains. */
export function validate(schema: JsonObject, value: unknown): ValidationError[] {
  const errors = new Map<string, ValidationError>()
  for (const violation of findViolations(schema, value)) {
    const message = describeViolation(violation)
    errors.set(`${violation.path}\n${message}`, { ...violation, message })
  }
  return [...errors.values()].slice(0, MAX_VALIDATION_ERRORS)
}

function findViolations(schema: JsonObject, value: unknown): SchemaViolation[] {
  const violations: SchemaViolation[] = []
  const plain = toPlainJson(value, '', 0, violations)
  if (plain === undefined || violations.length > 0) return violations
  const compiled = compileSchema(schema)
  return collectViolations(compiled.findErrors(plain), { compiled, value: plain })
}

const MAX_VALIDATION_ERRORS = 8

/** Deeper values are rejected: no tool needs them, and the stack is finite. */
const MAX_DEPTH = 256

/** The value as JSON, copied only if necessary. */
function toPlainJson(value: unknown, path: string, depth: number, violations: SchemaViolation[]): Json | undefined {
  const reject = (reason: Extract<SchemaViolation, { kind: 'not-json' }>['reason'], keyword: string): undefined => {
    violations.push({ path, keyword, kind: 'not-json', reason })
  }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : reject('not-finite', 'type')
  if (depth > MAX_DEPTH) return reject('too-deep', 'depth')
  if (Array.isArray(value)) {
    const out = value.map(
      (item, index) => toPlainJson(item, path + toPointerSegment(index), depth + 1, violations) ?? null,
    )
    return out.every((item, index) => item === value[index]) ? (value as Json[]) : out
  }
  if (!isObject(value)) return reject(value === undefined ? 'missing' : 'no-json-type', 'type')
  let same = true
  const out: JsonObject = {}
  for (const [key, inner] of Object.entries(value)) {
    // JSON omits keys without a value.
    const plain =
      inner === undefined ? undefined : toPlainJson(inner, path + toPointerSegment(key), depth + 1, violations)
    const safe = hasLoneSurrogate(key) ? replaceLoneSurrogates(key) : key
    same &&= plain === inner && safe === key && plain !== undefined
    if (plain !== undefined) setOwn(out, safe, plain)
  }
  return same ? (value as JsonObject) : out
}
