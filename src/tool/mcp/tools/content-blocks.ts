import { isObject, stringOrEmpty } from '../../../model/json.ts'
import type { MediaPart, TextPart } from '../../../model/turn.ts'

export type ContentPart = TextPart | MediaPart

/** The part that a content block of a server stands for; a model is told by `label` what the media is. */
export type BlockPart = TextPart | (MediaPart & { readonly label: string })

/** Reads a content block, whatever it is; a kind of block that is not known becomes a note. */
export function parseContentBlock(toolName: string, block: unknown): BlockPart {
  const { type, text, data, mimeType, resource, title, name, uri } = isObject(block) ? block : {}
  if (type === 'text') return { kind: 'text', text: stringOrEmpty(text) }
  if (type === 'image' || type === 'audio') {
    const mime = stringOrEmpty(mimeType) || `${type}/*`
    return { kind: 'media', label: `${type} data`, mime, data: stringOrEmpty(data) }
  }
  if (type === 'resource' && isObject(resource)) {
    const { text: inner, blob, mimeType: mime } = resource
    if (typeof inner === 'string') return { kind: 'text', text: inner }
    if (typeof blob === 'string')
      return { kind: 'media', label: 'embedded resource', mime: stringOrEmpty(mime) || DEFAULT_MIME_TYPE, data: blob }
  }
  if (type === 'resource_link') {
    const label = stringOrEmpty(title) || stringOrEmpty(name) || 'untitled'
    return { kind: 'text', text: `Resource Link: ${label} at ${stringOrEmpty(uri)}` }
  }
  const kind = typeof type === 'string' ? type : 'unknown'
  return createNotePart(`Tool '${toolName}' provided content of type ${kind}, which is not understood`)
}

/** The parts for the model: binary data is announced by a line of text before it. */
export function toContentParts(toolName: string, parts: readonly BlockPart[]): ContentPart[] {
  return parts.flatMap((part): ContentPart[] => {
    if (part.kind === 'text') return [part]
    const { label, ...media } = part
    return [createNotePart(`Tool '${toolName}' provided the following ${label} with mime-type: ${part.mime}`), media]
  })
}

/** The parts for the person: binary data becomes a word in brackets. */
export function formatForDisplay(parts: readonly ContentPart[]): string {
  const lines = parts.map((part) => (part.kind === 'media' ? formatMediaPlaceholder(part.mime) : part.text))
  return lines.filter((line) => line !== '').join('\n')
}

function formatMediaPlaceholder(mime: string): string {
  const kind = /^(image|audio|video)\//.exec(mime)?.[1] ?? 'file'
  return `[${kind.charAt(0).toUpperCase()}${kind.slice(1)}: ${mime}]`
}

export function createNotePart(text: string): TextPart {
  return { kind: 'text', text: `[${text}]` }
}

const DEFAULT_MIME_TYPE = 'application/octet-stream'
