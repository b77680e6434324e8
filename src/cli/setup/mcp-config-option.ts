import { readFileSync } from 'node:fs'
import { getErrorMessage } from '../../model/error-message.ts'
import { importMcpServers } from '../../tool/mcp/client/import-servers.ts'
import type { McpServerConfig } from '../../tool/mcp/client/server-config.ts'
import { UserError } from '../user-error.ts'

/** The MCP servers of `--mcp-config`: files, or JSON. A server that cannot be used is an error. */
export function readMcpConfigs(items: readonly string[], folder: string): Record<string, McpServerConfig> {
  const all = items.map((item) => {
    const { servers, remarks } = importMcpServers(item.trimStart().startsWith('{') ? item : readFile(item), folder)
    if (remarks.length > 0) throw new UserError(`--mcp-config: ${remarks.join(' ')}`)
    return servers
  })
  return Object.assign({}, ...all) as Record<string, McpServerConfig>
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UserError(`--mcp-config: ${path} cannot be read: ${getErrorMessage(error)}`)
  }
}
