import { readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { isInside } from '../../host/ordinary-file.ts'
import { configFolder, memoryFile } from '../own/places.ts'
import { readProjectFile } from '../own/project-file.ts'

/** No file may crowd out the conversation. In characters. */
const MAX_LENGTH = 40_000

/** The instructions that hold for a folder, and what the person should know of files that were not read. */
export interface Instructions {
  readonly files: readonly { readonly path: string; readonly text: string }[]
  readonly notices: readonly string[]
}

/** Reads the instructions files that hold for a folder: the person's own and their memories, then from the top down to the folder. */
export function readInstructions(folder: string): Instructions {
  const files: { path: string; text: string }[] = []
  const notices: string[] = []
  const read = (path: string, within: string | undefined): boolean => {
    const limits = { maxBytes: MAX_LENGTH * 4, ...(within !== undefined && { within }) }
    const found = readProjectFile(path, limits)
    if ('problem' in found) {
      if (found.problem !== undefined) notices.push(`${path} is not used: it ${found.problem}.`)
      return found.problem !== undefined
    }
    const { text, isCut } = found
    const isLong = isCut || text.length > MAX_LENGTH
    if (text.trim() !== '') files.push({ path, text: isLong ? `${text.slice(0, MAX_LENGTH)}\n[cut here]` : text })
    return true
  }
  const readAll = (place: string, within: string | undefined): void => {
    const hasAgents = read(join(place, 'AGENTS.md'), within)
    read(join(place, 'GEMINI.md'), within)
    // Projects of Claude Code have it instead of an AGENTS.md; where both are, they say the same.
    if (!hasAgents) read(join(place, 'CLAUDE.md'), within)
  }
  // What the person keeps in their own settings may be a link to wherever they keep it.
  readAll(configFolder(), undefined)
  read(memoryFile(), undefined)
  const { chain, repository } = parents(folder)
  for (const place of chain)
    readAll(place, repository !== undefined && isInside(place, repository) ? repository : place)
  return { files, notices }
}

/**
 * The folders whose instructions hold: from the home folder down to the folder; elsewhere from the folder that holds the
 * repository, or the folder alone. Links may lead through the repository, unless it is the home folder or above it.
 */
function parents(folder: string): { chain: string[]; repository: string | undefined } {
  const home = homedir()
  const chain: string[] = []
  let repository: string | undefined
  for (let at = folder; ; at = dirname(at)) {
    chain.unshift(at)
    if (repository === undefined && at !== home && !isInside(home, at) && hasEntry(at, '.git')) repository = at
    if (at === home) return { chain, repository }
    if (at !== dirname(at)) continue
    const from = repository === undefined ? -1 : chain.indexOf(repository)
    return { chain: from < 0 ? [folder] : chain.slice(from), repository }
  }
}

/** The folder structure, as far as it says something: two levels, and not more than a screenful. */
export function folderTree(folder: string, most = 60): string {
  const lines: string[] = []
  const add = (path: string, depth: number): void => {
    for (const entry of entriesOf(path)) {
      if (lines.length >= most) return
      lines.push(`${'  '.repeat(depth)}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      if (entry.isDirectory() && depth < 1) add(join(path, entry.name), depth + 1)
    }
  }
  add(folder, 0)
  return lines.length >= most ? [...lines, '…'].join('\n') : lines.join('\n')
}

function entriesOf(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
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
