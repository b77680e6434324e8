import { type Json, type JsonObject, nonBlankString, stringOrEmpty } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import { toMediaUrl, toWellFormed } from '../../model/text.ts'
import type { MediaPart } from '../../model/turn.ts'
import { describeOmittedMedia } from '../gemini/encode-results.ts'

/** Fields as received: every one is optional and of unknown type. */
export type JsonFields = Readonly<Record<string, unknown>>

/** A step that only the vendor understands; it is sent back unchanged. */
export function toNativeStep(step: JsonFields): Json {
  return { step: step as Json }
}

export function createTextContent(text: string): JsonObject {
  return { type: 'text', text: toWellFormed(text) }
}

/** A sentence instead, if the model does not accept the media, or if they are empty. */
export function encodeMediaContent(part: MediaPart, profile: Profile): JsonObject {
  if (!isSupportedMedia(part, profile)) return createTextContent(describeOmittedMedia(part, profile))
  const kind = /^(?:image|audio|video)(?=\/)/.exec(part.mime)?.[0] ?? 'document'
  return {
    type: kind,
    mime_type: part.mime,
    ...(part.data === undefined || part.data === '' ? { uri: part.uri ?? '' } : { data: part.data }),
  }
}

/** With an unsupported type, the service rejects this request and all that follow (T100). */
export function isSupportedMedia(part: MediaPart, profile: Profile): boolean {
  return profile.media && toMediaUrl(part) !== undefined && (SUPPORTED_MIME.test(part.mime) || part.data === undefined)
}

const SUPPORTED_MIME =
  /^(?:image\/(?:png|jpe?g|webp|hei[cf]|gif|bmp|tiff)|audio\/.+|video\/.+|text\/.+|application\/pdf)$/

/** Undefined if the content has no media. */
export function toMediaPart(content: JsonFields): MediaPart | undefined {
  const type = stringOrEmpty(content['type'])
  const data = nonBlankString(content['data'])
  const uri = nonBlankString(content['uri'])
  const mime = nonBlankString(content['mime_type']) ?? DEFAULT_MIMES.get(type)
  if (!DEFAULT_MIMES.has(type) || mime === undefined || (data === undefined && uri === undefined)) return undefined
  return { kind: 'media', mime, ...(data === undefined ? { uri: uri ?? '' } : { data }) }
}

/** The types of content with media; the service names the exact type, unless the content is a link. */
const DEFAULT_MIMES: ReadonlyMap<string, string> = new Map([
  ['image', 'image/*'],
  ['audio', 'audio/*'],
  ['video', 'video/*'],
  ['document', 'application/octet-stream'],
])

/** What a part of the turn has a place for. */
export const MEDIA_FIELDS = 'type data uri mime_type'
export const TEXT_FIELDS = 'type text'
export const CALL_FIELDS = 'type id name arguments'
