import { type Door, signIn, signOut } from '../../tool/mcp/auth.ts'
import { filledIn, reachOf } from '../../tool/mcp/config.ts'
import { showInBrowser } from '../sign-in/browser.ts'
import { Complaint, EXIT } from '../exit.ts'
import { shelves } from '../setup/mcp.ts'
import { serversHere } from './mcp.ts'
import { showServers, withServers } from './mcp-look.ts'

/** `dragoman mcp login`: signs in to a server in the browser, and sees whether that opens it. */
export async function loginToServer(words: readonly string[]): Promise<number> {
  const door = doorOf(words, 'login')
  try {
    await signIn(door, showInBrowser)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Complaint(`the sign-in failed: ${why}`, EXIT.signIn)
  }
  process.stdout.write(`Signed in to ${door.name}.\n`)
  return withServers(serversHere(door.name), async (servers) => {
    await Promise.allSettled(servers.list.map((server) => server.ready()))
    return showServers(servers, {})
  })
}

/** `dragoman mcp logout`: forgets a sign-in. */
export function logoutOfServer(words: readonly string[]): void {
  const door = doorOf(words, 'logout')
  if (!signOut(door)) throw new Complaint(`nobody is signed in to ${door.name}`)
  process.stdout.write(`Signed out of ${door.name}.\n`)
}

function doorOf(words: readonly string[], verb: string): Door {
  const [name, ...more] = words
  if (name === undefined || more.length > 0) throw new Complaint(`dragoman mcp ${verb} takes the name of a server`)
  const { [name]: config = {} } = serversHere(name)
  const filled = filledIn(config, process.env)
  if ('problem' in filled) throw new Complaint(`${name}: ${filled.problem}`, EXIT.config)
  const reach = reachOf(filled)
  if ('problem' in reach) throw new Complaint(`${name}: ${reach.problem}`, EXIT.config)
  if (reach.kind === 'stdio')
    throw new Complaint(`${name} is a program on this machine; there is nothing to sign in to`)
  return { name, url: reach.url, tokens: shelves().tokens, ...(filled.oauth && { oauth: filled.oauth }) }
}
