import { realpathSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { readRegularFile } from '../files/regular-file.ts'

interface GitWorktree {
  readonly gitFolder: string
  /** The repository's folder, read-only. */
  readonly commonFolder: string
  /** What is written by a commit. */
  readonly writableFolders: readonly string[]
}

/** Files of a worktree that decide where git reads its settings from. */
export const PROTECTED_WORKTREE_FILES: readonly string[] = ['commondir', 'gitdir', 'config.worktree']

/** The repository of a worktree, if that repository lists it too: the folder's own word proves nothing. */
export function findGitWorktree(folder: string): GitWorktree | undefined {
  try {
    const pointer = join(folder, '.git')
    const gitFolder = realpathSync(readPathFile(pointer, 'gitdir: ', folder))
    if (realpathSync(readPathFile(join(gitFolder, 'gitdir'), '', gitFolder)) !== pointer) return undefined
    const commonFolder = realpathSync(readPathFile(join(gitFolder, 'commondir'), '', gitFolder))
    const writableFolders = ['objects', 'refs', 'logs'].map((name) => join(commonFolder, name))
    return { gitFolder, commonFolder, writableFolders }
  } catch {
    return undefined
  }
}

function readPathFile(file: string, prefix: string, base: string): string {
  const content = readRegularFile(file, { maxBytes: 8192 })
  const text = 'bytes' in content ? content.bytes.toString('utf8').trim() : ''
  if (text === '' || !text.startsWith(prefix)) throw new Error(`${file} contains no path`)
  const path = text.slice(prefix.length)
  return isAbsolute(path) ? path : join(base, path)
}
