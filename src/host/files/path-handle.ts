import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from 'node:fs'
import { HostError } from '../host-error.ts'
import { decodeSurrogateEscape, encodeSurrogateEscape } from './surrogate-escape.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

/**
 * An open file or folder. On Linux it is a descriptor, which stays valid whatever happens to the name, and `at` is a path
 * through it. Elsewhere `at` is only a name, which is checked again when it is opened.
 */
export interface PathHandle {
  readonly at: string
  readonly stats: Stats
  readonly descriptor?: number
  release(): void
}

export type FolderHandle = Pick<PathHandle, 'at' | 'release'>

/** Reaches a file without opening it; Node has no constant for it. */
const O_PATH = 0o10000000
const hasDescriptorPaths = process.platform === 'linux' && existsSync('/proc/self/fd')
/** With our PID: /proc/self would be one more link to follow. */
const DESCRIPTOR_FOLDER = hasDescriptorPaths ? `/proc/${readlinkSync('/proc/self')}/fd` : ''

/** A link in the last place is opened itself. */
export function openPathHandle(at: string): PathHandle {
  if (!hasDescriptorPaths) return { at, stats: lstatSync(encodeSurrogateEscape(at)), release: () => undefined }
  const descriptor = openSync(encodeSurrogateEscape(at), O_PATH | constants.O_NOFOLLOW)
  try {
    const stats = fstatSync(descriptor)
    return { at: `${DESCRIPTOR_FOLDER}/${descriptor}`, stats, descriptor, release: () => closeSync(descriptor) }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** Opens a folder; the system itself refuses anything else, even a link to one. */
export function openFolderHandle(at: string): FolderHandle {
  if (!hasDescriptorPaths) {
    const handle = openPathHandle(at)
    if (!handle.stats.isDirectory()) throw new HostError('not-folder', `Not a folder: ${at}`)
    return handle
  }
  const descriptor = openSync(encodeSurrogateEscape(at), O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY)
  return { at: `${DESCRIPTOR_FOLDER}/${descriptor}`, release: () => closeSync(descriptor) }
}

/** The same for a folder that may be gone, unreadable, or a link by now. */
export function tryOpenFolderHandle(at: string): FolderHandle | undefined {
  return tryOrUndefined(() => openFolderHandle(at))
}

/** Opens exactly the held file for reading; returns a descriptor, and never waits for a pipe. */
export function openForReading(handle: PathHandle): number {
  // The path through a descriptor is itself a link, so only a plain name can use O_NOFOLLOW.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (hasDescriptorPaths ? 0 : constants.O_NOFOLLOW)
  const descriptor = openSync(encodeSurrogateEscape(handle.at), flags)
  const { dev, ino } = fstatSync(descriptor)
  if (dev === handle.stats.dev && ino === handle.stats.ino) return descriptor
  closeSync(descriptor)
  throw new HostError('moved', 'The file was replaced while it was being opened.')
}

/** Where a held folder is now, since it may have been moved; undefined if the system cannot tell. */
export function readCurrentPath(handle: PathHandle): string | undefined {
  return hasDescriptorPaths ? decodeSurrogateEscape(readlinkSync(handle.at, 'buffer')) : undefined
}
