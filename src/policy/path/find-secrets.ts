import { posix } from 'node:path'
import { type DiskView, type DiskEntry, NO_DISK_VIEW } from '../disk-view.ts'
import { findContainingFolder, classifyPath, type PathContext } from './classify-path.ts'
import { matchesGlob } from './path-pattern.ts'
import { holdsRepositoryCredentials } from './repository-credentials.ts'
import { createSecretFileTest, type SecretFileTest } from './secret-file-test.ts'

/** How a program walks the folders that it is given. */
export interface FolderWalk {
  /** Paths as given; paths that are not folders are ignored. */
  readonly roots: readonly string[]
  readonly readsHidden: boolean
  /** Does it skip ignored files, as ripgrep does? */
  readonly usesIgnoreFiles: boolean
  readonly followsLinks: boolean
  readonly isRecursive: boolean
  /** Folders to skip, by name. */
  readonly without?: (name: string) => boolean
  /** Files to read, by name. Default: all. */
  readonly only?: (name: string) => boolean
}

/** Returns the first file with secrets, or link out of the workspace, that a program would read. */
export function findSecretBelow(walk: FolderWalk, from: string, pathContext: PathContext): string | undefined {
  const { disk = NO_DISK_VIEW } = pathContext
  const isSecret = secretTestFor(pathContext)
  const pending = walk.roots.flatMap((root): WalkFolder[] => {
    const path = disk.realPath(posix.resolve(from, root))
    if (path === undefined || disk.kind(path) !== 'folder') return []
    return [{ path, ignoreRules: walk.usesIgnoreFiles ? readParentIgnoreRules(path, disk) : NO_IGNORE_RULES }]
  })
  let entriesLeft = MAX_ENTRIES
  for (let folderStop = pending.shift(); folderStop; folderStop = pending.shift()) {
    const entries = disk.list(folderStop.path)
    if (!entries) continue
    const ignoreRules = walk.usesIgnoreFiles ? readIgnoreRules(folderStop, entries, disk) : NO_IGNORE_RULES
    for (const entry of entries) {
      if (--entriesLeft < 0) return 'there are too many files to look at all of them'
      const { name } = entry
      const isLeftOut =
        (!walk.readsHidden && name.startsWith('.')) || ignoreRules.rules.some((rule) => matchesIgnoreRule(rule, entry))
      if (isLeftOut && !ignoreRules.reincluded.some((segment) => matchesGlob(name, segment))) continue
      const path = posix.join(folderStop.path, name)
      const kind = entry.kind === 'link' && walk.followsLinks ? (disk.kind(path) ?? 'other') : entry.kind
      const isFolder = kind === 'folder'
      if (isFolder ? walk.without?.(name) : walk.only && !walk.only(name)) continue
      const risk = findEntryRisk(path, entry, walk, pathContext, isSecret)
      if (risk !== undefined) return risk
      // Git's object store has many files, which are compressed.
      const isStore = name === 'objects' && posix.basename(folderStop.path) === '.git'
      if (isFolder && walk.isRecursive && !isStore) pending.push({ path, ignoreRules: inheritIgnoreRules(ignoreRules) })
    }
  }
  return undefined
}

const MAX_ENTRIES = 30_000

interface WalkFolder {
  readonly path: string
  readonly ignoreRules: IgnoreRules
}

/** Ignored names, and names that lines such as `!name` may include again: ignored or hidden files. */
interface IgnoreRules {
  readonly rules: readonly IgnoreRule[]
  readonly reincluded: readonly string[]
}

const NO_IGNORE_RULES: IgnoreRules = { rules: [], reincluded: [] }

function findEntryRisk(
  path: string,
  { kind }: DiskEntry,
  walk: FolderWalk,
  pathContext: PathContext,
  isSecret: SecretFileTest,
): string | undefined {
  if (kind === 'link') {
    if (!walk.followsLinks) return undefined
    const classified = classifyPath(path, 'read', pathContext)
    return classified.kind === 'in' ? undefined : classified.why.replace(/\.$/, '')
  }
  const folder = findContainingFolder(path, pathContext.folders, pathContext.disk) ?? posix.dirname(path)
  if (isSecret(path, folder)) return `it would read ${path}, which usually holds secrets`
  return holdsRepositoryCredentials(path, pathContext.disk ?? NO_DISK_VIEW)
    ? `it would read ${path}, which holds a key`
    : undefined
}

const testCache = new WeakMap<readonly string[], SecretFileTest>()
const defaultSecretTest = createSecretFileTest()

