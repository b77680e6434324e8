import type { ModelPort } from '../port.ts'
import { readServerWindow } from '../server-window.ts'
import type { Target } from '../target.ts'
import type { Post } from '../transport.ts'
import { wrapped } from './wrapped.ts'

/**
 * Knows the context window of a server of one's own, which no table can know. It is read once, when the first answer
 * begins: nothing stands before the first request, and by then the model is loaded.
 */
export function serverWindow(inner: ModelPort, target: Target, post: () => Post): ModelPort {
  if (target.row.port === undefined && !isLoopback(target.row.url)) return inner
  let isAsked = false
  let found: number | undefined
  const port = wrapped(inner, async function* (request, sending) {
    for await (const event of inner.ask(request, sending)) {
      if (!isAsked && event.type !== 'open' && event.type !== 'finish') {
        isAsked = true
        void readServerWindow(target, post()).then((window) => (found = window))
      }
      yield event
    }
  })
  return Object.defineProperty(port, 'window', { get: () => found ?? inner.window, enumerable: true })
}

function isLoopback(url: string): boolean {
  return /^https?:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::|\/|$)/.test(url)
}
