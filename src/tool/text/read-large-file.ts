import { createHash } from 'node:crypto'
import type { Files } from '../../host/host.ts'
import { detectEncoding, decodeText } from './encoding.ts'
import { detectMediaType } from './media-type.ts'
import type { FileReading } from './read-for-model.ts'
import { MAX_LINE_CHARS, MAX_READ_CHARS, truncateLine, type LineWindow } from './line-slice.ts'

/** Reads some lines of a large file in chunks: all lines are counted, only the wanted ones are kept. */
export async function readLargeFile(
  files: Files,
  path: string,
  lineWindow: LineWindow,
  size: number,
  signal: AbortSignal,
): Promise<FileReading> {
  const sample = await files.read(path, { from: 0, bytes: SAMPLE_BYTES })
  if (detectMediaType(sample, path) !== undefined) return { kind: 'too-large', size }
  const encoding = await detectEncoding(sample.subarray(0, sample.lastIndexOf(0x0a) + 1 || sample.length - 4))
  if (!encoding) return { kind: 'binary', size }
  // Their line endings have more than one byte.
  if (encoding.name.startsWith('utf-16') || encoding.name.startsWith('utf-32')) return { kind: 'too-large', size }
  // Text at the start does not make a file text.
  if (sample.includes(0)) return { kind: 'binary', size }

  const hash = createHash('sha256')
  const kept = createLineCollector(lineWindow)
  let from = 0
  for (;;) {
    signal.throwIfAborted()
    const bytes = await files.read(path, { from, bytes: READ_CHUNK_BYTES })
    if (bytes.length === 0) break
    hash.update(bytes)
    kept.take(from === 0 ? bytes.subarray(encoding.bom.length) : bytes)
    from += bytes.length
  }
  const { lines, total } = kept.end()
  const decoded = await Promise.all(lines.map((line) => decodeText(line, { ...encoding, bom: [] })))
  const texts = decoded.map((line) => line.replace(/\r$/, ''))
  return {
    kind: 'text',
    hash: hash.digest('hex'),
    text: texts.map((line) => `${truncateLine(line)}\n`).join(''),
    first: Math.min(lineWindow.offset + 1, total),
    last: lineWindow.offset + lines.length,
    total,
    hasTruncatedLine: texts.some((line) => line.length > MAX_LINE_CHARS),
  }
}

const SAMPLE_BYTES = 65_536
const READ_CHUNK_BYTES = 4 * 2 ** 20
/** More than can be shown of a line in any encoding. */
const MAX_KEPT_LINE_BYTES = MAX_LINE_CHARS * 4 + 4

/** Skips up to `maxLines` lines; `next` is where the following one begins. */
function skipLines(bytes: Uint8Array, from: number, maxLines: number): { passed: number; next: number } {
  let passed = 0
  let next = from
  for (let at = from; at < bytes.length && passed < maxLines; at++) {
    if (bytes[at] !== 0x0a) continue
    passed++
    next = at + 1
  }
  return { passed, next }
}

/** Counts lines chunk by chunk, and keeps the wanted ones as far as they are shown. */
function createLineCollector({ offset, limit }: LineWindow) {
  const lines: Buffer[] = []
  let at = 0
  let open: Buffer[] = []
  let kept = 0
  let size = 0
  let hasOpenLine = false

  const isWanted = (): boolean => at >= offset && at < offset + limit && size < MAX_READ_CHARS
  const keep = (bytes: Uint8Array): void => {
    hasOpenLine = true
    if (!isWanted() || kept >= MAX_KEPT_LINE_BYTES) return
    const part = Buffer.from(bytes.subarray(0, MAX_KEPT_LINE_BYTES - kept))
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
    hasOpenLine = false
  }

  return {
    take(bytes: Uint8Array): void {
      let from = 0
      for (;;) {
        if (!isWanted() && !hasOpenLine) {
          // Most lines are only counted, and there may be very many.
          const { passed, next } = skipLines(bytes, from, at < offset ? offset - at : Number.POSITIVE_INFINITY)
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
      if (hasOpenLine) close()
      return { lines, total: at }
    },
  }
}
