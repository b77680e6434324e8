import { stripVTControlCharacters } from 'node:util'
import { isObject, type Json, type JsonObject } from '../../../model/json.ts'
import type { MediaPart, TextPart } from '../../../model/turn.ts'
import type { ToolOutput } from '../../tool.ts'
import { escapeInvisible } from '../../text/escape-names.ts'

/** What a model gets of a block. */
export type ContentPart = TextPart | MediaPart

/** Turns a content block into parts. Nothing in it is trusted; binary data is announced by a line of text before it. */
export function toContentParts(toolName: string, block: unknown): ContentPart[] {
  const { type, text, data, mimeType, resource, title, name, uri } = isObject(block) ? block : {}
  if (type === 'text') return [{ kind: 'text', text: nonEmptyString(text) ?? '' }]
  if (type === 'image' || type === 'audio') {
    return createBinaryParts(
      toolName,
      `${type} data`,
      nonEmptyString(mimeType) ?? `${type}/*`,
      nonEmptyString(data) ?? '',
    )
  }
  if (type === 'resource' && isObject(resource)) {
    const { text: inner, blob, mimeType: mime } = resource
    if (typeof inner === 'string') return [{ kind: 'text', text: inner }]
    if (typeof blob === 'string')
      return createBinaryParts(toolName, 'embedded resource', nonEmptyString(mime) ?? DEFAULT_MIME_TYPE, blob)
  }
  if (type === 'resource_link') {
    const label = nonEmptyString(title) ?? nonEmptyString(name) ?? 'untitled'
    return [{ kind: 'text', text: `Resource Link: ${label} at ${nonEmptyString(uri) ?? ''}` }]
  }
  // Nothing is dropped without a word.
  const kind = typeof type === 'string' ? type : 'unknown'
  return [{ kind: 'text', text: `[Tool '${toolName}' provided content of type ${kind}, which is not understood]` }]
}

/** Parts as a person reads them: binary data becomes a word in brackets, and needs no announcement. */
export function formatForDisplay(parts: readonly ContentPart[]): string {
  const lines = parts.map((part, at) => {
    if (part.kind === 'media') return formatMediaPlaceholder(part.mime)
    return parts[at + 1]?.kind === 'media' && MEDIA_ANNOUNCEMENT_PATTERN.test(part.text) ? '' : part.text
  })
  return lines.filter((line) => line !== '').join('\n')
}

/** The word in brackets that stands for binary data. */
export function formatMediaPlaceholder(mime: string): string {
  const kind = /^(image|audio|video)\//.exec(mime)?.[1] ?? 'file'
  return `[${kind.charAt(0).toUpperCase()}${kind.slice(1)}: ${mime}]`
}

/** How much of a result reaches the model. */
export interface ContentLimits {
  /** Characters of text. */
  readonly text: number
  /** Characters of base64, all in all. */
  readonly media: number
}

/** About what other tools may say at once; pictures as large as vendors take them. */
export const CONTENT_LIMITS: ContentLimits = { text: 80_000, media: 10_000_000 }

/** What a server said to a call, as a tool says it. */
export function toMcpToolOutput(toolName: string, result: unknown, limits: ContentLimits = CONTENT_LIMITS): ToolOutput {
  const { content, structuredContent, isError, toolResult } = isObject(result) ? result : {}
  const blocks = Array.isArray(content) ? content : []
  // Servers of 2024 answered with a bare value.
  const data = (structuredContent ?? toolResult) as Json | undefined
  const blockContent = blocks.slice(0, MAX_BLOCKS).flatMap((block) => toContentParts(toolName, block))
  const isBare = !blockContent.some((part) => part.kind === 'media' || part.text !== '')
  const allParts = isBare && data !== undefined ? [{ kind: 'text', text: JSON.stringify(data) } as const] : blockContent
  const parts = limitParts(allParts.map(sanitizeMedia), limits)
  const left = blocks.length - MAX_BLOCKS
  const limitedParts = left > 0 ? [...parts, createNotePart(`${left} more blocks are left out`)] : parts
  const display = formatForDisplay(limitedParts)
  if (isError === true || (typeof isError === 'string' && isError !== '')) {
    const message = display === '' ? 'The tool says that it failed, and not why.' : display
    return {
      content: limitedParts.length > 0 ? limitedParts : message,
      display,
      error: { message: message.slice(0, 2000), type: 'mcp' },
    }
  }
  const small = data !== undefined && JSON.stringify(data).length <= limits.text
  return { content: limitedParts, display, ...(small && { data }) }
}

