import type { IncomingMessage } from 'node:http'

/**
 * The body of a response, which has just begun. Each step gives everything that has arrived, and the end of a body is known with its
 * last bytes; Node's own iterator takes several rounds of the event loop for that.
 */
export function readBody(incoming: IncomingMessage): AsyncIterable<Uint8Array> {
  let chunks: Buffer[] = []
  let bytes = 0
  let end: { readonly error?: unknown } | undefined
  let wake: (() => void) | undefined

  function wakeReader(): void {
    wake?.()
    wake = undefined
  }
  function finish(result: { readonly error?: unknown }): void {
    end ??= result
    wakeReader()
  }
  incoming.once('end', () => finish({}))
  incoming.once('error', (error) => finish({ error }))
  incoming.once('close', () => finish({ error: createBreakError() }))
  incoming.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_UNREAD_BYTES) incoming.pause()
    wakeReader()
  })

  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      if (chunks.length === 0 && !end)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      const [first] = chunks
      if (first) {
        const value = chunks.length === 1 ? first : Buffer.concat(chunks, bytes)
        chunks = []
        bytes = 0
        if (incoming.isPaused()) incoming.resume()
        return { done: false, value }
      }
      if (end && 'error' in end) throw end.error
      return { done: true, value: undefined }
    },
    async return() {
      incoming.destroy()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

/** As Node names it. */
function createBreakError(): Error {
  return Object.assign(new Error('Premature close'), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
}

/** A reader that is slower than the server does not fill the memory. */
const MAX_UNREAD_BYTES = 2 ** 20
