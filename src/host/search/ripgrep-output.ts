import { decodeSurrogateEscape } from '../files/surrogate-escape.ts'

/** A matching line: where it is, and its bytes without the line ending. */
export interface RipgrepMatch {
  readonly line: number
  readonly offset: number
  readonly bytes: Buffer
}

/** The path is relative to the start of the search. */
export interface RipgrepFile {
  readonly path: string
  readonly matches: RipgrepMatch[]
}

/** Flags for the output that `createRipgrepParser` reads. JSON has ten times as many bytes and takes as much longer. */
export const RIPGREP_OUTPUT_FLAGS: readonly string[] =
  '--color=never --no-heading --with-filename --null --line-number --byte-offset'.split(' ')

/**
 * Parses ripgrep's output in chunks: a path, a zero byte, `line:offset:` and the line. Returns false when a match is
 * rejected, or exceeds the limit.
 */
export function createRipgrepParser(
  onMatch: (path: string, match: RipgrepMatch) => boolean,
  maxBytes: number,
): (chunk: Buffer) => boolean {
  let pendingChunks: Buffer[] = []
  let size = 0

  return (chunk) => {
    pendingChunks.push(chunk)
    size += chunk.length
    if (!chunk.includes(LINE_FEED)) return size <= maxBytes
    const all = pendingChunks.length === 1 ? chunk : Buffer.concat(pendingChunks)
    let at = 0
    for (;;) {
      const zero = all.indexOf(0, at)
      const end = zero < 0 ? -1 : all.indexOf(LINE_FEED, zero)
      if (end < 0) break
      const match = parseMatch(all, zero + 1, end)
      if (match && !onMatch(parsePath(all, at, zero), match)) return false
      at = end + 1
    }
    const rest = all.subarray(at)
    pendingChunks = [rest]
    size = rest.length
    return size <= maxBytes
  }
}

export const LINE_FEED = 0x0a
export const CARRIAGE_RETURN = 0x0d
const COLON = 0x3a

function parseMatch(all: Buffer, from: number, end: number): RipgrepMatch | undefined {
  const first = all.indexOf(COLON, from)
  const second = all.indexOf(COLON, first + 1)
  if (first < 0 || second < 0 || second > end) return undefined
  const line = Number(all.toString('latin1', from, first))
  const offset = Number(all.toString('latin1', first + 1, second))
  if (!Number.isSafeInteger(line) || !Number.isSafeInteger(offset)) return undefined
  const last = all[end - 1] === CARRIAGE_RETURN && end - 1 > second ? end - 1 : end
  return { line, offset, bytes: all.subarray(second + 1, last) }
}

function parsePath(all: Buffer, from: number, end: number): string {
  const text = decodeSurrogateEscape(all.subarray(from, end))
  return text.includes('\n') ? text.replace(RIPGREP_WARNINGS, '') : text
}

/** ripgrep reports binary data between the matches. */
const RIPGREP_WARNINGS = /^(?:.*\(found ".*" byte around offset \d+\)\n)+/
