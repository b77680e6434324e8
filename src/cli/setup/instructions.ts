import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { isInsideFolder } from '../../model/inside-folder.ts'
import { getConfigFolder, getMemoryFilePath } from '../paths/folders.ts'
import { createInstructionsReader, type InstructionsFile, type InstructionsReader } from './instructions-reader.ts'

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
  const reader = createInstructionsReader()
  const geminiMemories = hasOwnFiles ? addOwnFiles(reader) : []
  const { chain, repository } =
    folder === undefined ? { chain: [], repository: undefined } : findInstructionFolders(folder, hasOwnFiles)
  for (const directory of chain) {
    const within = repository !== undefined && isInsideFolder(directory, repository) ? repository : directory
    reader.addFolder(directory, { within, importsWithin: within })
  }
  const own = memory === undefined ? undefined : reader.read(memory, {})
  const memories = [...(own && own.text.trim() !== '' ? [own] : []), ...geminiMemories]
  return { files: reader.files, notices: reader.notices, memories }
}

/** Adds the user's own files, and returns the memories in them. They may be links to anywhere; what they import must be in the home folder. */
function addOwnFiles(reader: InstructionsReader): InstructionsFile[] {
  const hasOwn = reader.addFolder(getConfigFolder(), { importsWithin: homedir() })
  const gemini = reader.read(join(homedir(), '.gemini', 'GEMINI.md'), {})
  const { instructions, saved } = splitGeminiMemories(gemini?.text ?? '')
  // Who has instructions for Dragoman has said there what holds; those for other agents are for who has not.
  if (!hasOwn) {
    reader.addFile(join(homedir(), '.claude', 'CLAUDE.md'), { importsWithin: homedir() })
    if (gemini && instructions !== '') reader.addText(gemini.path, instructions, { importsWithin: homedir() })
    reader.addFile(join(homedir(), '.codex', 'AGENTS.md'), { importsWithin: homedir() })
  }
  return gemini && saved !== '' ? [{ path: gemini.path, text: saved }] : []
}

const GEMINI_MEMORIES = /^## Gemini Added Memories[ \t]*\n(?<saved>(?:(?!#{1,2} ).*\n?)*)/m

/** Gemini CLI keeps what a model has saved in the file with the user's instructions. */
function splitGeminiMemories(text: string): { readonly instructions: string; readonly saved: string } {
  const saved = GEMINI_MEMORIES.exec(text)?.groups?.['saved'] ?? ''
  return { instructions: text.replace(GEMINI_MEMORIES, '').trim(), saved: saved.trim() }
}

/**
 * The folders whose instructions apply: from the home folder down to the folder; elsewhere from the repository, or the
 * folder alone. Links may lead through the repository, unless it is the home folder or above it.
 */
export function findInstructionFolders(
  folder: string,
  hasOwnFiles = true,
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
