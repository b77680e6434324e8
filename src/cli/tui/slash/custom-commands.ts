import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isTrusted } from '../../config/folder-trust.ts'
import { getConfigFolder } from '../../paths/folders.ts'
import { readProjectText } from '../../paths/project-file.ts'
import type { SlashCommand } from './slash-command.ts'
import { defined } from '../../../model/defined.ts'

/** A prompt of the user's own, by name. */
export interface CustomPrompt {
  readonly name: string
  readonly about: string
  /** The prompt with the words after the name of the command. */
  readonly expand: (words: string) => string
}

export function loadCustomCommands(folder: string): SlashCommand[] {
  return loadCustomPrompts(folder).map(({ name, about, expand }) => ({
    name,
    about,
    run: ({ controller }, words) => controller.submit(expand(words)),
  }))
}

/**
 * Custom commands: a Markdown file `commands/<name>.md` is a prompt, in which `$ARGUMENTS` stands for the words after the
 * name. Those of a project are used only if the folder is trusted.
 */
export function loadCustomPrompts(folder: string): CustomPrompt[] {
  const personalCommands = readCommandFolder(join(getConfigFolder(), 'commands'))
  const project = isTrusted(folder) ? readCommandFolder(join(folder, '.dragoman', 'commands'), folder) : []
  return [...project, ...personalCommands.filter(({ name }) => !project.some((other) => other.name === name))]
}

const MAX_COMMAND_BYTES = 100_000

function readCommandFolder(commandFolder: string, within?: string): CustomPrompt[] {
  return listMarkdownFiles(commandFolder).flatMap((file): CustomPrompt[] => {
    const limits = { maxBytes: MAX_COMMAND_BYTES, ...defined({ within }) }
    const read = readProjectText(join(commandFolder, file), limits)
    // A file that cannot be read, or is too long, is not offered.
    if ('problem' in read || read.isCut) return []
    const { text } = read
    const head = /^---\n(?<head>[^]*?)\n---\n(?<rest>[^]*)$/.exec(text)?.groups
    const about = /^description:\s*(?<about>.+)$/m.exec(head?.['head'] ?? '')?.groups?.['about']
    const prompt = (head?.['rest'] ?? text).trim()
    const custom: CustomPrompt = {
      name: file.slice(0, -'.md'.length),
      about: about ?? prompt.split('\n', 1)[0] ?? '',
      expand: (words) =>
        prompt.includes('$ARGUMENTS') ? prompt.replaceAll('$ARGUMENTS', () => words) : `${prompt}\n\n${words}`.trim(),
    }
    return [custom]
  })
}

function listMarkdownFiles(commandFolder: string): string[] {
  try {
    return readdirSync(commandFolder)
      .filter((name) => /^[\w-]+\.md$/.test(name))
      .sort()
  } catch {
    return []
  }
}
