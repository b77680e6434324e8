import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { FolderEntry } from '../host.ts'
import { resolvePath } from './resolve-path.ts'
import { toFileKind } from './walk-folders.ts'

/** The disk of this machine, as the policy looks at it: nothing is changed, and nothing that is found here is used later. */
export function createDiskView(searchPath = process.env['PATH'] ?? '') {
  return {
    realPath: resolveOrUndefined,
    kind: readKind,
    read: readFileBytes,
    list: listFolder,
    exists: pathExists,
    findProgram: (name: string) => findOnSearchPath(name, searchPath),
  }
}

function listFolder(path: string): readonly FolderEntry[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true }).map((entry) => ({ name: entry.name, kind: toFileKind(entry) }))
  } catch {
    return undefined
  }
}

function pathExists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

function resolveOrUndefined(path: string): string | undefined {
  try {
    return resolvePath(path)
  } catch {
    return undefined
  }
}

function readKind(path: string): 'file' | 'folder' | 'other' | undefined {
  const stats = statOrUndefined(path)
  if (!stats) return undefined
  return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other'
}

function statOrUndefined(path: string): ReturnType<typeof statSync> {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
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
    try {
      accessSync(candidate, constants.X_OK)
      return resolveOrUndefined(candidate) ?? candidate
    } catch {
      // Not here.
    }
  }
  return undefined
}
