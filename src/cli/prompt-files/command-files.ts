import { join } from 'node:path'
import { defined } from '../../model/defined.ts'
import { getErrorMessage } from '../../model/error-message.ts'
import { PROJECT_FILE_KINDS } from '../config/project-files.ts'
import { getConfigFolder } from '../paths/folders.ts'
import type { CustomPrompt } from './custom-prompt.ts'
import { getArgumentHint, getListField, getTextField, parseFrontMatter } from './front-matter.ts'
import { listProjectPromptFiles, listUserPromptFiles, type PromptFile } from './prompt-source.ts'
import { parseToml } from './toml.ts'

/**
 * Custom commands: `git/commit.md`, or `.toml`, is `/git:commit`. Those of a trusted project come before the user's own of the
 * same name, and our own folder before those of other agents.
 */
export function loadCommandFiles(folder: string): CustomPrompt[] {
  const files = [
    ...listProjectPromptFiles(folder, 'commands', PROJECT_FILE_KINDS.commands.paths, isCommandFile),
    ...listUserPromptFiles(join(getConfigFolder(), 'commands'), isCommandFile),
  ]
  const found = new Map<string, CustomPrompt>()
  for (const file of files) {
    const name = toCommandName(file.name)
    if (found.has(name)) continue
    const command = readCommand(file, name)
    if (command) found.set(name, command)
  }
  return [...found.values()]
}

function isCommandFile(name: string): boolean {
  return /^(?:[\w.-]+\/)*[\w.-]+\.(?:md|toml)$/.test(name) && !/(?:^|\/)\./.test(name)
}

function toCommandName(name: string): string {
  return name.replace(/\.(?:md|toml)$/, '').replaceAll('/', ':')
}

/** A file that cannot be read, or is too long, is not offered. */
function readCommand(file: PromptFile, name: string): CustomPrompt | undefined {
  const first = parseCommand(file)
  if ('problem' in first) return undefined
  const { fields, template } = first
  return {
    kind: 'command',
    name,
    about: getTextField(fields, 'description') ?? template.trim().split('\n', 1)[0] ?? '',
    path: file.path,
    allowedTools: getListField(fields, 'allowed-tools'),
    ...defined({ argumentHint: getArgumentHint(fields), model: getTextField(fields, 'model') }),
    load() {
      const command = parseCommand(file)
      return 'problem' in command ? command : { template: command.template.trim(), syntax: command.syntax }
    },
  }
}

function parseCommand(file: PromptFile) {
  const read = file.read()
  if ('problem' in read) return read
  if (!file.name.endsWith('.toml')) {
    const { fields, body } = parseFrontMatter(read.text)
    return { fields, template: body, syntax: 'markdown' } as const
  }
  try {
    const { prompt, description, model, 'allowed-tools': tools } = parseToml(read.text)
    if (typeof prompt !== 'string' || prompt.trim() === '') return { problem: 'it has no prompt' }
    const fields = {
      ...(typeof description === 'string' && { description }),
      ...(typeof model === 'string' && { model }),
      ...((typeof tools === 'string' || isStringList(tools)) && { 'allowed-tools': tools }),
    }
    return { fields, template: prompt, syntax: 'braces' } as const
  } catch (error) {
    return { problem: `it is not valid TOML: ${getErrorMessage(error)}` }
  }
}

function isStringList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
