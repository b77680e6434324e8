import type { Json } from '../../model/json.ts'
import type { MediaPart, TextPart } from '../../model/turn.ts'
import { createTimeSlices } from '../time-slices.ts'
import type { Entry, EntryBody } from './entry.ts'

/** Media in a log, with the hash of its content instead of the content. */
interface StoredMedia extends Omit<MediaPart, 'data'> {
  readonly blob: string
  readonly bytes: number
}

/** Shorter media stays in the log: a file for each would cost more than it saves. */
const MIN_BLOB_CHARS = 2048

/** Replaces long media by the hash of its content. An entry without any is returned unchanged. */
export function externalizeMedia<Body extends EntryBody>(body: Body, putBlob: (bytes: Uint8Array) => string): Body {
  return mapMedia(body, (part) => {
    if (part.data === undefined || part.data.length < MIN_BLOB_CHARS) return part
    const bytes = Buffer.from(part.data, 'base64')
    // A request must not change: base64 that would be decoded and encoded differently stays as it is.
    if (bytes.toString('base64') !== part.data) return part
    const { data: _, ...rest } = part
    const storedMedia: StoredMedia = { ...rest, blob: putBlob(bytes), bytes: bytes.length }
    return storedMedia
  })
}

/**
 * Reverses `externalizeMedia` for all entries, in slices. Media whose blob is missing or damaged becomes a text.
 */
export async function restoreMedia(
  entries: readonly Entry[],
  getBlob: (hash: string) => Promise<Uint8Array | undefined>,
): Promise<Entry[]> {
  const slices = createTimeSlices()
  const restored: Entry[] = []
  for (const entry of entries) {
    if (slices.isOver()) await slices.pause()
    const hashes = entry.kind === 'change' ? [] : findBlobHashes(entry)
    const blobs = new Map<string, Uint8Array | undefined>()
    for (const hash of hashes) blobs.set(hash, blobs.get(hash) ?? (await getBlob(hash)))
    restored.push(hashes.length === 0 ? entry : mapMedia(entry, (part) => restorePart(part, blobs)))
  }
  return restored
}

function restorePart(
  part: MediaPart | StoredMedia,
  blobs: ReadonlyMap<string, Uint8Array | undefined>,
): MediaPart | TextPart {
  if (!isStoredMedia(part)) return part
  const { blob, bytes, ...rest } = part
  const found = blobs.get(blob)
  return found ? { ...rest, data: Buffer.from(found).toString('base64') } : createMissingMediaText(part, bytes)
}

/** The hashes of all blobs that an entry refers to: media, and the previous content of files. */
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
  return { kind: 'text', text: `[${mediaLabel}, ${bytes} bytes: the stored file is missing or damaged.]` }
}

function isStoredMedia(part: MediaPart | StoredMedia): part is StoredMedia {
  return 'blob' in part && typeof part.blob === 'string' && typeof part.bytes === 'number'
}

/** Maps every media part of an entry. An entry without any is returned unchanged. */
function mapMedia<Body extends EntryBody>(body: Body, change: (part: MediaPart) => MediaPart | TextPart): Body {
  const mapParts = <Part extends { readonly kind: string }>(parts: readonly Part[]): readonly Part[] =>
    Array.isArray(parts) && parts.some(isMediaPart)
      ? parts.map((part) => (isMediaPart(part) ? (change(part) as unknown as Part) : part))
      : parts
  switch (body.kind) {
    case 'user': {
      const parts = mapParts(body.parts)
      return parts === body.parts ? body : { ...body, parts }
    }
    case 'turn': {
      const parts = mapParts(body.turn.parts)
      return parts === body.turn.parts ? body : { ...body, turn: { ...body.turn, parts } }
    }
    case 'result': {
      const content = mapParts(body.result.content)
      return content === body.result.content ? body : { ...body, result: { ...body.result, content } }
    }
    case 'open':
    case 'settings':
    case 'note':
    case 'intent':
    case 'subagent':
    case 'ask':
    case 'reply':
    case 'compact':
    case 'request':
    case 'fault':
    case 'change':
    case 'undo':
    case 'close':
      return body
    default:
      return body satisfies never
  }
}

function isMediaPart(part: unknown): part is MediaPart {
  return (part as { kind?: Json } | undefined)?.kind === 'media'
}
