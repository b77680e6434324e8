import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localHost } from '../../host/local.ts'
import { isObject, type JsonObject } from '../../model/json.ts'
import { identityOf, type McpServerConfig } from '../../tool/mcp/config.ts'
import { outputOf } from '../../tool/mcp/content.ts'
import { gateTools } from '../../tool/mcp/gate.ts'
import type { Server } from '../../tool/mcp/server.ts'
import type { Servers } from '../../tool/mcp/servers.ts'
import { workFolder } from '../setup/assemble.ts'
import { readSettings } from '../config/read.ts'
import { Complaint, EXIT } from '../exit.ts'
import { serversAlone } from '../setup/mcp.ts'
import { visible } from '../output/visible.ts'
import { memoryFile, ownFolders, sessionsFolder } from '../own/places.ts'
import { type McpValues, serversHere } from './mcp.ts'

/** `dragoman mcp list`: all servers, how it stands with them, and their tools. */
export async function listServers(words: readonly string[], values: McpValues): Promise<number> {
  if (words.length > 0) throw new Complaint(`dragoman mcp list takes no words, not “${words.join(' ')}”`)
  const configs = serversHere()
  if (Object.keys(configs).length === 0) {
    process.stdout.write(values.json ? '[]\n' : 'There are no servers yet; dragoman mcp add.\n')
    return EXIT.ok
  }
  return withServers(configs, async (servers) => {
    await Promise.allSettled(servers.list.map((server) => server.ready()))
    const code = showServers(servers, values)
    const off = Object.entries(configs).flatMap(([name, { disabled }]) => (disabled ? [name] : []))
    if (off.length > 0 && !values.json) process.stdout.write(`not started, as the settings say: ${off.join(', ')}\n`)
    return code
  })
}

/** `dragoman mcp test`: connects, and shows what there is; or calls one tool, and shows what it says. */
export async function testServer(words: readonly string[], values: McpValues): Promise<number> {
  const [name, tool, json = '{}', ...more] = words
  if (name === undefined || more.length > 0)
    throw new Complaint('dragoman mcp test takes a server, and if you like a tool and its arguments as JSON')
  const input = tool === undefined ? {} : argumentsOf(json)
  const { [name]: config = {} } = serversHere(name)
  return withServers({ [name]: { ...config, disabled: false } }, async (servers) => {
    const [server] = servers.list
    await server?.ready().catch(() => undefined)
    if (tool === undefined || !server || server.state.status !== 'ready') {
      const code = showServers(servers, values)
      for (const line of server?.log.slice(-10) ?? []) process.stdout.write(`  log: ${visible(line)}\n`)
      return code
    }
    return callOnce(server, tool, input, values)
  })
}

/** `dragoman mcp approve`: what has changed is what is meant from now on. */
export async function approveServer(words: readonly string[]): Promise<number> {
  const [name, ...more] = words
  if (name === undefined || more.length > 0) throw new Complaint('dragoman mcp approve takes the name of a server')
  return withServers(serversHere(name), (servers) => {
    const count = servers.pins.forget(name)
    process.stdout.write(
      `The ${count} tools of ${name} that were approved are taken as they are when they are next used.\n`,
    )
    return Promise.resolve(EXIT.ok)
  })
}

async function callOnce(server: Server, tool: string, input: JsonObject, values: McpValues): Promise<number> {
  const found = gateTools(server.lists.tools, {}).tools.find(({ name }) => name === tool)
  if (!found) throw new Complaint(`the server ${server.name} has no tool ${tool}; dragoman mcp test ${server.name}`)
  try {
    const result = await server.call(found, input, { timeout: server.config.timeout ?? CALL_TIMEOUT })
    const { display = '', error } = outputOf(tool, result)
    const shown = values.json ? JSON.stringify(result) : visible(typeof display === 'string' ? display : '')
    process.stdout.write(`${shown}\n`)
    return error ? EXIT.failure : EXIT.ok
  } catch (error) {
    throw new Complaint(visible(error instanceof Error ? error.message : String(error)), EXIT.failure)
  }
}

const CALL_TIMEOUT = 60_000

