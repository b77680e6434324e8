import { isAbsolute, join } from 'node:path'
import { indexEntries } from '../../../model/git-index.ts'
import { readRegularFile } from '../../files/regular-file.ts'
import { decodeSurrogateEscape, encodeSurrogateEscape } from '../../files/surrogate-escape.ts'
import { isHarmlessRepository } from './new-git-repository.ts'
import type { MissingPath } from './missing-path.ts'
import { listNames, statNoFollow } from './no-follow-files.ts'

/**
 * Repositories inside of a workspace folder. git at the top enters those that its index names, even for a status, and runs
 * what their settings and hooks say; in the others the person uses git.
 */
export interface InnerRepositories {
  /** Those of the person, as path segments: the ones that existed first, and those that the index names now. */
  held(folder: string): readonly Steps[]
  /** The `.git` of all others that the index names at this moment: a command may create them if they run nothing. */
  others(folder: string, held: readonly Steps[]): readonly MissingPath[]
}

type Steps = readonly string[]

/** Repositories that no index names are searched once. */
export function innerRepositories(): InnerRepositories {
  const found = new Map<string, readonly Steps[]>()
  const named = namedBy()
  const hasGit = (folder: string, way: Steps): boolean => statNoFollow(join(folder, ...way, '.git')) !== undefined
  return {
    held(folder) {
      const first = found.get(folder) ?? below(folder)
      found.set(folder, first)
      const all = new Map([...first, ...named(folder)].map((way) => [way.join('/'), way]))
      return [...all.values()].filter((way) => isPlain(way) && hasGit(folder, way)).slice(0, MAX_HELD)
    },
    others(folder, held) {
      const known = new Set(held.map((way) => way.join('/')))
      return named(folder)
        .filter((way) => !known.has(way.join('/')))
        .map((way) => ({ folder, segments: [...way, '.git'], isHarmless: isHarmlessRepository }))
    },
  }
}

/** Each needs several mounts. */
const MAX_HELD = 100
const MAX_FOLDERS = 1000
const MAX_DEPTH = 4
const MAX_NAMED = 1000
const MAX_INDEX = 256 * 1024 * 1024

/** A star would be a pattern, and names that are not text cannot be mounted. */
function isPlain(way: Steps): boolean {
  return way.every((segment) => !segment.includes('*') && typeof encodeSurrogateEscape(segment) === 'string')
}

/** The nearest ones; package managers recreate those inside packages. */
function below(folder: string): Steps[] {
  const found: Steps[] = []
  const todo: Steps[] = [[]]
  for (let count = 0; count < MAX_FOLDERS; count++) {
    const way = todo.shift()
    if (!way) break
    const names = listNames(join(folder, ...way))
    if (way.length > 0 && names.includes('.git')) found.push(way)
    if (way.length === MAX_DEPTH) continue
    for (const name of names)
      if (!PASSED_OVER.has(name) && statNoFollow(join(folder, ...way, name))?.isDirectory()) todo.push([...way, name])
  }
  return found
}

const PASSED_OVER: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/**
 * The repositories that the index of a folder names, and those that theirs name. An index is read again when it has
 * changed.
 */
function namedBy(): (folder: string) => readonly Steps[] {
  const read = new Map<string, { readonly state: string; readonly ways: readonly Steps[] }>()
  const inIndex = (path: string): readonly Steps[] => {
    const stats = statNoFollow(path)
    if (!stats) return []
    const state = `${stats.ino} ${stats.size} ${stats.ctimeMs}`
    const known = read.get(path)
    if (known?.state === state && stats.isFile()) return known.ways
    const content = readRegularFile(path, { maxBytes: MAX_INDEX })
    const ways = 'bytes' in content ? repositoriesIn(content.bytes) : []
    read.set(path, { state, ways })
    return ways
  }
  const named = (folder: string, depth: number): Steps[] => {
    const own = gitFolder(folder)
    if (own === undefined || depth > MAX_DEPTH) return []
    const indexes = listNames(own).filter((name) => name === 'index' || name.startsWith('sharedindex.'))
    return indexes
      .flatMap((name) => inIndex(join(own, name)))
      .flatMap((way) => [way, ...named(join(folder, ...way), depth + 1).map((inner) => [...way, ...inner])])
      .slice(0, MAX_NAMED)
  }
  return (folder) => named(folder, 0)
}

function repositoriesIn(index: Buffer): Steps[] {
  if (!index.includes(REPOSITORY)) return []
  return (indexEntries(index) ?? [])
    .filter(({ isRepository }) => isRepository)
    .map(({ name }) => decodeSurrogateEscape(name).split('/'))
    .filter((way) => !way.some((segment) => /^(?:\.{0,2}|\.git)$/i.test(segment)))
}

/** The entry mode in an index, as bytes: few indexes contain it, and the others need not be parsed. */
const REPOSITORY = Buffer.from([0, 0, 0xe0, 0])

/** In the working folder, or where its `.git` file says. */
function gitFolder(folder: string): string | undefined {
  const path = join(folder, '.git')
  const stats = statNoFollow(path)
  if (!stats?.isFile()) return stats && path
  const content = readRegularFile(path, { maxBytes: 8192 })
  const to = 'bytes' in content ? /^gitdir: (.*)/.exec(content.bytes.toString('utf8'))?.[1] : undefined
  return to === undefined || to.includes('\0') ? undefined : isAbsolute(to) ? to : join(folder, to)
}
