import type { Decision, Policy, Proposal } from '../policy.ts'
import { checkAddresses, checkRedirect, checkUrl, type UrlCheckOptions, findStrictestDecision } from './check-url.ts'

/** What the guard must know: it may learn of a typed address or a secret later on. */
export interface UrlGuardOptions {
  /** Did the person write this URL? */
  readonly typed?: (url: string) => boolean
  /** Values that must never leave. */
  readonly secrets?: () => readonly string[]
  readonly open?: readonly string[]
}

/** Judges for whoever fetches: the text of an address, what its name leads to, and where an answer sends on to. */
export interface UrlGuard {
  url(text: string): ReturnType<typeof checkUrl>
  addresses(host: string, addresses: readonly string[]): ReturnType<typeof checkUrl>
  redirect(from: string, to: string): ReturnType<typeof checkUrl>
}

/** Makes the judge of addresses that a host's web is given. */
export function createUrlGuard(rules: UrlGuardOptions = {}): UrlGuard {
  const optionsFor = (text: string): UrlCheckOptions => ({
    typed: rules.typed?.(text) ?? false,
    secrets: rules.secrets?.() ?? [],
    open: rules.open ?? [],
  })
  return {
    url: (text) => checkUrl(text, optionsFor(text)),
    addresses: (host, addresses) => checkAddresses(host, addresses, optionsFor('')),
    redirect: (from, to) => checkRedirect(from, to, optionsFor(to)),
  }
}

/** A policy that also looks at the addresses that a call would reach. What the guard asks about is asked about in every mode. */
export function withUrlGuard(policy: Policy, guard: Pick<UrlGuard, 'url'>): Policy {
  const judgeUrls = (proposal: Proposal): Decision | undefined => {
    const urls = proposal.effects.flatMap((effect) => (effect.kind === 'net' ? (effect.urls ?? []) : []))
    return findStrictestDecision(urls.map((url) => guard.url(url)).filter(({ verdict }) => verdict !== 'allow'))
  }
  return {
    ...policy,
    async decide(proposal) {
      const urlDecision = judgeUrls(proposal)
      if (urlDecision?.verdict === 'deny') return urlDecision
      const decided = await policy.decide(proposal)
      return decided.verdict === 'deny' ? decided : (urlDecision ?? decided)
    },
    offers: async (proposal) => (judgeUrls(proposal) ? [] : ((await policy.offers?.(proposal)) ?? [])),
  }
}
