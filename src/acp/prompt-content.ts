import { fileURLToPath } from 'node:url'
import type { MediaPart, TextPart, UserTurn } from '../model/turn.ts'
import { tryOrUndefined } from '../model/try-or-undefined.ts'
import type { ContentBlock } from './protocol.ts'

export interface PromptInput {
  readonly parts: UserTurn['parts']
  /** What the user typed, without files and links. */
  readonly typedText: string
}

/**
 * A prompt as the agent takes it: first the text, in which links stand by their path or URL, then attached files and media.
 * Linked files are not read here; the model reads them with its tools, under the policy.
 */
export function toPromptInput(blocks: readonly ContentBlock[]): PromptInput {
  const attachments: (TextPart | MediaPart)[] = []
  let text = ''
  let typedText = ''
  for (const block of blocks) {
    switch (block.type) {
      case 'text':
        text += block.text
        typedText += block.text
        break
      case 'resource_link':
        text += toReadableLink(block.uri)
        break
      case 'image':
      case 'audio':
        attachments.push({ kind: 'media', mime: block.mimeType, data: block.data })
        break
      case 'resource': {
        const { resource } = block
        const name = toReadableLink(resource.uri)
        if ('text' in resource) {
          text += name
          attachments.push({
            kind: 'text',
            text: `--- ${name} ---\n${resource.text}\n--- end of ${name} ---`,
            name: resource.uri,
          })
        } else if ('blob' in resource)
          attachments.push({
            kind: 'media',
            mime: resource.mimeType ?? 'application/octet-stream',
            data: resource.blob,
            name,
          })
        break
      }
      default:
        block satisfies never
    }
  }
  return { parts: [{ kind: 'text', text }, ...attachments], typedText }
}

/** The path of a file; other links as they are. */
function toReadableLink(uri: string): string {
  return (uri.startsWith('file:') ? tryOrUndefined(() => fileURLToPath(uri)) : undefined) ?? uri
}

/** A message of the user for a client that loads a session. */
export function toContentBlocks(parts: readonly (TextPart | MediaPart)[]): ContentBlock[] {
  return parts.flatMap((part): ContentBlock[] => {
    if (part.kind === 'media') return toMediaBlock(part)
    if (part.name === undefined) return part.text === '' ? [] : [{ type: 'text', text: part.text }]
    return [{ type: 'resource', resource: { uri: toUri(part.name), text: part.text } }]
  })
}

/** Only what the protocol can show: images and sounds by their content, others by their name. */
export function toMediaBlock({ mime, data, uri, name = mime }: MediaPart): ContentBlock[] {
  if (data !== undefined && mime.startsWith('image/')) return [{ type: 'image', data, mimeType: mime }]
  if (data !== undefined && mime.startsWith('audio/')) return [{ type: 'audio', data, mimeType: mime }]
  return uri === undefined ? [{ type: 'text', text: `[${name}]` }] : [{ type: 'resource_link', name, uri }]
}

function toUri(name: string): string {
  return URL.canParse(name) ? name : `attachment:///${encodeURI(name)}`
}
