import { createHash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTick } from 'node:timers/promises'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { listGitFiles, readGitBlob } from '../process/git-files.ts'
import type { FileChange } from './record-changes.ts'
import { sha256Hex } from './sha256.ts'
import { listPlainFiles } from './list-plain-files.ts'

/** Keeps what a workspace contains, to find out afterwards what a command changed. */
export interface WorkspaceSnapshots {
  /** Undefined if the workspace cannot be kept; `problem` says why. */
  take(): Promise<Snapshot | undefined>
  readonly problem: SnapshotProblem | undefined
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
/** Files that are looked at before other work gets its turn, and that are read at once. */
const SLICE = 200
const READS_AT_ONCE = 8

interface KeptFile {
  /** Changes whenever the file does. */
  readonly stamp: string
  readonly mode: number
  /** The name that git gives to this content. */
  readonly object: string
  /** Absent if the git repository has the object. */
  readonly content?: Buffer
}

interface FoundFile extends Pick<KeptFile, 'stamp' | 'mode'> {
  readonly path: string
  readonly size: number
}

/**
 * Of a git repository, the files that are tracked or could be; otherwise all, if they are few and small. Git runs nothing of
 * the repository: only its lists and objects are read. `env` turns off its helpers.
 */
export function createWorkspaceSnapshots(folder: string, env: Readonly<Record<string, string>>): WorkspaceSnapshots {
  let known: ReadonlyMap<string, KeptFile> = new Map()
  let problem: SnapshotProblem | undefined

  async function read(): Promise<ReadonlyMap<string, KeptFile> | SnapshotProblem> {
    const git = await listGitFiles(folder, env)
    const paths = git ? [...git.keys()] : listPlainFiles(folder, MAX_PLAIN_FILES)
    if (!paths || paths.length > MAX_GIT_FILES) return 'too-large'
    const found = await findFiles(folder, paths)
    const isKnown = ({ path, stamp }: FoundFile): boolean => known.get(path)?.stamp === stamp
    const unread = found.filter((file) => !isKnown(file))
    if (unread.reduce((sum, { size }) => sum + size, 0) > MAX_READ_BYTES) return 'too-large'
    const files = new Map(found.filter(isKnown).map(({ path }) => [path, known.get(path) as KeptFile]))
    const readNext = async (): Promise<void> => {
      for (let file = unread.pop(); file; file = unread.pop()) {
        const kept = await keepFile(folder, file, git?.get(file.path))
        if (kept) files.set(file.path, kept)
      }
    }
    await Promise.all(Array.from({ length: READS_AT_ONCE }, readNext))
    const keptBytes = [...files.values()].reduce((sum, { content }) => sum + (content?.length ?? 0), 0)
    return keptBytes > MAX_KEPT_BYTES ? 'too-large' : files
  }

  return {
    get problem() {
      return problem
    },
    async take() {
      if (problem !== undefined) return undefined
      const before = await read().catch(() => 'unreadable' as const)
      if (typeof before === 'string') {
        problem = before
        return undefined
      }
      known = before
      return {
        async findChanges() {
          const after = await read().catch(() => 'unreadable' as const)
          if (typeof after === 'string') return undefined
          known = after
          return compare(folder, env, before, after)
        },
      }
    },
  }
}

async function findFiles(folder: string, paths: readonly string[]): Promise<FoundFile[]> {
  const found: FoundFile[] = []
  for (const [at, path] of paths.entries()) {
    if (at % SLICE === SLICE - 1) await nextTick()
    const info = tryOrUndefined(() => lstatSync(join(folder, path), { bigint: true }))
    if (!info?.isFile()) continue
    const stamp = [info.size, info.mtimeNs, info.ctimeNs, info.ino].join(' ')
    found.push({ path, stamp, size: Number(info.size), mode: Number(info.mode) & 0o7777 })
  }
  return found
}

/** `tracked` is the object that the repository has for this path. */
async function keepFile(
  folder: string,
  { path, stamp, mode }: FoundFile,
  tracked: string | undefined,
): Promise<KeptFile | undefined> {
  const content = await readFile(join(folder, path)).catch(() => undefined)
  if (!content) return undefined
  const object = hashGitBlob(content, tracked?.length)
  return { stamp, mode, object, ...(object !== tracked && { content }) }
}

/** Repositories name objects by SHA-1 or, with longer names, by SHA-256. */
function hashGitBlob(bytes: Buffer, length = 0): string {
  const hash = createHash(length > 40 ? 'sha256' : 'sha1')
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

async function compare(
  folder: string,
  env: Readonly<Record<string, string>>,
  before: ReadonlyMap<string, KeptFile>,
  after: ReadonlyMap<string, KeptFile>,
): Promise<readonly FileChange[] | undefined> {
  const isSame = (one: KeptFile | undefined, other: KeptFile | undefined): boolean =>
    one?.object === other?.object && one?.mode === other?.mode
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => !isSame(before.get(path), after.get(path)),
  )
  if (paths.length > MAX_CHANGES) return undefined
  const changes: FileChange[] = []
  const knownFolders = new Set([...before.keys()].flatMap(listParents))
  for (const path of paths) {
    const [old, now] = [before.get(path), after.get(path)]
    const [bytes, newBytes] = [
      old && (await readContent(old, folder, env)),
      now && (await readContent(now, folder, env)),
    ]
    if ((old && !bytes) || (now && !newBytes)) return undefined
    if (bytes && newBytes?.equals(bytes) && old?.mode === now?.mode) continue
    changes.push({
      path: join(folder, path),
      ...(old && bytes && { before: { bytes, mode: old.mode } }),
      ...(newBytes && { after: sha256Hex(newBytes) }),
      folders: old ? [] : listNewFolders(folder, path, knownFolders),
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

async function readContent(
  { content, object }: KeptFile,
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<Buffer | undefined> {
  if (content) return content
  const bytes = await readGitBlob(folder, object, env)
  return bytes && hashGitBlob(bytes, object.length) === object ? bytes : undefined
}
