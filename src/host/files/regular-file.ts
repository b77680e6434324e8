import { closeSync, constants, existsSync, fstatSync, openSync, readlinkSync, readSync, realpathSync } from 'node:fs'
import { errorCode } from '../host-error.ts'
import { defined } from '../../model/defined.ts'
import { isInsideFolder } from '../../model/inside-folder.ts'

/** Which files may be read. */
export interface ReadLimits {
  /** The file must lie in this folder, after all links were followed. */
  readonly within?: string
  /** Not more bytes than this are read. */
  readonly maxBytes: number
  /** Must the real path not be read for another reason? `folder` is the real path of `within`. */
  readonly isRefused?: (real: string, folder: string | undefined) => boolean
}

/** Why a file was not read. */
export type ReadFailure = 'missing' | 'outside' | 'refused' | 'not-ordinary' | 'unreadable'

/** What was read of a file, or why nothing was. */
export type FileContent =
  | { readonly bytes: Buffer; readonly isCut: boolean }
  | { readonly problem: ReadFailure; readonly real?: string }

/**
 * Reads a file that nobody asked about, such as the instructions of a project. Whoever wrote the project chose what is at
 * that path: a link to a secret, a pipe that never ends, a device. So the path is judged after links were followed, opened
 * without waiting and without following, and looked at again once it is open.
 */
export function readRegularFile(path: string, { within, maxBytes, isRefused }: ReadLimits): FileContent {
  let real: string | undefined
  let descriptor: number | undefined
  try {
    real = realpathSync.native(path)
    const folder = within === undefined ? undefined : realpathSync.native(within)
    if (folder !== undefined && !isInsideFolder(real, folder)) return { problem: 'outside', real }
    if (isRefused?.(real, folder)) return { problem: 'refused', real }
    if (KERNEL_PATHS.test(real)) return { problem: 'not-ordinary', real }
    descriptor = openSync(real, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    if (!fstatSync(descriptor).isFile()) return { problem: 'not-ordinary', real }
    // A folder on the way may have been exchanged for a link since.
    if (hasDescriptorPaths && readlinkSync(`/proc/self/fd/${descriptor}`) !== real) return { problem: 'outside', real }
    return readUpTo(descriptor, maxBytes)
  } catch (error) {
    const code = errorCode(error)
    const isMissing = real === undefined && (code === 'ENOENT' || code === 'ENOTDIR')
    return { problem: isMissing ? 'missing' : 'unreadable', ...defined({ real }) }
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

const KERNEL_PATHS = /^\/(?:proc|sys|dev)\//

const hasDescriptorPaths = process.platform === 'linux' && existsSync('/proc/self/fd')

/** The size that a file claims proves nothing: it is read until it ends, or there is enough. */
function readUpTo(descriptor: number, maxBytes: number): FileContent {
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
