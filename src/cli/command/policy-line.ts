import { isObject, type JsonObject } from '../../model/json.ts'
import type { Places } from '../../policy/path/place.ts'
import type { RuleTiers } from '../../policy/rule/book.ts'
import { Complaint } from '../exit.ts'
import type { Step } from './policy-disk.ts'

/** What a line of the check is judged by. */
export interface Ground {
  readonly folder: string
  readonly rules: RuleTiers
  /** What the file of the rules says that every command finds on the disk. */
  readonly fixture: readonly Step[]
  /** Fills in the names that cases have for folders. */
  readonly fill: (text: string) => string
  readonly places: (more: Partial<Places>) => Places
}

/** A line of the answer. */
export interface Answer {
  readonly verdict?: string
  readonly rule?: string
  readonly why?: string
  readonly programs?: readonly string[]
  readonly rendered?: string
}

/** A text, or the pieces of one: `{"repeat":"x","times":3}` is `xxx`. */
export function textIn(line: JsonObject, key: string): string {
  const value = line[key] ?? line[`${key}Parts`]
  if (typeof value === 'string') return value
  const parts = isObject(value) ? value['parts'] : value
  if (!Array.isArray(parts)) throw new Complaint(`a line has no ${key}: ${JSON.stringify(line).slice(0, 100)}`)
  return parts
    .map((part) => (isObject(part) ? wordIn(part['repeat']).repeat(Number(part['times'])) : wordIn(part)))
    .join('')
}

/** A value that is text, or nothing. */
export function wordIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The steps that make up the disk of a line. */
export function stepsIn(line: JsonObject, key: string): readonly Step[] {
  const steps = line[key]
  return Array.isArray(steps) ? (steps as unknown as readonly Step[]) : []
}
