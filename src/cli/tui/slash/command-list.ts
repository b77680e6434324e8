import { listNearestNames } from '../../args/nearest-name.ts'
import type { ActiveSession } from '../active-session.ts'
import { createPromptCommands } from '../mcp-prompts-and-resources.ts'
import { SLASH_COMMANDS } from './builtin-commands.ts'
import { loadCustomCommands } from './custom-commands.ts'
import type { SlashCommand } from './slash-command.ts'

export type SlashCommandList = ReturnType<typeof createSlashCommandList>

/** All slash commands: built-in, custom, and the prompts of MCP servers. */
export function createSlashCommandList(folder: string, session: ActiveSession) {
  const customCommands = loadCustomCommands(folder)
  const customNames = new Set(customCommands.map(({ name }) => name))
  const builtins = SLASH_COMMANDS.filter(({ isPrompt, name }) => !isPrompt || !customNames.has(name))
  const list = (): SlashCommand[] => [...builtins, ...customCommands, ...createPromptCommands(session.servers)]
  return {
    list,
    find(word: string): SlashCommand | undefined {
      const all = list()
      // A name goes before an alias: a custom command may have the name of an alias.
      return all.find(({ name }) => name === word) ?? all.find(({ aliases }) => aliases?.includes(word))
    },
    /** The commands, with their slash, that an unknown name may mean. */
    findNearest(word: string): string[] {
      const names = list().flatMap(({ name, aliases = [] }) => [name, ...aliases])
      return listNearestNames(word, names)
        .slice(0, 3)
        .map((name) => `/${name}`)
    },
  }
}
