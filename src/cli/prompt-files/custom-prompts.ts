import type { CustomPrompt } from './custom-prompt.ts'
import { loadCommandFiles } from './command-files.ts'
import { loadSkills } from './skill-files.ts'

/** The custom commands and the skills of a folder and of the user; of the same name, the command counts. */
export function loadCustomPrompts(folder: string): CustomPrompt[] {
  const commands = loadCommandFiles(folder)
  const names = new Set(commands.map(({ name }) => name))
  return [...commands, ...loadSkills(folder).filter(({ name, isHidden }) => !isHidden && !names.has(name))]
}

/** The prompt that a line calls by its name, and the words after it; undefined if the line is something else. */
export function findCustomPrompt(
  line: string,
  folder: string,
): { readonly prompt: CustomPrompt; readonly words: string } | undefined {
  const { name, words = '' } = /^\/(?<name>[\w.:-]+)(?:\s+(?<words>[^]*))?$/.exec(line.trim())?.groups ?? {}
  if (name === undefined) return undefined
  const prompt = loadCustomPrompts(folder).find((one) => one.name === name)
  return prompt && { prompt, words: words.trim() }
}
