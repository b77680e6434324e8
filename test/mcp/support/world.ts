import { mkdtempSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import { type LocalHost, localHost } from '../../../src/host/local.ts'
import type { SandboxOptions } from '../../../src/host/sandbox/sandbox.ts'
import type { McpServerConfig } from '../../../src/tool/mcp/config.ts'
import type { ServerOptions } from '../../../src/tool/mcp/server.ts'
import { openServers, type Servers } from '../../../src/tool/mcp/servers.ts'
import { memoryShelf } from '../../../src/tool/mcp/shelf.ts'
import { root } from '../../support/paths.ts'
import { clearAway } from '../../support/clear.ts'

/** A folder to work in, a host whose programs run in the sandbox where there is one, and servers that are started. */
export interface World {
  readonly work: string
  readonly host: LocalHost
  readonly options: ServerOptions
  open(
    configs: Readonly<Record<string, McpServerConfig>>,
    more?: Partial<ServerOptions> & { readonly taken?: readonly string[] },
  ): Servers
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
  const opened: Servers[] = []
  worlds.push({
    async close() {
      for (const servers of opened) await servers.close()
      host.close()
      clearAway(place)
    },
  })
  const options: ServerOptions = {
    folders: [work],
    env: process.env,
    open: (program, listener) => host.companions.open(program, listener),
    shelf: memoryShelf(),
    tokens: memoryShelf(),
    pause: 50,
  }
  return {
    work,
    host,
    options,
    open(configs, more = {}) {
      const servers = openServers(configs, { ...options, ...more })
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
export async function allReady({ list }: Servers): Promise<void> {
  await Promise.all(list.map((server) => server.ready()))
}
