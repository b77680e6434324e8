import {
  accessSync,
  constants,
  openSync,
  readSync,
  closeSync,
  readlinkSync,
  realpathSync,
  statSync,
  fstatSync,
} from 'node:fs'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'

/** Looks at the disk for those who judge: nothing is changed, and nothing that is found here is used later on. */
export interface Look {
  real(path: string): string | undefined
  kind(path: string): 'file' | 'folder' | 'other' | undefined
  read(path: string): Uint8Array | undefined
  program(name: string): string | undefined
}

/** This machine's disk. */
export function lookAtDisk(searchPath = process.env['PATH'] ?? ''): Look {
  return { real: (path) => realOf(path, 0), kind: kindOf, read: bytesOf, program: (name) => find(name, searchPath) }
}

/** All links followed; of what is not there, as far as there is something. A link to nothing means what it points to. */
function realOf(path: string, depth: number): string | undefined {
  if (depth > 40 || path.includes('\0')) return undefined
  try {
    return realpathSync.native(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EACCES') return undefined
  }
  const plain = path.replace(/\/+$/, '')
  const slash = plain.lastIndexOf('/')
  if (slash < 0) return resolve(plain)
  const above = slash === 0 ? '/' : realOf(plain.slice(0, slash), depth)
  if (above === undefined) return undefined
  const here = join(above, plain.slice(slash + 1))
  const target = linkAt(here)
  return target === undefined ? here : realOf(resolve(dirname(here), target), depth + 1)
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
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
      return realOf(place, 0) ?? place
    } catch {
      // Not here.
    }
  }
  return undefined
}
