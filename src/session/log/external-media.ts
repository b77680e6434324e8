import type { Json } from '../../model/json.ts'
import type { MediaPart, TextPart } from '../../model/turn.ts'
import type { Entry, EntryBody } from './entry.ts'

/** Media as it stands in a log: the hash of its content in the place of its content. */
interface StoredMedia extends Omit<MediaPart, 'data'> {
  readonly blob: string
  readonly bytes: number
}

/** Media of fewer characters of base64 stays in the log: a file for each would cost more than it saves. */
const MIN_BLOB_CHARS = 2048

/** An entry as the log keeps it: long media is put away by the hash of its content. What has none is the same object. */
export function externalizeMedia<Body extends EntryBody>(body: Body, putBlob: (bytes: Uint8Array) => string): Body {
  return mapMedia(body, (part) => {
    if (part.data === undefined || part.data.length < MIN_BLOB_CHARS) return part
    const bytes = Buffer.from(part.data, 'base64')
    // Bytes that were sent stay as they were sent: base64 that would come back in another spelling is left alone.
    if (bytes.toString('base64') !== part.data) return part
    const { data: _, ...rest } = part
    const storedMedia: StoredMedia = { ...rest, blob: putBlob(bytes), bytes: bytes.length }
    return storedMedia
  })
}

/** The entry that was stowed. Media whose content is gone or damaged becomes a text that says so. */
export function restoreMedia(entry: Entry, getBlob: (hash: string) => Uint8Array | undefined): Entry {
  return mapMedia(entry, (part) => {
    if (!isStoredMedia(part)) return part
    const { blob, bytes, ...rest } = part
    const found = getBlob(blob)
    return found ? { ...rest, data: Buffer.from(found).toString('base64') } : createMissingMediaText(part, bytes)
  })
}

/** The hashes of all content that an entry of a log names: media, and what files were before a change. */
export function findBlobHashes(entry: EntryBody): string[] {
  const found: string[] = entry.kind === 'change' && entry.before ? [entry.before.blob] : []
  mapMedia(entry, (part) => {
    if (isStoredMedia(part)) found.push(part.blob)
    return part
  })
  return found
}

function createMissingMediaText({ mime, name }: MediaPart, bytes: number): TextPart {
  const mediaLabel = name === undefined ? mime : `${name}, ${mime}`
  return { kind: 'text', text: `[Here stood ${mediaLabel} of ${bytes} bytes. Its file is missing or damaged.]` }
}

function isStoredMedia(part: MediaPart | StoredMedia): part is StoredMedia {
  return 'blob' in part && typeof part.blob === 'string' && typeof part.bytes === 'number'
}

/** Gives every media part of an entry to a function; entries without any stay the very same object. */
function mapMedia<Body extends EntryBody>(body: Body, change: (part: MediaPart) => MediaPart | TextPart): Body {
  const mapParts = <Part extends { readonly kind: string }>(parts: readonly Part[]): readonly Part[] =>
    Array.isArray(parts) && parts.some(isMediaPart)
      ? parts.map((part) => (isMediaPart(part) ? (change(part) as unknown as Part) : part))
      : parts
  if (body.kind === 'user') {
    const parts = mapParts(body.parts)
    return parts === body.parts ? body : { ...body, parts }
  }
  if (body.kind === 'turn') {
    const parts = mapParts(body.turn.parts)
    return parts === body.turn.parts ? body : { ...body, turn: { ...body.turn, parts } }
  }
  if (body.kind === 'result') {
    const content = mapParts(body.result.content)
    return content === body.result.content ? body : { ...body, result: { ...body.result, content } }
  }
  return body
}

function isMediaPart(part: unknown): part is MediaPart {
  return (part as { kind?: Json } | undefined)?.kind === 'media'
}
