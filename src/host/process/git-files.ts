import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

type Variables = Readonly<Record<string, string>>

interface GitFiles {
  /** The tracked files, each with its object, and those that could be tracked, with an empty one. */
  readonly objects: ReadonlyMap<string, string>
  /** Folders in which nothing is tracked or could be. */
  readonly ignoredFolders: ReadonlySet<string>
}

/**
 * The files of a git repository; undefined if the folder is in none. The lists come from the index and the folders: git
 * starts no filters for them.
 */
export async function listGitFiles(folder: string, env: Variables): Promise<GitFiles | undefined> {
  const untracked = ['ls-files', '--others', '--exclude-standard', '-z']
  const [tracked, others, ignored] = await Promise.all([
    runGit(folder, ['ls-files', '--stage', '-z'], env),
    runGit(folder, untracked, env),
    runGit(folder, [...untracked, '--ignored', '--directory'], env),
  ])
  if (!tracked) return undefined
  const objects = new Map<string, string>()
  for (const line of splitAtZeros(tracked)) {
    const [, object = '', path = ''] = /^\d+ ([\da-f]+) \d\t([^]*)$/.exec(line) ?? []
    if (path !== '') objects.set(path, object)
  }
  for (const path of splitAtZeros(others)) objects.set(path, '')
  const ignoredFolders = splitAtZeros(ignored).flatMap((path) => (path.endsWith('/') ? path.slice(0, -1) : []))
  return { objects, ignoredFolders: new Set(ignoredFolders) }
}

/** The content of an object, as it is stored. */
export async function readGitBlob(folder: string, object: string, env: Variables): Promise<Buffer | undefined> {
  return runGit(folder, ['cat-file', 'blob', object], env)
}

function splitAtZeros(bytes: Buffer | undefined): string[] {
  return (bytes?.toString('utf8') ?? '').split('\0').filter((line) => line !== '')
}

async function runGit(folder: string, args: readonly string[], env: Variables): Promise<Buffer | undefined> {
  try {
    const { PATH = '', HOME = '' } = process.env
    const options = {
      cwd: folder,
      env: { PATH, HOME, ...env },
      maxBuffer: 1 << 28,
      timeout: 10_000,
      encoding: 'buffer',
    } as const
    return (await promisify(execFile)('git', [...args], options)).stdout
  } catch {
    return undefined
  }
}
