import type { Part } from '@google/genai'
import { isObject } from '../../model/json.ts'

/** A content block as an MCP server sends it; nothing in it is trusted. */
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

/** Turns the content blocks of an MCP tool into parts; binary data is announced by a line of text before it. */
export function transformMcpContentToParts(toolName: string, content: readonly McpContentBlock[]): Part[] {
  return content.flatMap((block) => blockParts(toolName, block))
}

/**
 * Writes for a person what a tool returned, be it parts, content blocks, or a response with content blocks inside.
 * Binary data becomes a word in brackets.
 */
export function getStringifiedResultForDisplay(result: readonly (Part | McpContentBlock)[]): string {
  const parts = result.flatMap((item): Part[] => {
    if ('type' in item) return blockParts('', item)
    const { functionResponse } = item
    if (!functionResponse) return [item]
    const { content, output, error } = functionResponse.response ?? {}
    if (Array.isArray(content)) return [{ text: getStringifiedResultForDisplay(content.filter(isObject)) }]
    const said = output ?? error ?? functionResponse.response ?? {}
    return [{ text: typeof said === 'string' ? said : JSON.stringify(said) }]
  })
  const lines = parts.flatMap((part, at) => {
    // The line that announces binary data to the model says the same as the word in brackets.
    const announces = part.text !== undefined && parts[at + 1]?.inlineData && ANNOUNCEMENT.test(part.text)
    return announces ? [] : [shown(part)]
  })
  return lines.filter((line) => line !== '').join('\n')
}

/** The qualified name of a tool, where its own name is taken. */
export function fullyQualified(server: string, tool: string): string {
  return `${server}__${tool}`
}

function blockParts(toolName: string, block: McpContentBlock): Part[] {
  const { type, resource } = block
  if (type === 'text') return [{ text: word(block.text) ?? '' }]
  if (type === 'image' || type === 'audio') {
    return binary(toolName, `${type} data`, word(block.mimeType) ?? `${type}/*`, word(block.data) ?? '')
  }
  if (type === 'resource' && isObject(resource)) {
    const { text, blob, mimeType } = resource
    if (typeof text === 'string') return [{ text }]
    if (typeof blob === 'string') return binary(toolName, 'embedded resource', word(mimeType) ?? OCTETS, blob)
  }
  if (type === 'resource_link') {
    const title = word(block.title) ?? word(block.name) ?? 'untitled'
    return [{ text: `Resource Link: ${title} at ${word(block.uri) ?? ''}` }]
  }
  // Nothing is dropped without a word.
  return [{ text: `[Tool '${toolName}' provided content of type ${type}, which is not understood]` }]
}

function binary(toolName: string, kind: string, mimeType: string, data: string): Part[] {
  const text = `[Tool '${toolName}' provided the following ${kind} with mime-type: ${mimeType}]`
  return [{ text }, { inlineData: { mimeType, data } }]
}

function shown(part: Part): string {
  if (part.text !== undefined) return part.text
  const media = part.inlineData ?? part.fileData
  if (!media) return `[${Object.keys(part).join(', ')}]`
  const mime = media.mimeType ?? OCTETS
  const kind = /^(image|audio|video)\//.exec(mime)?.[1] ?? 'file'
  return `[${kind.charAt(0).toUpperCase()}${kind.slice(1)}: ${mime}]`
}

function word(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

const OCTETS = 'application/octet-stream'

const ANNOUNCEMENT = /^\[Tool '.*' provided the following .* with mime-type: .*\]$/s
