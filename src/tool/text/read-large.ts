import { createHash } from 'node:crypto'
import type { Files } from '../../host/host.ts'
import { codingOf, decode } from './coding.ts'
import { mediaType } from './media.ts'
import type { Reading } from './read-text.ts'
import { MAX_LINE, MAX_TEXT, shorten, type Window } from './slice.ts'

/** Reads some lines of a large file, piece by piece: every line is counted, but only those that are wanted are kept. */
export async function readLarge(
  files: Files,
  path: string,
  wanted: Window,
  size: number,
  signal: AbortSignal,
): Promise<Reading> {
  const sample = await files.read(path, { from: 0, bytes: SAMPLE })
  if (mediaType(sample, path) !== undefined) return { kind: 'too-large', size }
  const coding = await codingOf(sample.subarray(0, sample.lastIndexOf(0x0a) + 1 || sample.length - 4))
  if (!coding) return { kind: 'binary', size }
  // In these a line end is more than one byte.
  if (coding.name.startsWith('utf-16') || coding.name.startsWith('utf-32')) return { kind: 'too-large', size }
  // A first line of text makes no text of what comes after it.
  if (sample.includes(0)) return { kind: 'binary', size }

  const hash = createHash('sha256')
  const kept = keeper(wanted)
  let from = 0
  for (;;) {
    signal.throwIfAborted()
    const bytes = await files.read(path, { from, bytes: PIECE })
    if (bytes.length === 0) break
    hash.update(bytes)
    kept.take(from === 0 ? bytes.subarray(coding.mark.length) : bytes)
    from += bytes.length
  }
  const { lines, total } = kept.end()
  const decoded = await Promise.all(lines.map((line) => decode(line, { ...coding, mark: [] })))
  const texts = decoded.map((line) => line.replace(/\r$/, ''))
  return {
    kind: 'text',
    hash: hash.digest('hex'),
    text: texts.map((line) => `${shorten(line)}\n`).join(''),
    first: Math.min(wanted.offset + 1, total),
    last: wanted.offset + lines.length,
    total,
    cut: texts.some((line) => line.length > MAX_LINE),
  }
}

const SAMPLE = 65_536
const PIECE = 4 * 2 ** 20
/** Of a line, more than can be shown in any encoding, and no more. */
const MAX_KEPT = MAX_LINE * 4 + 4

/** Goes past so many lines, or as many as end here; gives where the next one begins. */
function passLines(bytes: Uint8Array, from: number, most: number): { passed: number; next: number } {
  let passed = 0
  let next = from
  for (let at = from; at < bytes.length && passed < most; at++) {
    if (bytes[at] !== 0x0a) continue
    passed++
    next = at + 1
  }
  return { passed, next }
}

/** Counts lines as their bytes come by, and keeps the wanted ones, as much of each as can be shown. */
function keeper({ offset, limit }: Window): {
  take(bytes: Uint8Array): void
  end(): { lines: Buffer[]; total: number }
} {
  const lines: Buffer[] = []
  let at = 0
  let open: Buffer[] = []
  let kept = 0
  let size = 0
  let begun = false

  const isWanted = (): boolean => at >= offset && at < offset + limit && size < MAX_TEXT
  const keep = (bytes: Uint8Array): void => {
    begun = true
    if (!isWanted() || kept >= MAX_KEPT) return
    const part = Buffer.from(bytes.subarray(0, MAX_KEPT - kept))
    open.push(part)
    kept += part.length
  }
  const close = (): void => {
    if (isWanted()) {
      lines.push(Buffer.concat(open))
      size += kept + 1
    }
    at++
    open = []
    kept = 0
    begun = false
  }

  return {
    take(bytes) {
      let from = 0
      for (;;) {
        if (!isWanted() && !begun) {
          // Most lines are only counted, and there may be very many of them.
          const { passed, next } = passLines(bytes, from, at < offset ? offset - at : Number.POSITIVE_INFINITY)
          at += passed
          from = next
        }
        const end = bytes.indexOf(0x0a, from)
        if (end < 0) break
        keep(bytes.subarray(from, end))
        close()
        from = end + 1
      }
      if (from < bytes.length) keep(bytes.subarray(from))
    },
    end() {
      if (begun) close()
      return { lines, total: at }
    },
  }
}
