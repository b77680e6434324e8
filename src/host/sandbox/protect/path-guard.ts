import { lchownSync, mkdirSync, readlinkSync, type Stats, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type PathHandle, openPathHandle } from '../../files/path-handle.ts'
import { encodeSurrogateEscape } from '../../files/surrogate-escape.ts'
import type { ApprovedWrites } from './approved-writes.ts'
import { isInsideFolder } from '../../../model/inside-folder.ts'
import type { InnerRepositories } from './inner-repositories.ts'
import { groupSpellings } from './folder-listing.ts'
import type { MissingPath, ProtectedLink } from './missing-path.ts'
import { guardMissingPaths, type MissingPathGuard } from './missing-path-guard.ts'
import { HARMLESS_REPOSITORY_PATH_TESTS, isGitRepository } from './new-git-repository.ts'
import { tryFileOperation, withParentFolder, listNames, statNoFollow } from './no-follow-files.ts'
import { foldNameCase, createProtectedNamePattern, type ProtectedPathRule } from './protected-path-rules.ts'
import { PROTECTED_WORKTREE_FILES, findGitWorktree } from '../git-worktree.ts'
import { defined } from '../../../model/defined.ts'

/** A path to mount, and a descriptor of it, so that nothing else can be mounted in its place. */
export interface MountSource {
  readonly path: string
  readonly descriptor?: number
}

export interface PathGuard extends Pick<MissingPathGuard, 'found' | 'check' | 'repeated'> {
  /** Folders on the way to protected paths, mounted onto themselves, because a mount cannot be renamed. */
  readonly anchors: readonly MountSource[]
  readonly fixed: readonly MountSource[]
  readonly missing: ReadonlyMap<string, readonly string[]>
  /** Paths that match those patterns and existed before. */
  readonly present: readonly string[]
  /** Is nothing new, and nothing gone, in the folders in which protected paths were looked for? */
  readonly isCurrent: () => boolean
  /** The command was started below this process. `stop` ends it. */
  markStarted(sandboxPid?: number, stop?: () => void): void
  /** Nothing more is mounted by the descriptors of anchors and fixed paths. */
  closeDescriptors(): void
  /** All processes of the command have ended. */
  release(): void
}

interface PathGuardOptions {
  readonly folders: readonly string[]
  readonly rulesFor: (folder: string) => readonly ProtectedPathRule[]
  /** Masked paths: the folders on the way to them must not be renamed. */
  readonly masked?: readonly string[]
  /** Seatbelt matches by name, whether a path exists or not; a mount needs something to be mounted on. */
  readonly matchesByName: boolean
  readonly approved: ApprovedWrites
  readonly inner: InnerRepositories
  /** Somebody other than the command created this path, or it is gone. */
  readonly onKnown?: (path: string, isKnown: boolean) => void
}

