import { resolve } from 'node:path'
import { isObject, tryParseJson } from '../../../model/json.ts'
import { importMcpServers } from '../../../tool/mcp/client/import-servers.ts'
import { type McpServerConfig, parseTransportConfig } from '../../../tool/mcp/client/server-config.ts'
import { UserError } from '../../user-error.ts'
import { parsePositiveNumber, rejectExtraArgs, splitCommaList } from '../../args/parse-command-line.ts'
import { describeMcpSettingsScope, updateMcpSettings, type McpCommandOptions } from './mcp.ts'
import { printMcpServers, withMcpServers } from './inspect.ts'
import { defined } from '../../../model/defined.ts'

/** `dragoman mcp add`: configures a server, and connects to it once. */
export async function runMcpAdd(positionals: readonly string[], values: McpCommandOptions): Promise<number> {
  const [name = '', target = '', ...args] = positionals
  checkName(name)
  if (target === '') throw new UserError('the command or the URL of the server is missing; see dragoman mcp add --help')
  return addServer(name, toServerConfig(target, args, values), values)
}

/** `dragoman mcp add-json`: the same, with the settings of the server as other agents have them. */
export async function runMcpAddJson(positionals: readonly string[], values: McpCommandOptions): Promise<number> {
  const [name = '', json = ''] = positionals
  rejectExtraArgs('dragoman mcp add-json', positionals, 2)
  checkName(name)
  const entry = tryParseJson(json)
  if (!isObject(entry)) throw new UserError('the settings of the server must be a JSON object')
  const { servers, remarks } = importMcpServers(JSON.stringify({ mcpServers: { [name]: entry } }), resolve('.'))
  const config = servers[name]
  if (!config) throw new UserError(remarks.join(' '))
  return addServer(name, config, values)
}

function checkName(name: string): void {
  if (!/^[\w.-]{1,64}$/.test(name))
    throw new UserError(`invalid server name “${name}”; use letters, digits, dots, dashes and underscores`)
}

async function addServer(name: string, config: McpServerConfig, values: McpCommandOptions): Promise<number> {
  const transport = parseTransportConfig(config)
  if ('problem' in transport) throw new UserError(`invalid MCP server: ${transport.problem}`)
  updateMcpSettings(values, (servers) => ({ ...servers, [name]: config }))
  process.stdout.write(`${name} was added to ${describeMcpSettingsScope(values)}.\n`)
  return withMcpServers({ [name]: config }, async (servers) => {
    // Its lists are cached, so that the next session has its tools from the first request on.
    await Promise.allSettled(servers.list.map((server) => server.ready()))
    return printMcpServers(servers, values)
  })
}

function toServerConfig(target: string, args: readonly string[], values: McpCommandOptions): McpServerConfig {
  const { type, trust, timeout } = values
  const isUrl = /^https?:\/\//i.test(target) && type !== 'stdio'
  if (isUrl && args.length > 0) throw new UserError(`a URL takes no arguments; “${args[0]}” was given`)
  const env = parsePairs(values.env ?? [], '=', '--env')
  const headers = parsePairs(values.header ?? [], ':', '--header')
  return {
    ...(isUrl ? { url: target, ...defined({ type }) } : { command: target, ...(args.length > 0 && { args }) }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...defined({
      timeout: parsePositiveNumber('--timeout', timeout),
      trust,
      includeTools: values.include === undefined ? undefined : splitCommaList(values.include),
      excludeTools: values.exclude === undefined ? undefined : splitCommaList(values.exclude),
    }),
  }
}

function parsePairs(texts: readonly string[], between: string, option: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(between)
      // The argument may be a secret, and must not be printed.
      if (at <= 0) throw new UserError(`${option} needs a name, “${between}” and a value`)
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
    }),
  )
}
