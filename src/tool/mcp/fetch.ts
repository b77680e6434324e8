import type { Web } from '../../host/host.ts'
import { proxyFor } from '../../provider/proxy.ts'
import { judgeOf, type ServerAddress } from './address.ts'
import type { FetchLike } from './sdk.ts'

/**
 * Reaches a server at the address that the person set up, and what that server names (for its sign-in) only if it is
 * judged harmless, before and after the name is looked up. No redirect leads to another site.
 */
export function serverFetch(server: ServerAddress): FetchLike {
  let web: Promise<Web> | undefined
  return async (url, init = {}) => {
    const to = new URL(url)
    // The SDK follows redirects within a site by itself; every step comes through here again.
    if (to.origin === server.url.origin) return dial(to, { ...init, redirect: 'manual' })
    return fetchNamed(await (web ??= openWeb(server)), to, init)
  }
}

type Init = NonNullable<Parameters<FetchLike>[1]>

async function openWeb(server: ServerAddress): Promise<Web> {
  const { guardedWeb } = await import('../../host/web.ts')
  return guardedWeb({ judge: judgeOf(server), proxy: (url) => proxyFor(url, process.env) })
}

/** Fetches what a server names. Answers are small: they have to do with signing in. */
async function fetchNamed(web: Web, to: URL, { method = 'GET', headers, body, signal }: Init): Promise<Response> {
  if (method !== 'GET' && method !== 'POST') throw new Error(`${to.host} is not asked with ${method}`)
  const page = await web.fetch({
    url: to.href,
    headers: Object.fromEntries(new Headers(headers)),
    ...(body !== undefined && body !== null && { body: bodyText(body) }),
    ...(signal && { signal }),
  })
  if ('problem' in page)
    throw new Error(`It names an address that is not fetched: ${to.href.slice(0, 200)}. ${page.problem}`)
  const isEmpty = page.status === 204 || page.status === 304
  return new Response(isEmpty ? null : (page.text ?? ''), {
    status: page.status,
    headers: { 'content-type': page.type },
  })
}

/** Fetches from the server itself, through the proxy that the variables name, if they name one. */
async function dial(url: URL, init: Init): Promise<Response> {
  const proxy = proxyFor(url, process.env)
  if (!proxy) return fetch(url, init)
  if ('problem' in proxy) throw new Error(proxy.problem)
  // Node's own fetch knows nothing of proxies; the client that asks models does.
  const { sharedPost } = await import('../../provider/send.ts')
  const { method = 'GET', body, signal } = init
  const letter = {
    url,
    headers: Object.fromEntries(new Headers(init.headers)),
    body: body === undefined || body === null ? [] : [bodyText(body)],
    ...(method !== 'POST' && { method: method === 'DELETE' ? ('DELETE' as const) : ('GET' as const) }),
  }
  const reply = await sharedPost()(letter, signal ?? new AbortController().signal)
  const isEmpty = reply.status === 204 || reply.status === 304
  const { status, headers } = reply
  return new Response(isEmpty ? null : streamOf(reply.body), { status, headers: new Headers(headers) })
}

function bodyText(body: unknown): string {
  if (typeof body === 'string' || body instanceof URLSearchParams) return String(body)
  throw new TypeError('only text is sent to servers')
}

function streamOf(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const pieces = body[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await pieces.return?.()
    },
  })
}
