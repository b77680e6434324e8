import { type McpSignInTarget, signInToMcpServer, signOutOfMcpServer } from '../../../tool/mcp/connection/oauth.ts'
import { expandVariables, parseTransportConfig } from '../../../tool/mcp/client/server-config.ts'
import { printAndOpenUrl } from '../../sign-in/browser.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { openMcpStores } from '../../setup/mcp-runtime.ts'
import { rejectExtraArgs } from '../../args/parse-command-line.ts'
import { findConfiguredServers, requireServerName } from './mcp.ts'
import { printMcpServers, withMcpServers } from './inspect.ts'
import { defined } from '../../../model/defined.ts'
import { getErrorMessage } from '../../../model/error-message.ts'

/** `dragoman mcp login`: signs in with the browser, and connects to the server. */
export async function runMcpLogin(positionals: readonly string[]): Promise<number> {
  const endpoint = findAuthEndpoint(positionals, 'login')
  try {
    await signInToMcpServer(endpoint, printAndOpenUrl)
  } catch (error) {
    throw new UserError(`the sign-in failed: ${getErrorMessage(error)}`, EXIT_CODE.signIn)
  }
  process.stdout.write(`Signed in to ${endpoint.name}.\n`)
  return withMcpServers(findConfiguredServers(endpoint.name), async (servers) => {
    await Promise.allSettled(servers.list.map((server) => server.ready()))
    return printMcpServers(servers, {})
  })
}

export function runMcpLogout(positionals: readonly string[]): void {
  const endpoint = findAuthEndpoint(positionals, 'logout')
  if (!signOutOfMcpServer(endpoint)) throw new UserError(`there is no sign-in for ${endpoint.name}`)
  process.stdout.write(`Signed out of ${endpoint.name}.\n`)
}

function findAuthEndpoint(positionals: readonly string[], subcommand: string): McpSignInTarget {
  rejectExtraArgs(`dragoman mcp ${subcommand}`, positionals, 1)
  const name = requireServerName(`dragoman mcp ${subcommand}`, positionals)
  const { [name]: config = {} } = findConfiguredServers(name)
  const expanded = expandVariables(config, process.env)
  if ('problem' in expanded) throw new UserError(`${name}: ${expanded.problem}`, EXIT_CODE.config)
  const transport = parseTransportConfig(expanded)
  if ('problem' in transport) throw new UserError(`${name}: ${transport.problem}`, EXIT_CODE.config)
  if (transport.kind === 'stdio') throw new UserError(`${name} is a local program and needs no sign-in`)
  return { name, url: transport.url, tokens: openMcpStores().tokenStore, ...defined({ oauth: expanded.oauth }) }
}
