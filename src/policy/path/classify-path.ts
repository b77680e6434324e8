import { posix } from 'node:path'
import { NON_SECRET_FILE_PATTERNS, SECRET_FILE_PATTERNS } from '../../model/secret-files.ts'
import { type DiskView, NO_DISK_VIEW } from '../disk-view.ts'
import { matchesPathPattern, matchesPathSuffix, toPathSegments } from './path-pattern.ts'
import { holdsRepositoryCredentials } from './repository-credentials.ts'
import { findHiddenCharacter } from '../../model/security/hidden-characters.ts'
import { PROTECTED_PATHS } from '../../model/security/protected-paths.ts'
import { isInsideFolder } from '../../model/inside-folder.ts'
import { lazy } from '../../model/lazy.ts'

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
  const text = requestedPath.startsWith('/') ? requestedPath : `${from}/${requestedPath}`
  const real = problem === undefined ? disk.realPath(text) : undefined
  if (problem !== undefined || real === undefined) {
    const why = problem ?? `${requestedPath} cannot be resolved.`
    return { kind: 'reject', path: requestedPath, why, rule: 'a path that is none' }
  }
  // Both the given and the resolved path are checked.
  const names = [...new Set([posix.normalize(text), real])]
  const guarded = need === 'write' ? classifyWrite(names, pathContext) : classifyRead(names, pathContext)
  if (guarded) return { ...guarded, path: real }
  const kind = isAccessible(real, need, pathContext) ? 'in' : 'out'
  const rule = `${kind}side the workspace`
  return { kind, path: real, why: `${real} is ${rule}.`, rule }
}

/** Is a real path in a folder that may be read or written? */
export function isAccessible(path: string, need: 'read' | 'write', pathContext: PathContext): boolean {
  const { folders, readFolders = [], disk } = pathContext
  return findContainingFolder(path, need === 'write' ? folders : [...folders, ...readFolders], disk) !== undefined
}

type GuardedPath = Omit<ClassifiedPath, 'path'>

function classifyWrite(names: readonly string[], pathContext: PathContext): GuardedPath | undefined {
  for (const name of names) {
    const patterns = [...(pathContext.protectedWrites ?? []), ...PROTECTED_FILE_PATTERNS]
    const pattern = findMatchingPattern(name, patterns, pathContext)
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
    const patterns = [...(pathContext.secretFiles ?? []), ...(isKnownHarmless ? [] : SECRET_FILE_PATTERNS)]
    const pattern = findMatchingPattern(name, patterns, pathContext)
    if (pattern === undefined && holdsRepositoryCredentials(name, pathContext.disk ?? NO_DISK_VIEW)) {
      const why = `${name} contains a URL with a key, so reading it needs approval.`
      return { kind: 'secret', why, rule: 'secret: a key in an address' }
    }
    if (pattern === undefined) continue
    const why = `${name} usually holds secrets, so reading it needs approval.`
    return { kind: 'secret', why, rule: `secret: ${pattern}` }
  }
  return undefined
}

function findMatchingPattern(path: string, patterns: readonly string[], pathContext: PathContext): string | undefined {
  // The workspace itself may be in a folder with such a name; only the part below it counts.
  const folder = findContainingFolder(path, pathContext.folders, pathContext.disk ?? NO_DISK_VIEW)
  const segments = toPathSegments(folder === undefined ? path : path.slice(folder.length))
  const getAllSegments = lazy(() => toPathSegments(path))
  return patterns.find((pattern) => {
    const fullPattern = pattern.startsWith('~/') ? `${pathContext.home ?? '~'}${pattern.slice(1)}` : pattern
    if (!fullPattern.startsWith('/')) return matchesPathSuffix(segments, fullPattern)
    return matchesPathPattern(getAllSegments(), fullPattern)
  })
}

/** Compares with both the given and the real path of each folder. */
export function findContainingFolder(
  path: string,
  folders: readonly string[],
  disk: DiskView = NO_DISK_VIEW,
): string | undefined {
  for (const folder of folders) {
    if (isInsideFolder(path, folder)) return folder
    const real = disk.realPath(folder)
    if (real !== undefined && isInsideFolder(path, real)) return real
  }
  return undefined
}

/**
 * Files that run something later or that decide what may run. Commands must not write them, and file tools need
 * approval, in every mode.
 */
const PROTECTED_FILE_PATTERNS: readonly string[] = selectPatterns(false)

/** Files that a model reads as instructions. Writing them needs approval. */
const INSTRUCTION_FILE_PATTERNS: readonly string[] = selectPatterns(true)

function selectPatterns(ofInstructions: boolean): string[] {
  const chosen = PROTECTED_PATHS.filter(({ isInstructions = false }) => isInstructions === ofInstructions)
  return [...new Set(chosen.map(({ path }) => path))]
}

/** Checks the text of a path without accessing the disk. `visiblePart` must not contain hidden characters. */
function findPathProblem(
  path: string,
  need: 'read' | 'write',
  platform: string | undefined,
  visiblePart: string,
): string | undefined {
  if (path.includes('\0')) return 'The path contains a zero byte.'
  if (Buffer.byteLength(path) > 4096 || path.split('/').some((segment) => segment.length > 255))
    return 'The path is longer than any disk allows.'
  const hidden =
    need === 'write' ? findHiddenCharacter(visiblePart, { allowLines: false, allowRawBytes: true }) : undefined
  if (hidden !== undefined) return `The path contains ${hidden}, which is invisible.`
  return platform === 'windows' || platform === 'win32' ? findWindowsPathProblem(path) : undefined
}

function findWindowsPathProblem(path: string): string | undefined {
  if (/^[a-z]:/i.test(path) || /^[/\\]{2}/.test(path) || /^[/\\][a-z](?:[/\\]|$)/i.test(path))
    return 'The path names a drive or a device.'
  const device = path.split(/[/\\]/).some((segment) => /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(segment.trim()))
  return device ? 'The path names a device.' : undefined
}
