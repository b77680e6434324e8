import { proxyFor } from '../../provider/proxy.ts'
import type { FetchLike } from './sdk.ts'

/** The web as servers with an address are reached: through the proxy that the variables name, if they name one. */
export const webFetch: FetchLike = async (url, init = {}) => {
  const to = new URL(url)
  const proxy = proxyFor(to, process.env)
  if (!proxy) return fetch(url, init)
  if ('problem' in proxy) throw new Error(proxy.problem)
  // Node's own fetch knows nothing of proxies; the client that asks models does.
  const { sharedPost } = await import('../../provider/send.ts')
  const { method = 'GET', body, signal } = init
  const letter = {
    url: to,
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
