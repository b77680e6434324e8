import { isObject, type JsonObject } from '../../model/json.ts'
import type { Profile } from '../../model/profile.ts'
import { mediaUrl, resultMedia, resultText, wellFormed, wellFormedJson } from '../../model/text.ts'
import type { MediaPart, ResultPart } from '../../model/turn.ts'
import type { Projection } from '../../schema/project.ts'
import type { Exchange } from '../transcript.ts'

/** Writes the one answer to a call. Media go inside it from Gemini 3 on; before, they follow after all answers (T100). */
export function functionResponse(
  { call, result }: Exchange,
  id: string | undefined,
  { profile, projection }: { profile: Profile; projection: Projection },
): JsonObject {
  const inside = profile.nestedMedia ? resultMedia(result).filter((part) => isShown(part, profile)) : []
  return {
    functionResponse: {
      ...(id !== undefined && { id }),
      name: projection.wireName(call.name),
      response: response(result, profile),
      ...(inside.length > 0 && { parts: inside.map((part) => mediaPart(part, profile)) }),
    },
  }
}

/** What follows the answers of a turn, where media cannot be inside them. */
export function attachments(result: ResultPart, profile: Profile): JsonObject[] {
  if (!profile.media || profile.nestedMedia || resultMedia(result).length === 0) return []
  const mixed = result.status === 'ok' && hasText(result)
  return result.content.flatMap((part) => {
    if (part.kind === 'media') return isShown(part, profile) ? [mediaPart(part, profile)] : []
    return mixed && part.text.trim() !== '' ? [{ text: wellFormed(part.text) }] : []
  })
}

/** A picture or the like as a part; a sentence where the model does not take it, or where there is nothing to send. */
export function mediaPart(part: MediaPart, profile: Profile): JsonObject {
  if (!isShown(part, profile)) return { text: leftOut(part, profile) }
  if (part.data) return { inlineData: { mimeType: part.mime, data: part.data } }
  return { fileData: { mimeType: part.mime, fileUri: part.uri ?? '' } }
}

/** One that the service does not know would cost the whole request, and all that follow (T100). */
function isShown(part: MediaPart, profile: Profile): boolean {
  return profile.media && mediaUrl(part) !== undefined && (TAKEN.test(part.mime) || !part.data)
}

const TAKEN = /^(?:image\/(?:png|jpe?g|webp|hei[cf])|audio\/.+|video\/.+|text\/.+|application\/pdf)$/

/** The answer is always an object, and for text always the same one (T127). */
function response(result: ResultPart, profile: Profile): JsonObject {
  const media = resultMedia(result)
  const shown = media.filter((part) => isShown(part, profile))
  const missing = media.filter((part) => !shown.includes(part)).map((part) => leftOut(part, profile))
  const lines = (words: string) => [words, ...missing].filter((line) => line !== '').join('\n')
  if (result.status !== 'ok') return { error: lines(resultText(result)) }
  if (!hasText(result) && isObject(result.data)) return wellFormedJson(result.data)
  if (media.length === 0) return { output: resultText(result) }
  if (shown.length === 0 || (hasText(result) && profile.nestedMedia))
    return { output: lines(hasText(result) ? resultText(result) : '') }
  if (hasText(result) || shown.length > 1) return { output: lines('Tool execution succeeded.') }
  return { output: lines(`Binary content of type ${shown[0]?.mime ?? ''} was processed.`) }
}

function hasText(result: ResultPart): boolean {
  return result.content.some((part) => part.kind === 'text' && part.text.trim() !== '')
}

function leftOut(part: MediaPart, profile: Profile): string {
  const named = part.name === undefined ? part.mime : `${wellFormed(part.name)} (${part.mime})`
  if (!profile.media) return `(${named} was left out: this model takes text only)`
  return `(${named} was left out: it ${mediaUrl(part) === undefined ? 'is empty' : 'cannot be shown to this model'})`
}