export function createPathGuard(options: PathGuardOptions): PathGuard {
  const { folders, rulesFor, masked = [], matchesByName, approved, inner, onKnown } = options
  const anchors = new Map<string, PathHandle>()
  const fixed = new Map<string, PathHandle | undefined>()
  const links = new Map<string, ProtectedLink>()
  const missing: MissingPath[] = []
  const others: (() => readonly MissingPath[])[] = []
  const names = new Map<string, string[]>()
  const listings = new Map<string, readonly string[]>()
  /** The folders that were looked at, and when each of them was changed last before that; undefined if that was just now. */
  const changeTimes = new Map<string, string | undefined>()
  const noteFolder = (path: string): void => {
    if (!changeTimes.has(path)) changeTimes.set(path, readSettledChangeTime(path))
  }
  /** A folder is listed once, unless we create something in it. */
  const listFolder = (path: string): readonly string[] => {
    noteFolder(path)
    const known = listings.get(path) ?? listNames(path)
    listings.set(path, known)
    return known
  }
  const listMatchingNames = (path: string, pattern: string): string[] => {
    const matcher = createProtectedNamePattern([pattern])
    return listFolder(path).filter((name) => matcher.test(name))
  }

  function protectPath(folder: string, segments: readonly string[], depth = 0): void {
    const resolvedSegments: string[] = []
    for (const [index, segment] of segments.entries()) {
      const at = join(folder, ...resolvedSegments)
      noteFolder(at)
      if (segment.includes('*')) {
        const rest = segments.slice(index + 1)
        for (const name of listMatchingNames(at, segment))
          protectPath(folder, [...resolvedSegments, name, ...rest], depth)
        return
      }
      if (index > 0 && depth < MAX_LINK_DEPTH)
        for (const name of listMatchingNames(at, segment))
          if (name !== segment)
            protectPath(folder, [...resolvedSegments, name, ...segments.slice(index + 1)], MAX_LINK_DEPTH)
      const path = join(at, segment)
      resolvedSegments.push(segment)
      const stats = statNoFollow(path)
      if (!stats) {
        if (depth < MAX_LINK_DEPTH && createEmptyPath(folder, segments, index))
          return protectPath(folder, segments, depth + 1)
        return addMissingPath(folder, segments, index)
      }
      if (stats.isSymbolicLink()) {
        const target = resolve(at, readlinkSync(path))
        links.set(path, { folder, segments: [...resolvedSegments], target: readlinkSync(path) })
        const inside = folders.find((one) => isInsideFolder(target, one))
        const rest = target.slice((inside ?? '').length + 1).split('/')
        if (inside !== undefined && target !== inside && depth < MAX_LINK_DEPTH)
          protectPath(inside, [...rest, ...segments.slice(index + 1)], depth + 1)
        return
      }
      // A file in place of a folder decides, such as the `.git` of a worktree.
      const isLast = index === segments.length - 1 || !stats.isDirectory()
      const sources = isLast ? fixed : anchors
      if (!sources.has(path)) holdPath(folder, resolvedSegments, sources)
      if (!isLast) continue
      if (resolvedSegments.length > 1 && !matchesByName) missing.push({ folder, segments: [...resolvedSegments] })
      return
    }
  }

  /** To git, empty hooks and settings mean the same as none, and they can be mounted. */
  function createEmptyPath(folder: string, segments: readonly string[], index: number): boolean {
    const make = matchesByName || index !== 1 ? undefined : EMPTY_GIT_PATHS.get(segments.join('/'))
    if (make === undefined) return false
    withParentFolder(folder, segments, (at, name) => tryFileOperation(() => make(at, name)))
    listings.clear()
    return statNoFollow(join(folder, ...segments)) !== undefined
  }

  function addMissingPath(folder: string, segments: readonly string[], index: number): void {
    // What git creates in a new folder of its own is as git wants it.
    if (segments.some((segment) => segment.includes('*'))) return
    const isNewRepository = segments[0] === '.git' && index === 0
    const isLast = index === segments.length - 1
    if (matchesByName && !isNewRepository) fixed.set(join(folder, ...segments), undefined)
    // A parent folder could be created elsewhere and renamed, which no rule by name prevents.
    if (matchesByName && !isNewRepository && isLast) return
    const isHarmless = isNewRepository ? HARMLESS_REPOSITORY_PATH_TESTS.get(segments.join('/')) : undefined
    const isName = segments.length === 1 && names.get(folder)?.some((name) => name === segments[0])
    if (!isName) missing.push({ folder, segments, ...defined({ isHarmless }) })
  }

  function holdPath(folder: string, segments: readonly string[], sources: Map<string, PathHandle | undefined>): void {
    // Program arguments are text.
    if (typeof encodeSurrogateEscape(join(folder, ...segments)) !== 'string') return
    const handle = withParentFolder(folder, segments, (at, name) => openPathHandle(`${at}/${name}`))
    if (handle?.stats.isSymbolicLink()) handle.release()
    else if (handle) sources.set(join(folder, ...segments), handle)
  }

  for (const folder of folders) {
    const spellings = groupSpellings(listFolder(folder))
    const isBare = isGitRepository(folder)
    const folderRules = rulesFor(folder)
    const ofGit = folderRules.filter(([first]) => first === '.git')
    const repositories = inner.listOwned(folder)
    others.push(() => inner.listOthers(folder, repositories))
    const rules = [
      ...folderRules,
      ...(isBare ? ofGit.map((rule) => rule.slice(1)) : []),
      ...repositories.flatMap((parentSegments) => ofGit.map((rule) => [...parentSegments, ...rule])),
    ]
    const single = rules.flatMap(([first = '', ...deeper]) => (deeper.length === 0 ? [first] : []))
    names.set(folder, matchesByName ? single.filter((name) => name.includes('*')) : single)
    for (const rule of rules) {
      const [first = '', ...deeper] = rule
      // Names that differ only in case are the same on other disks.
      const sameNames = spellings.get(foldNameCase(first)) ?? []
      // Most rules are about names that do not exist. A folder that cannot be listed seems to be empty.
      if (sameNames.length === 0 && spellings.size > 0 && !first.includes('*')) {
        if (deeper.length > 0 || matchesByName) addMissingPath(folder, rule, 0)
      } else
        for (const name of new Set([first, ...sameNames]))
          tryFileOperation(() => protectPath(folder, [name, ...deeper]))
    }
    if (!statNoFollow(join(folder, '.git'))) addMissingPath(folder, ['.git'], 0)
    if (!isBare) missing.push({ folder, segments: ['HEAD'], isHarmless: (at) => !isGitRepository(at) })
    const worktree = findGitWorktree(folder)?.gitFolder
    if (worktree !== undefined)
      for (const name of PROTECTED_WORKTREE_FILES) tryFileOperation(() => protectPath(worktree, [name]))
  }
  for (const path of masked) {
    const folder = folders.find((one) => path !== one && isInsideFolder(path, one))
    const segments = path.slice((folder ?? '').length + 1).split('/')
    if (folder === undefined) continue
    for (const parentSegments of segments.slice(1).map((_, index) => segments.slice(0, index + 1)))
      if (!anchors.has(join(folder, ...parentSegments)))
        tryFileOperation(() => holdPath(folder, parentSegments, anchors))
  }
  const missingPathGuard = guardMissingPaths({
    names,
    missing,
    links: [...links.values()],
    others: () => others.flatMap((one) => one()),
    approved,
    onKnown: (path, isKnown) => onKnown?.(path, isKnown),
  })
  const { found, check, repeated } = missingPathGuard

  return {
    anchors: toMountSources(anchors),
    fixed: toMountSources(fixed),
    missing: toMissingPatterns(names, missing),
    present: missingPathGuard.present,
    isCurrent: () => [...changeTimes].every(([path, time]) => formatChangeTime(statNoFollow(path)) === time),
    markStarted: (sandboxPid, stop = () => undefined) => missingPathGuard.markStarted(sandboxPid, stop),
    closeDescriptors() {
      for (const handle of [...anchors.values(), ...fixed.values()]) handle?.release()
      anchors.clear()
      fixed.clear()
    },
    found,
    check,
    repeated,
    release: () => missingPathGuard.close(),
  }
}

