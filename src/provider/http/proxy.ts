import { type Environment, isLoopback } from '../endpoint.ts'

export interface HttpProxy {
  readonly host: string
  readonly port: number
  /** The proxy's credentials. */
  readonly headers: Readonly<Record<string, string>>
  /** The variable that named the proxy. */
  readonly variable: string
}

/** The proxy for a URL, by the usual variables; none for this machine and for what NO_PROXY lists. */
export function findProxy(url: URL, env: Environment): HttpProxy | { readonly problem: string } | undefined {
  if (isLoopback(url.hostname) || isProxyExempt(url, readVariable(env, 'NO_PROXY')?.[1] ?? '')) return undefined
  const found =
    readVariable(env, url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY') ?? readVariable(env, 'ALL_PROXY')
  if (!found) return undefined
  const [variable, text] = found
  const written = text.includes('://') ? text : `http://${text}`
  const proxy = URL.canParse(written) ? new URL(written) : undefined
  if (proxy?.protocol !== 'http:' || proxy.hostname === '')
    return { problem: `${variable} must name an http:// proxy; other kinds are not supported.` }
  const user = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const basic = Buffer.from(user).toString('base64')
  return {
    host: stripIpv6Brackets(proxy.hostname),
    port: Number(proxy.port || 80),
    headers: user === ':' ? {} : { 'proxy-authorization': `Basic ${basic}` },
    variable,
  }
}

export function stripIpv6Brackets(host: string): string {
  return host.replace(/^\[|\]$/g, '')
}

export function getPort(url: URL): number {
  return Number(url.port || (url.protocol === 'https:' ? 443 : 80))
}

/** Both spellings are in use; lower case is the older one. */
function readVariable(env: Environment, name: string): readonly [name: string, text: string] | undefined {
  for (const spelling of [name.toLowerCase(), name]) {
    const text = env[spelling]?.trim()
    if (text !== undefined && text !== '') return [spelling, text]
  }
  return undefined
}

/** `*`, `host`, `.domain`, `*.domain`, each with an optional port, separated by commas or spaces. */
function isProxyExempt(url: URL, list: string): boolean {
  const host = stripIpv6Brackets(url.hostname).toLowerCase()
  const entries = list.toLowerCase().split(/[\s,]+/)
  return entries.some((entry) => {
    if (entry === '' || entry === '*') return entry === '*'
    const [, named, port] = /^(\[.*\]|[^:]*):(\d+)$/.exec(entry) ?? []
    if (port !== undefined && Number(port) !== getPort(url)) return false
    const domain = stripIpv6Brackets(named ?? entry).replace(/^\*?\./, '')
    return host === domain || host.endsWith(`.${domain}`)
  })
}
