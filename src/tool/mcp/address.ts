import type { WebJudge } from '../../host/host.ts'
import type { Decision } from '../../policy/policy.ts'
import { judgeAddresses } from '../../policy/url.ts'
import { isOnInnerHostOf, judgeUrlOn, type UrlSurface } from '../../policy/url-surface.ts'

/** A server as the person set it up: what it may name is judged by where it is. */
export interface ServerAddress {
  readonly url: URL
  /** Hosts of the person's own network that take part in its sign-in. */
  readonly hosts?: readonly string[]
}

/** A program on this machine has no address; what it names may be on this machine too. */
export const THIS_MACHINE: ServerAddress = { url: new URL('http://localhost/') }

/**
 * Judges an address that a server names, before any name is looked up: http or https, without a password, and public.
 * Only a server that is itself on an inner host may name an address there.
 */
export function judgeNamed(surface: UrlSurface, text: string, { url, hosts = [] }: ServerAddress): Decision {
  const judged = judgeUrlOn(surface, text, { server: url.href, open: hosts })
  // Nobody can be asked here. Sign-in servers on ports of their own are common, and everything else is refused.
  if (judged.verdict === 'ask' && judged.rule === 'url-port') return { ...judged, verdict: 'allow' }
  return judged.verdict === 'ask' ? { ...judged, verdict: 'deny' } : judged
}

/** The judge of everything that is fetched from a server's sign-in. A redirect must stay where it was. */
export function judgeOf(server: ServerAddress): WebJudge {
  return {
    url: (text) => judgeNamed('oauth-metadata', text, server),
    addresses(host, addresses) {
      const isOwn = isOnInnerHostOf(server.url.href, `http://${host}/`)
      if (isOwn) return { verdict: 'allow', rule: 'url-server-host', why: `${host} is the host of the server itself.` }
      return judgeAddresses(host, addresses, { open: server.hosts ?? [] })
    },
    redirect(from, to) {
      if (new URL(from).origin === new URL(to).origin) return judgeNamed('oauth-metadata', to, server)
      return { verdict: 'deny', rule: 'url-redirect', why: 'It is another site.' }
    },
  }
}

/** Why an address that a server names is not opened in the person's browser; undefined if it may be. */
export async function whyNotOpened(text: string, server: ServerAddress): Promise<string | undefined> {
  const judged = judgeNamed('open-browser', text, server)
  if (judged.verdict !== 'allow') return judged.why
  const { host, hostname } = new URL(text)
  const { lookup } = await import('node:dns/promises')
  try {
    const found = await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true })
    const addresses = found.map(({ address }) => address)
    const where = judgeOf(server).addresses(host, addresses)
    return where.verdict === 'allow' ? undefined : where.why
  } catch {
    // The browser may have a way to look it up that we have not, such as a proxy.
    return undefined
  }
}
