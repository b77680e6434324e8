import { posix } from 'node:path'
import { NON_SECRET_FILE_PATTERNS, SECRET_FILE_PATTERNS } from '../../model/secret-files.ts'
import { type DiskView, NO_DISK_VIEW } from '../disk-view.ts'
import { findPathProblem } from './malformed-path.ts'
import { matchesPathPattern, matchesPathSuffix, toPathSegments } from './path-pattern.ts'
import { holdsRepositoryCredentials } from './repository-credentials.ts'
import { INSTRUCTION_FILE_PATTERNS, PROTECTED_FILE_PATTERNS } from './file-patterns.ts'
import { isInsideFolder } from '../../model/inside-folder.ts'

export interface PathContext {
  /** Folders that may be read and changed. Commands run in the first one. */
  readonly folders: readonly string[]
  readonly readFolders?: readonly string[]
  readonly home?: string
  readonly disk?: DiskView
  /** More patterns of files that need approval to be written. */
  readonly protectedWrites?: readonly string[]
  /** More patterns of files that need approval to be read. */
  readonly secretFiles?: readonly string[]
  readonly platform?: string
}

export interface ClassifiedPath {
  readonly kind: 'in' | 'out' | 'protected' | 'instructions' | 'secret' | 'reject'
  readonly path: string
  readonly why: string
  /** The pattern that decided. */
  readonly rule: string
}

/** Classifies a path, relative to `from`, by its real path. */
export function classifyPath(
  requestedPath: string,
  need: 'read' | 'write',
  pathContext: PathContext,
  from = pathContext.folders[0] ?? '/',
): ClassifiedPath {
  const { disk = NO_DISK_VIEW } = pathContext
  // The user knows the name of the workspace; what a model writes below it must be visible.
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
  // Both the given and the resolved path are checked.
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
  // The workspace itself may be in a folder with such a name; only the part below it counts.
  const folder = findContainingFolder(path, pathContext.folders, pathContext.disk ?? NO_DISK_VIEW)
  const segments = toPathSegments(folder === undefined ? path : path.slice(folder.length))
  return patterns.find((pattern) => {
    const fullPattern = pattern.startsWith('~/') ? `${pathContext.home ?? '~'}${pattern.slice(1)}` : pattern
    if (!fullPattern.startsWith('/')) return matchesPathSuffix(segments, fullPattern)
    return matchesPathPattern(toPathSegments(path), fullPattern)
  })
}

/** Compares with both the given and the real path of each folder. */
export function findContainingFolder(
  path: string,
  folders: readonly string[],
  disk: DiskView = NO_DISK_VIEW,
): string | undefined {
  return folders
    .flatMap((folder) => [folder, disk.realPath(folder) ?? folder])
    .find((folder) => isInsideFolder(path, folder))
}
