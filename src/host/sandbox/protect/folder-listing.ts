import { listNamesBelow } from './no-follow-files.ts'
import { foldNameCase } from './protected-path-rules.ts'

/** The entries of folders at one time. Each is listed once, when it is first asked for. */
export interface FolderListing {
  names(folder: string): readonly string[]
  /** All spellings of a path on disk; none if its first segment does not exist. */
  spellings(folder: string, segments: readonly string[]): string[][]
  /** Keeps the lists of the top folders; those inside are read again. */
  refresh(): FolderListing
}

interface ListedFolder {
  readonly names: readonly string[]
  readonly folded: SpellingMap
}

/** Restores access to folders that a command has made unreadable. */
export function createFolderListing(tops = new Map<string, ListedFolder>()): FolderListing {
  const deeper = new Map<string, ListedFolder>()
  const listed = (folder: string, segments: readonly string[]): ListedFolder => {
    const lists = segments.length === 0 ? tops : deeper
    const path = segments.length === 0 ? folder : [folder, ...segments].join('/')
    const known = lists.get(path)
    if (known) return known
    const names = listNamesBelow(folder, segments)
    const listedFolder = { names, folded: groupSpellings(names) }
    lists.set(path, listedFolder)
    return listedFolder
  }
  return {
    names: (folder) => listed(folder, []).names,
    spellings(folder, [first = '', ...rest]) {
      const firstNames = listed(folder, NO_SEGMENTS).folded.get(foldNameCase(first))
      if (!firstNames) return []
      let spelledPaths = firstNames.map((name) => [name])
      for (const segment of rest)
        spelledPaths = spelledPaths.flatMap((spelledPath) => {
          const sameNames = listed(folder, spelledPath).folded.get(foldNameCase(segment)) ?? [segment]
          return sameNames.map((name) => [...spelledPath, name])
        })
      return spelledPaths
    },
    refresh: () => createFolderListing(tops),
  }
}

const NO_SEGMENTS: readonly string[] = []

type SpellingMap = ReadonlyMap<string, readonly string[]>

/** Names by how a case-insensitive disk sees them. */
export function groupSpellings(names: readonly string[]): SpellingMap {
  const found = new Map<string, string[]>()
  for (const name of names) {
    const folded = foldNameCase(name)
    const sameNames = found.get(folded)
    if (sameNames) sameNames.push(name)
    else found.set(folded, [name])
  }
  return found
}
