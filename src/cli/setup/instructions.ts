import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { isInsideFolder } from '../../model/inside-folder.ts'
import { configFolderPath, memoryFilePath } from '../paths/folders.ts'
import { readProjectText } from '../paths/project-file.ts'
import { defined } from '../../model/defined.ts'

/** No file may crowd out the conversation. In characters. */
const MAX_INSTRUCTIONS_CHARS = 40_000

/** The instructions that hold for a folder, and what the person should know of files that were not read. */
export interface Instructions {
  readonly files: readonly InstructionsFile[]
  /** What the model was asked to remember. */
  readonly memories?: InstructionsFile
  readonly notices: readonly string[]
}

interface InstructionsFile {
  readonly path: string
  readonly text: string
}

/** Reads the instructions files that hold for a folder: the person's own, then from the top down to the folder; and the memories. */
export function readInstructions(folder: string): Instructions {
  const files: InstructionsFile[] = []
  const notices: string[] = []
  /** The file; `none` if there is no such file. */
  const read = (path: string, within: string | undefined): InstructionsFile | 'none' | undefined => {
    const limits = { maxBytes: MAX_INSTRUCTIONS_CHARS * 4, ...defined({ within }) }
    const found = readProjectText(path, limits)
    if ('problem' in found) {
      if (found.problem === undefined) return 'none'
      notices.push(`${path} is not used: it ${found.problem}.`)
      return undefined
    }
    const { text, isCut } = found
    if (text.trim() === '') return undefined
    const isLong = isCut || text.length > MAX_INSTRUCTIONS_CHARS
    return { path, text: isLong ? `${text.slice(0, MAX_INSTRUCTIONS_CHARS)}\n[cut here]` : text }
  }
  const add = (directory: string, name: string, within: string | undefined): boolean => {
    const file = read(join(directory, name), within)
    if (typeof file === 'object') files.push(file)
    return file !== 'none'
  }
  const addAll = (directory: string, within: string | undefined): void => {
    const hasAgents = add(directory, 'AGENTS.md', within)
    add(directory, 'GEMINI.md', within)
    // Projects of Claude Code have it instead of an AGENTS.md; where both are, they say the same.
    if (!hasAgents) add(directory, 'CLAUDE.md', within)
  }
  // What the person keeps in their own settings may be a link to wherever they keep it.
  addAll(configFolderPath(), undefined)
  const { chain, repository } = findInstructionFolders(folder)
  for (const directory of chain)
    addAll(directory, repository !== undefined && isInsideFolder(directory, repository) ? repository : directory)
  const memories = read(memoryFilePath(), undefined)
  return { files, notices, ...(typeof memories === 'object' && { memories }) }
}

/**
 * The folders whose instructions hold: from the home folder down to the folder; elsewhere from the folder that holds the
 * repository, or the folder alone. Links may lead through the repository, unless it is the home folder or above it.
 */
function findInstructionFolders(folder: string): { chain: string[]; repository: string | undefined } {
  const home = homedir()
  const chain: string[] = []
  let repository: string | undefined
  for (let at = folder; ; at = dirname(at)) {
    chain.unshift(at)
    if (repository === undefined && at !== home && !isInsideFolder(home, at) && hasEntry(at, '.git')) repository = at
    if (at === home) return { chain, repository }
    if (at !== dirname(at)) continue
    const from = repository === undefined ? -1 : chain.indexOf(repository)
    return { chain: from < 0 ? [folder] : chain.slice(from), repository }
  }
}

/** The folder structure, as far as it says something: two levels, and not more than a screenful. */
export function formatFolderTree(folder: string, maxLines = 60): string {
  const lines: string[] = []
  const add = (path: string, depth: number): void => {
    for (const entry of listVisibleEntries(path)) {
      if (lines.length >= maxLines) return
      lines.push(`${'  '.repeat(depth)}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      if (entry.isDirectory() && depth < 1) add(join(path, entry.name), depth + 1)
    }
  }
  add(folder, 0)
  return lines.length >= maxLines ? [...lines, '…'].join('\n') : lines.join('\n')
}

function listVisibleEntries(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => !entry.name.startsWith('.') && entry.name !== 'node_modules')
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, 30)
  } catch {
    return []
  }
}

function hasEntry(folder: string, name: string): boolean {
  try {
    return readdirSync(folder).includes(name)
  } catch {
    return false
  }
}
