import type { Files } from '../../host/host.ts'
import { codingOf, decode } from './coding.ts'
import { hashOf } from './document.ts'
import { mediaType } from './media.ts'
import { readLarge } from './read-large.ts'
import { type Slice, type Window, windowOf } from './slice.ts'

/** What reading a file gave: some of its lines, a picture or the like, or the news that it is neither. */
export type Reading =
  | ({ readonly kind: 'text'; readonly hash: string } & Slice)
  | { readonly kind: 'media'; readonly mime: string; readonly data: string }
  | { readonly kind: 'binary'; readonly size: number }
  | { readonly kind: 'too-large'; readonly size: number }

/** Reads a file for a model. A file of any size can be read in parts, and is never in memory as a whole if it is large. */
export async function readForModel(files: Files, path: string, wanted: Window, signal: AbortSignal): Promise<Reading> {
  const info = await files.info(path)
  if (info !== undefined && info.size > MAX_WHOLE) return readLarge(files, path, wanted, info.size, signal)
  const bytes = await files.read(path)
  const mime = mediaType(bytes, path)
  if (mime !== undefined) return { kind: 'media', mime, data: Buffer.from(bytes).toString('base64') }
  const coding = await codingOf(bytes)
  if (!coding) return { kind: 'binary', size: bytes.length }
  const text = (await decode(bytes, coding)).replaceAll('\r\n', '\n')
  return { kind: 'text', hash: hashOf(bytes), ...windowOf(text, wanted) }
}

/** Files up to this size are read at once; it is also what vendors take for a picture or a document. */
export const MAX_WHOLE = 20 * 2 ** 20
