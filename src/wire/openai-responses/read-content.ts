import { defined } from '../../model/defined.ts'
import { isObject, type JsonObject, nonBlankString, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { MediaPart, TextPart } from '../../model/turn.ts'
import { addNativeData, parseMediaUrl, pickOtherFields } from '../read-parts.ts'
import type { JsonFields } from './output-item.ts'

const WIRE_ID = 'openai-responses'

/**
 * The content of a user message or of a result. What a part has beside its text or its media is kept as `fields`; a part of
 * another kind is kept whole, as `part`.
 */
export function readContentParts(content: unknown): (TextPart | MediaPart)[] {
  return listParts(content).map((part) => {
    if (typeof part['text'] === 'string')
      return /^(?:input_|output_)?text$/.test(getType(part, 'text'))
        ? keepFields({ kind: 'text', text: part['text'] }, part, listTextFields(part))
        : keepPart({ kind: 'text', text: part['text'] }, part)
    const image = part['image_url']
    if (typeof image === 'string' && getType(part, 'input_image') === 'input_image')
      return keepFields(
        parseMediaUrl(image, 'image/*'),
        part,
        `type image_url${part['detail'] === 'auto' ? ' detail' : ''}`,
      )
    const file = nonBlankString(part['file_data']) ?? nonBlankString(part['file_url'])
    if (file !== undefined && getType(part, 'input_file') === 'input_file') {
      const media = parseMediaUrl(file, 'application/octet-stream')
      const name = typeof part['filename'] === 'string' ? part['filename'] : undefined
      return keepFields({ ...media, ...defined({ name }) }, part, 'type filename file_data file_url')
    }
    if (isObject(part['input_audio'])) {
      const { format, data } = part['input_audio']
      const audio = { kind: 'media', mime: `audio/${stringOrEmpty(format)}`, data: stringOrEmpty(data) } as const
      return keepPart(audio, part)
    }
    return keepPart({ kind: 'text', text: '' }, part)
  })
}

/** The content of a message of the assistant. */
export function readOutputParts(content: unknown): TextPart[] {
  return listParts(content).map((part): TextPart => {
    const type = getType(part, 'output_text')
    const known = listTextFields(part)
    if (type === 'refusal' && typeof part['refusal'] === 'string') {
      // The fields, also if there are none, say that this API had it as a refusal.
      const fields = pickOtherFields(part, known) ?? {}
      return addNativeData<TextPart>({ kind: 'text', text: part['refusal'], refusal: true }, WIRE_ID, { fields })
    }
    if (typeof part['text'] !== 'string') return keepPart({ kind: 'text', text: '' }, part)
    const text: TextPart = { kind: 'text', text: part['text'] }
    return /^(?:input_|output_)?text$/.test(type) ? keepFields(text, part, known) : keepPart(text, part)
  })
}

/** Lists that have nothing in them are part of every text. */
function listTextFields(part: JsonFields): string {
  return ['type text refusal', ...['annotations', 'logprobs'].filter((name) => isEmptyList(part[name]))].join(' ')
}

/** A string is one part; anything else that is not an object is its JSON text. */
function listParts(content: unknown): JsonFields[] {
  if (content === undefined || content === null) return []
  const parts: readonly unknown[] = Array.isArray(content) ? content : [content]
  return parts.map((part) => {
    if (typeof part === 'string') return { text: part }
    return isObject(part) ? part : { text: JSON.stringify(part) }
  })
}

function getType({ type }: JsonFields, otherwise: string): string {
  return type === undefined || type === null ? otherwise : stringOrEmpty(type)
}

function isEmptyList(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

function keepFields<P extends TextPart | MediaPart>(part: P, source: JsonFields, known: string): P {
  const fields = pickOtherFields(source, known)
  return fields ? addNativeData<P>(part, WIRE_ID, { fields }) : part
}

function keepPart<P extends TextPart | MediaPart>(part: P, source: JsonFields): P {
  return addNativeData<P>(part, WIRE_ID, { part: objectOrEmpty(source) as JsonObject })
}
