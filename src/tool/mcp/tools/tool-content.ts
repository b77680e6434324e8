import { stripVTControlCharacters } from 'node:util'
import { isObject, type Json, type JsonObject } from '../../../model/json.ts'
import type { ToolOutput } from '../../tool.ts'
import { escapeInvisible } from '../../text/escape-file-names.ts'
import {
  type BlockPart,
  type ContentPart,
  createNotePart,
  formatForDisplay,
  parseContentBlock,
  toContentParts,
} from './content-blocks.ts'

/** Characters of text, about as many as other tools return, and of base64, as many as vendors accept. */
const CONTENT_LIMITS = { text: 80_000, media: 10_000_000 }

export function toMcpToolOutput(toolName: string, result: unknown): ToolOutput {
  const { content, structuredContent, isError, toolResult } = isObject(result) ? result : {}
  const blocks = Array.isArray(content) ? content : []
  // Servers of 2024 returned a bare value.
  const data = (structuredContent ?? toolResult) as Json | undefined
  const blockParts = blocks.slice(0, MAX_BLOCKS).map((block) => parseContentBlock(toolName, block))
  const isBare = !blockParts.some((part) => part.kind === 'media' || part.text !== '')
  const allParts = isBare && data !== undefined ? [{ kind: 'text', text: JSON.stringify(data) } as const] : blockParts
  const limited = limitParts(allParts.map(sanitizePart))
  const left = blocks.length - MAX_BLOCKS
  const parts = left > 0 ? [...limited, createNotePart(`${left} more blocks are omitted`)] : limited
  const modelContent = toContentParts(cleanContentText(toolName), parts)
  const display = formatForDisplay(parts)
  if (isError === true || (typeof isError === 'string' && isError !== '')) {
    const message = display === '' ? 'The tool reported a failure without a reason.' : display
    return {
      content: modelContent.length > 0 ? modelContent : message,
      display,
      error: { message: message.slice(0, 2000), type: 'mcp' },
    }
  }
  const small = data !== undefined && JSON.stringify(data).length <= CONTENT_LIMITS.text
  return { content: modelContent, display, ...(small && { data }) }
}

/** Without colours, and with invisible characters as escapes. */
export function cleanContentText(text: string): string {
  return escapeInvisible(stripVTControlCharacters(text).replaceAll('\r\n', '\n'))
}

const MAX_BLOCKS = 1000

/** Vendors refuse a whole request for one invalid image, so what cannot be one is only named. */
function sanitizePart(part: BlockPart): BlockPart {
  if (part.kind === 'text') return { ...part, text: cleanContentText(part.text) }
  const data = (part.data ?? '').replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/')
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(part.mime)) return createNotePart(`data of type ${part.mime} cannot be shown`)
  if (data === '' || !BASE64_PATTERN.test(data)) return createNotePart(`the ${part.mime} cannot be read`)
  return { ...part, data }
}

const BASE64_PATTERN = /^[A-Za-z0-9+/]+={0,2}$/

/** Long text keeps its beginning and its end; media over the limit is only named. */
function limitParts(parts: readonly BlockPart[]): BlockPart[] {
  let remainingMedia = CONTENT_LIMITS.media
  const fitting = parts.map((part): BlockPart => {
    if (part.kind === 'text') return part
    const size = part.data?.length ?? 0
    if (size > remainingMedia) return createNotePart(`${part.mime} of ${size} characters is omitted: too large`)
    remainingMedia -= size
    return part
  })
  const length = fitting.reduce((sum, part) => sum + (part.kind === 'text' ? part.text.length : 0), 0)
  return length <= CONTENT_LIMITS.text ? fitting : truncateTextParts(fitting, length, CONTENT_LIMITS.text)
}

function truncateTextParts(parts: readonly BlockPart[], length: number, limit: number): BlockPart[] {
  const from = Math.floor(limit * 0.2)
  const to = length - (limit - from)
  let at = 0
  let isGapNoted = false
  return parts.flatMap((part): BlockPart[] => {
    if (part.kind === 'media') return [part]
    const [begin, end] = [at, at + part.text.length]
    at = end
    if (end <= from || begin >= to) return [part]
    const head = part.text.slice(0, Math.max(0, from - begin)).replace(/[\uD800-\uDBFF]$/, '')
    const tail = part.text.slice(Math.max(0, Math.min(part.text.length, to - begin))).replace(/^[\uDC00-\uDFFF]/, '')
    const gap = isGapNoted ? '' : `\n[... ${to - from} characters omitted: the result is too long ...]\n`
    isGapNoted = true
    const text = `${head}${gap}${tail}`
    return text === '' ? [] : [{ kind: 'text', text }]
  })
}

export function toResourceParts(name: string, contents: readonly JsonObject[]): ContentPart[] {
  const parts = contents.map((resource) => sanitizePart(parseContentBlock(name, { type: 'resource', resource })))
  return toContentParts(cleanContentText(name), limitParts(parts))
}
