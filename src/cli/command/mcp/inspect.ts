import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localHost } from '../../../host/local-host.ts'
import { isObject, type JsonObject } from '../../../model/json.ts'
import { getServerIdentity, type McpServerConfig } from '../../../tool/mcp/server/server-config.ts'
import { toMcpToolOutput } from '../../../tool/mcp/tools/tool-content.ts'
import { filterTools } from '../../../tool/mcp/tools/filter-tools.ts'
import type { McpServer } from '../../../tool/mcp/server/server.ts'
import type { McpServers } from '../../../tool/mcp/server/servers.ts'
import { resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { readSettings } from '../../config/read-settings.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { openServersWithoutSession } from '../../setup/mcp.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { memoryFilePath, listPrivateFolders, sessionsFolderPath } from '../../paths/folders.ts'
import { type McpCommandOptions, findConfiguredServers } from './mcp.ts'
import { getErrorMessage } from '../../../model/error-message.ts'

/** `dragoman mcp list`: all servers, how it stands with them, and their tools. */
export async function runMcpList(positionals: readonly string[], values: McpCommandOptions): Promise<number> {
  if (positionals.length > 0) throw new UserError(`dragoman mcp list takes no words, not “${positionals.join(' ')}”`)
  const configs = findConfiguredServers()
  if (Object.keys(configs).length === 0) {
    process.stdout.write(values.json ? '[]\n' : 'There are no servers yet; dragoman mcp add.\n')
    return EXIT_CODE.ok
  }
  return withMcpServers(configs, async (servers) => {
    await Promise.allSettled(servers.list.map((server) => server.ready()))
    const code = printMcpServers(servers, values)
    const off = Object.entries(configs).flatMap(([name, { disabled }]) => (disabled ? [name] : []))
    if (off.length > 0 && !values.json) process.stdout.write(`not started, as the settings say: ${off.join(', ')}\n`)
    return code
  })
}

/** `dragoman mcp test`: connects, and shows what there is; or calls one tool, and shows what it says. */
export async function runMcpTest(positionals: readonly string[], values: McpCommandOptions): Promise<number> {
  const [name, tool, json = '{}', ...more] = positionals
  if (name === undefined || more.length > 0)
    throw new UserError('dragoman mcp test takes a server, and if you like a tool and its arguments as JSON')
  const input = tool === undefined ? {} : parseToolArguments(json)
  const { [name]: config = {} } = findConfiguredServers(name)
  return withMcpServers({ [name]: { ...config, disabled: false } }, async (servers) => {
    const [server] = servers.list
    await server?.ready().catch(() => undefined)
    if (tool === undefined || !server || server.state.status !== 'ready') {
      const code = printMcpServers(servers, values)
      for (const line of server?.log.slice(-10) ?? []) process.stdout.write(`  log: ${escapeForTerminal(line)}\n`)
      return code
    }
    return callTool(server, tool, input, values)
  })
}

/** `dragoman mcp approve`: what has changed is what is meant from now on. */
export async function runMcpApprove(positionals: readonly string[]): Promise<number> {
  const [name, ...more] = positionals
  if (name === undefined || more.length > 0) throw new UserError('dragoman mcp approve takes the name of a server')
  return withMcpServers(findConfiguredServers(name), (servers) => {
    const count = servers.pins.forget(name)
    process.stdout.write(
      `The ${count} tools of ${name} that were approved are taken as they are when they are next used.\n`,
    )
    return Promise.resolve(EXIT_CODE.ok)
  })
}

async function callTool(
  server: McpServer,
  tool: string,
  input: JsonObject,
  values: McpCommandOptions,
): Promise<number> {
  const found = filterTools(server.lists.tools, {}).tools.find(({ name }) => name === tool)
  if (!found) throw new UserError(`the server ${server.name} has no tool ${tool}; dragoman mcp test ${server.name}`)
  try {
    const result = await server.call(found, input, { timeout: server.config.timeout ?? CALL_TIMEOUT_MS })
    const { display = '', error } = toMcpToolOutput(tool, result)
    const shown = values.json ? JSON.stringify(result) : escapeForTerminal(typeof display === 'string' ? display : '')
    process.stdout.write(`${shown}\n`)
    return error ? EXIT_CODE.failure : EXIT_CODE.ok
  } catch (error) {
    throw new UserError(escapeForTerminal(getErrorMessage(error)), EXIT_CODE.failure)
  }
}

const CALL_TIMEOUT_MS = 60_000

function parseToolArguments(json: string): JsonObject {
  try {
    const input: unknown = JSON.parse(json)
    if (isObject(input)) return input as JsonObject
  } catch {
    // Said below.
  }
  throw new UserError(`the arguments of a tool are a JSON object, not “${json}”`)
}

/** Does something with servers that are started for it, and ends them. */
export async function withMcpServers(
  configs: Readonly<Record<string, McpServerConfig>>,
  work: (servers: McpServers) => Promise<number>,
): Promise<number> {
  const folder = resolveWorkFolder({})
  const { config } = readSettings(folder)
  const scratch = mkdtempSync(join(tmpdir(), 'dragoman-mcp-'))
  const mode = config.sandbox ?? 'auto'
  const caches = join(sessionsFolderPath(folder), 'caches')
  const writeCaches = config.sandboxOptions?.writeCaches ?? false
  const host = localHost({
    folders: [folder],
    scratch,
    sandbox: { mode, hiddenFolders: listPrivateFolders(), caches, writeCaches },
  })
  // With the names that the model sees: ours are taken.
  const { builtinTools } = await import('../../../tool/builtin/index.ts')
  const reservedNames = builtinTools({ memory: memoryFilePath() }).map(({ spec }) => spec.name)
  const servers = openServersWithoutSession(configs, { folders: [folder], host }, reservedNames)
  try {
    return await work(servers)
  } finally {
    await servers.close()
    host.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Shows servers with all that there is to know of them; a server that is not there is a failure. */
export function printMcpServers(servers: McpServers, { json }: McpCommandOptions): number {
  const tools = servers.tools()
  if (json) {
    const rows = servers.list.map((server, at) => ({
      name: server.name,
      ...server.state,
      tools: (tools[at] ?? []).map(({ spec }) => ({ name: spec.name, description: spec.description })),
      setAside: servers.skippedTools(server.name),
      prompts: server.lists.prompts.map(({ name }) => name ?? ''),
      resources: server.lists.resources.map(({ uri }) => uri ?? ''),
    }))
    process.stdout.write(`${JSON.stringify(rows)}\n`)
  } else process.stdout.write(formatMcpServers(servers))
  return servers.list.every(({ state }) => state.status === 'ready') ? EXIT_CODE.ok : EXIT_CODE.failure
}

/** The servers, their state and what they offer, under the names that the model sees. */
export function formatMcpServers(servers: McpServers): string {
  const tools = servers.tools()
  return servers.list
    .map((server, at) => {
      const names = (tools[at] ?? []).map(({ spec }) => spec.name)
      return `${escapeForTerminal(formatMcpServer(servers, server, names))}\n`
    })
    .join('')
}

function formatMcpServer(servers: McpServers, server: McpServer, names: readonly string[]): string {
  const { name, config, lists } = server
  const remote = filterTools(lists.tools, config).tools
  const changed = remote.filter(
    (tool) => servers.pins.diffFromApproved(name, tool, getServerIdentity(config)) !== undefined,
  )
  const rows: readonly (readonly [what: string, items: readonly string[]])[] = [
    ['tools', names],
    ['prompts', lists.prompts.map((one) => toText(one['name']))],
    ['resources', lists.resources.map((one) => toText(one['uri']))],
    ['changed since they were approved (dragoman mcp approve)', changed.map((tool) => tool.name)],
  ]
  const aside = servers.skippedTools(name).map((one) => `  set aside: ${one.name}: ${one.reason}`)
  return [
    `${name}: ${formatServerState(server)}`,
    ...(lists.truncationNote === undefined ? [] : [`  ${lists.truncationNote}`]),
    ...rows.flatMap(([what, items]) => (items.length === 0 ? [] : [`  ${what}: ${joinFirst(items)}`])),
    ...aside.slice(0, MAX_SKIPPED_SHOWN),
    ...(aside.length > MAX_SKIPPED_SHOWN ? [`  … and ${aside.length - MAX_SKIPPED_SHOWN} more`] : []),
  ].join('\n')
}

const MAX_SKIPPED_SHOWN = 50

function formatServerState({ name, state, config }: McpServer): string {
  const sandboxNote = config.command !== undefined && config.trust ? ', outside the sandbox' : ''
  if (state.status === 'ready') return `ready (${state.title}, ${state.protocol}${sandboxNote})`
  if (state.status !== 'failed') return state.status
  return `failed: ${state.why}${state.signIn ? `; dragoman mcp login ${name}` : ''}`
}

function joinFirst(items: readonly string[]): string {
  return items.length <= 100 ? items.join(', ') : `${items.slice(0, 100).join(', ')} and ${items.length - 100} more`
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
