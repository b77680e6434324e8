import { type McpServerConfig, parseTransportConfig } from '../../../tool/mcp/server/server-config.ts'
import { UserError } from '../../user-error.ts'
import { updateMcpSettings, type McpCommandOptions } from './mcp.ts'
import { printMcpServers, withMcpServers } from './inspect.ts'
import { defined } from '../../../model/defined.ts'

/** `dragoman mcp add`: settles a server, and sees at once whether it is there. */
export async function runMcpAdd(positionals: readonly string[], values: McpCommandOptions): Promise<number> {
  const [name = '', target = '', ...args] = positionals
  if (!/^[\w.-]{1,64}$/.test(name))
    throw new UserError(`a server needs a name of letters, digits, dots, dashes and underscores, not “${name}”`)
  if (target === '') throw new UserError('give the command that starts the server, or its address')
  const config = toServerConfig(target, args, values)
  const transport = parseTransportConfig(config)
  if ('problem' in transport) throw new UserError(`this is no server: ${transport.problem}`)
  updateMcpSettings(values, (servers) => ({ ...servers, [name]: config }))
  process.stdout.write(`${name} is in ${values.project ? 'the settings of this folder' : 'your settings'}.\n`)
  return withMcpServers({ [name]: config }, async (servers) => {
    // What it offers is kept, so that the next session has its tools from the first request on.
    await Promise.allSettled(servers.list.map((server) => server.ready()))
    return printMcpServers(servers, values)
  })
}

function toServerConfig(target: string, args: readonly string[], values: McpCommandOptions): McpServerConfig {
  const { type, trust, timeout } = values
  const isAddress = /^https?:\/\//i.test(target) && type !== 'stdio'
  if (isAddress && args.length > 0) throw new UserError(`an address takes no arguments, but there is “${args[0]}”`)
  const limit = timeout === undefined ? undefined : Number(timeout)
  if (limit !== undefined && !(limit > 0)) throw new UserError(`--timeout takes milliseconds, not “${timeout}”`)
  const env = parsePairs(values.env ?? [], '=', '--env')
  const headers = parsePairs(values.header ?? [], ':', '--header')
  return {
    ...(isAddress ? { url: target } : { command: target, ...(args.length > 0 && { args }) }),
    ...(isAddress && type !== undefined && { type }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...defined({ timeout: limit }),
    ...(trust && { trust }),
    ...(values.include !== undefined && { includeTools: splitCommaList(values.include) }),
    ...(values.exclude !== undefined && { excludeTools: splitCommaList(values.exclude) }),
  }
}

function parsePairs(texts: readonly string[], between: string, option: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(between)
      // What was given may be a secret, and is not repeated.
      if (at <= 0) throw new UserError(`${option} takes a name, “${between}” and a value`)
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
    }),
  )
}

function splitCommaList(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}
