import { readFileSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { configFolder } from '../own/places.ts'

/** The names of instructions files, in the order in which they are read. */
const NAMES = ['AGENTS.md', 'GEMINI.md']

/** No file may crowd out the conversation. */
const LONGEST = 40_000

/** The instructions files that hold for a folder: the person's own, then from the top down to the folder. */
export function readInstructions(folder: string): { path: string; text: string }[] {
  return [configFolder(), ...parents(folder)]
    .flatMap((one) => NAMES.map((name) => join(one, name)))
    .flatMap((path) => {
      try {
        const text = readFileSync(path, 'utf8')
        return text.trim() === ''
          ? []
          : [{ path, text: text.length > LONGEST ? `${text.slice(0, LONGEST)}\n[cut here]` : text }]
      } catch {
        return []
      }
    })
}

/** From the home folder down to the folder; elsewhere, from the folder that holds the repository, or the folder alone. */
function parents(folder: string): string[] {
  const home = homedir()
  const chain: string[] = []
  let repository: string[] | undefined
  for (let at = folder; ; at = dirname(at)) {
    chain.unshift(at)
    if (at === home) return chain
    if (!repository && hasEntry(at, '.git')) repository = [...chain]
    if (at === dirname(at)) return repository ?? [folder]
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
