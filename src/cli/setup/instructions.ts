import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { isInsideFolder } from '../../model/inside-folder.ts'
import { getConfigFolder, getMemoryFilePath } from '../paths/folders.ts'
import { describeFileProblem, readProjectText } from '../paths/project-file.ts'
import { defined } from '../../model/defined.ts'

const MAX_INSTRUCTIONS_CHARS = 40_000

type InstructionsFile = Readonly<Record<'path' | 'text', string>>

/** Whose instructions apply beside those of the project. */
interface InstructionSources {
  /** The user's own files, and those in the folders above the project. */
  readonly hasOwnFiles: boolean
  readonly memory: string | undefined
}

/** Reads the instructions for a folder: the user's own, then from the top down to the folder; and the memories. */
export function readInstructions(
  folder: string | undefined,
  { hasOwnFiles, memory }: InstructionSources = { hasOwnFiles: true, memory: getMemoryFilePath() },
) {
  const files: InstructionsFile[] = []
  const notices: string[] = []
  const read = (path: string, within: string | undefined): InstructionsFile | 'none' | undefined => {
    const found = readProjectText(path, { maxBytes: MAX_INSTRUCTIONS_CHARS * 4, ...defined({ within }) })
    if ('problem' in found) {
      if (found.problem === 'missing') return 'none'
      notices.push(`${path} is not used: ${describeFileProblem(found)}.`)
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
    // Where a project has both, they say the same.
    if (!hasAgents) add(directory, 'CLAUDE.md', within)
  }
  // The user's own files may be links to anywhere.
  if (hasOwnFiles) addAll(getConfigFolder(), undefined)
  const { chain, repository } =
    folder === undefined ? { chain: [], repository: undefined } : findInstructionFolders(folder, hasOwnFiles)
  for (const directory of chain)
    addAll(directory, repository !== undefined && isInsideFolder(directory, repository) ? repository : directory)
  const memories = memory === undefined ? undefined : read(memory, undefined)
  return { files, notices, ...(typeof memories === 'object' && { memories }) }
}

/**
 * The folders whose instructions apply: from the home folder down to the folder; elsewhere from the repository, or the
 * folder alone. Links may lead through the repository, unless it is the home folder or above it.
 */
function findInstructionFolders(
  folder: string,
  hasOwnFiles: boolean,
): { chain: string[]; repository: string | undefined } {
  const home = homedir()
  const chain: string[] = []
  let repository: string | undefined
  for (let at = folder; ; at = dirname(at)) {
    chain.unshift(at)
    if (repository === undefined && at !== home && !isInsideFolder(home, at) && hasEntry(at, '.git')) repository = at
    if (at === home && hasOwnFiles) return { chain, repository }
    if (at !== dirname(at)) continue
    const from = repository === undefined ? -1 : chain.indexOf(repository)
    return { chain: from < 0 ? [folder] : chain.slice(from), repository }
  }
}

/** Two levels of the folder, at most a screenful. */
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
