import type { Json } from '../model/json.ts'
import type { MediaPart, TextPart } from '../model/turn.ts'
import type { Entry, EntryBody } from './entry.ts'

/** Media as it stands in a log: the hash of its content in the place of its content. */
interface Stowed extends Omit<MediaPart, 'data'> {
  readonly blob: string
  readonly bytes: number
}

/** Media of fewer characters of base64 stays in the log: a file for each would cost more than it saves. */
const SMALL = 2048

/** An entry as the log keeps it: long media is put away by the hash of its content. What has none is the same object. */
export function stow<Body extends EntryBody>(body: Body, put: (bytes: Uint8Array) => string): Body {
  return mapMedia(body, (part) => {
    if (part.data === undefined || part.data.length < SMALL) return part
    const bytes = Buffer.from(part.data, 'base64')
    // Bytes that were sent stay as they were sent: base64 that would come back in another spelling is left alone.
    if (bytes.toString('base64') !== part.data) return part
    const { data: _, ...rest } = part
    const stowed: Stowed = { ...rest, blob: put(bytes), bytes: bytes.length }
    return stowed
  })
}

/** The entry that was stowed. Media whose content is gone or damaged becomes a text that says so. */
export function unstow(entry: Entry, get: (hash: string) => Uint8Array | undefined): Entry {
  return mapMedia(entry, (part) => {
    if (!isStowed(part)) return part
    const { blob, bytes, ...rest } = part
    const found = get(blob)
    return found ? { ...rest, data: Buffer.from(found).toString('base64') } : missing(part, bytes)
  })
}

/** The hashes of all content that an entry of a log names: media, and what files were before a change. */
export function blobsIn(entry: EntryBody): string[] {
  const found: string[] = entry.kind === 'change' && entry.before ? [entry.before.blob] : []
  mapMedia(entry, (part) => {
    if (isStowed(part)) found.push(part.blob)
    return part
  })
  return found
}

function missing({ mime, name }: MediaPart, bytes: number): TextPart {
  const what = name === undefined ? mime : `${name}, ${mime}`
  return { kind: 'text', text: `[Here stood ${what} of ${bytes} bytes. Its file is missing or damaged.]` }
}

function isStowed(part: MediaPart | Stowed): part is Stowed {
  return 'blob' in part && typeof part.blob === 'string' && typeof part.bytes === 'number'
}

/** Gives every media part of an entry to a function; entries without any stay the very same object. */
function mapMedia<Body extends EntryBody>(body: Body, change: (part: MediaPart) => MediaPart | TextPart): Body {
  const list = <Part extends { readonly kind: string }>(parts: readonly Part[]): readonly Part[] =>
    Array.isArray(parts) && parts.some(isMedia)
      ? parts.map((part) => (isMedia(part) ? (change(part) as unknown as Part) : part))
      : parts
  if (body.kind === 'user') {
    const parts = list(body.parts)
    return parts === body.parts ? body : { ...body, parts }
  }
  if (body.kind === 'turn') {
    const parts = list(body.turn.parts)
    return parts === body.turn.parts ? body : { ...body, turn: { ...body.turn, parts } }
  }
  if (body.kind === 'result') {
    const content = list(body.result.content)
    return content === body.result.content ? body : { ...body, result: { ...body.result, content } }
  }
  return body
}

function isMedia(part: unknown): part is MediaPart {
  return (part as { kind?: Json } | undefined)?.kind === 'media'
}
