import { isObject, type JsonObject, stringOf } from '../../model/json.ts'
import type { UserTurn } from '../../model/turn.ts'
import { blockParts, contentsOf, displayOf } from '../../tool/mcp/content.ts'
import { serverName } from '../../tool/mcp/names.ts'
import type { Server } from '../../tool/mcp/server.ts'
import type { Servers } from '../../tool/mcp/servers.ts'
import { mentionsIn } from './mention.ts'
import type { Slash } from './slash/slash.ts'

/** The prompts of servers, as commands: `/server:prompt`, with words or `name=value` behind it. */
export function serverSlashes(servers: Servers | undefined): Slash[] {
  return (servers?.list ?? []).flatMap((server) => server.lists.prompts.flatMap((prompt) => slashFor(server, prompt)))
}

/** What an @ can name of servers: `server:uri`. */
export function serverResources(servers: Servers | undefined): string[] {
  return (servers?.list ?? []).flatMap(({ name, lists }) =>
    lists.resources.map((resource) => `${name}:${stringOf(resource['uri'])}`).filter((word) => !/\s/.test(word)),
  )
}

/** What is in the resources that the person names, once they have been read. */
export interface Mentions {
  /** Reads the resources that a text names. */
  read(text: string): Promise<void>
  /** What a name behind an @ stands for, if it is that of a resource. */
  get(name: string): UserTurn['parts'] | undefined
}

/** Reads resources of servers when they are named. */
export function resourceMentions(servers: () => Servers | undefined): Mentions {
  const known = new Map<string, UserTurn['parts']>()
  return {
    async read(text) {
      for (const name of new Set(mentionsIn(text))) {
        const found = serverOf(name, servers())
        if (found) known.set(name, await readResource(found.server, found.uri, name))
      }
    },
    get: (name) => known.get(name),
  }
}

function serverOf(name: string, servers: Servers | undefined): { server: Server; uri: string } | undefined {
  const server = servers?.list.find((one) => name.startsWith(`${one.name}:`))
  return server && { server, uri: name.slice(server.name.length + 1) }
}

async function readResource(server: Server, uri: string, name: string): Promise<UserTurn['parts']> {
  try {
    const { contents } = await server.request('resources/read', { uri }, { timeout: TIMEOUT })
    const parts = contentsOf(name, (Array.isArray(contents) ? contents.filter(isObject) : []) as JsonObject[])
    const text = (words: string) => ({ kind: 'text', text: words }) as const
    return [text(`--- ${name} ---`), ...parts, text(`--- end of ${name} ---`)]
  } catch (error) {
    throw new Error(`@${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    })
  }
}

const TIMEOUT = 60_000

function slashFor(server: Server, prompt: JsonObject): Slash[] {
  const original = stringOf(prompt['name'])
  if (original === '') return []
  const fields = (Array.isArray(prompt['arguments']) ? prompt['arguments'] : []).filter((one) => isObject(one))
  const names = fields.map((field) => stringOf(field['name'])).filter((name) => name !== '')
  const needed = fields.filter((field) => field['required'] === true).map((field) => stringOf(field['name']))
  return [
    {
      name: `${serverName(server.name)}:${original.replace(/[^\w:-]/g, '_')}`,
      about: stringOf(prompt['description']).split('\n', 1)[0] ?? '',
      ...(names.length > 0 && { takes: names.map((name) => (needed.includes(name) ? name : `[${name}]`)).join(' ') }),
      async run({ front, talk }, words) {
        const args = argumentsOf(words, names)
        const missing = needed.filter((name) => args[name] === undefined)
        if (missing.length > 0) return front.say(`It also needs ${missing.join(', ')}.`, 'warn')
        const answer = await server.request('prompts/get', { name: original, arguments: args }, { timeout: TIMEOUT })
        const { messages } = answer
        const blocks = (Array.isArray(messages) ? messages.filter(isObject) : []).map(({ content }) => content)
        // Which files are attached is not for a server to say.
        return talk.say(displayOf(blocks.flatMap((block) => blockParts(original, block))), 'without-files')
      },
    },
  ]
}

/** `name=value` where a word is written so; the others in their order, the last with all that is left. */
function argumentsOf(words: string, names: readonly string[]): JsonObject {
  const given: JsonObject = {}
  const rest: string[] = []
  for (const word of words.match(/(?:[^\s"]|"[^"]*")+/g) ?? []) {
    const at = word.indexOf('=')
    const name = word.slice(0, Math.max(at, 0))
    if (names.includes(name)) given[name] = word.slice(at + 1).replaceAll('"', '')
    else rest.push(word.replaceAll('"', ''))
  }
  const open = names.filter((name) => given[name] === undefined)
  for (const [at, name] of open.entries()) {
    const part = at === open.length - 1 ? rest.slice(at).join(' ') : (rest[at] ?? '')
    if (part !== '') given[name] = part
  }
  return given
}
