import { listNearestNames } from '../../args/nearest-name.ts'
import type { ActiveSession } from '../active-session.ts'
import { createPromptCommands } from '../mcp-prompts-and-resources.ts'
import { SLASH_COMMANDS } from './builtin-commands.ts'
import { loadCustomCommands } from './custom-commands.ts'
import type { SlashCommand } from './slash-command.ts'

/** All slash commands: built-in, custom, and the prompts of MCP servers. */
export interface SlashCommandList {
  list(): readonly SlashCommand[]
  find(word: string): SlashCommand | undefined
  /** The commands, with their slash, that an unknown name may mean. */
  findNearest(word: string): readonly string[]
}

export function createSlashCommandList(folder: string, session: ActiveSession): SlashCommandList {
  const customCommands = loadCustomCommands(folder)
  const list = (): SlashCommand[] => [...SLASH_COMMANDS, ...customCommands, ...createPromptCommands(session.servers)]
  return {
    list,
    find(word) {
      const all = list()
      // A name goes before an alias: a custom command may have the name of an alias.
      return all.find(({ name }) => name === word) ?? all.find(({ aliases }) => aliases?.includes(word))
    },
    findNearest(word) {
      const names = list().flatMap(({ name, aliases = [] }) => [name, ...aliases])
      return listNearestNames(word, names)
        .slice(0, 3)
        .map((name) => `/${name}`)
    },
  }
}
