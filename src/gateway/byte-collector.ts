/** Keeps the bytes of a body up to a limit. */
export interface ByteCollector {
  readonly length: number
  /** Were there more bytes than are kept? */
  readonly isCut: boolean
  /** Returns how many bytes were kept. */
  push(bytes: Uint8Array | string): number
  /** Characters that arrived in pieces are whole. */
  toText(): string
}

/** Copies what it keeps: a chunk may be a view of a larger buffer. */
export function createByteCollector(maxBytes: number): ByteCollector {
  let chunks: Buffer[] = []
  let length = 0
  let isCut = false
  return {
    get length() {
      return length
    },
    get isCut() {
      return isCut
    },
    push(bytes) {
      const room = maxBytes - length
      if (room <= 0) {
        isCut ||= bytes.length > 0
        return 0
      }
      const copy = Buffer.from(bytes as Uint8Array)
      const kept = copy.length > room ? copy.subarray(0, room) : copy
      isCut ||= kept.length < copy.length
      chunks.push(kept)
      length += kept.length
      if (chunks.length >= MAX_CHUNKS) chunks = [Buffer.concat(chunks)]
      return kept.length
    },
    toText() {
      const [first, second] = chunks
      if (!first) return ''
      const whole = second ? Buffer.concat(chunks) : first
      chunks = [whole]
      return whole.toString('utf8')
    },
  }
}

/** Joining is rare enough to cost little, and frequent enough that few objects are kept. */
const MAX_CHUNKS = 4096
