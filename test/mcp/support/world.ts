import { mkdtempSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import { type LocalHost, localHost } from '../../../src/host/local-host.ts'
import type { SandboxOptions } from '../../../src/host/sandbox/sandbox.ts'
import type { McpServerConfig } from '../../../src/tool/mcp/client/server-config.ts'
import type { McpServerOptions } from '../../../src/tool/mcp/client/server.ts'
import { createMcpServers, type McpServers } from '../../../src/tool/mcp/client/servers.ts'
import { createMemoryKeyValueStore } from './memory-store.ts'
import { root } from '../../support/paths.ts'
import { clearAway } from '../../support/clear.ts'

/** A folder to work in, a host whose programs run in the sandbox where there is one, and servers that are started. */
export interface World {
  readonly work: string
  readonly host: LocalHost
  readonly options: McpServerOptions
  open(
    configs: Readonly<Record<string, McpServerConfig>>,
    more?: Partial<McpServerOptions> & { readonly taken?: readonly string[] },
  ): McpServers
}

const worlds: { close(): Promise<void> }[] = []
after(async () => {
  for (const world of worlds) await world.close()
})

/** Makes a world; it is cleared away when the tests of the file are over. */
export function makeWorld(sandbox: SandboxOptions['mode'] = 'auto'): World {
  const place = mkdtempSync(join(tmpdir(), 'dragoman-mcp-'))
  const work = mkdtempSync(join(place, 'work-'))
  const scratch = mkdtempSync(join(place, 'scratch-'))
  const host = localHost({ folders: [work], scratch, sandbox: { mode: sandbox } })
  const opened: McpServers[] = []
  worlds.push({
    async close() {
      for (const servers of opened) await servers.close()
      host.close()
      clearAway(place)
    },
  })
  const options: McpServerOptions = {
    folders: [work],
    env: process.env,
    openProcess: (program, listener) => host.stdioProcesses.open(program, listener),
    listCache: createMemoryKeyValueStore(),
    tokenStore: createMemoryKeyValueStore(),
    retryDelayMs: 50,
  }
  return {
    work,
    host,
    options,
    open(configs, more = {}) {
      const servers = createMcpServers(configs, { ...options, ...more })
      opened.push(servers)
      servers.start()
      return servers
    },
  }
}

/** The program of an installed package. */
export function programOf(name: string): string {
  const require = createRequire(join(root, 'package.json'))
  const manifest = require.resolve(`${name}/package.json`)
  const { bin } = require(manifest) as { bin: string | Record<string, string> }
  const path = typeof bin === 'string' ? bin : Object.values(bin)[0]
  return join(dirname(manifest), path ?? '')
}

/** All of these servers are connected. */
export async function allReady({ list }: McpServers): Promise<void> {
  await Promise.all(list.map((server) => server.ready()))
}
