import type { Tool } from '../../tool.ts'
import { adaptRemoteTool } from '../tools/adapt-tool.ts'
import type { McpServerConfig } from './server-config.ts'
import { filterTools, type SkippedTool } from '../tools/filter-tools.ts'
import type { McpServerLists } from './server-lists.ts'
import { type ToolNameRegistry, createToolNameRegistry } from '../tools/tool-names.ts'
import { createToolPins, type ToolPins } from '../tools/tool-pins.ts'
import { type McpServer, type McpServerOptions, createMcpServer } from './server.ts'

export type McpServers = ReturnType<typeof createMcpServers>

export function createMcpServers(
  configs: Readonly<Record<string, McpServerConfig>>,
  options: McpServerOptions & { readonly taken?: readonly string[]; readonly news?: () => readonly string[] },
) {
  const list: readonly McpServer[] = Object.entries(configs)
    .filter(([, config]) => config.disabled !== true)
    .map(([name, config]) => createMcpServer(name, config, options))
  const names = createToolNameRegistry(options.taken ?? [])
  const pins = createToolPins(options.listCache)
  const offeredByServer = new Map<string, OfferedTools>()

  function getOfferedTools(server: McpServer): OfferedTools {
    const { tools } = server.lists
    const previous = offeredByServer.get(server.name)
    if (previous?.source === tools) return previous
    const next = adaptTools(server, tools, names, pins)
    const isSame = previous !== undefined && JSON.stringify(previous.source) === JSON.stringify(tools)
    const updated = isSame ? { ...previous, source: tools } : next
    offeredByServer.set(server.name, updated)
    return updated
  }

  return {
    list,
    /** Notices of the host since the last call. */
    takeNotices: (): readonly string[] => options.news?.() ?? [],
    pins,
    names,
    start() {
      for (const server of list) server.start()
    },
    /** The tools of each server under the names for the model; the same array as long as the list is the same. */
    tools: (): readonly (readonly Tool[])[] => list.map((server) => getOfferedTools(server).tools),
    skippedTools: (name: string): readonly SkippedTool[] =>
      list.filter((server) => server.name === name).flatMap((server) => getOfferedTools(server).skipped),
    close: async (): Promise<void> => void (await Promise.all(list.map((server) => server.close()))),
  }
}

type OfferedTools = ReturnType<typeof adaptTools>

function adaptTools(server: McpServer, list: McpServerLists['tools'], names: ToolNameRegistry, pins: ToolPins) {
  const { tools, skipped } = filterTools(list, server.config)
  const adapted = tools.map((remote) =>
    adaptRemoteTool(server, remote, names.nameFor({ server: server.name, tool: remote.name }), pins),
  )
  return { source: list, tools: adapted, skipped }
}
