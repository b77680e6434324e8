import { existsSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import { lazy } from '../../model/lazy.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { listGitFiles } from '../process/git-files.ts'
import { type ChangeTracker, trackChanges } from './change-tracker.ts'
import { type KeptFile, keepFile, readKeptContent } from './kept-file.ts'
import { listFolderTree } from './list-folder-tree.ts'
import type { FileChange } from './record-changes.ts'
import { sha256Hex } from './sha256.ts'

/** Keeps what a workspace contains, to find out afterwards what a command changed. */
export interface WorkspaceSnapshots {
  /** Undefined if the workspace cannot be kept; `problem` says why. */
  take(): Promise<Snapshot | undefined>
  readonly problem: SnapshotProblem | undefined
  close(): void
}

/** The state at one moment. */
export interface Snapshot {
  /** What is different now. Undefined if it is too much to be recorded. */
  findChanges(): Promise<readonly FileChange[] | undefined>
}

export type SnapshotProblem = 'too-large' | 'unreadable'

/** The limits of what is kept in memory, and of what is read at all. */
const MAX_PLAIN_FILES = 2000
const MAX_GIT_FILES = 20_000
const MAX_KEPT_BYTES = 20 * 2 ** 20
const MAX_READ_BYTES = 300 * 2 ** 20
const MAX_CHANGES = 1000
/** Each folder is watched by itself. */
const MAX_WATCHED_FOLDERS = 4000
/** Files that are looked at before other work gets its turn, and that are read at once. */
const SLICE = 200
const READS_AT_ONCE = 8

/** The files of a workspace, by their relative paths. */
interface WorkspaceFiles {
  readonly files: Map<string, KeptFile>
  /** Folders in which a new file counts. */
  readonly folders: ReadonlySet<string>
  /** Without a repository, every file counts. */
  readonly git: boolean
}

interface SnapshotOptions {
  /** Turns off git's helpers. */
  readonly env: Readonly<Record<string, string>>
  /** A folder of ours. */
  readonly scratch: string
}

/**
 * Of a git repository, the files that are tracked or could be; otherwise all, if they are few and small. Git runs nothing of
 * the repository: only its lists and objects are read. Everything is listed once; then only what the system reports as
 * changed is looked at, as long as that is certain.
 */
export function createWorkspaceSnapshots(folder: string, { env, scratch }: SnapshotOptions): WorkspaceSnapshots {
  let current: WorkspaceFiles | undefined
  let tracker: ChangeTracker | undefined
  let problem: SnapshotProblem | undefined
  let lastUpdate: Promise<unknown> = Promise.resolve()
  /** Commands may run at the same time. Each snapshot has the files from before that may have changed since. */
  const snapshots = new Set<ChangedFiles>()

  /** Reads what has changed since the last time. Returns why the workspace cannot be kept, if so. */
  function update(): Promise<SnapshotProblem | undefined> {
    const updated = lastUpdate
      .then(async () => (await readChanged()) ?? (await readAll()))
      .catch(() => 'unreadable' as const)
      .then((before) => {
        if (typeof before === 'string') return before
        for (const snapshot of snapshots)
          for (const [path, old] of before) if (!snapshot.has(path)) snapshot.set(path, old)
        return undefined
      })
    lastUpdate = updated
    return updated
  }

  /** Only what the system reports; undefined if that is not certain, or not enough. */
  async function readChanged(): Promise<ReadonlyChangedFiles | undefined> {
    const changed = current && (await tracker?.takeChanged())
    const paths = changed && current && findChangedFiles(folder, current, changed)
    if (!paths || !current) return undefined
    const before: ChangedFiles = new Map()
    for (const path of paths) {
      const old = current.files.get(path)
      before.set(path, old)
      const [found] = await findFiles(folder, [path])
      // The repository has the object only if we do not have to keep its content.
      const kept = found && (await keepFile(folder, found, old?.content ? undefined : old?.object))
      if (kept) current.files.set(path, kept)
      else current.files.delete(path)
    }
    return before
  }

  async function readAll(): Promise<ReadonlyChangedFiles | SnapshotProblem> {
    const old = current?.files ?? new Map<string, KeptFile>()
    const listed = await listFiles(folder, env)
    if (!listed) return 'too-large'
    // Watched first: what changes while the files are read is looked at again.
    tracker?.close()
    const watched = [...listed.folders].map((path) => join(folder, path))
    tracker = watched.length > MAX_WATCHED_FOLDERS ? undefined : trackChanges(watched, scratch)
    const files = await readFiles(folder, listed.objects, old)
    if (!files) return 'too-large'
    current = { ...listed, files }
    const paths = [...new Set([...old.keys(), ...files.keys()])]
    return new Map(paths.filter((path) => !isSame(old.get(path), files.get(path))).map((path) => [path, old.get(path)]))
  }

  return {
    get problem() {
      return problem
    },
    async take() {
      problem ??= await update()
      if (problem !== undefined) return undefined
      const before: ChangedFiles = new Map()
      snapshots.add(before)
      return {
        async findChanges() {
          const failure = await update()
          snapshots.delete(before)
          return failure === undefined && current ? describeChanges(folder, env, before, current) : undefined
        },
      }
    },
    close: () => tracker?.close(),
  }
}

/** Files as they were before; undefined where there was none. */
type ChangedFiles = Map<string, KeptFile | undefined>
type ReadonlyChangedFiles = ReadonlyMap<string, KeptFile | undefined>

interface ListedFiles extends Omit<WorkspaceFiles, 'files'> {
  /** By path; empty if the repository has no object for it. */
  readonly objects: ReadonlyMap<string, string>
}

async function listFiles(folder: string, env: Readonly<Record<string, string>>): Promise<ListedFiles | undefined> {
  const git = await listGitFiles(folder, env)
  if (git && git.objects.size > MAX_GIT_FILES) return undefined
  // A repository in a repository has files of its own.
  const isExcluded = (path: string, names: readonly string[]): boolean =>
    git !== undefined && (path === '.git' || git.ignoredFolders.has(path) || (path !== '' && names.includes('.git')))
  const tree = await listFolderTree(folder, git ? Infinity : MAX_PLAIN_FILES, isExcluded)
  if (!tree) return undefined
  const objects = git?.objects ?? new Map(tree.files.map((path) => [path, '']))
  const gitFolder = git && existsSync(join(folder, '.git')) ? ['.git'] : []
  const folders = new Set([...tree.folders, ...[...objects.keys()].flatMap(listParents), ...gitFolder])
  return { objects, folders, git: git !== undefined }
}

/**
 * The files among the changed paths. Undefined if all files must be listed again: a folder appeared or disappeared, there
 * is a new file that the repository may ignore, or what it tracks or ignores has changed.
 */
function findChangedFiles(
  folder: string,
  { files, folders, git }: WorkspaceFiles,
  changed: ReadonlySet<string>,
): string[] | undefined {
  const found: string[] = []
  for (const path of [...changed].map((one) => one.slice(folder.length + 1))) {
    const stats = tryOrUndefined(() => lstatSync(join(folder, path), { throwIfNoEntry: false }))
    const isListed = files.has(path)
    if (git && path.startsWith('.git/') && path !== '.git/index') continue
    if (folders.has(path) || stats?.isDirectory() || (git && RULE_FILES.test(path))) return undefined
    if (git && !isListed && stats) return undefined
    if (isListed || stats?.isFile()) found.push(path)
  }
  return found
}

/** What decides which files count. */
const RULE_FILES = /(?:^|\/)\.gitignore$|^\.git\/index$/

interface FoundFile extends Pick<KeptFile, 'stamp' | 'mode'> {
  readonly path: string
  readonly size: number
}

async function findFiles(folder: string, paths: Iterable<string>): Promise<FoundFile[]> {
  const found: FoundFile[] = []
  let count = 0
  for (const path of paths) {
    if (++count % SLICE === 0) await nextTick()
    const info = tryOrUndefined(() => lstatSync(join(folder, path), { bigint: true }))
    if (!info?.isFile()) continue
    const stamp = [info.size, info.mtimeNs, info.ctimeNs, info.ino].join(' ')
    found.push({ path, stamp, size: Number(info.size), mode: Number(info.mode) & 0o7777 })
  }
  return found
}

/** Reads what is not known; undefined if it is too much. */
async function readFiles(
  folder: string,
  objects: ReadonlyMap<string, string>,
  known: ReadonlyMap<string, KeptFile>,
): Promise<Map<string, KeptFile> | undefined> {
  const found = await findFiles(folder, objects.keys())
  const isKnown = ({ path, stamp }: FoundFile): boolean => known.get(path)?.stamp === stamp
  const unread = found.filter((file) => !isKnown(file))
  if (unread.reduce((sum, { size }) => sum + size, 0) > MAX_READ_BYTES) return undefined
  const files = new Map(found.filter(isKnown).map(({ path }) => [path, known.get(path) as KeptFile]))
  const readNext = async (): Promise<void> => {
    for (let file = unread.pop(); file; file = unread.pop()) {
      const kept = await keepFile(folder, file, objects.get(file.path))
      if (kept) files.set(file.path, kept)
    }
  }
  await Promise.all(Array.from({ length: READS_AT_ONCE }, readNext))
  const keptBytes = [...files.values()].reduce((sum, { content }) => sum + (content?.length ?? 0), 0)
  return keptBytes > MAX_KEPT_BYTES ? undefined : files
}

function isSame(one: KeptFile | undefined, other: KeptFile | undefined): boolean {
  return one?.object === other?.object && one?.mode === other?.mode
}

/** `before` has the files that may be different now. */
async function describeChanges(
  folder: string,
  env: Readonly<Record<string, string>>,
  before: ReadonlyChangedFiles,
  { files }: WorkspaceFiles,
): Promise<readonly FileChange[] | undefined> {
  const different = [...before].filter(([path, old]) => !isSame(old, files.get(path)))
  if (different.length > MAX_CHANGES) return undefined
  const getKnownFolders = lazy(() => {
    const unchanged = [...files.keys()].filter((path) => !before.has(path))
    const removed = [...before].flatMap(([path, old]) => (old ? [path] : []))
    return new Set([...unchanged, ...removed].flatMap(listParents))
  })
  const changes: FileChange[] = []
  for (const [path, old] of different) {
    const now = files.get(path)
    const [bytes, newBytes] = [
      old && (await readKeptContent(old, folder, env)),
      now && (await readKeptContent(now, folder, env)),
    ]
    if ((old && !bytes) || (now && !newBytes)) return undefined
    if (bytes && newBytes?.equals(bytes) && old?.mode === now?.mode) continue
    changes.push({
      path: join(folder, path),
      ...(old && bytes && { before: { bytes, mode: old.mode } }),
      ...(newBytes && { after: sha256Hex(newBytes) }),
      folders: old ? [] : listNewFolders(folder, path, getKnownFolders()),
    })
  }
  return changes
}

/** The folders above a file, the outermost first. */
function listParents(path: string): string[] {
  const names = path.split('/').slice(0, -1)
  return names.map((_, at) => names.slice(0, at + 1).join('/'))
}

/** Those that had no file before were probably made for this one; an undo removes them only if they are empty. */
function listNewFolders(folder: string, path: string, known: ReadonlySet<string>): string[] {
  return listParents(path)
    .filter((parent) => !known.has(parent))
    .map((parent) => join(folder, parent))
}
