import { workFolder } from '../setup/assemble.ts'
import { changeConfigFile } from '../config/write.ts'
import { projectConfig, readSettings, userConfig } from '../config/read.ts'
import { isTrusted, setTrust } from '../config/trust.ts'
import type { Config } from '../config/schema.ts'
import { Complaint } from '../exit.ts'
import { MCP } from '../manual/mcp.ts'
import { parseLine, type Values } from '../line/parse.ts'
import { showHelp } from '../line/show-help.ts'
import type { McpServerConfig } from '../../tool/mcp/config.ts'

/** What was given on the command line. */
export type McpValues = Values<typeof MCP.options>

/** `dragoman mcp`: the servers of the settings. */
export async function mcpCommand(args: string[]): Promise<number | void> {
  const { values, positionals } = parseLine('dragoman mcp', MCP.options, args)
  const [verb, ...words] = positionals
  if (verb === undefined) return void (await showHelp('mcp'))
  const run = Object.hasOwn(VERBS, verb) ? VERBS[verb] : undefined
  if (!run) throw new Complaint(`dragoman mcp knows ${Object.keys(VERBS).join(', ')}, not “${verb}”`)
  return run(words, values)
}

const VERBS: Readonly<Record<string, (words: string[], values: McpValues) => Promise<number | void>>> = {
  add: async (words, values) => (await import('./mcp-add.ts')).addServer(words, values),
  remove: (words, values) => Promise.resolve(removeServer(words, values)),
  list: async (words, values) => (await import('./mcp-look.ts')).listServers(words, values),
  test: async (words, values) => (await import('./mcp-look.ts')).testServer(words, values),
  approve: async (words) => (await import('./mcp-look.ts')).approveServer(words),
  login: async (words) => (await import('./mcp-login.ts')).loginToServer(words),
  logout: async (words) => (await import('./mcp-login.ts')).logoutOfServer(words),
  import: async (words, values) => (await import('./mcp-import.ts')).importCommand(words, values),
}

function removeServer(words: readonly string[], values: McpValues): void {
  const [name = '', ...more] = words
  if (name === '' || more.length > 0) throw new Complaint('dragoman mcp remove takes the name of a server')
  let found = false
  changeServers(values, ({ [name]: gone, ...rest }) => {
    found = gone !== undefined
    return rest
  })
  const where = values.project ? 'the settings of this folder' : 'your settings'
  if (!found) throw new Complaint(`there is no server ${name} in ${where}`)
  process.stdout.write(`${name} is removed from ${where}.\n`)
}

type ServerConfigs = Readonly<Record<string, McpServerConfig>>

/** Changes the servers in the settings: the person's own, or those of this folder. */
export function changeServers({ project }: McpValues, change: (servers: ServerConfigs) => ServerConfigs): void {
  const folder = workFolder({})
  const next = ({ mcpServers = {}, ...config }: Config): Config => {
    const servers = change(mcpServers)
    return Object.keys(servers).length === 0 ? config : { ...config, mcpServers: servers }
  }
  if (!project) return changeConfigFile(userConfig(), next)
  const trusted = isTrusted(folder)
  changeConfigFile(projectConfig(folder), next)
  // What the person changes themselves they need not be asked about.
  if (trusted) setTrust(folder, true)
  else process.stderr.write('dragoman: this folder is not trusted, so its settings are not used yet: dragoman trust\n')
}

/** The servers that hold here; the one of a name, if one is asked for. */
export function serversHere(name?: string): ServerConfigs {
  const { mcpServers = {} } = readSettings(workFolder({})).config
  if (name === undefined) return mcpServers
  const config = Object.hasOwn(mcpServers, name) ? mcpServers[name] : undefined
  if (config) return { [name]: config }
  const known = Object.keys(mcpServers)
  throw new Complaint(
    known.length === 0
      ? 'there are no servers yet; dragoman mcp add'
      : `there is no server ${name}; there are ${known.join(', ')}`,
  )
}
