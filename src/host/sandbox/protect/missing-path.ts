import { join } from 'node:path'
import { withParentFolder, statNoFollow } from './no-follow-files.ts'

/** A protected path that does not exist, or whose legitimate content must not be replaced. */
export interface MissingPath {
  readonly folder: string
  readonly segments: readonly string[]
  /** What may be created there nevertheless. */
  readonly isHarmless?: (at: string, name: string) => boolean
}

/** A protected link, which cannot be mounted, and its target. */
export interface ProtectedLink extends MissingPath {
  readonly target: string
}

/** The existing folders on the way to a path, and the one at it if it may be there. */
export function listFoldersTo({ folder, segments, isHarmless }: MissingPath): string[] {
  const folders = [folder]
  for (let count = 1; count < segments.length + (isHarmless ? 1 : 0); count++) {
    const path = join(folder, ...segments.slice(0, count))
    if (!statNoFollow(path)?.isDirectory()) break
    folders.push(path)
  }
  return folders
}

/** Is something at a path that must not be there, or a link or a file on the way to it, which may lead elsewhere? */
export function isPathOccupied({ folder, segments, isHarmless }: MissingPath): boolean {
  for (let count = 1; count <= segments.length; count++) {
    const stats = statNoFollow(join(folder, ...segments.slice(0, count)))
    if (!stats) return false
    if (count === segments.length) return !isHarmless || withParentFolder(folder, segments, isHarmless) === false
    if (!stats.isDirectory()) return true
  }
  return false
}
