import type { UrlPolicy } from '../../../host/host.ts'
import type { Decision } from '../../../policy/policy.ts'
import { checkAddresses } from '../../../policy/url/check-url.ts'
import { isOnSamePrivateHost, checkUrlForUsage, type UrlUsage } from '../../../policy/url/url-usage.ts'

/** A server as the user configured it; the URLs that it names are checked against it. */
export interface McpServerAddress {
  readonly url: URL
  /** Hosts of the user's own network that take part in its sign-in. */
  readonly hosts?: readonly string[]
}

/** A local program has no URL; it may name URLs on this machine. */
export const LOCAL_SERVER_ADDRESS: McpServerAddress = { url: new URL('http://localhost/') }

/** Checks a URL that a server names, before the DNS lookup. Only a server on a private host may name URLs there. */
export function checkUrlFromMcpServer(
  surface: UrlUsage,
  text: string,
  { url, hosts = [] }: McpServerAddress,
): Decision {
  const decision = checkUrlForUsage(surface, text, { server: url.href, open: hosts })
  // Nobody can be asked here. Sign-in servers often use other ports; everything else is refused.
  if (decision.verdict === 'ask' && decision.rule === 'url-port') return { ...decision, verdict: 'allow' }
  return decision.verdict === 'ask' ? { ...decision, verdict: 'deny' } : decision
}

/** The URL policy for a server's sign-in. Redirects must stay on the same site. */
export function createMcpServerUrlPolicy(server: McpServerAddress): UrlPolicy {
  return {
    url: (text) => checkUrlFromMcpServer('oauth-metadata', text, server),
    addresses(host, addresses) {
      const isServerHost = isOnSamePrivateHost(server.url.href, `http://${host}/`)
      if (isServerHost)
        return { verdict: 'allow', rule: 'url-server-host', why: `${host} is the host of the server itself.` }
      return checkAddresses(host, addresses, { open: server.hosts ?? [] })
    },
    redirect(from, to) {
      if (new URL(from).origin === new URL(to).origin) return checkUrlFromMcpServer('oauth-metadata', to, server)
      return { verdict: 'deny', rule: 'url-redirect', why: 'It redirects to another site.' }
    },
  }
}

export async function explainBlockedUrl(text: string, server: McpServerAddress): Promise<string | undefined> {
  const decision = checkUrlFromMcpServer('open-browser', text, server)
  if (decision.verdict !== 'allow') return decision.why
  const { host, hostname } = new URL(text)
  const { lookup } = await import('node:dns/promises')
  try {
    const found = await lookup(hostname.replace(/^\[|\]$/g, ''), { all: true })
    const addresses = found.map(({ address }) => address)
    const addressDecision = createMcpServerUrlPolicy(server).addresses(host, addresses)
    return addressDecision.verdict === 'allow' ? undefined : addressDecision.why
  } catch {
    // The browser may resolve the name in another way, such as through a proxy.
    return undefined
  }
}
