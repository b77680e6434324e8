import { isObject } from '../../model/json.ts'
import {
  type ContentPart,
  parseContentBlock,
  toContentParts,
  formatForDisplay,
} from '../../tool/mcp/tools/content-blocks.ts'
import type { GeminiPart } from '../vendor-types/gemini.ts'

/** A content block of an MCP server. */
export interface McpContentBlock {
  readonly type: string
  readonly text?: unknown
  readonly data?: unknown
  readonly mimeType?: unknown
  readonly resource?: unknown
  readonly uri?: unknown
  readonly name?: unknown
  readonly title?: unknown
}

/** Converts content blocks of an MCP tool to parts; binary data has a line of text before it. */
export function transformMcpContentToParts(toolName: string, content: readonly McpContentBlock[]): GeminiPart[] {
  const parts = content.map((block) => parseContentBlock(toolName, block))
  return toContentParts(toolName, parts).map(toGeminiPart)
}

/** The result of a tool for the user: parts, content blocks, or a response with content blocks. Binary data becomes a label. */
export function getStringifiedResultForDisplay(result: readonly (GeminiPart | McpContentBlock)[]): string {
  const shown = result.filter((item, at) => !(isAnnouncement(item) && isMedia(result[at + 1])))
  return formatForDisplay(shown.map((item) => ('type' in item ? parseContentBlock('', item) : toContentPart(item))))
}

/** The line of text that Gemini CLI puts before binary data; the person sees the data's placeholder instead. */
function isAnnouncement(item: GeminiPart | McpContentBlock): boolean {
  return (
    typeof item.text === 'string' && /^\[Tool '.*' provided the following .* with mime-type: .*\]$/s.test(item.text)
  )
}

function isMedia(item: GeminiPart | McpContentBlock | undefined): boolean {
  return item !== undefined && ('inlineData' in item || 'fileData' in item)
}

function toGeminiPart(part: ContentPart): GeminiPart {
  if (part.kind === 'text') return { text: part.text }
  return { inlineData: { mimeType: part.mime, data: part.data ?? '' } }
}

function toContentPart(part: GeminiPart): ContentPart {
  const { text, functionResponse } = part
  const media = part.inlineData ?? part.fileData
  if (functionResponse) return { kind: 'text', text: formatResponse(functionResponse.response ?? {}) }
  if (text !== undefined) return { kind: 'text', text }
  if (media) return { kind: 'media', mime: media.mimeType ?? 'application/octet-stream' }
  return { kind: 'text', text: `[${Object.keys(part).join(', ')}]` }
}

function formatResponse(response: Record<string, unknown>): string {
  const { content, output, error } = response
  if (Array.isArray(content)) return getStringifiedResultForDisplay(content.filter(isObject))
  const outcome = output ?? error ?? response
  return typeof outcome === 'string' ? outcome : JSON.stringify(outcome)
}
