import { filterObjects, type Json, type JsonObject, stringOrEmpty } from '../../model/json.ts'
import type { UserTurn } from '../../model/turn.ts'
import { parseContentBlock, formatForDisplay } from '../../tool/mcp/tools/content-blocks.ts'
import { toResourceParts } from '../../tool/mcp/tools/tool-content.ts'
import { toServerName } from '../../tool/mcp/tools/tool-names.ts'
import type { McpServer } from '../../tool/mcp/client/server.ts'
import type { McpServers } from '../../tool/mcp/client/servers.ts'
import { findMentions } from './mention/mentions.ts'
import type { SlashCommand } from './slash/slash-command.ts'
import { getErrorMessage } from '../../model/error-message.ts'

/** The prompts of MCP servers as commands: `/server:prompt`, with its arguments by position or as `name=value`. */
export function createPromptCommands(servers: McpServers | undefined): SlashCommand[] {
  return (servers?.list ?? []).flatMap((server) =>
    server.lists.prompts.flatMap((prompt) => createPromptCommand(server, prompt)),
  )
}

/** The resources of MCP servers, as an @ names them: `server:uri`. */
export function listResourceNames(servers: McpServers | undefined): string[] {
  return (servers?.list ?? []).flatMap(({ name, lists }) =>
    lists.resources.map((resource) => `${name}:${stringOrEmpty(resource['uri'])}`).filter((word) => !/\s/.test(word)),
  )
}

export type ResourceMentions = ReturnType<typeof createResourceMentions>

/** The resources that messages mention. `load` reads those of a text. */
export function createResourceMentions(servers: () => McpServers | undefined) {
  const loaded = new Map<string, UserTurn['parts']>()
  return {
    async load(text: string): Promise<void> {
      for (const name of new Set(findMentions(text))) {
        const server = servers()?.list.find((one) => name.startsWith(`${one.name}:`))
        if (server) loaded.set(name, await readResource(server, name.slice(server.name.length + 1), name))
      }
    },
    get: (name: string) => loaded.get(name),
  }
}

async function readResource(server: McpServer, uri: string, name: string): Promise<UserTurn['parts']> {
  try {
    const { contents } = await server.request('resources/read', { uri }, { timeout: REQUEST_TIMEOUT_MS })
    const parts = toResourceParts(name, filterObjects(contents) as JsonObject[])
    const text = (words: string) => ({ kind: 'text', text: words, name }) as const
    const named = parts.map((part) => (part.kind === 'text' ? text(part.text) : part))
    return [text(`--- ${name} ---`), ...named, text(`--- end of ${name} ---`)]
  } catch (error) {
    throw new Error(`@${name} cannot be read: ${getErrorMessage(error)}`, { cause: error })
  }
}

const REQUEST_TIMEOUT_MS = 60_000

function createPromptCommand(server: McpServer, prompt: JsonObject): SlashCommand[] {
  const promptName = stringOrEmpty(prompt['name'])
  if (promptName === '') return []
  const fields = filterObjects(prompt['arguments'])
  const names = fields.map(({ name }) => stringOrEmpty(name)).filter((name) => name !== '')
  const requiredNames = fields.flatMap(({ name, required }) => (required === true ? [stringOrEmpty(name)] : []))
  return [
    {
      name: `${toServerName(server.name)}:${promptName.replace(/[^\w:-]/g, '_')}`,
      about: stringOrEmpty(prompt['description']).split('\n', 1)[0] ?? '',
      ...(names.length > 0 && {
        takes: names.map((name) => (requiredNames.includes(name) ? name : `[${name}]`)).join(' '),
      }),
      async run({ ui, controller }, words) {
        const args = parsePromptArguments(words, names)
        const missing = requiredNames.filter((name) => args[name] === undefined)
        if (missing.length > 0) return ui.notify(`Missing arguments: ${missing.join(', ')}`, 'warn')
        const params = { name: promptName, arguments: args }
        const { messages } = await server.request('prompts/get', params, { timeout: REQUEST_TIMEOUT_MS })
        const blocks = filterObjects(messages).map(({ content }) => parseContentBlock(promptName, content as Json))
        // A server must not decide which files are attached.
        return controller.submit(formatForDisplay(blocks), 'without-files')
      },
    },
  ]
}

/** Arguments as `name=value`, or by position; the last one takes all remaining words. */
function parsePromptArguments(words: string, names: readonly string[]): JsonObject {
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
