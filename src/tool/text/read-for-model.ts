import type { Files } from '../../host/host.ts'
import { HostError } from '../../host/host-error.ts'
import { sha256Hex } from '../../host/files/sha256.ts'
import { detectEncoding, decodeText } from './encoding.ts'
import { detectMediaType } from './media-type.ts'
import { readLargeFile } from './read-large-file.ts'
import { type LineSlice, type LineWindow, sliceLines } from './line-slice.ts'

export type FileReading =
  | ({ readonly kind: 'text'; readonly hash: string } & LineSlice)
  | { readonly kind: 'media'; readonly mime: string; readonly data: string }
  | { readonly kind: 'binary'; readonly size: number }
  | { readonly kind: 'too-large'; readonly size: number }

/** A large file is read in parts, and never fully in memory. */
export async function readFileForModel(
  files: Files,
  path: string,
  lineWindow: LineWindow,
  signal: AbortSignal,
): Promise<FileReading> {
  const bytes = await files.read(path, undefined, MAX_WHOLE_READ_BYTES).catch(ignoreTooLarge)
  if (!bytes || bytes.length > MAX_WHOLE_READ_BYTES) {
    const size = bytes?.length ?? (await files.info(path))?.size ?? 0
    return readLargeFile(files, path, lineWindow, size, signal)
  }
  const mime = detectMediaType(bytes, path)
  if (mime !== undefined) return { kind: 'media', mime, data: Buffer.from(bytes).toString('base64') }
  const encoding = await detectEncoding(bytes)
  if (!encoding) return { kind: 'binary', size: bytes.length }
  const text = (await decodeText(bytes, encoding)).replaceAll('\r\n', '\n')
  return { kind: 'text', hash: sha256Hex(bytes), ...sliceLines(text, lineWindow) }
}

function ignoreTooLarge(error: unknown): undefined {
  if (!(error instanceof HostError && error.code === 'too-large')) throw error
}

/** Also the limit of vendors for an image or a document. */
export const MAX_WHOLE_READ_BYTES = 20 * 2 ** 20
