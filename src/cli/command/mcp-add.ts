import { type McpServerConfig, reachOf } from '../../tool/mcp/config.ts'
import { Complaint } from '../exit.ts'
import { changeServers, type McpValues } from './mcp.ts'
import { showServers, withServers } from './mcp-look.ts'

/** `dragoman mcp add`: settles a server, and sees at once whether it is there. */
export async function addServer(words: readonly string[], values: McpValues): Promise<number> {
  const [name = '', target = '', ...args] = words
  if (!/^[\w.-]{1,64}$/.test(name))
    throw new Complaint(`a server needs a name of letters, digits, dots, dashes and underscores, not “${name}”`)
  if (target === '') throw new Complaint('give the command that starts the server, or its address')
  const config = configOf(target, args, values)
  const reach = reachOf(config)
  if ('problem' in reach) throw new Complaint(`this is no server: ${reach.problem}`)
  changeServers(values, (servers) => ({ ...servers, [name]: config }))
  process.stdout.write(`${name} is in ${values.project ? 'the settings of this folder' : 'your settings'}.\n`)
  return withServers({ [name]: config }, async (servers) => {
    // What it offers is kept, so that the next session has its tools from the first request on.
    await Promise.allSettled(servers.list.map((server) => server.ready()))
    return showServers(servers, values)
  })
}

function configOf(target: string, args: readonly string[], values: McpValues): McpServerConfig {
  const { type, trust, timeout } = values
  const isAddress = /^https?:\/\//i.test(target) && type !== 'stdio'
  if (isAddress && args.length > 0) throw new Complaint(`an address takes no arguments, but there is “${args[0]}”`)
  const limit = timeout === undefined ? undefined : Number(timeout)
  if (limit !== undefined && !(limit > 0)) throw new Complaint(`--timeout takes milliseconds, not “${timeout}”`)
  const env = pairs(values.env ?? [], '=', '--env')
  const headers = pairs(values.header ?? [], ':', '--header')
  return {
    ...(isAddress ? { url: target } : { command: target, ...(args.length > 0 && { args }) }),
    ...(isAddress && type !== undefined && { type }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(limit !== undefined && { timeout: limit }),
    ...(trust && { trust }),
    ...(values.include !== undefined && { includeTools: listed(values.include) }),
    ...(values.exclude !== undefined && { excludeTools: listed(values.exclude) }),
  }
}

function pairs(texts: readonly string[], between: string, option: string): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(between)
      // What was given may be a secret, and is not repeated.
      if (at <= 0) throw new Complaint(`${option} takes a name, “${between}” and a value`)
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
    }),
  )
}

function listed(text: string): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
}
