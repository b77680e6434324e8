import type { WebClient } from '../../../host/host.ts'
import { findProxy } from '../../../provider/index.ts'
import { createMcpServerUrlPolicy, type McpServerAddress } from './server-address.ts'
import type { FetchLike } from './sdk.ts'

/** Sends requests to the server, and to URLs for its sign-in that pass the policy. No redirect leaves the site. */
export function createServerFetch(server: McpServerAddress): FetchLike {
  let web: Promise<WebClient> | undefined
  return async (url, init = {}) => {
    const target = new URL(url)
    // The SDK follows redirects itself; each step comes through here.
    if (target.origin === server.url.origin) return fetchFromServer(target, { ...init, redirect: 'manual' })
    return fetchForeignUrl(await (web ??= createGuardedWeb(server)), target, init)
  }
}

type FetchInit = NonNullable<Parameters<FetchLike>[1]>

async function createGuardedWeb(server: McpServerAddress): Promise<WebClient> {
  const { createGuardedWebClient } = await import('../../../host/web/guarded-web-client.ts')
  return createGuardedWebClient({
    urlPolicy: createMcpServerUrlPolicy(server),
    proxy: (url) => findProxy(url, process.env),
  })
}

/** Responses are small: they belong to a sign-in. */
async function fetchForeignUrl(
  web: WebClient,
  target: URL,
  { method = 'GET', headers, body, signal }: FetchInit,
): Promise<Response> {
  if (method !== 'GET' && method !== 'POST') throw new Error(`${method} requests are not sent to ${target.host}`)
  const page = await web.fetch({
    url: target.href,
    headers: Object.fromEntries(new Headers(headers)),
    ...(body !== undefined && body !== null && { body: toBodyText(body) }),
    ...(signal && { signal }),
  })
  if ('problem' in page)
    throw new Error(`the server named a URL that is not fetched: ${target.href.slice(0, 200)}. ${page.problem}`)
  const isEmpty = page.status === 204 || page.status === 304
  return new Response(isEmpty ? null : (page.text ?? ''), {
    status: page.status,
    headers: { 'content-type': page.type },
  })
}

/** Uses the proxy of the environment, if there is one. */
async function fetchFromServer(url: URL, init: FetchInit): Promise<Response> {
  const proxy = findProxy(url, process.env)
  if (!proxy) return fetch(url, init)
  if ('problem' in proxy) throw new Error(proxy.problem)
  // Node's own fetch does not support proxies; the HTTP client for models does.
  const { getSharedHttpClient } = await import('../../../provider/index.ts')
  const { method = 'GET', body, signal } = init
  const request = {
    url,
    headers: Object.fromEntries(new Headers(init.headers)),
    body: body === undefined || body === null ? [] : [toBodyText(body)],
    ...(method !== 'POST' && { method: method === 'DELETE' ? ('DELETE' as const) : ('GET' as const) }),
  }
  const response = await getSharedHttpClient()(request, signal ?? new AbortController().signal)
  const isEmpty = response.status === 204 || response.status === 304
  const { status, headers } = response
  return new Response(isEmpty ? null : toReadableStream(response.body), { status, headers: new Headers(headers) })
}

function toBodyText(body: unknown): string {
  if (typeof body === 'string' || body instanceof URLSearchParams) return String(body)
  throw new TypeError('the request body must be text')
}

function toReadableStream(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await chunks.return?.()
    },
  })
}
