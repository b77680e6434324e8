import { isAbsolute, join } from 'node:path'
import { parseGitIndexEntries } from '../../../model/git-index.ts'
import { readRegularFile } from '../../files/regular-file.ts'
import { decodeSurrogateEscape, encodeSurrogateEscape } from '../../files/surrogate-escape.ts'
import { isHarmlessRepository } from './new-git-repository.ts'
import type { MissingPath } from './missing-path.ts'
import { listNames, statNoFollow } from './no-follow-files.ts'

/**
 * Repositories inside of a workspace folder. git at the top enters those that its index names, even for a status, and runs
 * what their settings and hooks say; in the others the user uses git.
 */
export interface InnerRepositories {
  /** Those of the user, as path segments: the ones that existed first, and those that the index names now. */
  listOwned(folder: string): readonly PathSegments[]
  /** The `.git` of all others that the index names at this moment: a command may create them if they run nothing. */
  listOthers(folder: string, owned: readonly PathSegments[]): readonly MissingPath[]
}

type PathSegments = readonly string[]

/** Repositories that no index names are searched once. */
export function createInnerRepositories(): InnerRepositories {
  const found = new Map<string, readonly PathSegments[]>()
  const named = createIndexLookup()
  const hasGit = (folder: string, segments: PathSegments): boolean =>
    statNoFollow(join(folder, ...segments, '.git')) !== undefined
  return {
    listOwned(folder) {
      const first = found.get(folder) ?? findRepositories(folder)
      found.set(folder, first)
      const all = new Map([...first, ...named(folder)].map((segments) => [segments.join('/'), segments]))
      return [...all.values()].filter((segments) => isPlain(segments) && hasGit(folder, segments)).slice(0, MAX_OWNED)
    },
    listOthers(folder, owned) {
      const known = new Set(owned.map((segments) => segments.join('/')))
      return named(folder)
        .filter((segments) => !known.has(segments.join('/')))
        .map((segments) => ({ folder, segments: [...segments, '.git'], isHarmless: isHarmlessRepository }))
    },
  }
}

/** Each needs several mounts. */
const MAX_OWNED = 100
const MAX_FOLDERS = 1000
const MAX_DEPTH = 4
const MAX_NAMED = 1000
const MAX_INDEX = 256 * 1024 * 1024

/** A star would be a pattern, and names that are not text cannot be mounted. */
function isPlain(segments: PathSegments): boolean {
  return segments.every((segment) => !segment.includes('*') && typeof encodeSurrogateEscape(segment) === 'string')
}

/** The nearest ones; package managers recreate those inside packages. */
function findRepositories(folder: string): PathSegments[] {
  const found: PathSegments[] = []
  const pending: PathSegments[] = [[]]
  for (let count = 0; count < MAX_FOLDERS; count++) {
    const segments = pending.shift()
    if (!segments) break
    const names = listNames(join(folder, ...segments))
    if (segments.length > 0 && names.includes('.git')) found.push(segments)
    if (segments.length === MAX_DEPTH) continue
    for (const name of names)
      if (!SKIPPED_NAMES.has(name) && statNoFollow(join(folder, ...segments, name))?.isDirectory())
        pending.push([...segments, name])
  }
  return found
}

const SKIPPED_NAMES: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/**
 * The repositories that the index of a folder names, and those that theirs name. An index is read again when it has
 * changed.
 */
function createIndexLookup(): (folder: string) => readonly PathSegments[] {
  const read = new Map<string, { readonly state: string; readonly paths: readonly PathSegments[] }>()
  const readIndex = (path: string): readonly PathSegments[] => {
    const stats = statNoFollow(path)
    if (!stats) return []
    const state = `${stats.ino} ${stats.size} ${stats.ctimeMs}`
    const known = read.get(path)
    if (known?.state === state && stats.isFile()) return known.paths
    const content = readRegularFile(path, { maxBytes: MAX_INDEX })
    const paths = 'bytes' in content ? readIndexedRepositories(content.bytes) : []
    read.set(path, { state, paths })
    return paths
  }
  const listNamed = (folder: string, depth: number): PathSegments[] => {
    const gitFolder = findGitFolder(folder)
    if (gitFolder === undefined || depth > MAX_DEPTH) return []
    const indexes = listNames(gitFolder).filter((name) => name === 'index' || name.startsWith('sharedindex.'))
    return indexes
      .flatMap((name) => readIndex(join(gitFolder, name)))
      .flatMap((segments) => [
        segments,
        ...listNamed(join(folder, ...segments), depth + 1).map((inner) => [...segments, ...inner]),
      ])
      .slice(0, MAX_NAMED)
  }
  return (folder) => listNamed(folder, 0)
}

function readIndexedRepositories(index: Buffer): PathSegments[] {
  if (!index.includes(REPOSITORY_MODE)) return []
  return (parseGitIndexEntries(index) ?? [])
    .filter(({ isRepository }) => isRepository)
    .map(({ name }) => decodeSurrogateEscape(name).split('/'))
    .filter((segments) => !segments.some((segment) => /^(?:\.{0,2}|\.git)$/i.test(segment)))
}

/** The entry mode in an index, as bytes: few indexes contain it, and the others need not be parsed. */
const REPOSITORY_MODE = Buffer.from([0, 0, 0xe0, 0])

/** In the working folder, or where its `.git` file says. */
function findGitFolder(folder: string): string | undefined {
  const path = join(folder, '.git')
  const stats = statNoFollow(path)
  if (!stats?.isFile()) return stats && path
  const content = readRegularFile(path, { maxBytes: 8192 })
  const to = 'bytes' in content ? /^gitdir: (.*)/.exec(content.bytes.toString('utf8'))?.[1] : undefined
  return to === undefined || to.includes('\0') ? undefined : isAbsolute(to) ? to : join(folder, to)
}