/** Changes whenever an entry of the folder is created, removed or renamed. */
function formatChangeTime(stats: Stats | undefined): string {
  return stats ? `${stats.dev}:${stats.ino}:${stats.ctimeMs}` : ''
}

/** The system counts time in ticks: after a change in this tick, another one would not be seen. */
function readSettledChangeTime(folder: string): string | undefined {
  const stats = statNoFollow(folder)
  if (!stats) return formatChangeTime(undefined)
  const maxTickMs = stats.ctimeMs % 1000 === 0 ? COARSE_TICK_MS : TICK_MS
  return Date.now() - stats.ctimeMs < maxTickMs ? undefined : formatChangeTime(stats)
}

const TICK_MS = 20
/** Some disks store whole seconds, or every other one. */
const COARSE_TICK_MS = 2000
const MAX_LINK_DEPTH = 5

const EMPTY_GIT_PATHS: ReadonlyMap<string, (at: string, name: string) => void> = new Map([
  ['.git/hooks', (at, name) => createForFolderOwner(at, name, () => mkdirSync(`${at}/${name}`, 0o755))],
  [
    '.git/config',
    (at, name) => createForFolderOwner(at, name, () => writeFileSync(`${at}/${name}`, '', { flag: 'wx', mode: 0o644 })),
  ],
])

/** Root creates something for the owner of the folder. */
function createForFolderOwner(at: string, name: string, make: () => void): void {
  make()
  const stats = process.getuid?.() === 0 ? statNoFollow(`${at}/.`) : undefined
  if (stats && stats.uid !== 0) lchownSync(`${at}/${name}`, stats.uid, stats.gid)
}

/** All missing paths by folder; those at its top as patterns of names. */
function toMissingPatterns(
  names: ReadonlyMap<string, readonly string[]>,
  missing: readonly MissingPath[],
): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, string[]>([...names].map(([folder, patterns]) => [folder, [...patterns]]))
  for (const { folder, segments } of missing) {
    const patterns = all.get(folder) ?? []
    patterns.push(segments.join('/'))
    all.set(folder, patterns)
  }
  return all
}

function toMountSources(handles: ReadonlyMap<string, PathHandle | undefined>): MountSource[] {
  return [...handles]
    .map(([path, one]) => ({ path, ...defined({ descriptor: one?.descriptor }) }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))
}
