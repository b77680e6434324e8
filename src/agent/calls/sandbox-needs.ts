import { isDeepStrictEqual } from 'node:util'
import { defined } from '../../model/defined.ts'
import type { SandboxAccess } from '../../model/security/sandbox-access.ts'
import type { Decision, Grant, GrantScope, Proposal } from '../../policy/policy.ts'
import type { ApprovalDetails } from '../../tool/tool.ts'
import type { AgentContext } from '../agent-context.ts'

/** What a command needs that the sandbox does not have; empty for other calls, and without a sandbox. */
export interface SandboxNeeds {
  /** It runs without network access. */
  readonly isOffline?: true
  /** It is known to need the network, and runs without. */
  readonly lacksNetwork?: true
  /** What it changes that the sandbox hides. */
  readonly outsidePaths?: readonly string[]
  readonly createsTemporary?: true
  /** The policy allows the command: only running it outside the sandbox needs approval. */
  readonly isOnlyAccess?: true
}

/**
 * The decision of the policy. A change that the sandbox would swallow is never made without a word: a command that needs no
 * approval otherwise needs it for running outside the sandbox.
 */
export async function decideWithSandbox(
  agent: AgentContext,
  proposal: Proposal,
): Promise<{ readonly decision: Decision; readonly needs: SandboxNeeds }> {
  const decision = await agent.policy.decide(proposal)
  const needs = await findSandboxNeeds(agent, proposal, decision)
  if (decision.verdict !== 'allow' || !needs.outsidePaths) return { decision, needs }
  const effect = `It changes ${needs.outsidePaths.join(', ')}, which the sandbox hides, so it would have no effect there.`
  const why = agent.requestApproval ? effect : `${effect} ${UNATTENDED_ADVICE}`
  return { decision: { ...decision, verdict: 'ask', rule: 'sandbox', why }, needs: { ...needs, isOnlyAccess: true } }
}

const UNATTENDED_ADVICE = 'It can be allowed with sandboxOptions.allowOutside or --sandbox off.'

async function findSandboxNeeds(
  { sandboxAccess }: AgentContext,
  proposal: Proposal,
  { hiddenChanges, needsNetwork }: Decision,
): Promise<SandboxNeeds> {
  if (!sandboxAccess) return {}
  const isOffline = (await sandboxAccess.isOffline(proposal)) ? (true as const) : undefined
  const isSandboxed = hiddenChanges !== undefined && (await sandboxAccess.isSandboxed(proposal))
  return {
    ...defined({ isOffline, lacksNetwork: isOffline && needsNetwork }),
    ...(isSandboxed && hiddenChanges.paths.length > 0 && { outsidePaths: hiddenChanges.paths }),
    ...(isSandboxed && hiddenChanges.createsTemporary && { createsTemporary: true }),
  }
}

/** The question says what the sandbox lacks, and what a yes means. */
export function toQuestionDetails({ lacksNetwork, outsidePaths, createsTemporary }: SandboxNeeds) {
  if (outsidePaths) return { outsidePaths }
  return defined({ isOffline: lacksNetwork, createsTemporary }) satisfies Partial<ApprovalDetails>
}

/** An “always” includes the access that the command needs each time, if a rule can give it. */
export async function offerGrants(
  { policy, sandboxAccess }: AgentContext,
  proposal: Proposal,
  { lacksNetwork, outsidePaths, isOnlyAccess }: SandboxNeeds,
): Promise<readonly Grant[]> {
  const access: SandboxAccess | undefined = outsidePaths ? 'outside' : lacksNetwork && 'network'
  const accessGrants = access ? ((await sandboxAccess?.offers(proposal, access)) ?? []) : []
  const grants = isOnlyAccess
    ? accessGrants.map((grant) => ({ ...grant, isOnlyAccess }))
    : ((await policy.offers?.(proposal)) ?? [])
  if (!access) return grants
  return grants.flatMap((grant) => {
    const isOffered = accessGrants.some(
      ({ breadth, rules }) => breadth === grant.breadth && isDeepStrictEqual(rules, grant.rules),
    )
    if (isOffered) return [{ ...grant, sandboxAccess: access, covers: `${grant.covers}, ${ACCESS_PHRASES[access]}` }]
    return access === 'outside' ? [] : [grant]
  })
}

const ACCESS_PHRASES: Readonly<Record<SandboxAccess, string>> = {
  network: 'with network access',
  outside: 'outside the sandbox',
}

/** Keeps a grant. Returns a description for the user. */
export function rememberGrant(agent: AgentContext, proposal: Proposal, grant: Grant, scope: GrantScope): string {
  const kept = grant.sandboxAccess && agent.sandboxAccess?.remember(proposal, grant.sandboxAccess, grant, scope)
  if (kept !== undefined && grant.isOnlyAccess) return kept
  return agent.policy.remember(proposal, grant, scope)
}
