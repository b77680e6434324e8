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
import { resolvePath } from './resolve.ts'

/** Looks at the disk for those who judge: nothing is changed, and nothing that is found here is used later on. */
export interface Look {
  real(path: string): string | undefined
  kind(path: string): 'file' | 'folder' | 'other' | undefined
  read(path: string): Uint8Array | undefined
  list(path: string): readonly LookEntry[] | undefined
  has(path: string): boolean
  program(name: string): string | undefined
}

/** A name in a folder, links not followed. */
export interface LookEntry {
  readonly name: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
}

/** This machine's disk. */
export function lookAtDisk(searchPath = process.env['PATH'] ?? ''): Look {
  return { real: realOf, kind: kindOf, read: bytesOf, list, has, program: (name) => find(name, searchPath) }
}

function list(path: string): readonly LookEntry[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'other',
    }))
  } catch {
    return undefined
  }
}

function has(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

/** What a path really means, or nothing where that cannot be said. */
function realOf(path: string): string | undefined {
  try {
    return resolvePath(path)
  } catch {
    return undefined
  }
}

function kindOf(path: string): 'file' | 'folder' | 'other' | undefined {
  const stats = statOr(path)
  if (!stats) return undefined
  return stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : 'other'
}

function statOr(path: string): ReturnType<typeof statSync> {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

const MAX_READ = 64 * 2 ** 20

function bytesOf(path: string): Uint8Array | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || stats.size > MAX_READ) return undefined
    const bytes = Buffer.alloc(stats.size)
    return bytes.subarray(0, readSync(descriptor, bytes, 0, stats.size, 0))
  } catch {
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** The first place on the search path. A relative place on it means another file in every folder: it is given as it is. */
function find(name: string, searchPath: string): string | undefined {
  for (const folder of searchPath.split(delimiter)) {
    if (!isAbsolute(folder)) return `./${name}`
    const place = join(folder, name)
    try {
      accessSync(place, constants.X_OK)
      return realOf(place) ?? place
    } catch {
      // Not here.
    }
  }
  return undefined
}
