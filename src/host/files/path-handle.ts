import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from 'node:fs'
import { HostError } from '../host-error.ts'
import { decodeSurrogateEscape, encodeSurrogateEscape } from './surrogate-escape.ts'

/**
 * A hold on one file or folder. On Linux it is a descriptor, so that it stays the same thing whatever happens to its name,
 * and `at` is a path through that descriptor. Elsewhere `at` is only a name, which is checked again when it is opened.
 */
export interface PathHandle {
  readonly at: string
  readonly stats: Stats
  /** Where it is one. */
  readonly descriptor?: number
  release(): void
}

export type FolderHandle = Pick<PathHandle, 'at' | 'release'>

/** A descriptor that reaches a file without opening it; Node has no name for it. */
const O_PATH = 0o10000000
const hasDescriptorPaths = process.platform === 'linux' && existsSync('/proc/self/fd')
/** By our number: through /proc/self every look would follow one more link. */
const DESCRIPTOR_FOLDER = hasDescriptorPaths ? `/proc/${readlinkSync('/proc/self')}/fd` : ''

/** Takes hold of what is at a path. A link in the last place is held itself, not followed. */
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

/** Takes hold of a folder, and of nothing else: what else is at a path, a link too, is refused by the system itself. */
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
  try {
    return openFolderHandle(at)
  } catch {
    return undefined
  }
}

/** Opens for reading exactly what is held, and never waits for the other end of a pipe. Gives a descriptor. */
export function openForReading(handle: PathHandle): number {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK
  // The path through a descriptor is a link itself, so only a plain name can refuse to be one.
  const descriptor = openSync(
    encodeSurrogateEscape(handle.at),
    hasDescriptorPaths ? flags : flags | constants.O_NOFOLLOW,
  )
  const { dev, ino } = fstatSync(descriptor)
  if (dev === handle.stats.dev && ino === handle.stats.ino) return descriptor
  closeSync(descriptor)
  throw new HostError('moved', 'The file was exchanged while it was being opened.')
}

/** Where a held folder is now; what was judged may have been moved since. Unknown where the system cannot tell. */
export function readCurrentPath(handle: PathHandle): string | undefined {
  return hasDescriptorPaths ? decodeSurrogateEscape(readlinkSync(handle.at, 'buffer')) : undefined
}
