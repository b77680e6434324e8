import { type AuthTarget, signInToMcpServer, signOutOfMcpServer } from '../../../tool/mcp/connection/oauth.ts'
import { expandVariables, parseTransportConfig } from '../../../tool/mcp/server/server-config.ts'
import { printAndOpenUrl } from '../../sign-in/browser.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { openMcpStores } from '../../setup/mcp.ts'
import { findConfiguredServers } from './mcp.ts'
import { printMcpServers, withMcpServers } from './inspect.ts'
import { defined } from '../../../model/defined.ts'
import { getErrorMessage } from '../../../model/error-message.ts'

/** `dragoman mcp login`: signs in to a server in the browser, and sees whether that opens it. */
export async function runMcpLogin(positionals: readonly string[]): Promise<number> {
  const endpoint = findAuthEndpoint(positionals, 'login')
  try {
    await signInToMcpServer(endpoint, printAndOpenUrl)
  } catch (error) {
    const why = getErrorMessage(error)
    throw new UserError(`the sign-in failed: ${why}`, EXIT_CODE.signIn)
  }
  process.stdout.write(`Signed in to ${endpoint.name}.\n`)
  return withMcpServers(findConfiguredServers(endpoint.name), async (servers) => {
    await Promise.allSettled(servers.list.map((server) => server.ready()))
    return printMcpServers(servers, {})
  })
}

/** `dragoman mcp logout`: forgets a sign-in. */
export function runMcpLogout(positionals: readonly string[]): void {
  const endpoint = findAuthEndpoint(positionals, 'logout')
  if (!signOutOfMcpServer(endpoint)) throw new UserError(`nobody is signed in to ${endpoint.name}`)
  process.stdout.write(`Signed out of ${endpoint.name}.\n`)
}

function findAuthEndpoint(positionals: readonly string[], subcommand: string): AuthTarget {
  const [name, ...more] = positionals
  if (name === undefined || more.length > 0)
    throw new UserError(`dragoman mcp ${subcommand} takes the name of a server`)
  const { [name]: config = {} } = findConfiguredServers(name)
  const expanded = expandVariables(config, process.env)
  if ('problem' in expanded) throw new UserError(`${name}: ${expanded.problem}`, EXIT_CODE.config)
  const transport = parseTransportConfig(expanded)
  if ('problem' in transport) throw new UserError(`${name}: ${transport.problem}`, EXIT_CODE.config)
  if (transport.kind === 'stdio')
    throw new UserError(`${name} is a program on this machine; there is nothing to sign in to`)
  return {
    name,
    url: transport.url,
    tokens: openMcpStores().tokenStore,
    ...defined({ oauth: expanded.oauth }),
  }
}