function argumentsOf(json: string): JsonObject {
  try {
    const input: unknown = JSON.parse(json)
    if (isObject(input)) return input as JsonObject
  } catch {
    // Said below.
  }
  throw new Complaint(`the arguments of a tool are a JSON object, not “${json}”`)
}

/** Does something with servers that are started for it, and ends them. */
export async function withServers(
  configs: Readonly<Record<string, McpServerConfig>>,
  work: (servers: Servers) => Promise<number>,
): Promise<number> {
  const folder = workFolder({})
  const { config } = readSettings(folder)
  const scratch = mkdtempSync(join(tmpdir(), 'dragoman-mcp-'))
  const mode = config.sandbox ?? 'auto'
  const caches = join(sessionsFolder(folder), 'caches')
  const writeCaches = config.sandboxOptions?.writeCaches ?? false
  const host = localHost({ folders: [folder], scratch, sandbox: { mode, secret: ownFolders(), caches, writeCaches } })
  // With the names that the model sees: ours are taken.
  const { builtinTools } = await import('../../tool/builtin/index.ts')
  const taken = builtinTools({ memory: memoryFile() }).map(({ spec }) => spec.name)
  const servers = serversAlone(configs, { folders: [folder], host }, taken)
  try {
    return await work(servers)
  } finally {
    await servers.close()
    host.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Shows servers with all that there is to know of them; a server that is not there is a failure. */
export function showServers(servers: Servers, { json }: McpValues): number {
  const tools = servers.tools()
  if (json) {
    const rows = servers.list.map((server, at) => ({
      name: server.name,
      ...server.state,
      tools: (tools[at] ?? []).map(({ spec }) => ({ name: spec.name, description: spec.description })),
      setAside: servers.aside(server.name),
      prompts: server.lists.prompts.map(({ name }) => name ?? ''),
      resources: server.lists.resources.map(({ uri }) => uri ?? ''),
    }))
    process.stdout.write(`${JSON.stringify(rows)}\n`)
  } else process.stdout.write(serversText(servers))
  return servers.list.every(({ state }) => state.status === 'ready') ? EXIT.ok : EXIT.failure
}

/** The servers, their state and what they offer, under the names that the model sees. */
export function serversText(servers: Servers): string {
  const tools = servers.tools()
  return servers.list
    .map((server, at) => {
      const names = (tools[at] ?? []).map(({ spec }) => spec.name)
      return `${visible(serverText(servers, server, names))}\n`
    })
    .join('')
}

function serverText(servers: Servers, server: Server, names: readonly string[]): string {
  const { name, config, lists } = server
  const remote = gateTools(lists.tools, config).tools
  const changed = remote.filter((tool) => servers.pins.difference(name, tool, identityOf(config)) !== undefined)
  const rows: readonly (readonly [what: string, items: readonly string[]])[] = [
    ['tools', names],
    ['prompts', lists.prompts.map((one) => text(one['name']))],
    ['resources', lists.resources.map((one) => text(one['uri']))],
    ['changed since they were approved (dragoman mcp approve)', changed.map((tool) => tool.name)],
  ]
  const aside = servers.aside(name).map((one) => `  set aside: ${one.name}: ${one.reason}`)
  return [
    `${name}: ${stateText(server)}`,
    ...(lists.cut === undefined ? [] : [`  ${lists.cut}`]),
    ...rows.flatMap(([what, items]) => (items.length === 0 ? [] : [`  ${what}: ${some(items)}`])),
    ...aside.slice(0, MOST),
    ...(aside.length > MOST ? [`  … and ${aside.length - MOST} more`] : []),
  ].join('\n')
}

const MOST = 50

function stateText({ name, state, config }: Server): string {
  const box = config.command !== undefined && config.trust ? ', outside the sandbox' : ''
  if (state.status === 'ready') return `ready (${state.title}, ${state.protocol}${box})`
  if (state.status !== 'failed') return state.status
  return `failed: ${state.why}${state.signIn ? `; dragoman mcp login ${name}` : ''}`
}

function some(items: readonly string[]): string {
  return items.length <= 100 ? items.join(', ') : `${items.slice(0, 100).join(', ')} and ${items.length - 100} more`
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
