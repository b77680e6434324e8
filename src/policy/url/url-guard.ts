import { type Decision, findStrictest, type Policy, type Proposal } from '../policy.ts'
import { checkAddresses, checkRedirect, checkUrl, type UrlCheckOptions } from './check-url.ts'

/** These are functions because URLs and secrets may be added later. */
export interface UrlGuardOptions {
  /** Did the user write this URL? */
  readonly typed?: (url: string) => boolean
  /** Values that must never be sent. */
  readonly secrets?: () => readonly string[]
  readonly open?: readonly string[]
}

/** Checks of URLs, resolved addresses and redirects, for the web client. */
export interface UrlGuard {
  url(text: string): ReturnType<typeof checkUrl>
  addresses(host: string, addresses: readonly string[]): ReturnType<typeof checkUrl>
  redirect(from: string, to: string): ReturnType<typeof checkUrl>
}

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

/** Adds a check of the URLs that a call would request. What it asks about needs approval in every mode. */
export function withUrlGuard(policy: Policy, guard: Pick<UrlGuard, 'url'>): Policy {
  const judgeUrls = (proposal: Proposal): Decision | undefined => {
    const urls = proposal.effects.flatMap((effect) => (effect.kind === 'net' ? (effect.urls ?? []) : []))
    return findStrictest(urls.map((url) => guard.url(url)).filter(({ verdict }) => verdict !== 'allow'))
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
