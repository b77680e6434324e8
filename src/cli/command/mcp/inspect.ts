import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localHost } from '../../../host/local-host.ts'
import { isObject, type JsonObject, stringOrEmpty, tryParseJson } from '../../../model/json.ts'
import { getServerIdentity, type McpServerConfig } from '../../../tool/mcp/client/server-config.ts'
import { toMcpToolOutput } from '../../../tool/mcp/tools/tool-content.ts'
import { filterTools } from '../../../tool/mcp/tools/filter-tools.ts'
import type { McpServer } from '../../../tool/mcp/client/server.ts'
import type { McpServers } from '../../../tool/mcp/client/servers.ts'
import { resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { readSettings } from '../../config/read-settings.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { openServersWithoutSession } from '../../setup/mcp-runtime.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { listPrivateFolders, getSessionsFolder } from '../../paths/folders.ts'
import { rejectExtraArgs } from '../../args/parse-command-line.ts'
import { type McpCommandOptions, findConfiguredServers, requireServerName } from './mcp.ts'
import { getErrorMessage } from '../../../model/error-message.ts'

export async function runMcpList(positionals: readonly string[], values: McpCommandOptions): Promise<number> {
  rejectExtraArgs('dragoman mcp list', positionals)
  const configs = findConfiguredServers()
  if (Object.keys(configs).length === 0) {
    process.stdout.write(values.json ? '[]\n' : 'No MCP servers are configured. Add one with dragoman mcp add.\n')
    return EXIT_CODE.ok
  }
  return withMcpServers(configs, async (servers) => {
    await Promise.allSettled(servers.list.map((server) => server.ready()))
    const code = printMcpServers(servers, values)
    const off = Object.entries(configs).flatMap(([name, { disabled }]) => (disabled ? [name] : []))
    if (off.length > 0 && !values.json) process.stdout.write(`disabled in the settings: ${off.join(', ')}\n`)
    return code
  })
}

export async function runMcpTest(positionals: readonly string[], values: McpCommandOptions): Promise<number> {
  rejectExtraArgs('dragoman mcp test', positionals, 3)
  const [, tool, json = '{}'] = positionals
  const name = requireServerName('dragoman mcp test', positionals)
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

export async function runMcpApprove(positionals: readonly string[]): Promise<number> {
  rejectExtraArgs('dragoman mcp approve', positionals, 1)
  const name = requireServerName('dragoman mcp approve', positionals)
  return withMcpServers(findConfiguredServers(name), (servers) => {
    const count = servers.pins.forget(name)
    process.stdout.write(
      `${name}: ${count} approved tools were reset; they are accepted as they are at their next use.\n`,
    )
    return Promise.resolve(EXIT_CODE.ok)
  })
}

async function callTool(server: McpServer, tool: string, input: JsonObject, values: McpCommandOptions) {
  const found = filterTools(server.lists.tools, {}).tools.find(({ name }) => name === tool)
  if (!found)
    throw new UserError(
      `the server ${server.name} has no tool ${tool}; list its tools with dragoman mcp test ${server.name}`,
    )
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
  const input = tryParseJson(json)
  if (isObject(input)) return input as JsonObject
  throw new UserError(`the arguments must be a JSON object, not “${json}”`)
}

export async function withMcpServers(
  configs: Readonly<Record<string, McpServerConfig>>,
  work: (servers: McpServers) => Promise<number>,
): Promise<number> {
  const folder = resolveWorkFolder({})
  const { config } = readSettings(folder)
  const scratch = mkdtempSync(join(tmpdir(), 'dragoman-mcp-'))
  const sandbox = {
    mode: config.sandbox ?? 'auto',
    hiddenFolders: listPrivateFolders(),
    caches: join(getSessionsFolder(folder), 'caches'),
    writeCaches: config.sandboxOptions?.writeCaches ?? false,
  }
  const host = localHost({ folders: [folder], scratch, sandbox })
  // The tools get the names that the model sees: those of built-in tools are reserved.
  const servers = openServersWithoutSession(configs, { folders: [folder], host })
  try {
    return await work(servers)
  } finally {
    await servers.close()
    host.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Prints servers; the exit code is that of a failure if one is not ready. */
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

/** The state of the servers and what they offer, under the names that the model sees. */
export function formatMcpServers(servers: McpServers): string {
  const tools = servers.tools().map((list) => list.map(({ spec }) => spec.name))
  const texts = servers.list.map((server, at) => formatMcpServer(servers, server, tools[at] ?? []))
  return texts.map((text) => `${escapeForTerminal(text)}\n`).join('')
}

function formatMcpServer(servers: McpServers, server: McpServer, names: readonly string[]): string {
  const { name, config, lists } = server
  const remote = filterTools(lists.tools, config).tools
  const changed = remote.filter(
    (tool) => servers.pins.diffFromApproved(name, tool, getServerIdentity(config)) !== undefined,
  )
  const rows: readonly (readonly [what: string, items: readonly string[]])[] = [
    ['tools', names],
    ['prompts', lists.prompts.map((one) => stringOrEmpty(one['name']))],
    ['resources', lists.resources.map((one) => stringOrEmpty(one['uri']))],
    ['changed since they were approved (accept with dragoman mcp approve)', changed.map((tool) => tool.name)],
  ]
  const aside = servers.skippedTools(name).map((one) => `  skipped: ${one.name}: ${one.reason}`)
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
  return `failed: ${state.why}${state.signIn ? `; sign in with dragoman mcp login ${name}` : ''}`
}

function joinFirst(items: readonly string[]): string {
  return items.length <= 100 ? items.join(', ') : `${items.slice(0, 100).join(', ')} and ${items.length - 100} more`
}
