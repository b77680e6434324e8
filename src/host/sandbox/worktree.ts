import { realpathSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { readOrdinaryFile } from '../ordinary-file.ts'

/** Where git keeps what belongs to a worktree, outside of it. */
export interface Worktree {
  /** The worktree's own folder. */
  readonly own: string
  /** The repository's folder, which is read. */
  readonly common: string
  /** What of that is written to when something is committed. */
  readonly shared: readonly string[]
}

/** What of a worktree's own folder decides where git reads its settings from. */
export const WORKTREE_PROTECTED: readonly string[] = ['commondir', 'gitdir', 'config.worktree']

/** The repository that a folder is a worktree of, if that repository says so too: the folder's own word proves nothing. */
export function worktreeOf(folder: string): Worktree | undefined {
  try {
    const pointer = join(folder, '.git')
    const own = realpathSync(pathIn(pointer, 'gitdir: ', folder))
    if (realpathSync(pathIn(join(own, 'gitdir'), '', own)) !== pointer) return undefined
    const common = realpathSync(pathIn(join(own, 'commondir'), '', own))
    return { own, common, shared: ['objects', 'refs', 'logs'].map((name) => join(common, name)) }
  } catch {
    return undefined
  }
}

function pathIn(file: string, mark: string, base: string): string {
  const content = readOrdinaryFile(file, { maxBytes: 8192 })
  const text = 'bytes' in content ? content.bytes.toString('utf8').trim() : ''
  if (text === '' || !text.startsWith(mark)) throw new Error(`${file} does not point anywhere`)
  const path = text.slice(mark.length)
  return isAbsolute(path) ? path : join(base, path)
}
