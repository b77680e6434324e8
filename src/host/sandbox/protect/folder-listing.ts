import { listNamesBelow } from './no-follow-files.ts'
import { foldNameCase } from './path-rules.ts'

/** What is in some folders at one time. Each is listed once, when it is first asked for. */
export interface FolderListing {
  names(folder: string): readonly string[]
  /** A path as the names on the disk are spelled, for each way to spell it; none if its first step is not there. */
  spellings(folder: string, segments: readonly string[]): string[][]
  /** The same for the folders themselves; those inside of them are listed again. */
  refresh(): FolderListing
}

interface ListedFolder {
  readonly names: readonly string[]
  readonly folded: SpellingMap
}

/** Lists folders. A command may have kept us from listing some of its own, which are opened again. */
export function createFolderListing(tops = new Map<string, ListedFolder>()): FolderListing {
  const deeper = new Map<string, ListedFolder>()
  const listed = (folder: string, segments: readonly string[]): ListedFolder => {
    const lists = segments.length === 0 ? tops : deeper
    const path = [folder, ...segments].join('/')
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
      let spelledPaths = (listed(folder, []).folded.get(foldNameCase(first)) ?? []).map((name) => [name])
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

type SpellingMap = ReadonlyMap<string, readonly string[]>

/** Names by what they are on a disk that does not tell capital letters apart. */
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
