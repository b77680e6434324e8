import type { Decision, Policy, Proposal } from '../../src/policy/policy.ts'

/** A decision as a person sees it in a question: with what “always” may cover. */
export async function questionFor(policy: Policy, proposal: Proposal): Promise<Decision> {
  const grants = (await policy.offers?.(proposal)) ?? []
  return { ...(await policy.decide(proposal)), ...(grants.length > 0 && { grants }) }
}
