import { getRequestTools, findToolChanges } from '../../src/agent/history/request-tools.ts'
import { createIncrementalBodyWriter } from '../../src/wire/history/incremental-body-writer.ts'
import type { McpServerConfig } from '../../src/tool/mcp/client/server-config.ts'
import { createMcpServers } from '../../src/tool/mcp/client/servers.ts'
import { createMcpToolbox } from '../../src/tool/mcp/tools/mcp-toolbox.ts'
import { loadWire, wireIds } from '../../src/wire/wires.ts'
import { createMemoryKeyValueStore } from '../../test/mcp/support/memory-store.ts'
import { memorySession } from '../../test/support/stage.ts'
import type { GrowthCase } from '../support/growth.ts'
import { createExchange, createHistory } from './history.ts'

const TOOLS = [6, 24, 96] as const

/** Tools of MCP servers: reading their cached lists, declaring them, and what they cost in each turn. */
export async function listToolCases(): Promise<GrowthCase[]> {
  const wires = await Promise.all(wireIds.map(loadWire))
  return [
    {
      label: 'the cached lists of MCP servers, with tools',
      sizes: TOOLS,
      prepare(count) {
        const create = prepareServers(count)
        return () => create().refresh?.()
      },
    },
    {
      label: 'the first request on each wire, with MCP tools',
      sizes: TOOLS,
      prepare(count) {
        const { specs } = startToolbox(count)
        return () => {
          for (const wire of wires)
            createIncrementalBodyWriter(wire)({ model: 'm', tools: [...specs], turns: createHistory(1) }, wire.profile)
        }
      },
    },
    {
      label: 'a later turn on each wire, with MCP tools',
      sizes: TOOLS,
      prepare(count) {
        const toolbox = startToolbox(count)
        const session = memorySession('s')
        const turns = createHistory(10)
        const writers = wires.map((wire) => ({ wire, write: createIncrementalBodyWriter(wire) }))
        let next = 10
        return () => {
          turns.push(...createExchange(next++))
          toolbox.refresh?.()
          findToolChanges({ session, toolbox })
          const tools = getRequestTools({ session, toolbox })
          for (const { wire, write } of writers) write({ model: 'm', tools, turns }, wire.profile)
        }
      },
    },
  ]
}

function startToolbox(count: number) {
  const toolbox = prepareServers(count)()
  toolbox.refresh?.()
  return toolbox
}

/** Two servers whose lists are in the cache, as after the first start. */
function prepareServers(count: number) {
  const cache = createMemoryKeyValueStore()
  const lists = {
    tools: Array.from({ length: count / 2 }, (_, at) => createRemoteTool(at)),
    prompts: [],
    resources: [],
  }
  const listCache = { ...cache, get: (name: string) => (/^(?:one|two)-\w+$/.test(name) ? lists : cache.get(name)) }
  const config: McpServerConfig = { command: 'none' }
  return () => {
    const stores = { listCache, tokenStore: createMemoryKeyValueStore() }
    const servers = createMcpServers({ one: config, two: config }, { env: {}, folders: ['/'], ...stores })
    return createMcpToolbox([], servers)
  }
}

function createRemoteTool(at: number) {
  const text = { type: 'string', description: 'What to look for, in the words of the user.' }
  const properties = {
    query: text,
    limit: { type: 'integer', minimum: 1, maximum: 100 },
    tags: { type: 'array', items: text },
  }
  return {
    name: `look_up_thing_${at}`,
    description: `Looks up things of the kind ${at}, and returns those that fit best.`,
    inputSchema: { type: 'object', properties, required: ['query'] },
  }
}
