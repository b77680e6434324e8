/** A message may contain images, but not the memory of the machine. */
export const MAX_LINE_BYTES = 64 * 2 ** 20

interface LineListener {
  readonly onLine: (text: string) => void
  /** A line was longer than the limit; it is dropped as a whole. */
  readonly onTooLong: () => void
}

/** Splits bytes into lines. A character may be split between two pieces, and a line may arrive in many. */
export function createLineSplitter({ onLine, onTooLong }: LineListener, maxBytes = MAX_LINE_BYTES) {
  let pieces: Uint8Array[] = []
  let size = 0
  let isTooLong = false

  function add(piece: Uint8Array): void {
    size += piece.length
    if (size > maxBytes) {
      isTooLong = true
      pieces = []
    } else if (piece.length > 0) pieces.push(piece)
  }

  function endLine(): void {
    const [text, wasTooLong] = [Buffer.concat(pieces).toString('utf8'), isTooLong]
    pieces = []
    size = 0
    isTooLong = false
    if (wasTooLong) onTooLong()
    else if (text.trim() !== '') onLine(text)
  }

  return {
    push(bytes: Uint8Array): void {
      let from = 0
      for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, from)) {
        add(bytes.subarray(from, at))
        endLine()
        from = at + 1
      }
      add(bytes.subarray(from))
    },
    /** The input has ended: a last line without a line feed counts. */
    end: endLine,
  }
}

const LINE_FEED = 10
