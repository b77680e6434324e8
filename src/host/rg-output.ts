import { fromRaw } from './raw-name.ts'

/** A matching line, as ripgrep tells it: where it is, and its bytes without the line end. */
export interface RgHit {
  readonly line: number
  readonly offset: number
  readonly bytes: Buffer
}

/** The matching lines of one file; the path begins where the search began. */
export interface RgFile {
  readonly path: string
  readonly hits: RgHit[]
}

/** Has ripgrep print what `rgReader` reads. Its JSON says the same in ten times as many bytes, and takes as much longer. */
export const RG_FORMAT: readonly string[] = [
  '--color=never',
  '--no-heading',
  '--with-filename',
  '--null',
  '--line-number',
  '--byte-offset',
]

/**
 * Reads what ripgrep prints, in pieces as they come: a path, a zero byte, `line:offset:` and the line. It goes on until a
 * match is not taken, or there is one of more than so many bytes; then the answer to a piece is false.
 */
export function rgReader(take: (path: string, hit: RgHit) => boolean, most: number): (piece: Buffer) => boolean {
  let waiting: Buffer[] = []
  let size = 0

  return (piece) => {
    waiting.push(piece)
    size += piece.length
    if (!piece.includes(LINE_END)) return size <= most
    const all = waiting.length === 1 ? piece : Buffer.concat(waiting)
    let at = 0
    for (;;) {
      const zero = all.indexOf(0, at)
      const end = zero < 0 ? -1 : all.indexOf(LINE_END, zero)
      if (end < 0) break
      const hit = hitIn(all, zero + 1, end)
      if (hit && !take(pathIn(all, at, zero), hit)) return false
      at = end + 1
    }
    const rest = all.subarray(at)
    waiting = [rest]
    size = rest.length
    return size <= most
  }
}

const LINE_END = 0x0a
const RETURN = 0x0d
const COLON = 0x3a

function hitIn(all: Buffer, from: number, end: number): RgHit | undefined {
  const first = all.indexOf(COLON, from)
  const second = all.indexOf(COLON, first + 1)
  if (first < 0 || second < 0 || second > end) return undefined
  const line = Number(all.toString('latin1', from, first))
  const offset = Number(all.toString('latin1', first + 1, second))
  if (!Number.isSafeInteger(line) || !Number.isSafeInteger(offset)) return undefined
  const last = all[end - 1] === RETURN && end - 1 > second ? end - 1 : end
  return { line, offset, bytes: all.subarray(second + 1, last) }
}

function pathIn(all: Buffer, from: number, end: number): string {
  const text = fromRaw(all.subarray(from, end))
  return text.includes('\n') ? text.replace(REMARKS, '') : text
}

/** It says between the matches where it met with bytes that are no text. */
const REMARKS = /^(?:.*\(found ".*" byte around offset \d+\)\n)+/
