import { accessSync, closeSync, constants, existsSync, fstatSync, lstatSync, openSync } from 'node:fs'
import { readdirSync, readSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { FolderEntry } from '../host.ts'
import { resolvePath } from './resolve-path.ts'
import { toFileKind } from './walk-folders.ts'
import { tryFileOperation } from '../sandbox/protect/no-follow-files.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

/** The disk of this machine, as the policy looks at it: nothing is changed, and nothing that is found here is used later. */
export function createDiskView(searchPath = process.env['PATH'] ?? '') {
  return {
    realPath: (path: string) => tryOrUndefined(() => resolvePath(path)),
    kind: readKind,
    read: readFileBytes,
    list: listFolder,
    exists: (path: string) => tryOrUndefined(() => lstatSync(path, { throwIfNoEntry: false })) !== undefined,
    findProgram: (name: string) => findOnSearchPath(name, searchPath),
  }
}

function listFolder(path: string): readonly FolderEntry[] | undefined {
  return tryOrUndefined(() =>
    readdirSync(path, { withFileTypes: true }).map((entry) => ({ name: entry.name, kind: toFileKind(entry) })),
  )
}

function readKind(path: string): 'file' | 'folder' | 'other' | undefined {
  const stats = tryOrUndefined(() => statSync(path, { throwIfNoEntry: false }))
  if (!stats) return undefined
  return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other'
}

const MAX_READ_BYTES = 64 * 2 ** 20

function readFileBytes(path: string): Uint8Array | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || stats.size > MAX_READ_BYTES) return undefined
    const bytes = Buffer.alloc(stats.size)
    return bytes.subarray(0, readSync(descriptor, bytes, 0, stats.size, 0))
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** The first match on the search path. A relative entry means another file in every folder, so it is returned as it is. */
function findOnSearchPath(name: string, searchPath: string): string | undefined {
  for (const folder of searchPath.split(delimiter)) {
    if (!isAbsolute(folder)) return `./${name}`
    const candidate = join(folder, name)
    // An error costs more than this check.
    const isExecutable = existsSync(candidate) && tryFileOperation(() => accessSync(candidate, constants.X_OK))
    if (isExecutable) return tryOrUndefined(() => resolvePath(candidate)) ?? candidate
  }
  return undefined
}
