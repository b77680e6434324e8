import { isObject, type Json, type JsonObject } from '../model/json.ts'
import { compile, isBrokenText, mendText } from './compile.ts'
import { explain } from './explain.ts'
import { put } from './own.ts'
import { readablePath, segment } from './pointer.ts'
import type { Problem } from './problem.ts'

export type { Problem } from './problem.ts'

/** All that is wrong with a value, leaf by leaf, at most eight problems; never throws, whatever the schema holds. */
export function validate(schema: JsonObject, value: unknown): Problem[] {
  const problems: Problem[] = []
  const plain = toPlain(value, '', 0, problems)
  if (plain === undefined || problems.length > 0) return problems.slice(0, MAX_PROBLEMS)
  const compiled = compile(schema)
  const errors = compiled.errors(plain)
  return errors.length === 0 ? [] : explain(errors, compiled, plain).slice(0, MAX_PROBLEMS)
}

/** What is wrong with a schema itself, in sentences; the parts named there accept anything. */
export function schemaProblems(schema: JsonObject): string[] {
  return compile(schema).problems
}

const MAX_PROBLEMS = 8

/** Deeper values are refused unread: no tool asks for them, and every reader behind us has a finite stack. */
const MAX_DEPTH = 256

/** The value as JSON would carry it, copied only where it has to be; what JSON cannot carry is a problem. */
function toPlain(value: unknown, path: string, depth: number, problems: Problem[]): Json | undefined {
  const refuse = (message: string, keyword: string): undefined => {
    problems.push({ path, message: `${path === '' ? 'The whole' : `"${readablePath(path)}"`} ${message}`, keyword })
  }
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : refuse('is not a finite number.', 'type')
  if (depth > MAX_DEPTH) return refuse('is nested too deeply.', 'depth')
  if (Array.isArray(value)) {
    const out = value.map((item, index) => toPlain(item, path + segment(index), depth + 1, problems) ?? null)
    return out.every((item, index) => item === value[index]) ? (value as Json[]) : out
  }
  if (!isObject(value)) return refuse(value === undefined ? 'is missing.' : 'is nothing that JSON can carry.', 'type')
  let same = true
  const out: JsonObject = {}
  for (const [key, inner] of Object.entries(value)) {
    // A key without a value is not written by JSON, so it does not count as there.
    const plain = inner === undefined ? undefined : toPlain(inner, path + segment(key), depth + 1, problems)
    const safe = isBrokenText(key) ? mendText(key) : key
    same &&= plain === inner && safe === key && plain !== undefined
    if (plain !== undefined) put(out, safe, plain)
  }
  return same ? (value as JsonObject) : out
}
