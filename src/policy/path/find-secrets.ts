import { posix } from 'node:path'
import { type DiskView, type DiskEntry, NO_DISK_VIEW } from '../disk-view.ts'
import { findContainingFolder, classifyPath, type PathContext } from './classify-path.ts'
import { matchesGlob } from './path-pattern.ts'
import { holdsRepositoryCredentials } from './repository-credentials.ts'
import { createSecretFileTest, type SecretFileTest } from './secret-file-test.ts'

/** How a program goes through folders that it is given. */
export interface FolderWalk {
  /** Paths as given; only folders count. */
  readonly roots: readonly string[]
  /** Does it read hidden files? */
  readonly readsHidden: boolean
  /** Does it leave out what ignore files name, as ripgrep does? */
  readonly usesIgnoreFiles: boolean
  /** Does it follow the links that it meets? */
  readonly followsLinks: boolean
  /** Does it go into folders in folders? */
  readonly isRecursive: boolean
  /** Folders that it leaves out, by name. */
  readonly without?: (name: string) => boolean
  /** The files that it reads, by name; all if this is absent. */
  readonly only?: (name: string) => boolean
}

/** Says which file with secrets, or which link out of the workspace, a program would meet; nothing if there is none. */
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
      // What git keeps its objects in is many files, and readable to nobody.
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

/** What ripgrep leaves out, and which names lines such as `!name` may bring back: ignored files, and hidden ones too. */
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

/** Does a file usually hold secrets, by its path alone? */
export function isSecretPath(path: string, pathContext: PathContext): boolean {
  return secretTestFor(pathContext)(path, findContainingFolder(path, pathContext.folders, pathContext.disk) ?? '')
}

/** A line of an ignore file, as far as it is simple: a name, or all names with an ending. */
interface IgnoreRule {
  readonly name: string
  readonly suffix: boolean
  readonly foldersOnly: boolean
  /** It holds only in the folder of its file. */
  readonly anchored: boolean
  /** It stands in a file of git's. */
  readonly isOfGit: boolean
}

function matchesIgnoreRule({ name, suffix, foldersOnly }: IgnoreRule, entry: DiskEntry): boolean {
  if (foldersOnly && entry.kind !== 'folder') return false
  return suffix ? entry.name.endsWith(name) : entry.name === name
}

/** What holds in a folder: what held above, and its own ignore files. */
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
  // What git ignores ends where another repository begins.
  const parent = isRepository ? ignoreRules.rules.filter(({ isOfGit }) => !isOfGit) : ignoreRules.rules
  return {
    rules: [...parent, ...lines.flatMap(({ line, isOfGit }) => parseIgnoreLine(line, isOfGit))],
    reincluded: [
      ...ignoreRules.reincluded,
      ...lines.flatMap(({ line }) => (line.startsWith('!') ? listReincludedNames(line.slice(1)) : [])),
    ],
  }
}

/** The names that a line may bring back, on its way or at its end. A pattern that is not simple may mean any. */
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

/** Ripgrep reads `.gitignore` only in a repository; the others anywhere. */
const IGNORE_FILES: ReadonlySet<string> = new Set(['.gitignore', '.ignore', '.rgignore'])

/** What the ignore files of all folders above a folder say. */
function readParentIgnoreRules(path: string, disk: DiskView): IgnoreRules {
  const parent = posix.dirname(path)
  if (parent === path) return NO_IGNORE_RULES
  const names = ['.git', '.jj', ...IGNORE_FILES].filter((name) => disk.exists(posix.join(parent, name)))
  const entries = names.map((name): DiskEntry => ({ name, kind: 'file' }))
  return inheritIgnoreRules(
    readIgnoreRules({ path: parent, ignoreRules: readParentIgnoreRules(parent, disk) }, entries, disk),
  )
}

/** What still holds one folder deeper. */
function inheritIgnoreRules({ rules, reincluded }: IgnoreRules): IgnoreRules {
  return { rules: rules.filter(({ anchored }) => !anchored), reincluded }
}

/** The lines of an ignore file. One that cannot be read may bring back everything. */
function readIgnoreLines(path: string, disk: DiskView): string[] {
  if (!disk.exists(path) || (path.endsWith('/.gitignore') && !isInRepository(posix.dirname(path), disk))) return []
  const bytes = disk.read(path)
  // The decoder takes away a byte order mark, as ripgrep does.
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
