import { posix } from 'node:path'
import { NON_SECRET_FILE_PATTERNS, SECRET_FILE_PATTERNS } from '../../model/secret-files.ts'
import { type DiskView, NO_DISK_VIEW } from '../disk-view.ts'
import { findPathProblem } from './malformed-path.ts'
import { matchesPathPattern, matchesPathSuffix, toPathSegments } from './path-pattern.ts'
import { holdsRepositoryCredentials } from './repository-credentials.ts'
import { INSTRUCTION_FILE_PATTERNS, PROTECTED_FILE_PATTERNS } from './file-patterns.ts'
import { isInsideFolder } from '../../model/inside-folder.ts'

/** Which places there are: the workspace, the home folder, and what more than the usual is protected or secret. */
export interface PathContext {
  /** The folders that may be read and changed; the first one is where commands run. */
  readonly folders: readonly string[]
  /** Folders that may only be read. */
  readonly readFolders?: readonly string[]
  readonly home?: string
  readonly disk?: DiskView
  /** Patterns of files that nobody writes without a person, beside the usual ones. */
  readonly protectedWrites?: readonly string[]
  /** Patterns of files that nobody reads without a person, beside the usual ones. */
  readonly secretFiles?: readonly string[]
  readonly platform?: string
}

/** What a path is to us: inside, outside, inside but only with a person's word, or no path at all. */
export interface ClassifiedPath {
  readonly kind: 'in' | 'out' | 'protected' | 'instructions' | 'secret' | 'reject'
  /** The real path, as far as there is one. */
  readonly path: string
  readonly why: string
  /** The pattern that decided. */
  readonly rule: string
}

/** Judges a path, given from a folder, by where it really leads. */
export function classifyPath(
  requestedPath: string,
  need: 'read' | 'write',
  pathContext: PathContext,
  from = pathContext.folders[0] ?? '/',
): ClassifiedPath {
  const { disk = NO_DISK_VIEW } = pathContext
  // What the workspace itself is called the person knows; what a model writes below it they must be able to see.
  const prefixLength = pathContext.folders.find((folder) => requestedPath.startsWith(`${folder}/`))?.length ?? 0
  const problem = findPathProblem(requestedPath, need, pathContext.platform, requestedPath.slice(prefixLength))
  if (problem !== undefined) return { kind: 'reject', path: requestedPath, why: problem, rule: 'a path that is none' }
  const text = requestedPath.startsWith('/') ? requestedPath : `${from}/${requestedPath}`
  const real = disk.realPath(text)
  if (real === undefined) {
    return {
      kind: 'reject',
      path: requestedPath,
      why: `${requestedPath} cannot be resolved.`,
      rule: 'a path that is none',
    }
  }
  // Both names count: the one that was given, and the one that it leads to.
  const names = [posix.normalize(text), real]
  const guarded = need === 'write' ? classifyWrite(names, pathContext) : classifyRead(names, pathContext)
  if (guarded) return { ...guarded, path: real }
  const containingFolder = findContainingFolder(
    real,
    need === 'write' ? pathContext.folders : [...pathContext.folders, ...(pathContext.readFolders ?? [])],
    disk,
  )
  return containingFolder === undefined
    ? { kind: 'out', path: real, why: `${real} is outside the workspace.`, rule: 'outside the workspace' }
    : { kind: 'in', path: real, why: `${real} is inside the workspace.`, rule: 'inside the workspace' }
}

type GuardedPath = Omit<ClassifiedPath, 'path'>

function classifyWrite(names: readonly string[], pathContext: PathContext): GuardedPath | undefined {
  for (const name of names) {
    const pattern = findMatchingPattern(
      name,
      [...(pathContext.protectedWrites ?? []), ...PROTECTED_FILE_PATTERNS],
      pathContext,
    )
    if (pattern !== undefined) {
      const why = `${name} can run something later or change the rules, so writing it needs approval.`
      return { kind: 'protected', why, rule: `protected: ${pattern}` }
    }
    const instructions = findMatchingPattern(name, INSTRUCTION_FILE_PATTERNS, pathContext)
    if (instructions !== undefined) {
      const why = `${name} holds instructions for agents, so writing it needs approval.`
      return { kind: 'instructions', why, rule: `protected: ${instructions}` }
    }
  }
  return undefined
}

function classifyRead(names: readonly string[], pathContext: PathContext): GuardedPath | undefined {
  for (const name of names) {
    const isKnownHarmless = findMatchingPattern(name, NON_SECRET_FILE_PATTERNS, pathContext) !== undefined
    const pattern = findMatchingPattern(
      name,
      [...(pathContext.secretFiles ?? []), ...(isKnownHarmless ? [] : SECRET_FILE_PATTERNS)],
      pathContext,
    )
    if (pattern === undefined && holdsRepositoryCredentials(name, pathContext.disk ?? NO_DISK_VIEW)) {
      const why = `${name} contains a URL with a key, so reading it needs approval.`
      return { kind: 'secret', why, rule: 'secret: a key in an address' }
    }
    if (pattern === undefined) continue
    return {
      kind: 'secret',
      why: `${name} usually holds secrets, so reading it needs approval.`,
      rule: `secret: ${pattern}`,
    }
  }
  return undefined
}

function findMatchingPattern(path: string, patterns: readonly string[], pathContext: PathContext): string | undefined {
  // A workspace may itself lie in a folder with such a name; only the way from there on counts.
  const folder = findContainingFolder(path, pathContext.folders, pathContext.disk ?? NO_DISK_VIEW)
  const segments = toPathSegments(folder === undefined ? path : path.slice(folder.length))
  return patterns.find((pattern) => {
    const fullPattern = pattern.startsWith('~/') ? `${pathContext.home ?? '~'}${pattern.slice(1)}` : pattern
    if (!fullPattern.startsWith('/')) return matchesPathSuffix(segments, fullPattern)
    return matchesPathPattern(toPathSegments(path), fullPattern)
  })
}

/** The folder of a list that a path is in, by its given or its real name. */
export function findContainingFolder(
  path: string,
  folders: readonly string[],
  disk: DiskView = NO_DISK_VIEW,
): string | undefined {
  return folders
    .flatMap((folder) => [folder, disk.realPath(folder) ?? folder])
    .find((folder) => isInsideFolder(path, folder))
}
