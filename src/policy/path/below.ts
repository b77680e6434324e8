import { posix } from 'node:path'
import { type Disk, type DiskEntry, NO_DISK } from '../disk.ts'
import { folderOf, judgePlace, type Places } from './place.ts'
import { isLike } from './pattern.ts'
import { isRepositoryKey } from './repository-key.ts'
import { secretTest, type SecretTest } from './secret.ts'

/** How a program goes through folders that it is given. */
export interface Walk {
  /** Paths as given; only folders count. */
  readonly roots: readonly string[]
  /** Does it read hidden files? */
  readonly hidden: boolean
  /** Does it leave out what ignore files name, as ripgrep does? */
  readonly ignores: boolean
  /** Does it follow the links that it meets? */
  readonly follows: boolean
  /** Does it go into folders in folders? */
  readonly deep: boolean
  /** Folders that it leaves out, by name. */
  readonly without?: (name: string) => boolean
  /** The files that it reads, by name; all if this is absent. */
  readonly only?: (name: string) => boolean
}

/** Says which file with secrets, or which link out of the workspace, a program would meet; nothing if there is none. */
export function secretBelow(walk: Walk, from: string, places: Places): string | undefined {
  const { disk = NO_DISK } = places
  const isSecret = testFor(places)
  const todo = walk.roots.flatMap((root): Stop[] => {
    const path = disk.real(posix.resolve(from, root))
    if (path === undefined || disk.kind(path) !== 'folder') return []
    return [{ path, ignored: walk.ignores ? ignoredAbove(path, disk) : NOTHING }]
  })
  let left = MAX_ENTRIES
  for (let stop = todo.shift(); stop; stop = todo.shift()) {
    const entries = disk.list(stop.path)
    if (!entries) continue
    const ignored = walk.ignores ? ignoredIn(stop, entries, disk) : NOTHING
    for (const entry of entries) {
      if (--left < 0) return 'there are too many files to look at all of them'
      const { name } = entry
      const isLeftOut = (!walk.hidden && name.startsWith('.')) || ignored.rules.some((rule) => covers(rule, entry))
      if (isLeftOut && !ignored.back.some((step) => isLike(name, step))) continue
      const path = posix.join(stop.path, name)
      const kind = entry.kind === 'link' && walk.follows ? (disk.kind(path) ?? 'other') : entry.kind
      const isFolder = kind === 'folder'
      if (isFolder ? walk.without?.(name) : walk.only && !walk.only(name)) continue
      const doubt = entryDoubt(path, entry, walk, places, isSecret)
      if (doubt !== undefined) return doubt
      // What git keeps its objects in is many files, and readable to nobody.
      const isStore = name === 'objects' && posix.basename(stop.path) === '.git'
      if (isFolder && walk.deep && !isStore) todo.push({ path, ignored: inherited(ignored) })
    }
  }
  return undefined
}

const MAX_ENTRIES = 30_000

interface Stop {
  readonly path: string
  readonly ignored: IgnoredFiles
}

/** What ripgrep leaves out, and which names lines such as `!name` may bring back: ignored files, and hidden ones too. */
interface IgnoredFiles {
  readonly rules: readonly Ignored[]
  readonly back: readonly string[]
}

const NOTHING: IgnoredFiles = { rules: [], back: [] }

function entryDoubt(
  path: string,
  { kind }: DiskEntry,
  walk: Walk,
  places: Places,
  isSecret: SecretTest,
): string | undefined {
  if (kind === 'link') {
    if (!walk.follows) return undefined
    const place = judgePlace(path, 'read', places)
    return place.kind === 'in' ? undefined : place.why.replace(/\.$/, '')
  }
  const folder = folderOf(path, places.folders, places.disk) ?? posix.dirname(path)
  if (isSecret(path, folder)) return `it would read ${path}, which usually holds secrets`
  return isRepositoryKey(path, places.disk ?? NO_DISK) ? `it would read ${path}, which holds a key` : undefined
}

const tests = new WeakMap<readonly string[], SecretTest>()
const usual = secretTest()

function testFor({ secretFiles, home = '~' }: Places): SecretTest {
  if (!secretFiles || secretFiles.length === 0) return usual
  const own = secretFiles.map((pattern) => (pattern.startsWith('~/') ? `${home}${pattern.slice(1)}` : pattern))
  const test = tests.get(secretFiles) ?? secretTest(own)
  tests.set(secretFiles, test)
  return test
}

