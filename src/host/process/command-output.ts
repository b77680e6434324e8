import { closeSync, constants, fstatSync, ftruncateSync, mkdirSync, openSync, readSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { decodeSurrogateEscape } from '../files/surrogate-escape.ts'

/**
 * The output of a command. It goes into a file, not a pipe: a command is over when its shell is, and background processes
 * can keep printing. Only the beginning and the end are ever in memory.
 */
export interface CommandOutput {
  readonly descriptor: number
  readonly file: string
  size(): number
  /** The output since the last call; of very much, only the end. */
  readNew(): string
  /**
   * All of it, or the beginning and the end with the number of bytes between. Bytes that are not text are as in
   * `surrogate-escape.ts`.
   */
  text(): { readonly text: string; readonly omittedBytes: number }
  /** The file is removed unless it is kept. */
  close(keepFile: boolean): void
}

export function openCommandOutput(folder: string, name: string): CommandOutput {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const file = join(folder, `${name}.txt`)
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND | constants.O_NOFOLLOW
  const descriptor = openSync(file, flags, 0o600)
  const decoder = new StringDecoder('utf8')
  let readOffset = 0

  function bytes(from: number, length: number): Buffer {
    const buffer = Buffer.allocUnsafe(length)
    return buffer.subarray(0, readSync(descriptor, buffer, 0, length, from))
  }

  return {
    descriptor,
    file,
    size: () => fstatSync(descriptor).size,
    readNew() {
      const { size } = fstatSync(descriptor)
      const from = Math.max(readOffset, size - MAX_NEW_BYTES)
      if (size <= from) return ''
      const newBytes = bytes(from, size - from)
      readOffset = from + newBytes.length
      return decoder.write(newBytes)
    },
    text() {
      const { size } = fstatSync(descriptor)
      if (size <= HEAD_BYTES + TAIL_BYTES) return { text: decodeSurrogateEscape(bytes(0, size)), omittedBytes: 0 }
      const head = trimPartialEnd(bytes(0, HEAD_BYTES))
      const tail = trimPartialStart(bytes(size - TAIL_BYTES, TAIL_BYTES))
      const omittedBytes = size - head.length - tail.length
      const omissionNote = `\n[... ${omittedBytes} bytes omitted; the whole output is in ${file} ...]\n`
      return { text: `${decodeSurrogateEscape(head)}${omissionNote}${decodeSurrogateEscape(tail)}`, omittedBytes }
    },
    close(keepFile) {
      if (!keepFile) ftruncateSync(descriptor)
      closeSync(descriptor)
      if (!keepFile) unlinkSync(file)
    },
  }
}

/** The end of an output says more than its beginning. */
const HEAD_BYTES = 8_000
const TAIL_BYTES = 24_000
const MAX_NEW_BYTES = 64_000

function trimPartialEnd(bytes: Buffer): Buffer {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - 4); at--) {
    const byte = bytes[at] ?? 0
    if (byte < 0x80) return bytes
    if (byte >= 0xc0) {
      const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2
      return bytes.length - at < needs ? bytes.subarray(0, at) : bytes
    }
  }
  return bytes
}

function trimPartialStart(bytes: Buffer): Buffer {
  let at = 0
  while (at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++
  return bytes.subarray(at)
}
