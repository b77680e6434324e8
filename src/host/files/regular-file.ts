import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
} from 'node:fs'
import { getErrnoCode } from '../host-error.ts'
import { defined } from '../../model/defined.ts'
import { isInsideFolder } from '../../model/inside-folder.ts'

export interface ReadLimits {
  /** The file must be inside this folder, after links are resolved. */
  readonly within?: string
  readonly maxBytes: number
  /** Refuses a real path for another reason. `folder` is the real path of `within`. */
  readonly isRefused?: (real: string, folder: string | undefined) => boolean
}

export type ReadFailure = 'missing' | 'outside' | 'refused' | 'not-ordinary' | 'unreadable'

export type FileReadResult =
  | { readonly bytes: Buffer; readonly isCut: boolean }
  | { readonly problem: ReadFailure; readonly real?: string }

/**
 * Reads a file that nobody asked about, such as the instructions of a project. The author of the project chose what is
 * there: a link to a secret, an endless pipe, a device. So the path is checked after links are resolved, opened without
 * waiting and without following links, and checked again once it is open.
 */
export function readRegularFile(path: string, { within, maxBytes, isRefused }: ReadLimits): FileReadResult {
  let real: string | undefined
  let descriptor: number | undefined
  try {
    // An error costs more than this check, and most of these files are missing.
    if (!lstatSync(path, { throwIfNoEntry: false })) return { problem: 'missing' }
    real = realpathSync.native(path)
    const folder = within === undefined ? undefined : realpathSync.native(within)
    if (folder !== undefined && !isInsideFolder(real, folder)) return { problem: 'outside', real }
    if (isRefused?.(real, folder)) return { problem: 'refused', real }
    if (KERNEL_PATHS.test(real)) return { problem: 'not-ordinary', real }
    descriptor = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    if (!fstatSync(descriptor).isFile()) return { problem: 'not-ordinary', real }
    // A folder on the way may have been replaced by a link since.
    if (hasDescriptorPaths && readlinkSync(`/proc/self/fd/${descriptor}`) !== real) return { problem: 'outside', real }
    return readUpTo(descriptor, maxBytes)
  } catch (error) {
    const code = getErrnoCode(error)
    const isMissing = real === undefined && (code === 'ENOENT' || code === 'ENOTDIR')
    return { problem: isMissing ? 'missing' : 'unreadable', ...defined({ real }) }
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

const KERNEL_PATHS = /^\/(?:proc|sys|dev)\//

const hasDescriptorPaths = process.platform === 'linux' && existsSync('/proc/self/fd')

/** The reported size proves nothing: the file is read until it ends, or the limit is reached. */
function readUpTo(descriptor: number, maxBytes: number): FileReadResult {
  const chunks: Buffer[] = []
  let length = 0
  while (length <= maxBytes) {
    const chunk = Buffer.allocUnsafe(Math.min(READ_CHUNK_BYTES, maxBytes + 1 - length))
    const count = readSync(descriptor, chunk, 0, chunk.length, length)
    if (count === 0) break
    chunks.push(chunk.subarray(0, count))
    length += count
  }
  const bytes = Buffer.concat(chunks, length)
  return { bytes: bytes.subarray(0, maxBytes), isCut: length > maxBytes }
}

const READ_CHUNK_BYTES = 64 * 1024
