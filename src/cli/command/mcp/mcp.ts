import { relative } from 'node:path'
import { resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { updateConfigFile } from '../../config/update-settings.ts'
import { getProjectConfigPath, readSettings, getUserConfigPath } from '../../config/read-settings.ts'
import { isTrusted, trustChangedFile } from '../../config/folder-trust.ts'
import type { Config } from '../../config/schema.ts'
import { UserError } from '../../user-error.ts'
import { MCP_COMMAND } from './spec.ts'
import { findSubcommand, parseCommandLine, rejectExtraArgs, type OptionValues } from '../../args/parse-command-line.ts'
import { printHelp } from '../../args/print-help.ts'
import type { McpServerConfig } from '../../../tool/mcp/client/server-config.ts'

export type McpCommandOptions = OptionValues<typeof MCP_COMMAND.options>

export async function runMcpCommand(args: string[]): Promise<number | void> {
  const { values, positionals } = parseCommandLine('dragoman mcp', MCP_COMMAND.options, args)
  const [subcommand, ...rest] = positionals
  if (subcommand === undefined) return printHelp('mcp')
  if (values.project && values.scope === 'user') throw new UserError('use --project or --scope user, not both')
  const project = values.project ?? values.scope === 'project'
  const name = Object.hasOwn(OTHER_NAMES, subcommand) ? (OTHER_NAMES[subcommand] ?? '') : subcommand
  return findSubcommand('dragoman mcp', MCP_SUBCOMMANDS, name)(rest, { ...values, project })
}

/** What other agents call them. */
const OTHER_NAMES: Readonly<Record<string, string>> = { get: 'test', rm: 'remove', ls: 'list' }

type McpSubcommand = (positionals: readonly string[], values: McpCommandOptions) => Promise<number | void> | void

const MCP_SUBCOMMANDS: Readonly<Record<keyof typeof MCP_COMMAND.subcommands, McpSubcommand>> = {
  add: async (positionals, values) => (await import('./add.ts')).runMcpAdd(positionals, values),
  'add-json': async (positionals, values) => (await import('./add.ts')).runMcpAddJson(positionals, values),
  remove: runMcpRemove,
  list: async (positionals, values) => (await import('./inspect.ts')).runMcpList(positionals, values),
  test: async (positionals, values) => (await import('./inspect.ts')).runMcpTest(positionals, values),
  approve: async (positionals) => (await import('./inspect.ts')).runMcpApprove(positionals),
  login: async (positionals) => (await import('./login.ts')).runMcpLogin(positionals),
  logout: async (positionals) => (await import('./login.ts')).runMcpLogout(positionals),
  import: async (positionals, values) => (await import('./import.ts')).runMcpImport(positionals, values),
}

function runMcpRemove(positionals: readonly string[], values: McpCommandOptions): void {
  rejectExtraArgs('dragoman mcp remove', positionals, 1)
  const name = requireServerName('dragoman mcp remove', positionals)
  let found = false
  updateMcpSettings(values, ({ [name]: removedConfig, ...rest }) => {
    found = removedConfig !== undefined
    return rest
  })
  if (!found) throw new UserError(`${describeMcpSettingsScope(values)} have no MCP server ${name}`)
  process.stdout.write(`${name} was removed from ${describeMcpSettingsScope(values)}.\n`)
}

export function describeMcpSettingsScope({ project }: McpCommandOptions): string {
  return project ? 'the settings of this folder' : 'your settings'
}

export function requireServerName(command: string, [name]: readonly string[]): string {
  if (name === undefined || name === '') throw new UserError(`the name of the server is missing; see ${command} --help`)
  return name
}

type McpServerConfigs = Readonly<Record<string, McpServerConfig>>

/** Changes the servers in the user's settings, or with `project` in those of this folder. */
export function updateMcpSettings(
  { project }: McpCommandOptions,
  change: (servers: McpServerConfigs) => McpServerConfigs,
): void {
  const folder = resolveWorkFolder({})
  const next = ({ mcpServers = {}, ...config }: Config): Config => {
    const servers = change(mcpServers)
    return Object.keys(servers).length === 0 ? config : { ...config, mcpServers: servers }
  }
  if (!project) return updateConfigFile(getUserConfigPath(), next)
  const trusted = isTrusted(folder, 'settings')
  updateConfigFile(getProjectConfigPath(folder), next)
  // The user made this change, so the folder stays trusted.
  if (trusted) trustChangedFile(folder, relative(folder, getProjectConfigPath(folder)))
  else
    process.stderr.write(
      'dragoman: the settings are not used yet, because this folder is not trusted; run dragoman trust\n',
    )
}

/** The servers in effect in this folder, or the one with this name. */
export function findConfiguredServers(name?: string): McpServerConfigs {
  const { mcpServers = {} } = readSettings(resolveWorkFolder({})).config
  if (name === undefined) return mcpServers
  const config = Object.hasOwn(mcpServers, name) ? mcpServers[name] : undefined
  if (config) return { [name]: config }
  const serverNames = Object.keys(mcpServers)
  throw new UserError(
    serverNames.length === 0
      ? 'no MCP servers are configured; add one with dragoman mcp add'
      : `unknown MCP server ${name}; the servers are ${serverNames.join(', ')}`,
  )
}
