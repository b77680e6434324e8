import { resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { updateConfigFile } from '../../config/update-settings.ts'
import { projectConfigPath, readSettings, userConfigPath } from '../../config/read-settings.ts'
import { isTrusted, setTrust } from '../../config/trust.ts'
import type { Config } from '../../config/schema.ts'
import { UserError } from '../../user-error.ts'
import { MCP_COMMAND } from './spec.ts'
import { parseCommandLine, type OptionValues } from '../../args/parse.ts'
import { printHelp } from '../../args/print-help.ts'
import type { McpServerConfig } from '../../../tool/mcp/server/server-config.ts'

/** What was given on the command line. */
export type McpCommandOptions = OptionValues<typeof MCP_COMMAND.options>

/** `dragoman mcp`: the servers of the settings. */
export async function runMcpCommand(args: string[]): Promise<number | void> {
  const { values, positionals } = parseCommandLine('dragoman mcp', MCP_COMMAND.options, args)
  const [subcommand, ...positionalArgs] = positionals
  if (subcommand === undefined) return void (await printHelp('mcp'))
  const run = Object.hasOwn(MCP_SUBCOMMANDS, subcommand) ? MCP_SUBCOMMANDS[subcommand] : undefined
  if (!run) throw new UserError(`dragoman mcp knows ${Object.keys(MCP_SUBCOMMANDS).join(', ')}, not “${subcommand}”`)
  return run(positionalArgs, values)
}

const MCP_SUBCOMMANDS: Readonly<
  Record<string, (positionalArgs: string[], values: McpCommandOptions) => Promise<number | void>>
> = {
  add: async (positionalArgs, values) => (await import('./add.ts')).runMcpAdd(positionalArgs, values),
  remove: (positionalArgs, values) => Promise.resolve(runMcpRemove(positionalArgs, values)),
  list: async (positionalArgs, values) => (await import('./inspect.ts')).runMcpList(positionalArgs, values),
  test: async (positionalArgs, values) => (await import('./inspect.ts')).runMcpTest(positionalArgs, values),
  approve: async (positionalArgs) => (await import('./inspect.ts')).runMcpApprove(positionalArgs),
  login: async (positionalArgs) => (await import('./login.ts')).runMcpLogin(positionalArgs),
  logout: async (positionalArgs) => (await import('./login.ts')).runMcpLogout(positionalArgs),
  import: async (positionalArgs, values) => (await import('./import.ts')).runMcpImport(positionalArgs, values),
}

function runMcpRemove(positionalArgs: readonly string[], values: McpCommandOptions): void {
  const [name = '', ...more] = positionalArgs
  if (name === '' || more.length > 0) throw new UserError('dragoman mcp remove takes the name of a server')
  let found = false
  updateMcpSettings(values, ({ [name]: removedConfig, ...rest }) => {
    found = removedConfig !== undefined
    return rest
  })
  const where = values.project ? 'the settings of this folder' : 'your settings'
  if (!found) throw new UserError(`there is no server ${name} in ${where}`)
  process.stdout.write(`${name} is removed from ${where}.\n`)
}

type McpServerConfigs = Readonly<Record<string, McpServerConfig>>

/** Changes the servers in the settings: the person's own, or those of this folder. */
export function updateMcpSettings(
  { project }: McpCommandOptions,
  change: (servers: McpServerConfigs) => McpServerConfigs,
): void {
  const folder = resolveWorkFolder({})
  const next = ({ mcpServers = {}, ...config }: Config): Config => {
    const servers = change(mcpServers)
    return Object.keys(servers).length === 0 ? config : { ...config, mcpServers: servers }
  }
  if (!project) return updateConfigFile(userConfigPath(), next)
  const trusted = isTrusted(folder)
  updateConfigFile(projectConfigPath(folder), next)
  // What the person changes themselves they need not be asked about.
  if (trusted) setTrust(folder, true)
  else process.stderr.write('dragoman: this folder is not trusted, so its settings are not used yet: dragoman trust\n')
}

/** The servers that hold here; the one of a name, if one is asked for. */
export function findConfiguredServers(name?: string): McpServerConfigs {
  const { mcpServers = {} } = readSettings(resolveWorkFolder({})).config
  if (name === undefined) return mcpServers
  const config = Object.hasOwn(mcpServers, name) ? mcpServers[name] : undefined
  if (config) return { [name]: config }
  const serverNames = Object.keys(mcpServers)
  throw new UserError(
    serverNames.length === 0
      ? 'there are no servers yet; dragoman mcp add'
      : `there is no server ${name}; there are ${serverNames.join(', ')}`,
  )
}
