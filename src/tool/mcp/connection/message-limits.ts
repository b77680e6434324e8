import type { FetchLike } from './sdk.ts'

export const MAX_JSON_RPC_MESSAGE_BYTES = 16 * 2 ** 20

class MessageTooLargeError extends Error {
  constructor(limit: number) {
    super(`the server sent a message of more than ${Math.floor(limit / 2 ** 20)} MB`)
  }
}

/** Splits bytes into lines; a line over the limit throws before it is buffered. */
export function createLineSplitter(limit: number, onLine: (line: string) => void): (bytes: Uint8Array) => void {
  let pending: Uint8Array[] = []
  let size = 0
  return (bytes) => {
    let from = 0
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
      const end = bytes.subarray(from, at)
      if (size + end.length > limit) throw new MessageTooLargeError(limit)
      const line = size === 0 ? end : Buffer.concat([...pending, end])
      pending = []
      size = 0
      from = at + 1
      onLine(Buffer.from(line.buffer, line.byteOffset, line.length).toString('utf8'))
    }
    const rest = bytes.subarray(from)
    if (rest.length === 0) return
    size += rest.length
    if (size > limit) throw new MessageTooLargeError(limit)
    pending.push(rest)
  }
}

/** Limits the size of responses; of a stream, of each event. */
export function createLimitedFetch(
  send: FetchLike,
  fail: (why: string) => void,
  limit: number = MAX_JSON_RPC_MESSAGE_BYTES,
): FetchLike {
  return async (url, init) => {
    const response = await send(url, init)
    if (!response.body) return response
    const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
    const body = response.body.pipeThrough(createSizeLimiter(limit, isStream, fail))
    const { status, statusText, headers } = response
    return new Response(body, { status, statusText, headers })
  }
}

function createSizeLimiter(
  limit: number,
  isStream: boolean,
  fail: (why: string) => void,
): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform(bytes, controller) {
      size += bytes.length
      const ended = isStream ? findLastBlankLine(bytes) : -1
      if (ended >= 0) size = bytes.length - ended
      if (size <= limit) return controller.enqueue(bytes)
      const error = new MessageTooLargeError(limit)
      controller.error(error)
      fail(error.message)
    },
  })
}

function findLastBlankLine(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  return Math.max(buffer.lastIndexOf('\n\n'), buffer.lastIndexOf('\r\n\r\n'), buffer.lastIndexOf('\r\r'))
}
