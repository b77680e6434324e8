import { join } from 'node:path'
import type { Agent } from '../../agent/agent.ts'
import { serverQuestions } from '../../agent/server-questions.ts'
import type { LocalHost } from '../../host/local.ts'
import type { ModelPort } from '../../provider/port.ts'
import { builtinNames } from '../../tool/builtin/index.ts'
import type { Tool } from '../../tool/define.ts'
import type { McpServerConfig } from '../../tool/mcp/config.ts'
import { openServers, type Servers } from '../../tool/mcp/servers.ts'
import { serversToolbox } from '../../tool/mcp/toolbox.ts'
import type { Toolbox } from '../../tool/toolbox.ts'
import { openBrowser } from '../sign-in/browser.ts'
import { dataFolder } from '../own/places.ts'
import { fileShelf } from '../own/shelf.ts'

/** The servers of a session, with the tools of the agent and theirs in one box. */
export interface Mcp {
  readonly servers: Servers
  readonly toolbox: Toolbox
  /** From here on servers' questions go to this model. */
  useModel(model: ModelPort): void
}

/** What servers need of the session that they are in. */
export interface McpOptions extends Pick<Agent, 'mint'> {
  readonly ask: Agent['ask'] | undefined
  readonly folders: readonly string[]
  readonly host: LocalHost
  readonly model: ModelPort
  readonly own: readonly Tool[]
}

/** Sets up the servers of the settings. Nothing is started yet: that begins when the first request is on its way. */
export function setUpServers(configs: Readonly<Record<string, McpServerConfig>>, options: McpOptions): Mcp {
  const { own, ask, mint } = options
  let { model } = options
  const questions = serverQuestions(() => ({ model, mint, show: openBrowser, ...(ask && { ask }) }))
  const servers = openServers(configs, {
    ...shelves(),
    ...placesOf(options),
    questions,
    taken: [...own.map(({ spec }) => spec.name), ...builtinNames()],
  })
  return {
    servers,
    toolbox: serversToolbox(own, servers),
    useModel: (next) => void (model = next),
  }
}

/** Servers without a session: to look at them, and to try them. */
export function serversAlone(
  configs: Readonly<Record<string, McpServerConfig>>,
  places: { readonly folders: readonly string[]; readonly host: LocalHost },
  taken: readonly string[] = builtinNames(),
): Servers {
  return openServers(configs, { ...shelves(), ...placesOf(places), taken })
}

/** Where lists, approvals and tokens are kept. */
export function shelves() {
  const folder = join(dataFolder(), 'mcp')
  return { shelf: fileShelf(folder), tokens: fileShelf(join(folder, 'tokens')) }
}

function placesOf({ folders, host }: { readonly folders: readonly string[]; readonly host: LocalHost }) {
  const { companions } = host
  return { folders, env: process.env, open: companions.open.bind(companions), news: () => companions.news() }
}
