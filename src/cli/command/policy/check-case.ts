import { isObject, type JsonObject } from '../../../model/json.ts'
import type { PathContext } from '../../../policy/path/classify-path.ts'
import type { RulesByTier } from '../../../policy/rules/rule-set.ts'
import { UserError } from '../../user-error.ts'
import type { FixtureStep } from './virtual-disk.ts'

/** What a line of the check is judged by. */
export interface CheckContext {
  readonly folder: string
  readonly rules: RulesByTier
  /** What the file of the rules says that every command finds on the disk. */
  readonly fixture: readonly FixtureStep[]
  /** Fills in the names that cases have for folders. */
  readonly expandPlaceholders: (text: string) => string
  readonly createPathContext: (more: Partial<PathContext>) => PathContext
}

/** A line of the answer. */
export interface CheckResult {
  readonly verdict?: string
  readonly rule?: string
  readonly why?: string
  readonly programs?: readonly string[]
  readonly rendered?: string
}

/** A text, or the pieces of one: `{"repeat":"x","times":3}` is `xxx`. */
export function readCaseText(checkCase: JsonObject, key: string): string {
  const value = checkCase[key] ?? checkCase[`${key}Parts`]
  if (typeof value === 'string') return value
  const parts = isObject(value) ? value['parts'] : value
  if (!Array.isArray(parts)) throw new UserError(`a line has no ${key}: ${JSON.stringify(checkCase).slice(0, 100)}`)
  return parts
    .map((part) =>
      isObject(part) ? toStringOrEmpty(part['repeat']).repeat(Number(part['times'])) : toStringOrEmpty(part),
    )
    .join('')
}

/** A value that is text, or nothing. */
export function toStringOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The steps that make up the disk of a line. */
export function readFixtureSteps(checkCase: JsonObject, key: string): readonly FixtureStep[] {
  const steps = checkCase[key]
  return Array.isArray(steps) ? (steps as unknown as readonly FixtureStep[]) : []
}
