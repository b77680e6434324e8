import { tmpdir } from 'node:os'
import { type LocalHost, localHost } from '../../host/local-host.ts'
import type { Json } from '../../model/json.ts'
import type { Tool } from '../tool.ts'
import type { KeyValueStore } from './client/key-value-store.ts'
import type { McpServerConfig } from './client/server-config.ts'
import { createMcpServers } from './client/servers.ts'

/** An MCP server: a program that is started (`command`, `args`, `env`, `cwd`), or an address (`url`, `headers`). */
export interface McpOptions extends Pick<
  McpServerConfig,
  | 'command'
  | 'args'
  | 'env'
  | 'cwd'
  | 'url'
  | 'type'
  | 'headers'
  | 'timeout'
  | 'trust'
  | 'includeTools'
  | 'excludeTools'
> {
  /** The name of the server, for messages and for tools of the same name. */
  readonly name?: string
  /** Starts the program, in its sandbox if it has one. Without it, the program runs outside of any sandbox. */
  readonly host?: LocalHost
  readonly signal?: AbortSignal
}

/** A connected MCP server. */
export interface McpConnectedServer {
  /** Its tools, for `agent({ tools })`. Calls need approval unless `trust` is set; then they run without. */
  readonly tools: readonly Tool[]
  /** Disconnects, and ends its program. */
  close(): Promise<void>
}

/** Connects to an MCP server, and reads its tools. Rejects if it cannot be reached. */
export async function mcp({ name = 'mcp', host: given, signal, ...config }: McpOptions): Promise<McpConnectedServer> {
  const folders = [config.cwd ?? process.cwd()]
  const host = given ?? localHost({ folders, scratch: tmpdir() })
  const { stdioProcesses } = host
  const servers = createMcpServers(
    { [name]: config },
    {
      env: process.env,
      folders,
      listCache: createMemoryStore(),
      tokenStore: createMemoryStore(),
      openProcess: stdioProcesses.open.bind(stdioProcesses),
      news: () => stdioProcesses.takeNotices(),
    },
  )
  const close = async (): Promise<void> => {
    await servers.close()
    if (!given) host.close()
  }
  try {
    await servers.list[0]?.ready(signal)
  } catch (error) {
    await close()
    throw error
  }
  return { tools: servers.tools().flat(), close }
}

function createMemoryStore(): KeyValueStore {
  const values = new Map<string, Json>()
  return {
    get: (name) => values.get(name),
    set: (name, value) => void values.set(name, value),
    update: (name, next) => void values.set(name, next(values.get(name))),
    withLock: (_name, work) => work(),
  }
}
