import { defined } from '../../model/defined.ts'
import { isObject, type JsonObject, nonBlankString, stringOrEmpty } from '../../model/json.ts'
import type { MediaPart, TextPart } from '../../model/turn.ts'
import { addNativeData, parseMediaUrl, pickOtherFields } from '../read-parts.ts'

const WIRE_ID = 'openai-chat'

/**
 * The content of a message. What a part has beside its text or its media is kept as `fields`; a part of another kind is kept
 * whole, as `part`.
 */
export function readContentParts(content: unknown): (TextPart | MediaPart)[] {
  if (content === undefined || content === null || content === '') return []
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content]
  return parts.map((part) => {
    if (!isObject(part)) return { kind: 'text', text: typeof part === 'string' ? part : JSON.stringify(part) }
    return readPart(part, stringOrEmpty(part['type']))
  })
}

function readPart(part: Record<string, unknown>, type: string): TextPart | MediaPart {
  if (typeof part['text'] === 'string') {
    const text: TextPart = { kind: 'text', text: part['text'] }
    return /^(?:text|input_text|output_text|)$/.test(type) ? keepFields(text, part, 'type text') : keepPart(text, part)
  }
  if (type === 'refusal' && typeof part['refusal'] === 'string')
    return keepPart({ kind: 'text', text: part['refusal'], refusal: true }, part)
  const image = part['image_url']
  const url = isObject(image) ? image['url'] : image
  if (typeof url === 'string' && /^(?:image_url|)$/.test(type)) {
    const media = parseMediaUrl(url, 'image/*')
    // What else is said of the image, such as its detail, is inside.
    const isPlain = !isObject(image) || pickOtherFields(image, 'url') === undefined
    return isPlain ? keepFields(media, part, 'type image_url') : keepPart(media, part)
  }
  if (isObject(part['input_audio'])) {
    const { format, data, ...more } = part['input_audio']
    const audio = { kind: 'media', mime: `audio/${stringOrEmpty(format)}`, data: stringOrEmpty(data) } as const
    const isPlain = Object.keys(more).length === 0 && typeof format === 'string'
    return isPlain ? keepFields(audio, part, 'type input_audio') : keepPart(audio, part)
  }
  const file = isObject(part['file']) ? part['file'] : {}
  const data = nonBlankString(file['file_data'])
  if (data === undefined) return keepPart({ kind: 'text', text: '' }, part)
  const media = {
    ...parseMediaUrl(data, 'application/octet-stream'),
    ...defined({ name: nonBlankString(file['filename']) }),
  }
  const isPlain = pickOtherFields(file, 'filename file_data') === undefined
  return isPlain ? keepFields(media, part, 'type file') : keepPart(media, part)
}

function keepFields<P extends TextPart | MediaPart>(part: P, source: Record<string, unknown>, known: string): P {
  const fields = pickOtherFields(source, known)
  return fields ? addNativeData<P>(part, WIRE_ID, { fields }) : part
}

function keepPart<P extends TextPart | MediaPart>(part: P, source: Record<string, unknown>): P {
  return addNativeData<P>(part, WIRE_ID, { part: source as JsonObject })
}
