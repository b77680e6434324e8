import { isAbsolute } from 'node:path'
import { filterObjects, isObject, stringOrEmpty } from '../model/json.ts'
import type { McpServerConfig } from '../tool/mcp/client/server-config.ts'
import type { Params } from './connection.ts'
import { type ClientCapabilities, type ContentBlock, ERROR_CODE, ProtocolError } from './protocol.ts'

/** Unknown fields are ignored, and optional ones of a wrong type count as absent: newer clients must work. */
export function readText(params: Params, name: string): string {
  const value = params[name]
  if (typeof value === 'string' && value !== '') return value
  throw invalidParams(`${name} must be a string that is not empty.`)
}

export function readFolder(params: Params): string {
  const folder = readText(params, 'cwd')
  if (!isAbsolute(folder)) throw invalidParams('cwd must be an absolute path.')
  return folder
}

export function readAdditionalFolders({ additionalDirectories }: Params): readonly string[] {
  const folders = Array.isArray(additionalDirectories) ? additionalDirectories : []
  return folders.map((folder) => {
    if (typeof folder === 'string' && isAbsolute(folder)) return folder
    throw invalidParams('additionalDirectories must be absolute paths.')
  })
}

/** Blocks of unknown types are left out. */
export function readPrompt({ prompt }: Params): readonly ContentBlock[] {
  if (!Array.isArray(prompt)) throw invalidParams('prompt must be a list of content blocks.')
  const blocks = prompt.filter(isContentBlock)
  const isEmpty = blocks.every((block) => block.type === 'text' && block.text.trim() === '')
  if (isEmpty) throw invalidParams('prompt has no content that is known here.')
  return blocks
}

function isContentBlock(block: unknown): block is ContentBlock {
  if (!isObject(block)) return false
  const isText = (name: string): boolean => typeof block[name] === 'string'
  switch (block['type']) {
    case 'text':
      return isText('text')
    case 'image':
    case 'audio':
      return isText('data') && isText('mimeType')
    case 'resource_link':
      return isText('uri')
    case 'resource':
      return isObject(block['resource']) && typeof block['resource']['uri'] === 'string'
    default:
      return false
  }
}

/** What the client can do; nothing that it does not say. */
export function readClientCapabilities({ clientCapabilities }: Params): ClientCapabilities {
  return isObject(clientCapabilities) ? clientCapabilities : {}
}

/** The servers that the client wants to be used, in the form of our settings. */
export function readMcpServers({ mcpServers }: Params): Readonly<Record<string, McpServerConfig>> {
  const entries = filterObjects(mcpServers).map((server): readonly [string, McpServerConfig] => {
    const name = stringOrEmpty(server['name']).replace(/[^A-Za-z0-9._-]/g, '_')
    const { type, url, command } = server
    if (name === '') throw invalidParams('An MCP server has no name.')
    if ((type === 'http' || type === 'sse') && typeof url === 'string')
      return [name, { type, url: keepLiteral(url), headers: readPairs(server['headers']) }]
    if (typeof command !== 'string') throw invalidParams(`The MCP server ${name} has neither a command nor a URL.`)
    const args = Array.isArray(server['args']) ? server['args'].filter((one) => typeof one === 'string') : []
    return [name, { command: keepLiteral(command), args: args.map(keepLiteral), env: readPairs(server['env']) }]
  })
  return Object.fromEntries(entries)
}

/** In our settings `$NAME` is a variable; the client has filled in its variables already. */
function keepLiteral(text: string): string {
  return text.replaceAll('$', () => '${DRAGOMAN_NO_VARIABLE:-$}')
}

function readPairs(pairs: unknown): Record<string, string> {
  return Object.fromEntries(
    filterObjects(pairs).flatMap(({ name, value }) =>
      typeof name === 'string' && typeof value === 'string' ? [[name, keepLiteral(value)] as const] : [],
    ),
  )
}

export function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ERROR_CODE.invalidParams, message)
}