/** Does a file usually hold secrets, by its path alone? */
export function isSecretPath(path: string, places: Places): boolean {
  return testFor(places)(path, folderOf(path, places.folders, places.disk) ?? '')
}

/** A line of an ignore file, as far as it is simple: a name, or all names with an ending. */
interface Ignored {
  readonly name: string
  readonly suffix: boolean
  readonly folders: boolean
  /** It holds only in the folder of its file. */
  readonly anchored: boolean
  /** It stands in a file of git's. */
  readonly isOfGit: boolean
}

function covers({ name, suffix, folders }: Ignored, entry: DiskEntry): boolean {
  if (folders && entry.kind !== 'folder') return false
  return suffix ? entry.name.endsWith(name) : entry.name === name
}

/** What holds in a folder: what held above, and its own ignore files. */
function ignoredIn({ path, ignored }: Stop, entries: readonly DiskEntry[], disk: Disk): IgnoredFiles {
  const isRepository = entries.some(({ name }) => name === '.git' || name === '.jj')
  const files = entries.filter(({ name }) => IGNORE_FILES.has(name)).map(({ name }) => name)
  const lines = [...files, ...(isRepository ? ['.git/info/exclude'] : [])].flatMap((name) =>
    textLines(posix.join(path, name), disk).map((line) => ({ line, isOfGit: name.startsWith('.git') })),
  )
  // What git ignores ends where another repository begins.
  const above = isRepository ? ignored.rules.filter(({ isOfGit }) => !isOfGit) : ignored.rules
  return {
    rules: [...above, ...lines.flatMap(({ line, isOfGit }) => readLine(line, isOfGit))],
    back: [...ignored.back, ...lines.flatMap(({ line }) => (line.startsWith('!') ? stepsBack(line.slice(1)) : []))],
  }
}

/** The names that a line may bring back, on its way or at its end. A pattern that is not simple may mean any. */
function stepsBack(pattern: string): string[] {
  if (/[[\]{}\\]/.test(pattern)) return ['*']
  const steps = pattern
    .trim()
    .split('/')
    .filter((step) => step !== '')
  return steps.flatMap((step, at) => (/^\*+$/.test(step) ? (at === steps.length - 1 ? ['*'] : []) : [step]))
}

/** Ripgrep reads `.gitignore` only in a repository; the others anywhere. */
const IGNORE_FILES: ReadonlySet<string> = new Set(['.gitignore', '.ignore', '.rgignore'])

/** What the ignore files of all folders above a folder say. */
function ignoredAbove(path: string, disk: Disk): IgnoredFiles {
  const above = posix.dirname(path)
  if (above === path) return NOTHING
  const names = ['.git', '.jj', ...IGNORE_FILES].filter((name) => disk.has(posix.join(above, name)))
  const entries = names.map((name): DiskEntry => ({ name, kind: 'file' }))
  return inherited(ignoredIn({ path: above, ignored: ignoredAbove(above, disk) }, entries, disk))
}

/** What still holds one folder deeper. */
function inherited({ rules, back }: IgnoredFiles): IgnoredFiles {
  return { rules: rules.filter(({ anchored }) => !anchored), back }
}

/** The lines of an ignore file. One that cannot be read may bring back everything. */
function textLines(path: string, disk: Disk): string[] {
  if (!disk.has(path) || (path.endsWith('/.gitignore') && !isInRepository(posix.dirname(path), disk))) return []
  const bytes = disk.read(path)
  // The decoder takes away a byte order mark, as ripgrep does.
  return bytes ? new TextDecoder().decode(bytes).split(/\r?\n/) : ['!*']
}

function isInRepository(folder: string, disk: Disk): boolean {
  if (disk.has(posix.join(folder, '.git'))) return true
  return posix.dirname(folder) !== folder && isInRepository(posix.dirname(folder), disk)
}

function readLine(line: string, isOfGit: boolean): Ignored[] {
  const [, slash, star, name = '', end] = /^(\/)?(\*(?=\.))?([\w.@-]+)(\/)?$/.exec(line) ?? []
  if (name === '') return []
  return [{ name, suffix: star !== undefined, folders: end !== undefined, anchored: slash !== undefined, isOfGit }]
}
