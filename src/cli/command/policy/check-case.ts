import { isObject, type JsonObject, stringOrEmpty } from '../../../model/json.ts'
import type { PathContext } from '../../../policy/path/classify-path.ts'
import type { RulesByTier } from '../../../policy/rules/rule-set.ts'
import { UserError } from '../../user-error.ts'
import type { FixtureStep } from './virtual-disk.ts'

export interface PolicyCheckContext {
  readonly folder: string
  readonly rules: RulesByTier
  /** The files that the rules file adds to the disk of every shell case. */
  readonly fixture: readonly FixtureStep[]
  /** Replaces `{WS}` and other placeholders for folders. */
  readonly expandPlaceholders: (text: string) => string
  readonly createPathContext: (more: Partial<PathContext>) => PathContext
}

export interface PolicyCheckResult {
  readonly verdict?: string
  readonly rule?: string
  readonly why?: string
  readonly programs?: readonly string[]
  readonly rendered?: string
}

/** A text, or the parts of one: `{"repeat":"x","times":3}` is `xxx`. */
export function readCaseText(checkCase: JsonObject, key: string): string {
  const value = checkCase[key] ?? checkCase[`${key}Parts`]
  if (typeof value === 'string') return value
  const parts = isObject(value) ? value['parts'] : value
  if (!Array.isArray(parts)) throw new UserError(`a case has no ${key}: ${JSON.stringify(checkCase).slice(0, 100)}`)
  return parts
    .map((part) => (isObject(part) ? stringOrEmpty(part['repeat']).repeat(Number(part['times'])) : stringOrEmpty(part)))
    .join('')
}

export function readFixtureSteps(checkCase: JsonObject, key: string): readonly FixtureStep[] {
  const steps = checkCase[key]
  return Array.isArray(steps) ? (steps as unknown as readonly FixtureStep[]) : []
}
