import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

type Variables = Readonly<Record<string, string>>

/**
 * The files of a git repository that are tracked, each with its object, or could be tracked, with an empty one. Undefined if
 * the folder is in none. Both lists come from the index and the folders: git starts no filters for them.
 */
export async function listGitFiles(folder: string, env: Variables): Promise<ReadonlyMap<string, string> | undefined> {
  const [tracked, others] = await Promise.all([
    runGit(folder, ['ls-files', '--stage', '-z'], env),
    runGit(folder, ['ls-files', '--others', '--exclude-standard', '-z'], env),
  ])
  if (!tracked) return undefined
  const files = new Map<string, string>()
  for (const line of splitAtZeros(tracked)) {
    const [, object = '', path = ''] = /^\d+ ([\da-f]+) \d\t([^]*)$/.exec(line) ?? []
    if (path !== '') files.set(path, object)
  }
  for (const path of splitAtZeros(others ?? Buffer.alloc(0))) files.set(path, '')
  return files
}

/** The content of an object, as it is stored. */
export async function readGitBlob(folder: string, object: string, env: Variables): Promise<Buffer | undefined> {
  return runGit(folder, ['cat-file', 'blob', object], env)
}

function splitAtZeros(bytes: Buffer): string[] {
  return bytes
    .toString('utf8')
    .split('\0')
    .filter((line) => line !== '')
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
