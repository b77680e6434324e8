import { existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { getErrnoCode, HostError, toHostError } from '../host-error.ts'
import { decodeSurrogateEscape, encodeSurrogateEscape } from './surrogate-escape.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

/**
 * The real path of a path. If it does not exist, the existing part is resolved and the rest is as given. A dangling link
 * counts as its target, because that is what writing would create.
 */
export function resolvePath(path: string, depth = 0): string {
  if (path.includes('\0')) throw new HostError('bad-path', 'The path contains a zero byte.')
  if (depth > 40) throw new HostError('link-loop', `Too many links, or a loop of links: ${path}`)
  const isMissing = isKnownMissing(path)
  try {
    if (!isMissing) return decodeSurrogateEscape(realpathSync.native(encodeSurrogateEscape(path), 'buffer'))
  } catch (error) {
    const code = getErrnoCode(error)
    if (code === 'ELOOP') throw new HostError('link-loop', `Too many links, or a loop of links: ${path}`)
    if (code === 'ENAMETOOLONG') throw new HostError('bad-path', 'The path is too long.')
    // If the disk does not answer, the real path is unknown.
    if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EACCES') throw toHostError(error, path)
  }
  const trimmed = path.replace(/\/+$/, '')
  const slash = trimmed.lastIndexOf('/')
  if (slash < 0) return resolve(trimmed)
  const parent = slash === 0 ? '/' : resolvePath(trimmed.slice(0, slash), depth)
  const joinedPath = join(parent, trimmed.slice(slash + 1))
  const target = isMissing ? undefined : readLinkTarget(joinedPath)
  return target === undefined ? joinedPath : resolvePath(resolve(dirname(joinedPath), target), depth + 1)
}

/** An error costs more than this check, and the policy asks about words that are no paths. */
function isKnownMissing(path: string): boolean {
  const found = tryOrUndefined(() => ({ stats: lstatSync(encodeSurrogateEscape(path), { throwIfNoEntry: false }) }))
  return found !== undefined && found.stats === undefined
}

/** The real path of what is there; undefined if nothing is, or if it cannot be found out. */
export function findRealPath(path: string): string | undefined {
  // An error costs more than this check, and folders of ours that do not exist yet are looked for with every operation.
  const encoded = encodeSurrogateEscape(path)
  if (!existsSync(encoded)) return undefined
  return tryOrUndefined(() => decodeSurrogateEscape(realpathSync.native(encoded, 'buffer')))
}

function readLinkTarget(path: string): string | undefined {
  return tryOrUndefined(() => decodeSurrogateEscape(readlinkSync(encodeSurrogateEscape(path), 'buffer')))
}
