import type { SandboxAccess } from '../model/security/sandbox-access.ts'
import { type ApprovalOptions, approvalPolicy } from './approval-policy.ts'
import type { Grant, GrantScope, Policy, Proposal } from './policy.ts'

/** Rules of the user that give commands more access than the sandbox does. */
export interface SandboxAccessRules {
  findAccess(proposal: Proposal): Promise<SandboxAccess | undefined>
  /** Would the command run in the sandbox? */
  isSandboxed(proposal: Proposal): Promise<boolean>
  /** Would the command run in the sandbox without network access? */
  isOffline(proposal: Proposal): Promise<boolean>
  /** Grants for a call that the sandbox blocked. */
  offers(proposal: Proposal, access: SandboxAccess): Promise<readonly Grant[]>
  policyOf(access: SandboxAccess): Policy
  /** Keeps a grant. Returns a description for the user. */
  remember(proposal: Proposal, access: SandboxAccess, grant: Grant, scope: GrantScope): string
}

interface SandboxAccessOptions extends Omit<ApprovalOptions, 'rules' | 'allowed' | 'save'> {
  readonly rules: Readonly<Record<SandboxAccess, readonly string[]>>
  /** The sandbox as it is now; absent if there is none. */
  readonly sandbox?: () => Promise<{ readonly isActive: boolean; readonly network?: boolean }>
  /** Saves rules for later sessions. */
  readonly save?: (access: SandboxAccess, rules: readonly string[], scope: Exclude<GrantScope, 'session'>) => void
}

/** From least to most access. */
const ACCESS_KINDS = ['network', 'outside'] as const satisfies readonly SandboxAccess[]

/**
 * The rules for each kind of access use the same format and policy as those for commands: every command of a text must
 * be covered, and none may be dangerous. By default no command has access.
 */
export function createSandboxAccessRules(allOptions: SandboxAccessOptions): SandboxAccessRules {
  const { rules, save, sandbox, ...options } = allOptions
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

  // Parse the rules now, so that an invalid one is reported before anything runs.
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
    async isSandboxed(proposal) {
      return isCommand(proposal) && (await sandbox?.())?.isActive === true && (await findAccess(proposal)) !== 'outside'
    },
    async isOffline(proposal) {
      if (!isCommand(proposal)) return false
      const state = await sandbox?.()
      return state?.isActive === true && !state.network && (await findAccess(proposal)) === undefined
    },
    offers: async (proposal, access) => (await policyOf(access).offers?.(proposal)) ?? [],
    remember(proposal, access, grant, scope) {
      hasRules.add(access)
      const kept = policyOf(access).remember(proposal, grant, scope)
      return `${access === 'network' ? 'Network access' : 'Running outside the sandbox'}: ${kept}`
    },
  }
}

function isCommand({ effects }: Proposal): boolean {
  return effects.some(({ kind }) => kind === 'exec')
}
