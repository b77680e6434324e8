import type { Part } from '@google/genai'
import { isObject } from '../../model/json.ts'
import { type ContentPart, toContentParts, formatForDisplay } from '../../tool/mcp/tools/tool-content.ts'

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
export function transformMcpContentToParts(toolName: string, content: readonly McpContentBlock[]): Part[] {
  return content.flatMap((block) => toContentParts(toolName, block).map(toGeminiPart))
}

/** The result of a tool for the user: parts, content blocks, or a response with content blocks. Binary data becomes a label. */
export function getStringifiedResultForDisplay(result: readonly (Part | McpContentBlock)[]): string {
  return formatForDisplay(result.flatMap((item) => ('type' in item ? toContentParts('', item) : toBlockParts(item))))
}

function toGeminiPart(part: ContentPart): Part {
  if (part.kind === 'text') return { text: part.text }
  return { inlineData: { mimeType: part.mime, data: part.data ?? '' } }
}

function toBlockParts(part: Part): ContentPart[] {
  const { text, functionResponse } = part
  const media = part.inlineData ?? part.fileData
  if (functionResponse) return [{ kind: 'text', text: formatResponse(functionResponse.response ?? {}) }]
  if (text !== undefined) return [{ kind: 'text', text }]
  if (media) return [{ kind: 'media', mime: media.mimeType ?? 'application/octet-stream' }]
  return [{ kind: 'text', text: `[${Object.keys(part).join(', ')}]` }]
}

function formatResponse(response: Record<string, unknown>): string {
  const { content, output, error } = response
  if (Array.isArray(content)) return getStringifiedResultForDisplay(content.filter(isObject))
  const outcome = output ?? error ?? response
  return typeof outcome === 'string' ? outcome : JSON.stringify(outcome)
}
