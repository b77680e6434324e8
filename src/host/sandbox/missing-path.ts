import { join } from 'node:path'
import { inFolderOf, statsOf } from './no-follow.ts'

/** A protected path that is missing, or whatever is there by right must not be replaced by something else. */
export interface MissingPath {
  readonly folder: string
  readonly steps: readonly string[]
  /** What may be made there all the same. */
  readonly isHarmless?: (at: string, name: string) => boolean
}

/** A protected link, which cannot be mounted, and where it leads. */
export interface ProtectedLink extends MissingPath {
  readonly target: string
}

/** The folders that a path lies in as far as they are there, and the one at it if it may be there. */
export function foldersTo({ folder, steps, isHarmless }: MissingPath): string[] {
  const folders = [folder]
  for (let count = 1; count < steps.length + (isHarmless ? 1 : 0); count++) {
    const path = join(folder, ...steps.slice(0, count))
    if (!statsOf(path)?.isDirectory()) break
    folders.push(path)
  }
  return folders
}

/** Is something at a path that may not be there, or on the way to it a link or a file, which may lead elsewhere? */
export function isPresent({ folder, steps, isHarmless }: MissingPath): boolean {
  for (let count = 1; count <= steps.length; count++) {
    const stats = statsOf(join(folder, ...steps.slice(0, count)))
    if (!stats) return false
    if (count === steps.length) return !isHarmless || inFolderOf(folder, steps, isHarmless) === false
    if (!stats.isDirectory()) return true
  }
  return false
}
