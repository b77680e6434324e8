import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * The body of a response, which has just begun. Each step gives what has arrived, and the end of a body is known with its last bytes;
 * Node's own iterator takes several rounds of the event loop for that. Between long steps other work gets its turn, such as the keys that
 * a user types.
 */
export function readBody(incoming: Readable): AsyncIterable<Uint8Array> {
  let chunks: Buffer[] = []
  let bytes = 0
  let isLongStep = false
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

  function takeStep(first: Buffer): Buffer {
    let count = 1
    let length = first.length
    for (; count < chunks.length && length < STEP_BYTES; count++) length += chunks[count]?.length ?? 0
    isLongStep = count < chunks.length
    const step = count === 1 ? first : Buffer.concat(chunks.slice(0, count), length)
    chunks = isLongStep ? chunks.slice(count) : []
    bytes -= length
    if (bytes <= MAX_UNREAD_BYTES && incoming.isPaused()) incoming.resume()
    return step
  }

  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      if (isLongStep) await nextTurn()
      if (chunks.length === 0 && !end)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      const [first] = chunks
      if (first) return { done: false, value: takeStep(first) }
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

/** Decoding and drawing this much takes a few milliseconds. */
const STEP_BYTES = 2 ** 14

/** A reader that is slower than the server does not fill the memory. */
const MAX_UNREAD_BYTES = 2 ** 16
