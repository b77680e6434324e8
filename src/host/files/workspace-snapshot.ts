import { createHash } from 'node:crypto'
import { lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
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

interface KeptFile {
  /** Changes whenever the file does. */
  readonly stamp: string
  readonly mode: number
  readonly hash: string
  /** The content, or the object of the git repository that has it. */
  readonly content: Buffer | { readonly object: string }
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
    const files = new Map<string, KeptFile>()
    let [keptBytes, readBytes] = [0, 0]
    for (const path of paths) {
      const full = join(folder, path)
      const info = tryOrUndefined(() => lstatSync(full, { bigint: true }))
      if (!info?.isFile()) continue
      const stamp = [info.size, info.mtimeNs, info.ctimeNs, info.ino].join(' ')
      const earlier = known.get(path)
      const file = earlier?.stamp === stamp ? earlier : undefined
      readBytes += file ? 0 : Number(info.size)
      if (readBytes > MAX_READ_BYTES) return 'too-large'
      const kept = file ?? keepFile(full, stamp, Number(info.mode) & 0o7777, git?.get(path))
      if (!kept) continue
      keptBytes += Buffer.isBuffer(kept.content) ? kept.content.length : 0
      if (keptBytes > MAX_KEPT_BYTES) return 'too-large'
      files.set(path, kept)
    }
    return files
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

function keepFile(full: string, stamp: string, mode: number, object: string | undefined): KeptFile | undefined {
  const bytes = tryOrUndefined(() => readFileSync(full))
  if (!bytes) return undefined
  const isInGit = object !== undefined && object === hashGitBlob(bytes, object.length)
  return { stamp, mode, hash: sha256Hex(bytes), content: isInGit ? { object } : bytes }
}

/** Repositories name objects by SHA-1 or, with longer names, by SHA-256. */
function hashGitBlob(bytes: Buffer, length: number): string {
  const hash = createHash(length === 40 ? 'sha1' : 'sha256')
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

async function compare(
  folder: string,
  env: Readonly<Record<string, string>>,
  before: ReadonlyMap<string, KeptFile>,
  after: ReadonlyMap<string, KeptFile>,
): Promise<readonly FileChange[] | undefined> {
  const isSame = (one: KeptFile | undefined, other: KeptFile | undefined): boolean =>
    one?.hash === other?.hash && one?.mode === other?.mode
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => !isSame(before.get(path), after.get(path)),
  )
  if (paths.length > MAX_CHANGES) return undefined
  const changes: FileChange[] = []
  const knownFolders = new Set([...before.keys()].flatMap(listParents))
  for (const path of paths) {
    const [old, now] = [before.get(path), after.get(path)]
    const bytes = old && (await readContent(old, folder, env))
    if (old && !bytes) return undefined
    changes.push({
      path: join(folder, path),
      ...(old && bytes && { before: { bytes, mode: old.mode } }),
      ...(now && { after: now.hash }),
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

async function readContent({ content, hash }: KeptFile, folder: string, env: Readonly<Record<string, string>>) {
  const bytes = Buffer.isBuffer(content) ? content : await readGitBlob(folder, content.object, env)
  return bytes && sha256Hex(bytes) === hash ? bytes : undefined
}
