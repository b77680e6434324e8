import { posix } from 'node:path'
import { type Disk, type DiskEntry, NO_DISK } from '../disk.ts'
import { folderOf, judgePlace, type Places } from './place.ts'
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
    return [{ path, ignored: walk.ignores ? ignoredAbove(path, places, disk) : [] }]
  })
  let left = MAX_ENTRIES
  for (let stop = todo.shift(); stop; stop = todo.shift()) {
    const entries = disk.list(stop.path)
    if (!entries) continue
    const ignored = walk.ignores ? ignoredIn(stop, entries, disk) : []
    for (const entry of entries) {
      if (--left < 0) return 'there are too many files to look at all of them'
      const { name } = entry
      if ((!walk.hidden && name.startsWith('.')) || ignored.some((rule) => covers(rule, entry))) continue
      const path = posix.join(stop.path, name)
      const kind = entry.kind === 'link' && walk.follows ? (disk.kind(path) ?? 'other') : entry.kind
      const isFolder = kind === 'folder'
      if (isFolder ? walk.without?.(name) : walk.only && !walk.only(name)) continue
      const doubt = entryDoubt(path, entry, walk, places, isSecret)
      if (doubt !== undefined) return doubt
      // What git keeps its objects in is many files, and readable to nobody.
      const isStore = name === 'objects' && posix.basename(stop.path) === '.git'
      if (isFolder && walk.deep && !isStore) todo.push({ path, ignored: ignored.filter(({ anchored }) => !anchored) })
    }
  }
  return undefined
}

const MAX_ENTRIES = 30_000

interface Stop {
  readonly path: string
  readonly ignored: readonly Ignored[]
}

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
  return isSecret(path, folder) ? `it would read ${path}, which usually holds secrets` : undefined
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
}

function covers({ name, suffix, folders }: Ignored, entry: DiskEntry): boolean {
  if (folders && entry.kind !== 'folder') return false
  return suffix ? entry.name.endsWith(name) : entry.name === name
}

/** What holds in a folder: what held above, and its own ignore files. A file that takes something back undoes all of it. */
function ignoredIn(stop: Stop, entries: readonly DiskEntry[], disk: Disk): readonly Ignored[] {
  const lines = entries
    .filter(({ name }) => IGNORE_FILES.has(name))
    .flatMap(({ name }) => textLines(posix.join(stop.path, name), disk))
  if (lines.some((line) => line.startsWith('!'))) return []
  return lines.length === 0 ? stop.ignored : [...stop.ignored, ...lines.flatMap(readLine)]
}

/** Ripgrep reads `.gitignore` only in a repository; the others anywhere. */
const IGNORE_FILES: ReadonlySet<string> = new Set(['.gitignore', '.ignore', '.rgignore'])

/** What ignore files between the workspace's folder and a folder in it say. */
function ignoredAbove(path: string, { folders }: Places, disk: Disk): readonly Ignored[] {
  const top = folderOf(path, folders, disk)
  if (top === undefined || path === top || !path.startsWith(`${top}/`)) return []
  const above = posix.dirname(path)
  const stop = { path: above, ignored: ignoredAbove(above, { folders }, disk) }
  return ignoredIn(stop, disk.list(above) ?? [], disk).filter(({ anchored }) => !anchored)
}

function textLines(path: string, disk: Disk): string[] {
  if (path.endsWith('/.gitignore') && !isInRepository(posix.dirname(path), disk)) return []
  return Buffer.from(disk.read(path) ?? [])
    .toString('utf8')
    .split(/\r?\n/)
}

function isInRepository(folder: string, disk: Disk): boolean {
  if (disk.has(posix.join(folder, '.git'))) return true
  return posix.dirname(folder) !== folder && isInRepository(posix.dirname(folder), disk)
}

function readLine(line: string): Ignored[] {
  const [, slash, star, name = '', end] = /^(\/)?(\*(?=\.))?([\w.@-]+)(\/)?$/.exec(line) ?? []
  if (name === '') return []
  return [{ name, suffix: star !== undefined, folders: end !== undefined, anchored: slash !== undefined }]
}
