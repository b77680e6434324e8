import type { SandboxAccess } from '../model/security/sandbox-access.ts'
import { type ApprovalOptions, approvalPolicy } from './approval-policy.ts'
import type { Grant, GrantScope, Policy, Proposal } from './policy.ts'

/** Which commands may do more than the sandbox lets them, by rules of the person's own. */
export interface SandboxAccessRules {
  /** What the rules let a call do beyond the sandbox. */
  findAccess(proposal: Proposal): Promise<SandboxAccess | undefined>
  /** Would the command of a call run in the sandbox without the network? */
  isOffline(proposal: Proposal): Promise<boolean>
  /** What a person may grant from now on, for a call that was blocked. */
  offers(proposal: Proposal, access: SandboxAccess): Promise<readonly Grant[]>
  /** The rules of a kind of access. */
  policyOf(access: SandboxAccess): Policy
  /** Keeps what the person granted; says in words what holds now. */
  remember(proposal: Proposal, access: SandboxAccess, grant: Grant, scope: GrantScope): string
}

/** What the rules are made of. */
export interface SandboxAccessOptions extends Omit<ApprovalOptions, 'rules' | 'allowed' | 'save'> {
  readonly rules: Readonly<Record<SandboxAccess, readonly string[]>>
  /** Does the sandbox keep commands from the network now? */
  readonly isNetworkClosed?: () => Promise<boolean>
  /** Keeps rules for later sessions, of this project or of all. */
  readonly save?: (access: SandboxAccess, rules: readonly string[], scope: Exclude<GrantScope, 'session'>) => void
}

/** The more it gives, the later it is asked for. */
const ACCESS_KINDS = ['network', 'outside'] as const satisfies readonly SandboxAccess[]

/**
 * Each kind of access has rules of the same form as those about commands, judged by the same policy: all commands of a text
 * must be covered, nothing dangerous is. No command has access by default, be it ever so harmless.
 */
export function createSandboxAccessRules({
  rules,
  save,
  isNetworkClosed,
  ...options
}: SandboxAccessOptions): SandboxAccessRules {
  const policies = new Map<SandboxAccess, Policy>()
  const hasRules = new Set(ACCESS_KINDS.filter((access) => rules[access].length > 0))

  function policyOf(access: SandboxAccess): Policy {
    const policy =
      policies.get(access) ??
      approvalPolicy({
        ...options,
        mode: 'default',
        rules: { default: {}, user: { allow: rules[access] } },
        ...(save && { save: (added, scope) => save(access, added, scope) }),
      })
    policies.set(access, policy)
    return policy
  }

  // A wrong rule is told before anything runs.
  for (const access of hasRules) policyOf(access)

  async function findAccess(proposal: Proposal): Promise<SandboxAccess | undefined> {
    for (const access of ACCESS_KINDS) {
      if (hasRules.has(access) && (await policyOf(access).decide(proposal)).verdict === 'allow') return access
    }
    return undefined
  }

  return {
    findAccess,
    policyOf,
    async isOffline(proposal) {
      const isCommand = proposal.effects.some(({ kind }) => kind === 'exec')
      return isCommand && (await isNetworkClosed?.()) === true && (await findAccess(proposal)) === undefined
    },
    offers: async (proposal, access) => (await policyOf(access).offers?.(proposal)) ?? [],
    remember(proposal, access, grant, scope) {
      hasRules.add(access)
      const kept = policyOf(access).remember(proposal, grant, scope)
      return `${access === 'network' ? 'Network access' : 'Running outside the sandbox'}: ${kept}`
    },
  }
}
