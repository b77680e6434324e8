import type { ApprovalMode, Policy } from '../../policy/policy.ts'
import { parseRule } from '../../policy/rules/rule.ts'
import type { Session } from '../../session/session.ts'
import { UserError } from '../user-error.ts'
import type { CustomPrompt } from './custom-prompt.ts'

export type PromptGrants = ReturnType<typeof createPromptGrants>

/**
 * The `allowed-tools` of commands and skills: they hold while the prompt that they were loaded for is worked on. They only
 * answer what would be asked; what is denied stays denied.
 */
export function createPromptGrants(
  session: Pick<Session, 'promptCount'>,
  createPolicies: (rules: readonly string[]) => (mode: ApprovalMode) => Policy,
  toRules: (items: readonly string[]) => Promise<readonly string[]>,
) {
  let granted: { readonly prompt: number; readonly rules: readonly string[] } | undefined
  let policies: ((mode: ApprovalMode) => Policy) | undefined

  return {
    /** `next`: for the prompt that is about to be sent. Returns what cannot be granted. */
    async add(
      { name, allowedTools }: Pick<CustomPrompt, 'name' | 'allowedTools'>,
      next?: 'next',
    ): Promise<readonly string[]> {
      const prompt = session.promptCount + (next ? 1 : 0)
      const remarks: string[] = []
      const rules: string[] = []
      for (const item of allowedTools) {
        try {
          for (const rule of await toRules([item])) {
            const parsed = parseRule(rule, 'allow')
            if ('problem' in parsed) remarks.push(`allowed-tools of ${name}: ${parsed.problem}`)
            else rules.push(rule)
          }
        } catch (error) {
          if (!(error instanceof UserError)) throw error
          remarks.push(`allowed-tools of ${name}: ${error.message}`)
        }
      }
      if (rules.length === 0) return remarks
      granted = { prompt, rules: [...new Set([...(granted?.prompt === prompt ? granted.rules : []), ...rules])] }
      policies = createPolicies(granted.rules)
      return remarks
    },
    /** The prompt was not sent. */
    clear(): void {
      granted = undefined
    },
    /** A policy that also allows what is granted to the current prompt. */
    apply(mode: ApprovalMode, policy: Policy): Policy {
      // The commands of a template run before its prompt is in the log.
      const isCurrent = granted?.prompt === session.promptCount || granted?.prompt === session.promptCount + 1
      if (!policies || !isCurrent) return policy
      const more = policies(mode)
      return {
        ...policy,
        async decide(proposal) {
          const decision = await policy.decide(proposal)
          if (decision.verdict !== 'ask' || decision.rule === 'changed tool') return decision
          const other = await more.decide(proposal)
          return other.verdict === 'allow' ? other : decision
        },
      }
    },
  }
}
