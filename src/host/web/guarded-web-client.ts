import type { UrlDecision, WebClient, UrlPolicy, WebPage, WebFailure, WebRequest } from '../host.ts'
import { readWebBody } from './response-body.ts'
import { type SocketConnector, connectToAny, type ProxyEndpoint } from './connect.ts'
import { type WebResponse, sendWebRequest } from './send-request.ts'
import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/** Only the policy is required; the rest is for proxies and tests. */
export interface GuardedWebClientOptions {
  readonly urlPolicy: UrlPolicy
  /** All addresses of a name; rejects if the name service fails. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
  readonly connect?: SocketConnector
  /** The proxy for a URL, if one is configured. */
  readonly proxy?: (url: URL) => ProxyEndpoint | { readonly problem: string } | undefined
  /** An additional trusted certificate. */
  readonly ca?: string
  readonly limits?: Partial<WebLimits>
}

export interface WebLimits {
  readonly timeoutMs: number
  /** Of a page, after decompression. */
  readonly maxBytes: number
  readonly maxRedirects: number
}

const DEFAULT_LIMITS: WebLimits = { timeoutMs: 30_000, maxBytes: 10_000_000, maxRedirects: 5 }

/**
 * A web client that reaches only checked targets: the URL is checked, its host is resolved once, all its addresses are
 * checked, and the connection goes to one of them. Each redirect is checked in the same way.
 */
export function createGuardedWebClient(options: GuardedWebClientOptions): WebClient {
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  return {
    async fetch(request) {
      const timeoutSignal = AbortSignal.timeout(limits.timeoutMs)
      const signal = request.signal ? AbortSignal.any([request.signal, timeoutSignal]) : timeoutSignal
      try {
        return await fetchFollowingRedirects(request, options, limits, signal)
      } catch (error) {
        if (timeoutSignal.aborted) return toFailure(`No complete response within ${limits.timeoutMs / 1000} seconds.`)
        return toFailure(getErrorMessage(error))
      }
    },
  }
}

async function fetchFollowingRedirects(
  request: WebRequest,
  options: GuardedWebClientOptions,
  limits: WebLimits,
  signal: AbortSignal,
): Promise<WebPage | WebFailure> {
  const first = request.trusted ? undefined : options.urlPolicy.url(request.url)
  if (first?.verdict === 'deny') return toRefusal(first)
  if (!URL.canParse(request.url)) return toFailure('The URL is not valid.')
  const firstUrl = new URL(request.url)
  let url = firstUrl
  for (let hops = 0; ; hops++) {
    const hopRequest = url.origin === firstUrl.origin ? request : withoutHeaders(request)
    const response = await fetchOnce(url, hopRequest, options, signal)
    if ('problem' in response) return response
    const location = REDIRECT_STATUSES.has(response.status) ? response.headers['location'] : undefined
    if (location === undefined) return await readPage(url, response, limits)
    response.discard()
    if (request.trusted) return toFailure(`${url.host} redirects to another URL, which is not configured.`)
    if (hops === limits.maxRedirects) return toFailure(`More than ${limits.maxRedirects} redirects.`)
    if (!URL.canParse(location, url.href)) return toFailure('The redirect URL is not valid.')
    const next = new URL(location, url)
    const decision = options.urlPolicy.redirect(url.href, next.href)
    // Nobody can be asked during a fetch; the model may request that URL itself, and then the user is asked.
    if (decision.verdict !== 'allow')
      return toRefusal(decision, `${url.host} redirects to ${next.href.slice(0, 200)}. `)
    url = next
  }
}

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308])

/** Headers, which may be secret, go to the first host only. */
function withoutHeaders({ url, trusted, signal }: WebRequest): WebRequest {
  return { url, ...(trusted && { trusted }), ...defined({ signal }) }
}

async function fetchOnce(
  url: URL,
  request: WebRequest,
  options: GuardedWebClientOptions,
  signal: AbortSignal,
): Promise<WebResponse | WebFailure> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = await resolveHost(host, options)
  if ('problem' in addresses) return addresses
  const decision = request.trusted ? undefined : options.urlPolicy.addresses(url.host, addresses)
  if (decision && decision.verdict !== 'allow') return toRefusal(decision)
  const proxy = options.proxy?.(url)
  if (proxy && 'problem' in proxy) return toFailure(proxy.problem)
  const socket = await connectToAny({ url, addresses, proxy, ca: options.ca, signal }, options.connect)
  return await sendWebRequest(socket, url, request, signal)
}

/** Resolves a name once. A failed lookup is a failure, never a guess. */
async function resolveHost(host: string, options: GuardedWebClientOptions): Promise<readonly string[] | WebFailure> {
  if (/^[\d.]+$/.test(host) || host.includes(':')) return [host]
  try {
    const { lookup } = await import('node:dns/promises')
    const found = await (options.resolve?.(host) ??
      lookup(host, { all: true }).then((all) => all.map(({ address }) => address)))
    return found.length > 0 ? found : toFailure(`${host} has no address.`)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    return toFailure(`The host ${host} could not be resolved (${code}).`)
  }
}

async function readPage(url: URL, response: WebResponse, limits: WebLimits): Promise<WebPage | WebFailure> {
  const body = await readWebBody(response, limits.maxBytes)
  if ('problem' in body) return toFailure(body.problem)
  return { url: url.href, status: response.status, ...body }
}

const toRefusal = ({ why, rule }: UrlDecision, prefix = ''): WebFailure => ({ problem: `${prefix}${why}`, rule })
const toFailure = (problem: string): WebFailure => ({ problem })
