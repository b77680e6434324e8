import { join } from 'node:path'
import type { AgentContext } from '../../agent/agent-context.ts'
import { createMcpRequestHandler } from '../../agent/mcp-request-handler.ts'
import type { LocalHost } from '../../host/local-host.ts'
import type { Model } from '../../provider/index.ts'
import { listBuiltinNames } from '../../tool/builtin/index.ts'
import type { Tool } from '../../tool/tool.ts'
import type { McpServerConfig } from '../../tool/mcp/client/server-config.ts'
import type { ElicitationView, McpRequestHandler } from '../../tool/mcp/connection/request-handler.ts'
import { createMcpServers, type McpServers } from '../../tool/mcp/client/servers.ts'
import { createMcpToolbox } from '../../tool/mcp/tools/mcp-toolbox.ts'
import { openBrowser } from '../sign-in/browser.ts'
import { getDataFolder } from '../paths/folders.ts'
import { createFileKeyValueStore } from '../paths/key-value-files.ts'
import { defined } from '../../model/defined.ts'

interface McpRuntimeOptions extends Pick<AgentContext, 'createId'> {
  readonly ask: AgentContext['requestApproval'] | undefined
  /** Shows the questions of servers; what it cannot show is an approval request. */
  readonly elicitationView?: ElicitationView | undefined
  readonly folders: readonly string[]
  readonly host: LocalHost
  readonly model: Model
  readonly builtinTools: readonly Tool[]
  /** What one user approves must not count for another. */
  readonly tenant?: string
}

/** Sets up the servers of the settings, with one toolbox for the built-in tools and theirs. */
export function createMcpRuntime(configs: Readonly<Record<string, McpServerConfig>>, options: McpRuntimeOptions) {
  const { builtinTools, ask, elicitationView, createId, tenant } = options
  let { model } = options
  const requestHandler = createMcpRequestHandler(() => ({
    model,
    createId,
    openBrowser,
    ...defined({ requestApproval: ask }),
  }))
  const servers = createMcpServers(configs, {
    ...openMcpStores(tenant),
    ...toServerEnvironment(options),
    requestHandler: withElicitationView(requestHandler, elicitationView),
    taken: [...builtinTools.map(({ spec }) => spec.name), ...listBuiltinNames()],
  })
  return { servers, toolbox: createMcpToolbox(builtinTools, servers), useModel: (next: Model) => void (model = next) }
}

function withElicitationView(handler: McpRequestHandler, view: ElicitationView | undefined): McpRequestHandler {
  if (!view) return handler
  return {
    ...handler,
    elicit: async (...request) => (await view.elicit(...request)) ?? handler.elicit(...request),
    onElicitationComplete: (server, id) => view.onComplete(server, id),
  }
}

/** Servers without a session, to list and test them. */
export function openServersWithoutSession(
  configs: Readonly<Record<string, McpServerConfig>>,
  locations: Pick<McpRuntimeOptions, 'folders' | 'host'>,
): McpServers {
  const taken = listBuiltinNames()
  return createMcpServers(configs, { ...openMcpStores(), ...toServerEnvironment(locations), taken })
}

export function openMcpStores(tenant?: string) {
  const folder = join(getDataFolder(), 'mcp')
  const listFolder = tenant === undefined ? folder : join(folder, 'tenants', tenant)
  return { listCache: createFileKeyValueStore(listFolder), tokenStore: createFileKeyValueStore(join(folder, 'tokens')) }
}

function toServerEnvironment({ folders, host }: Pick<McpRuntimeOptions, 'folders' | 'host'>) {
  const { stdioProcesses } = host
  return {
    folders,
    env: process.env,
    openProcess: stdioProcesses.open.bind(stdioProcesses),
    news: () => stdioProcesses.takeNotices(),
  }
}
