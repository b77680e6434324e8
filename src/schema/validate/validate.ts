import { isObject, type Json, type JsonObject } from '../../model/json.ts'
import { compileSchema, hasLoneSurrogate, replaceLoneSurrogates } from './compile-schema.ts'
import { explainErrors } from './explain-errors.ts'
import { setOwn } from '../own-properties.ts'
import { formatPath, toPointerSegment } from '../json-pointer.ts'
import type { ValidationError } from './validation-error.ts'

export type { ValidationError } from './validation-error.ts'

/** All that is wrong with a value, leaf by leaf, at most eight problems; never throws, whatever the schema holds. */
export function validate(schema: JsonObject, value: unknown): ValidationError[] {
  const problems: ValidationError[] = []
  const plain = toPlainJson(value, '', 0, problems)
  if (plain === undefined || problems.length > 0) return problems.slice(0, MAX_VALIDATION_ERRORS)
  const compiled = compileSchema(schema)
  const errors = compiled.findErrors(plain)
  return errors.length === 0 ? [] : explainErrors(errors, compiled, plain).slice(0, MAX_VALIDATION_ERRORS)
}

/** What is wrong with a schema itself, in sentences; the parts named there accept anything. */
export function findSchemaProblems(schema: JsonObject): string[] {
  return compileSchema(schema).warnings
}

const MAX_VALIDATION_ERRORS = 8

/** Deeper values are refused unread: no tool asks for them, and every reader behind us has a finite stack. */
const MAX_DEPTH = 256

/** The value as JSON would carry it, copied only where it has to be; what JSON cannot carry is a problem. */
function toPlainJson(value: unknown, path: string, depth: number, problems: ValidationError[]): Json | undefined {
  const refuse = (message: string, keyword: string): undefined => {
    problems.push({ path, message: `${path === '' ? 'The whole' : `"${formatPath(path)}"`} ${message}`, keyword })
  }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : refuse('is not a finite number.', 'type')
  if (depth > MAX_DEPTH) return refuse('is nested too deeply.', 'depth')
  if (Array.isArray(value)) {
    const out = value.map(
      (item, index) => toPlainJson(item, path + toPointerSegment(index), depth + 1, problems) ?? null,
    )
    return out.every((item, index) => item === value[index]) ? (value as Json[]) : out
  }
  if (!isObject(value)) return refuse(value === undefined ? 'is missing.' : 'is nothing that JSON can carry.', 'type')
  let same = true
  const out: JsonObject = {}
  for (const [key, inner] of Object.entries(value)) {
    // A key without a value is not written by JSON, so it does not count as there.
    const plain =
      inner === undefined ? undefined : toPlainJson(inner, path + toPointerSegment(key), depth + 1, problems)
    const safe = hasLoneSurrogate(key) ? replaceLoneSurrogates(key) : key
    same &&= plain === inner && safe === key && plain !== undefined
    if (plain !== undefined) setOwn(out, safe, plain)
  }
  return same ? (value as JsonObject) : out
}
