import type { Tool } from '../define.ts'
import { bridge } from './bridge.ts'
import type { McpServerConfig } from './config.ts'
import { gateTools, type SetAside } from './gate.ts'
import type { Lists } from './lists.ts'
import { type Names, nameTools } from './names.ts'
import { keepPins, type Pins } from './pins.ts'
import { type Server, type ServerOptions, serverFor } from './server.ts'

/** All servers of a session. */
export interface Servers {
  readonly list: readonly Server[]
  /** The tools of each server, under the names that a model sees; the same array as long as a server offers the same. */
  tools(): readonly (readonly Tool[])[]
  /** The tools of a server that are not used, and why. */
  aside(server: string): readonly SetAside[]
  /** What the host has to say of them since it was last asked. */
  news(): readonly string[]
  readonly pins: Pins
  readonly names: Names
  /** Begins to connect to all, side by side and in the background; none waits for another, and nobody for them. */
  start(): void
  /** Ends them all, side by side; nothing is left running. */
  close(): Promise<void>
}

/** The servers of some settings. */
export function openServers(
  configs: Readonly<Record<string, McpServerConfig>>,
  options: ServerOptions & { readonly taken?: readonly string[]; readonly news?: () => readonly string[] },
): Servers {
  const list = Object.entries(configs)
    .filter(([, config]) => config.disabled !== true)
    .map(([name, config]) => serverFor(name, config, options))
  const names = nameTools(options.taken ?? [])
  const pins = keepPins(options.shelf)
  const known = new Map<string, Offered>()

  function offered(server: Server): Offered {
    const { tools } = server.lists
    const former = known.get(server.name)
    if (former?.from === tools) return former
    const next = take(server, tools, names, pins)
    const isSame = former !== undefined && JSON.stringify(former.from) === JSON.stringify(tools)
    const taken = isSame ? { ...former, from: tools } : next
    known.set(server.name, taken)
    return taken
  }

  return {
    list,
    news: () => options.news?.() ?? [],
    pins,
    names,
    start() {
      for (const server of list) server.start()
    },
    tools: () => list.map((server) => offered(server).tools),
    aside: (name) => list.filter((server) => server.name === name).flatMap((server) => offered(server).aside),
    close: async () => void (await Promise.all(list.map((server) => server.close()))),
  }
}

interface Offered {
  readonly from: Lists['tools']
  readonly tools: readonly Tool[]
  readonly aside: readonly SetAside[]
}

function take(server: Server, list: Lists['tools'], names: Names, pins: Pins): Offered {
  const { tools, aside } = gateTools(list, server.config)
  const bridged = tools.map((remote) =>
    bridge(server, remote, names.of({ server: server.name, tool: remote.name }), pins),
  )
  return { from: list, tools: bridged, aside }
}
