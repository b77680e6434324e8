import type { PathContext } from './path/classify-path.ts'
import type { ApprovalMode, Decision } from './policy.ts'
import type { RuleSet } from './rules/rule-set.ts'

/** What every judgement needs. */
export interface PolicyContext {
  readonly mode: ApprovalMode
  readonly pathContext: PathContext
  readonly ruleSet: RuleSet
  readonly sandboxed?: () => Promise<boolean>
  /** Commands, with their folders, that the person has approved word for word, each as a key of `createCommandGrantKey`. */
  readonly approved: ReadonlySet<string>
  readonly rejected?: (text: string) => Promise<string | undefined>
}

/** A decision on one effect. Its grants are what could be allowed; whether they would be kept is seen later. */
export type EffectDecision = Decision

/** In plan mode the model may look; nothing is changed, whatever the rules say. */
export function denyInPlanMode(): EffectDecision {
  return { verdict: 'deny', rule: 'mode plan', why: 'In plan mode nothing is changed; finish the plan first.' }
}

/** A command in its folder, as what is approved word for word. */
export function createCommandGrantKey(command: string, folder: string): string {
  return JSON.stringify([command, folder])
}
