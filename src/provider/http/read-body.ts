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
  let stepBytes = lastStepBytes
  let stepStart = 0
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

  /** A chunk is not divided: what a server sends at once arrives at once. */
  function takeStep(first: Buffer): Buffer {
    let count = 1
    let length = first.length
    for (; count < chunks.length && length < stepBytes; count++) length += chunks[count]?.length ?? 0
    const step = count === 1 ? first : Buffer.concat(chunks.slice(0, count), length)
    isLongStep = count < chunks.length
    chunks = isLongStep ? chunks.slice(count) : []
    bytes -= length
    if (bytes <= MAX_UNREAD_BYTES && incoming.isPaused()) incoming.resume()
    return step
  }

  /** More has come than could be read in one step: other work gets its turn, and the next step is as long as there was time for. */
  async function pause(): Promise<void> {
    const factor = performance.now() - stepStart < STEP_MS ? 2 : 0.5
    stepBytes = Math.min(Math.max(stepBytes * factor, MIN_STEP_BYTES), MAX_STEP_BYTES)
    lastStepBytes = stepBytes
    await nextTurn()
  }

  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      if (isLongStep) await pause()
      if (chunks.length === 0 && !end)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      stepStart = performance.now()
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

/** So long may decoding and drawing a step take. */
const STEP_MS = 2
const MIN_STEP_BYTES = 2 ** 11
const MAX_STEP_BYTES = 2 ** 14
/** Where the next body begins. It takes longer at first, when the code is new to V8. */
let lastStepBytes = MIN_STEP_BYTES

/** A reader that is slower than the server does not fill the memory. */
const MAX_UNREAD_BYTES = 2 ** 16
