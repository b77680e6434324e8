import { defined } from '../../model/defined.ts'
import { isObject, type Json, type JsonObject, nonBlankString, objectOrEmpty } from '../../model/json.ts'
import type { MediaPart } from '../../model/turn.ts'
import { createFieldFilter } from '../other-fields.ts'

/** A part as received: every field is optional and of unknown type. */
export type GeminiPart = Readonly<Record<string, unknown>>

/** The key of a part's content. */
export function getPartKind(part: GeminiPart): string | undefined {
  const notes = new Set(['thought', 'thoughtSignature'])
  return Object.entries(part).find(([key, value]) => !notes.has(key) && value !== null)?.[0]
}

/** A part that only the vendor understands; it is sent back unchanged. */
export function toNativeItem(type: string, part: GeminiPart): Json {
  return { type, part: part as Json }
}

export function toMediaPart(part: GeminiPart): MediaPart | undefined {
  const { inlineData: inline, fileData: file } = part
  if (isObject(inline) && typeof inline['data'] === 'string') {
    return { kind: 'media', mime: getMimeType(inline), data: inline['data'] }
  }
  if (!isObject(file) || typeof file['fileUri'] !== 'string') return undefined
  return { kind: 'media', mime: getMimeType(file), uri: file['fileUri'] }
}

/** The signature of a text, a thought or a call, and what else its part has; undefined if it has neither. */
export function getPartData(part: GeminiPart): JsonObject | undefined {
  const thoughtSignature = nonBlankString(part['thoughtSignature'])
  const fields = pickPartFields(part)
  return thoughtSignature === undefined && !fields ? undefined : defined({ thoughtSignature, fields })
}

const pickPartFields = createFieldFilter('text thought thoughtSignature functionCall')

/** Does a part with media have nothing but its content? */
export function isPlainMedia(part: GeminiPart): boolean {
  return (
    !pickMediaFields(part) && ['inlineData', 'fileData'].every((key) => !pickContentFields(objectOrEmpty(part[key])))
  )
}

const pickMediaFields = createFieldFilter('inlineData fileData thought thoughtSignature')
const pickContentFields = createFieldFilter('mimeType data fileUri')

function getMimeType(fields: GeminiPart): string {
  return typeof fields['mimeType'] === 'string' ? fields['mimeType'] : 'application/octet-stream'
}
