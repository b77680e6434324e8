import type { Decision, Policy, Proposal } from './policy.ts'
import { judgeAddresses, judgeRedirect, judgeUrl, type UrlRules, worst } from './url.ts'

/** What the guard must know: it may learn of a typed address or a secret later on. */
export interface GuardRules {
  /** Did the person write this URL? */
  readonly typed?: (url: string) => boolean
  /** Values that must never leave. */
  readonly secrets?: () => readonly string[]
  readonly open?: readonly string[]
}

/** Judges for whoever fetches: the text of an address, what its name leads to, and where an answer sends on to. */
export interface UrlGuard {
  url(text: string): ReturnType<typeof judgeUrl>
  addresses(host: string, addresses: readonly string[]): ReturnType<typeof judgeUrl>
  redirect(from: string, to: string): ReturnType<typeof judgeUrl>
}

/** Makes the judge of addresses that a host's web is given. */
export function urlGuard(rules: GuardRules = {}): UrlGuard {
  const at = (text: string): UrlRules => ({
    typed: rules.typed?.(text) ?? false,
    secrets: rules.secrets?.() ?? [],
    open: rules.open ?? [],
  })
  return {
    url: (text) => judgeUrl(text, at(text)),
    addresses: (host, addresses) => judgeAddresses(host, addresses, at('')),
    redirect: (from, to) => judgeRedirect(from, to, at(to)),
  }
}

/** A policy that also looks at the addresses that a call would reach. What the guard asks about is asked about in every mode. */
export function withUrlGuard(policy: Policy, guard: Pick<UrlGuard, 'url'>): Policy {
  const judgeUrls = (proposal: Proposal): Decision | undefined => {
    const urls = proposal.effects.flatMap((effect) => (effect.kind === 'net' ? (effect.urls ?? []) : []))
    return worst(urls.map((url) => guard.url(url)).filter(({ verdict }) => verdict !== 'allow'))
  }
  return {
    ...policy,
    async decide(proposal) {
      const strict = judgeUrls(proposal)
      if (strict?.verdict === 'deny') return strict
      const decided = await policy.decide(proposal)
      return decided.verdict === 'deny' ? decided : (strict ?? decided)
    },
    offers: async (proposal) => (judgeUrls(proposal) ? [] : ((await policy.offers?.(proposal)) ?? [])),
  }
}
