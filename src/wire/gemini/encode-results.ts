import { isObject, type JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import {
  describeMedia,
  findResultMedia,
  formatResultText,
  toMediaUrl,
  toWellFormed,
  toWellFormedJson,
} from '../../model/text.ts'
import type { MediaPart, ResultPart } from '../../model/turn.ts'
import { type CallResultPair, type EncodeContext, getReplayableData } from '../history/transcript.ts'
import { defined } from '../../model/defined.ts'

/** Media are inside the response since Gemini 3; before, they follow after all responses (T100). */
export function encodeFunctionResponse(
  { call, result }: CallResultPair,
  id: string | undefined,
  context: EncodeContext,
): JsonObject {
  const { profile, projection } = context
  const unknown = result.content.map((part) => getReplayableData(part, context)?.['part']).filter(isObject)
  const nested = profile.nestedMedia
    ? findResultMedia(result).filter(
        (part) => isSupportedMedia(part, profile) && !isObject(getReplayableData(part, context)?.['part']),
      )
    : []
  return {
    functionResponse: {
      ...defined({ id }),
      name: projection.toWireName(call.name),
      response: encodeResponse(result, profile),
      ...(nested.length + unknown.length > 0 && {
        parts: [...nested.map((part) => encodeMediaPart(part, profile)), ...(unknown as JsonObject[])],
      }),
      ...(getReplayableData(result, context)?.['fields'] as JsonObject | undefined),
    },
  }
}

/** What follows the responses of a turn, if media cannot be inside them. */
export function encodeAttachments(result: ResultPart, profile: Profile): JsonObject[] {
  if (!profile.media || profile.nestedMedia || findResultMedia(result).length === 0) return []
  const mixed = result.status === 'ok' && hasText(result)
  return result.content.flatMap((part) => {
    if (part.kind === 'media') return isSupportedMedia(part, profile) ? [encodeMediaPart(part, profile)] : []
    return mixed && part.text.trim() !== '' ? [{ text: toWellFormed(part.text) }] : []
  })
}

/** A sentence instead, if the model does not accept the media, or if they are empty. */
export function encodeMediaPart(part: MediaPart, profile: Profile): JsonObject {
  if (!isSupportedMedia(part, profile)) return { text: describeOmittedMedia(part, profile) }
  if (part.data) return { inlineData: { mimeType: part.mime, data: part.data } }
  return { fileData: { mimeType: part.mime, fileUri: part.uri ?? '' } }
}

/** With an unsupported type, the service rejects this request and all that follow (T100). */
export function isSupportedMedia(part: MediaPart, profile: Profile): boolean {
  return profile.media && toMediaUrl(part) !== undefined && (SUPPORTED_MIME.test(part.mime) || !part.data)
}

const SUPPORTED_MIME = /^(?:image\/(?:png|jpe?g|webp|hei[cf])|audio\/.+|video\/.+|text\/.+|application\/pdf)$/

/** The response is always an object, and for text always the same one (T127). */
function encodeResponse(result: ResultPart, profile: Profile): JsonObject {
  const media = findResultMedia(result)
  const supported = media.filter((part) => isSupportedMedia(part, profile))
  const missing = media.filter((part) => !supported.includes(part)).map((part) => describeOmittedMedia(part, profile))
  const lines = (base: string) => [base, ...missing].filter((line) => line !== '').join('\n')
  if (result.status !== 'ok') return { error: lines(formatResultText(result)) }
  if (!hasText(result) && isObject(result.data)) return toWellFormedJson(result.data)
  if (media.length === 0) return { output: formatResultText(result) }
  if (supported.length === 0 || (hasText(result) && profile.nestedMedia))
    return { output: lines(hasText(result) ? formatResultText(result) : '') }
  if (hasText(result) || supported.length > 1) return { output: lines('Tool execution succeeded.') }
  return { output: lines(`Binary content of type ${supported[0]?.mime ?? ''} was processed.`) }
}

function hasText(result: ResultPart): boolean {
  return result.content.some((part) => part.kind === 'text' && part.text.trim() !== '')
}

export function describeOmittedMedia(part: MediaPart, profile: Profile): string {
  const why = toMediaUrl(part) === undefined ? 'it is empty' : 'it cannot be shown to this model'
  return `(${describeMedia(part)} was left out: ${profile.media ? why : 'this model takes text only'})`
}
