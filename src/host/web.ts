import type { Judged, Web, WebJudge, WebPage, WebProblem, WebRequest } from './host.ts'
import { readBody } from './web-body.ts'
import { type Dial, dialAny, type ProxyTo } from './web-dial.ts'
import { type Answer, exchange } from './web-exchange.ts'

/** How the web is reached. Only the judge is needed; the others are for proxies and for tests. */
export interface WebOptions {
  readonly judge: WebJudge
  /** All addresses of a name; fails if the name service does. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
  readonly dial?: Dial
  /** The proxy that the person set up for an address, if they did. */
  readonly proxy?: (url: URL) => ProxyTo | { readonly problem: string } | undefined
  /** A certificate that is trusted besides the usual ones. */
  readonly ca?: string
  readonly limits?: Partial<WebLimits>
}

/** How far a fetch may go. */
export interface WebLimits {
  readonly ms: number
  /** Of a page, after it is unpacked. */
  readonly bytes: number
  readonly redirects: number
}

const LIMITS: WebLimits = { ms: 30_000, bytes: 10_000_000, redirects: 5 }

/**
 * A web that goes nowhere unjudged: the text of an address is judged, its name is looked up once, all that the name leads
 * to is judged, and the connection goes to an address that was judged; and so again for every redirect.
 */
export function guardedWeb(options: WebOptions): Web {
  const limits = { ...LIMITS, ...options.limits }
  return {
    async fetch(request) {
      const late = AbortSignal.timeout(limits.ms)
      const signal = request.signal ? AbortSignal.any([request.signal, late]) : late
      try {
        return await follow(request, options, limits, signal)
      } catch (error) {
        if (late.aborted) return failed(`It took longer than ${limits.ms / 1000} seconds.`)
        return failed(error instanceof Error ? error.message : String(error))
      }
    },
  }
}

async function follow(
  request: WebRequest,
  options: WebOptions,
  limits: WebLimits,
  signal: AbortSignal,
): Promise<WebPage | WebProblem> {
  const first = request.trusted ? undefined : options.judge.url(request.url)
  if (first?.verdict === 'deny') return refused(first)
  if (!URL.canParse(request.url)) return failed('The address is not valid.')
  const home = new URL(request.url)
  let url = home
  for (let hops = 0; ; hops++) {
    const answer = await visit(url, url.origin === home.origin ? request : bare(request), options, signal)
    if ('problem' in answer) return answer
    const location = REDIRECTS.has(answer.status) ? answer.headers['location'] : undefined
    if (location === undefined) return await pageOf(url, answer, limits)
    answer.discard()
    if (request.trusted) return failed(`${url.host} sends on to another address, which nobody set up.`)
    if (hops === limits.redirects) return failed(`It was sent on more than ${limits.redirects} times.`)
    if (!URL.canParse(location, url.href)) return failed('It was sent on to an address that is not valid.')
    const next = new URL(location, url)
    const judged = options.judge.redirect(url.href, next.href)
    // Nobody can be asked in the middle of a fetch; the model may ask for that address itself, and then a person is.
    if (judged.verdict !== 'allow') return refused(judged, `${url.host} sends on to ${next.href.slice(0, 200)}. `)
    url = next
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/** What belongs to the first host stays with it: secret headers above all. */
function bare({ url, trusted, signal }: WebRequest): WebRequest {
  return { url, ...(trusted && { trusted }), ...(signal && { signal }) }
}

/** Asks one address, at a place that was judged. */
async function visit(
  url: URL,
  request: WebRequest,
  options: WebOptions,
  signal: AbortSignal,
): Promise<Answer | WebProblem> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const addresses = await lookUp(host, options)
  if ('problem' in addresses) return addresses
  const judged = request.trusted ? undefined : options.judge.addresses(url.host, addresses)
  if (judged && judged.verdict !== 'allow') return refused(judged)
  const proxy = options.proxy?.(url)
  if (proxy && 'problem' in proxy) return failed(proxy.problem)
  const socket = await dialAny({ url, addresses, proxy, ca: options.ca, signal }, options.dial)
  return await exchange(socket, url, request, signal)
}

/** Looks a name up once. No answer is a refusal, never a guess. */
async function lookUp(host: string, options: WebOptions): Promise<readonly string[] | WebProblem> {
  if (/^[\d.]+$/.test(host) || host.includes(':')) return [host]
  try {
    const found = await (options.resolve ?? systemResolve)(host)
    return found.length > 0 ? found : failed(`${host} has no address.`)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    return failed(`The name ${host} could not be looked up (${code}).`)
  }
}

async function systemResolve(host: string): Promise<readonly string[]> {
  const { lookup } = await import('node:dns/promises')
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

async function pageOf(url: URL, answer: Answer, limits: WebLimits): Promise<WebPage | WebProblem> {
  const body = await readBody(answer, limits.bytes)
  if ('problem' in body) return failed(body.problem)
  return { url: url.href, status: answer.status, ...body }
}

function refused({ why, rule }: Judged, before = ''): WebProblem {
  return { problem: `${before}${why}`, rule }
}

function failed(problem: string): WebProblem {
  return { problem }
}
