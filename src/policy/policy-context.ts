import type { PathContext } from './path/classify-path.ts'
import type { ApprovalMode, Decision } from './policy.ts'
import type { RuleSet } from './rules/rule-set.ts'
import type { PolicyRule } from './rules/rule.ts'

export interface PolicyContext {
  readonly mode: ApprovalMode
  readonly pathContext: PathContext
  readonly ruleSet: RuleSet
  readonly sandboxed?: () => Promise<boolean>
  /** Commands that the user approved literally, as keys of `createCommandGrantKey`. */
  readonly approved: ReadonlySet<string>
  readonly rejected?: (text: string) => Promise<string | undefined>
}

export function decideByRule({ verdict, text }: PolicyRule): Decision {
  const does = { allow: 'allows', ask: 'asks about', deny: 'denies' }[verdict]
  return { verdict, rule: text, why: `The rule “${text}” ${does} it.` }
}

export function denyInPlanMode(): Decision {
  return { verdict: 'deny', rule: 'mode plan', why: 'In plan mode nothing is changed; finish the plan first.' }
}

export function createCommandGrantKey(command: string, folder: string): string {
  return JSON.stringify([command, folder])
}