/** What a server said, without colours, and with what cannot be seen as escapes. */
export function plainText(text: string): string {
  return escapeInvisible(stripVTControlCharacters(text).replaceAll('\r\n', '\n'))
}

const MAX_BLOCKS = 1000
const DEFAULT_MIME_TYPE = 'application/octet-stream'
const MEDIA_ANNOUNCEMENT_PATTERN = /^\[Tool '.*' provided the following .* with mime-type: .*\]$/s

function createBinaryParts(toolName: string, kind: string, mime: string, data: string): ContentPart[] {
  const text = `[Tool '${toolName}' provided the following ${kind} with mime-type: ${mime}]`
  return [
    { kind: 'text', text },
    { kind: 'media', mime, data },
  ]
}

/** Vendors refuse a whole conversation for one picture that is none; so what cannot be one is only named. */
function sanitizeMedia(part: ContentPart): ContentPart {
  if (part.kind === 'text') return { ...part, text: plainText(part.text) }
  const data = (part.data ?? '').replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/')
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(part.mime)) return createNotePart(`data of the kind ${part.mime} cannot be shown`)
  if (data === '' || !BASE64_PATTERN.test(data)) return createNotePart(`the ${part.mime} cannot be read`)
  return { ...part, data }
}

const BASE64_PATTERN = /^[A-Za-z0-9+/]+={0,2}$/

/** The beginning and the end of long text say most; pictures that are too many are only named. */
function limitParts(parts: readonly ContentPart[], limits: ContentLimits): ContentPart[] {
  let remainingMedia = limits.media
  const fitting = parts.map((part): ContentPart => {
    if (part.kind === 'text') return part
    const size = part.data?.length ?? 0
    if (size > remainingMedia) return createNotePart(`${part.mime} of ${size} characters is left out: too large`)
    remainingMedia -= size
    return part
  })
  const length = fitting.reduce((sum, part) => sum + (part.kind === 'text' ? part.text.length : 0), 0)
  if (length <= limits.text) return fitting
  return truncateTextParts(fitting, length, limits.text)
}

function truncateTextParts(parts: readonly ContentPart[], length: number, limit: number): ContentPart[] {
  const from = Math.floor(limit * 0.2)
  const to = length - (limit - from)
  let at = 0
  let isGapNoted = false
  return parts.flatMap((part): ContentPart[] => {
    if (part.kind === 'media') return [part]
    const [begin, end] = [at, at + part.text.length]
    at = end
    if (end <= from || begin >= to) return [part]
    const head = part.text.slice(0, Math.max(0, from - begin)).replace(/[\uD800-\uDBFF]$/, '')
    const tail = part.text.slice(Math.max(0, Math.min(part.text.length, to - begin))).replace(/^[\uDC00-\uDFFF]/, '')
    const gap = isGapNoted ? '' : `\n[... ${to - from} characters are left out here: the result is too long ...]\n`
    isGapNoted = true
    const text = `${head}${gap}${tail}`
    return text === '' ? [] : [{ kind: 'text', text }]
  })
}

function createNotePart(text: string): TextPart {
  return { kind: 'text', text: `[${text}]` }
}

function nonEmptyString(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** What a prompt of a server or a resource holds, as parts of what a person says. */
export function toResourceParts(name: string, contents: readonly JsonObject[]): ContentPart[] {
  const parts = contents.flatMap((resource) => toContentParts(name, { type: 'resource', resource }))
  return limitParts(parts.map(sanitizeMedia), CONTENT_LIMITS)
}