function secretTestFor({ secretFiles, home = '~' }: PathContext): SecretFileTest {
  if (!secretFiles || secretFiles.length === 0) return defaultSecretTest
  const userPatterns = secretFiles.map((pattern) => (pattern.startsWith('~/') ? `${home}${pattern.slice(1)}` : pattern))
  const test = testCache.get(secretFiles) ?? createSecretFileTest(userPatterns)
  testCache.set(secretFiles, test)
  return test
}

export function isSecretPath(path: string, pathContext: PathContext): boolean {
  return secretTestFor(pathContext)(path, findContainingFolder(path, pathContext.folders, pathContext.disk) ?? '')
}

/** A simple line of an ignore file: a name, or all names with a suffix. */
interface IgnoreRule {
  readonly name: string
  readonly suffix: boolean
  readonly foldersOnly: boolean
  /** Applies only in the folder of the ignore file. */
  readonly anchored: boolean
  readonly isOfGit: boolean
}

function matchesIgnoreRule({ name, suffix, foldersOnly }: IgnoreRule, entry: DiskEntry): boolean {
  if (foldersOnly && entry.kind !== 'folder') return false
  return suffix ? entry.name.endsWith(name) : entry.name === name
}

/** The rules of the parent folder and of this folder's ignore files. */
function readIgnoreRules(
  { path, ignoreRules }: WalkFolder,
  entries: readonly DiskEntry[],
  disk: DiskView,
): IgnoreRules {
  const isRepository = entries.some(({ name }) => name === '.git' || name === '.jj')
  const files = entries.filter(({ name }) => IGNORE_FILES.has(name)).map(({ name }) => name)
  const lines = [...files, ...(isRepository ? ['.git/info/exclude'] : [])].flatMap((name) =>
    readIgnoreLines(posix.join(path, name), disk).map((line) => ({ line, isOfGit: name.startsWith('.git') })),
  )
  // Rules of git end where another repository begins.
  const parent = isRepository ? ignoreRules.rules.filter(({ isOfGit }) => !isOfGit) : ignoreRules.rules
  return {
    rules: [...parent, ...lines.flatMap(({ line, isOfGit }) => parseIgnoreLine(line, isOfGit))],
    reincluded: [
      ...ignoreRules.reincluded,
      ...lines.flatMap(({ line }) => (line.startsWith('!') ? listReincludedNames(line.slice(1)) : [])),
    ],
  }
}

/** The names that a line may include again, as a parent folder or as a target. A complex pattern may mean any name. */
function listReincludedNames(pattern: string): string[] {
  if (/[[\]{}\\]/.test(pattern)) return ['*']
  const segments = pattern
    .trim()
    .split('/')
    .filter((segment) => segment !== '')
  return segments.flatMap((segment, at) =>
    /^\*+$/.test(segment) ? (at === segments.length - 1 ? ['*'] : []) : [segment],
  )
}

/** Ripgrep reads `.gitignore` only in a repository, the others anywhere. */
const IGNORE_FILES: ReadonlySet<string> = new Set(['.gitignore', '.ignore', '.rgignore'])

function readParentIgnoreRules(path: string, disk: DiskView): IgnoreRules {
  const parent = posix.dirname(path)
  if (parent === path) return NO_IGNORE_RULES
  const names = ['.git', '.jj', ...IGNORE_FILES].filter((name) => disk.exists(posix.join(parent, name)))
  const entries = names.map((name): DiskEntry => ({ name, kind: 'file' }))
  return inheritIgnoreRules(
    readIgnoreRules({ path: parent, ignoreRules: readParentIgnoreRules(parent, disk) }, entries, disk),
  )
}

function inheritIgnoreRules({ rules, reincluded }: IgnoreRules): IgnoreRules {
  return { rules: rules.filter(({ anchored }) => !anchored), reincluded }
}

/** An ignore file that cannot be read may include everything again. */
function readIgnoreLines(path: string, disk: DiskView): string[] {
  if (!disk.exists(path) || (path.endsWith('/.gitignore') && !isInRepository(posix.dirname(path), disk))) return []
  const bytes = disk.read(path)
  // The decoder removes a byte order mark, as ripgrep does.
  return bytes ? new TextDecoder().decode(bytes).split(/\r?\n/) : ['!*']
}

function isInRepository(folder: string, disk: DiskView): boolean {
  if (disk.exists(posix.join(folder, '.git'))) return true
  return posix.dirname(folder) !== folder && isInRepository(posix.dirname(folder), disk)
}

function parseIgnoreLine(line: string, isOfGit: boolean): IgnoreRule[] {
  const [, slash, star, name = '', end] = /^(\/)?(\*(?=\.))?([\w.@-]+)(\/)?$/.exec(line) ?? []
  if (name === '') return []
  return [{ name, suffix: star !== undefined, foldersOnly: end !== undefined, anchored: slash !== undefined, isOfGit }]
}
