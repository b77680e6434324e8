/** A piece of a request body: text, or the same as UTF-8. */
export type BodyPiece = string | Uint8Array

/**
 * The messages that each request repeats, separated by commas. They are kept as UTF-8, so that they are encoded once and not for
 * each request. The list only grows: pieces that were given out stay as they are.
 */
export function createEncodedMessages() {
  const full: BodyPiece[] = []
  let block = Buffer.alloc(0)
  let used = 0

  function closeBlock(): void {
    if (used > 0) full.push(block.subarray(0, used))
    block = Buffer.alloc(0)
    used = 0
  }

  function write(text: string, bytes: number): void {
    if (used > 0 && used + bytes > MAX_BLOCK_BYTES) closeBlock()
    if (used + bytes > block.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(MIN_BLOCK_BYTES, 2 * (used + bytes)))
      block.copy(larger, 0, 0, used)
      block = larger
    }
    used += block.write(text, used)
  }

  return {
    get pieces(): readonly BodyPiece[] {
      return used === 0 ? full : [...full, block.subarray(0, used)]
    },
    append(text: string): void {
      const separated = full.length + used === 0 ? text : `,${text}`
      // A long message is not copied.
      if (separated.length <= MAX_COPIED_CHARS) return write(separated, Buffer.byteLength(separated))
      closeBlock()
      full.push(separated)
    },
  }
}

/** All pieces of a body as one text. */
export function joinBodyPieces(pieces: readonly BodyPiece[]): string {
  const [first = ''] = pieces
  if (pieces.length <= 1) return toText(first)
  return pieces.map(toText).join('')
}

function toText(piece: BodyPiece): string {
  return typeof piece === 'string' ? piece : Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString()
}

const MIN_BLOCK_BYTES = 2 ** 14
const MAX_BLOCK_BYTES = 2 ** 18
const MAX_COPIED_CHARS = 2 ** 16
