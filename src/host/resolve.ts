import { readlinkSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { errorCode, HostProblem, systemProblem } from './problem.ts'
import { fromRaw, toRaw } from './raw-name.ts'

/**
 * The path that a path really means. Of one that is not there, the part that is there is real, and the rest is as given;
 * a link to nothing counts as what it points to, because that is what writing would make.
 */
export function resolvePath(path: string, depth = 0): string {
  if (path.includes('\0')) throw new HostProblem('bad-path', 'The path contains a zero byte.')
  if (depth > 40) throw new HostProblem('link-loop', `Too many links, or a loop of links: ${path}`)
  try {
    return fromRaw(realpathSync.native(toRaw(path), 'buffer'))
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ELOOP') throw new HostProblem('link-loop', `Too many links, or a loop of links: ${path}`)
    if (code === 'ENAMETOOLONG') throw new HostProblem('bad-path', 'The path is longer than any disk allows.')
    // Where the disk does not answer, nobody knows what the path means.
    if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EACCES') throw systemProblem(error, path)
  }
  const plain = path.replace(/\/+$/, '')
  const slash = plain.lastIndexOf('/')
  if (slash < 0) return resolve(plain)
  const above = slash === 0 ? '/' : resolvePath(plain.slice(0, slash), depth)
  const here = join(above, plain.slice(slash + 1))
  const target = linkAt(here)
  return target === undefined ? here : resolvePath(resolve(dirname(here), target), depth + 1)
}

function linkAt(path: string): string | undefined {
  try {
    return fromRaw(readlinkSync(toRaw(path), 'buffer'))
  } catch {
    return undefined
  }
}
